// The kernels of the benchmark, and their input.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/kernels/block_scan.hpp"
#include "bench/kernels/byte_filter.hpp"
#include "bench/kernels/float_loops.hpp"
#include "bench/kernels/half_product.hpp"
#include "bench/kernels/histogram.hpp"
#include "bench/kernels/kinds.hpp"
#include "bench/kernels/matrix_rates.hpp"
#include "bench/kernels/tables.hpp"
#include "bench/kernels/tree_reduction.hpp"
#include "bench/kernels/warp_ranks.hpp"

namespace bench {

inline constexpr int kElements = 262'144;

struct BenchKernel {
  const char* name;
  cudaError_t (*launch)(const int* in, int* out, int n);
  std::size_t out_size;
  std::uint64_t multiply_adds = 0;  // of tensor cores
};

inline constexpr std::uint64_t kMatrixProducts = std::uint64_t{kRateWarps} * kRateRounds;

inline constexpr BenchKernel kKernels[] = {
    {"block_scan", block_scan, kElements},
    {"block_scan_fenced", block_scan_fenced, kElements},
    {"histogram", histogram, kBins},
    {"histogram_fenced", histogram_fenced, kBins},
    {"histogram_releasing", histogram_releasing, kBins},
    {"tree_reduction", tree_reduction, kElements / kReductionGroup},
    {"matrix_product", matrix_product, std::size_t{kMatrixSide} * kMatrixSide},
    {"half_product", half_product, std::size_t{kHalfSide} * kHalfSide},
    {"stencil", stencil, kElements},
    {"bodies", bodies, kBodies},
    {"byte_filter", byte_filter, kElements},
    {"warp_ranks", warp_ranks, kElements},
    {"gather", gather, kElements},
    {"constant_table", constant_table, kElements},
    {"rotation", rotation, kElements},
    {"lattice", lattice, kElements},
    {"hash_table", hash_table, kElements},
    {"structs", structs, kElements},
    {"polygon", polygon, kElements},
    {"softmax", softmax, kElements},
    {"two_products", two_products, kElements},
    {"ticket_lock", ticket_lock, kElements},
    {"matrix_f16", matrix_rate_f16, kRateOut, kMatrixProducts * 16 * 8 * 16},
    {"matrix_tf32", matrix_rate_tf32, kRateOut, kMatrixProducts * 16 * 8 * 8},
    {"matrix_s8", matrix_rate_s8, kRateOut, kMatrixProducts * 16 * 8 * 32},
    {"matrix_f64", matrix_rate_f64, kRateOut, kMatrixProducts * 8 * 8 * 4},
    {"warpgroup", warpgroup_rate, kRateOut, kMatrixProducts / 4 * 64 * 64 * 16},
    {"tensor", tensor_rate, kRateOut, kMatrixProducts / 4 * 128 * 64 * 16},
};

// Small pseudo-random numbers, always the same: those of opencl_host.cpp.
inline std::vector<int> numbers(std::size_t n) {
  std::vector<int> values(n);
  unsigned state = 1;
  for (int& value : values) {
    state = state * 1'664'525U + 1'013'904'223U;
    value = static_cast<int>(state >> 20U);
  }
  return values;
}

}  // namespace bench
