// Elements of matrices of floats as exact numbers, and sums as elements.  Internal to vgpu/machine;
// warp_matrix.cpp says how floats are added.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

struct MatrixElement {
  double value;
  int exponent;  // by which it is aligned; kNoExponent: it is zero
};

inline constexpr int kKeptBits = 25;  // number of bits kept below the greatest exponent
inline constexpr int kFractionOfSingle = 23;

// Returns the element whose exponent is that of its value.
MatrixElement normalized_element(double value);
MatrixElement matrix_element(ptx::Type type, std::uint32_t bits);
// The values of all bytes as elements of a type of at most 8 bits.
using FloatsOfBytes = std::array<float, 256>;
const FloatsOfBytes& floats_of_bytes(ptx::Type type);
// Returns the least exponent by which an element is aligned.
int exponent_min(ptx::Type type);

// Returns the bits of a double below the `kept` bits that follow the first one.
constexpr std::uint64_t lost_bits(int kept) {
  constexpr int kFraction = 52;
  return (std::uint64_t{1} << (kFraction - kept)) - 1;
}
// Clears these bits of a finite value.
double cut_off(double value, int kept);

// Rounds a sum to the type of the result.  An f32 result is truncated, but a value that is too
// large becomes infinite.  A value that is too small becomes +0, whatever its sign (observed on
// sm_90).  If c is f32 and d is not, the sum is truncated to an f32 before it is rounded.
std::uint32_t bits_of_sum(const MatrixProduct& product, double x);

}  // namespace warpcheck::vgpu
