// The loops of matrix products, compiled once per instruction set.  Internal to warp_matrix.cpp,
// which says how floats are added.
#pragma once

#include <cstdint>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kMatrixColumnsMax = 256;
inline constexpr int kNoExponent = -10'000;  // of zero
inline constexpr int kNotFinite = 128;       // of infinity and NaN

// Rows of the result.  An element is a value with the exponent by which it is aligned: that of its
// field, even if it is subnormal.  Matrices are stored by rows without gaps.
template <class T>
struct RowsProduct {
  const T* a = nullptr;  // rows of `depth`
  const int* a_exponents = nullptr;
  const T* b = nullptr;  // a row of `columns` for each element of a row of a
  const int* b_exponents = nullptr;
  const T* c = nullptr;  // rows of `columns`
  const int* c_exponents = nullptr;
  std::uint32_t first = 0, end = 0;  // the elements of a's rows that are multiplied
  std::uint32_t rows = 0, depth = 0;
  std::uint32_t columns = 0;  // a multiple of 8
  int kept_bits = 0;          // below the greatest exponent
};

// The exponents of the elements that are not zero, and the lowest exponent of a bit of one.
struct ExponentBounds {
  int lowest = -kNoExponent, highest = kNoExponent;
  int lowest_bit = -kNoExponent;
};

// Returns whether floats are exact for products of such elements: that no product is rounded, and
// that add_up_narrow() only scales by normal floats.
constexpr bool are_narrow(const ExponentBounds& a, const ExponentBounds& b,
                          const ExponentBounds& c) {
  constexpr int kLowest = -100, kHighest = 125;
  return a.lowest + b.lowest >= kLowest && a.highest + b.highest <= kHighest &&
         a.highest < kNotFinite && b.highest < kNotFinite && c.highest < kNotFinite;
}

// Returns whether sums of such products are exact in floats, in any order and with all products in
// one sum: no bit of a product or of c is below the last place of a float that is larger than any
// partial sum.  Then nothing is truncated either: less than 25 bits lie below the greatest
// exponent.
constexpr bool are_exact(const ExponentBounds& a, const ExponentBounds& b, const ExponentBounds& c,
                         std::uint32_t depth) {
  constexpr int kDigits = 24, kLowest = -100;
  int above = 1;  // the first bit that no partial sum has
  for (std::uint32_t rest = depth + 1; rest != 0; rest >>= 1) ++above;
  const int of_products = a.highest + b.highest + 1;
  const int highest = (of_products > c.highest ? of_products : c.highest) + above;
  const int bit = a.lowest_bit + b.lowest_bit;
  const int lowest = bit < c.lowest_bit ? bit : c.lowest_bit;
  return are_narrow(a, b, c) && lowest >= kLowest && highest - lowest <= kDigits;
}

// Types of floats in registers that are read many at a time.  A word has two f16 or bf16, or one in
// its lower half (lone).
enum class RegisterFloat : std::uint8_t { f16, bf16, f32, tf32, lone_f16, lone_bf16 };

// How a sum becomes a result: bits of it that are dropped first, and the type.
struct SumRounding {
  std::uint64_t dropped = 0;
  bool to_half = false;  // f16, to nearest; otherwise f32, toward zero
};

struct MatrixLoops {
  // sums[i][j] is the sum of c[i][j] and a[i][k] * b[k][j], as a double of at most 30 significant
  // bits.
  void (*add_up)(const RowsProduct<float>& product, double* sums);
  void (*add_up_wide)(const RowsProduct<double>& product, double* sums);
  // The same in floats.  Requires are_narrow(), and significands of at most 11 bits in a and b.
  void (*add_up_narrow)(const RowsProduct<float>& product, double* sums);
  // The same for are_exact(): the bits of floats, which need no rounding.
  void (*add_up_exactly)(const RowsProduct<float>& product, std::uint32_t* bits);
  // sums[j] is the sum of a[k] * b[k][j] for k < depth; `columns` is a multiple of 8.
  void (*add_up_integers)(const std::int32_t* a, const std::int32_t* b, std::uint32_t depth,
                          std::uint32_t columns, std::int32_t* sums);
  // sums[j] += a[k] * b[k][j] for each k < depth, each rounded once to nearest.  Returns false if a
  // sum is NaN: then which NaN it is must be computed otherwise.  nullptr: the instruction set has
  // no fused multiply-add.
  bool (*add_up_doubles)(const double* a, const double* b, std::uint32_t depth,
                         std::uint32_t columns, double* sums);
  // Reads the elements in `count` words; of pairs, `count` is a multiple of 32.
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
