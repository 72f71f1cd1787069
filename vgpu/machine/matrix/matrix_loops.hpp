// The loops of matrix products, compiled once per instruction set.  Internal to warp_matrix.cpp,
// which says how floats are added.
#pragma once

#include <cstdint>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kMatrixColumnsMax = 32;
inline constexpr int kNoExponent = -10'000;  // of zero
inline constexpr int kNotFinite = 128;       // of infinity and NaN

// A row of the result.  An element is a value with the exponent by which it is aligned: that of its
// field, even if it is subnormal.
template <class T>
struct RowProduct {
  const T* a = nullptr;  // the row of a
  const int* a_exponents = nullptr;
  const T* b = nullptr;  // a row of `columns` for each element of a
  const int* b_exponents = nullptr;
  const T* c = nullptr;
  const int* c_exponents = nullptr;
  std::uint32_t first = 0, end = 0;  // the elements of a
  std::uint32_t columns = 0;         // a multiple of 8
  int kept_bits = 0;                 // below the greatest exponent
};

// The exponents of the elements that are not zero.
struct ExponentBounds {
  int lowest = -kNoExponent, highest = kNoExponent;
};

// Returns whether floats are exact for products of such elements: that no product is rounded, and
// that add_up_narrow() only scales by normal floats.
constexpr bool are_narrow(const ExponentBounds& a, const ExponentBounds& b,
                          const ExponentBounds& c) {
  constexpr int kLowest = -100, kHighest = 125;
  return a.lowest + b.lowest >= kLowest && a.highest + b.highest <= kHighest &&
         a.highest < kNotFinite && b.highest < kNotFinite && c.highest < kNotFinite;
}

// Types of floats in registers that are read many at a time.
enum class RegisterFloat : std::uint8_t { f16, bf16, f32, tf32 };

// How a sum becomes a result: bits of it that are dropped first, and the type.
struct SumRounding {
  std::uint64_t dropped = 0;
  bool to_half = false;  // f16, to nearest; otherwise f32, toward zero
};

struct MatrixLoops {
  // sums[j] is the sum of c[j] and a[k] * b[k][j], as a double of at most 30 significant bits.
  void (*add_up)(const RowProduct<float>& product, double* sums);
  void (*add_up_wide)(const RowProduct<double>& product, double* sums);
  // The same in floats.  Requires are_narrow(), and significands of at most 11 bits in a and b.
  void (*add_up_narrow)(const RowProduct<float>& product, double* sums);
  // sums[j] is the sum of a[k] * b[k][j] for k < depth; `columns` is a multiple of 8.
  void (*add_up_integers)(const std::int32_t* a, const std::int32_t* b, std::uint32_t depth,
                          std::uint32_t columns, std::int32_t* sums);
  // sums[j] += a[k] * b[k][j] for each k < depth, each rounded once to nearest.  Returns false if a
  // sum is NaN: then which NaN it is must be computed otherwise.  nullptr: the instruction set has
  // no fused multiply-add.
  bool (*add_up_doubles)(const double* a, const double* b, std::uint32_t depth,
                         std::uint32_t columns, double* sums);
  // Reads the elements in `words` words, which are a multiple of 32.
  void (*read)(RegisterFloat type, const std::uint32_t* words, std::uint32_t count, float* values);
  // `count` is a multiple of 8.  No exponent is below `lowest`.
  ExponentBounds (*find_exponents)(const float* values, std::uint32_t count, int lowest,
                                   int* exponents);
  // Rounds `count` sums, a multiple of 8.  Returns false if a result is neither zero nor a normal
  // number; then its bits are not valid.
  bool (*round)(const SumRounding& rounding, const double* sums, std::uint32_t count,
                std::uint32_t* bits);
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
