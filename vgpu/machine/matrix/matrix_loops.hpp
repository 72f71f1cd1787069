// The loops of matrix products of floats, compiled once per instruction set.  Internal to
// warp_matrix.cpp, which says how the floats are added.
#pragma once

#include <cstdint>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kMatrixSideMax = 32;  // m and n
inline constexpr int kNoExponent = -10'000;          // of zero, infinity and NaN

// Elements in a row, or of the lanes.  An element is a value with the exponent by which it is
// aligned: that of its field, even if it is subnormal.
struct ElementRow {
  alignas(32) double value[kMatrixSideMax];
  alignas(32) int exponent[kMatrixSideMax];
};
struct IntegerRow {
  alignas(32) std::int32_t value[kMatrixSideMax];
};

struct RowProduct {
  const double* a = nullptr;  // the row of a
  const int* a_exponents = nullptr;
  const ElementRow* b = nullptr;  // one for each element of a
  const ElementRow* c = nullptr;
  std::uint32_t first = 0, end = 0;  // the elements of a
  std::uint32_t columns = 0;         // a multiple of 4
  int kept_bits = 0;                 // below the greatest exponent
};

// The floats in registers that are read a row at a time.
enum class RegisterFloat : std::uint8_t { f16, bf16, f32, tf32 };

struct MatrixLoops {
  // sums[j] is the sum of c[j] and a[k] * b[k][j], as a double of at most 30 significant bits.
  void (*add_up)(const RowProduct& product, double* sums);
  // sums[j] is the sum of a[k] * b[k][j] for k < depth.
  void (*add_up_integers)(const std::int32_t* a, const IntegerRow* b, std::uint32_t depth,
                          std::uint32_t columns, std::int32_t* sums);
  // Reads the element of each lane that begins at bit `shift` of its word.
  void (*read)(RegisterFloat type, const std::uint32_t* words, std::uint32_t shift,
               ElementRow& elements);
};

}  // namespace warpcheck::vgpu

#define WARPCHECK_MATRIX_LOOPS(level)    \
  namespace warpcheck::vgpu::level {     \
  extern const MatrixLoops kMatrixLoops; \
  }
WARPCHECK_MATRIX_LOOPS(baseline)
WARPCHECK_MATRIX_LOOPS(avx2)
WARPCHECK_MATRIX_LOOPS(avx512)
#undef WARPCHECK_MATRIX_LOOPS
