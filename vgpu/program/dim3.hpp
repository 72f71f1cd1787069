// Three extents, like CUDA's dim3; or a position within such extents.
//
// The machine, its checkers and the declarations of users share this type, so it includes no CUDA
// header.  It converts to ::dim3 where that type is known.
#pragma once

#include <concepts>
#include <cstdint>

namespace warpcheck {

// A type of three extents that default to 1: ::dim3 is such a type, a vector type such as ::uint3
// is not.
template <class T>
concept CudaExtents = requires(T extents) {
  extents.x, extents.y, extents.z;
  T{1U, 1U, 1U};
  requires T {}
  .x == 1;
};

// Extents in x, y and z, in blocks (of a grid) or threads (of a block).  Any integer type may be
// given, so that `.block = n` works for an int; the caller must not pass negative numbers.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  constexpr Dim3() = default;
  template <std::integral X, std::integral Y = unsigned, std::integral Z = unsigned>
  constexpr Dim3(X x_extent, Y y_extent = 1, Z z_extent = 1)  // NOLINT: as CUDA's dim3
      : x(static_cast<std::uint32_t>(x_extent)),
        y(static_cast<std::uint32_t>(y_extent)),
        z(static_cast<std::uint32_t>(z_extent)) {}

  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  // For blocks or threads of these extents, with x varying fastest: returns the position of number
  // `linear`, and the number of position `at`.
  [[nodiscard]] constexpr Dim3 position_of(std::uint32_t linear) const {
    return {linear % x, linear / x % y, linear / x / y};
  }
  [[nodiscard]] constexpr std::uint32_t linear(const Dim3& at) const {
    return at.x + x * (at.y + y * at.z);
  }

  template <CudaExtents Other>
  requires(!std::same_as<Other, Dim3>) constexpr operator Other()
      const {  // NOLINT(google-explicit-constructor): launch as usual
    return Other{x, y, z};
  }

  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace warpcheck
