// Specimens: comparison networks that sort, and such that do not, by the number of what is wrong.
// 0 is correct; properties/wrong_sorts_test.cpp says what each number is.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

inline constexpr int kWrongSortMax = 64;

// Bitonic, of n <= kWrongSortMax elements.  wrong: 1 to 10
cudaError_t wrong_bitonic_sort(const int* in, int* out, int n, int wrong);
// Odd-even merges; the direction of each comparison is a number.  wrong: 11 to 15
cudaError_t wrong_merge_sort(const std::uint32_t* in, std::uint32_t* out, int n, int wrong);
// Bitonic, by shuffles, of n <= 32 elements.  wrong: 16 to 19
cudaError_t wrong_warp_sort(const float* in, float* out, int n, int wrong);
// out[0] is the median of in[0], in[1] and in[2].  wrong: 20
cudaError_t wrong_median(const int* in, int* out, int n, int wrong);
// out[i] is the greater of in[i] and in[i + 1], or in[i + 1] if !chooses.  wrong: 21
cudaError_t wrong_choice(const int* in, int* out, int n, int wrong, bool chooses);
