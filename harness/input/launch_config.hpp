// How a kernel is launched, as a plain value that a case can draw, shrink, print and store.
//
// Includes no CUDA header: Dim3 converts to ::dim3 (and to vgpu::Dim3) where those are known.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace warpcheck {

// A type of three extents that default to 1: ::dim3 is one, a vector such as ::uint3 is not.
template <class T>
concept CudaExtents = requires(T extents) {
  extents.x, extents.y, extents.z;
  T{1U, 1U, 1U};
  requires T {}
  .x == 1;
};

// Extents in x, y and z, in blocks (of a grid) or threads (of a block).  Any integer type may
// be given, so that `.block = n` works for an int; negative numbers are the caller's error.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  constexpr Dim3() = default;
  template <std::integral X, std::integral Y = unsigned, std::integral Z = unsigned>
  constexpr Dim3(X x_extent, Y y_extent = 1, Z z_extent = 1)  // NOLINT: as CUDA's dim3
      : x(static_cast<std::uint32_t>(x_extent)),
        y(static_cast<std::uint32_t>(y_extent)),
        z(static_cast<std::uint32_t>(z_extent)) {}

  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }

  template <CudaExtents Other>
  requires(!std::same_as<Other, Dim3>) constexpr operator Other()
      const {  // NOLINT(google-explicit-constructor): launch as usual
    return Other{x, y, z};
  }

  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchConfig {
  Dim3 grid{};                     // blocks
  Dim3 block{};                    // threads of a block
  std::uint32_t shared_bytes = 0;  // dynamic shared memory of a block

  [[nodiscard]] constexpr std::uint64_t blocks() const { return grid.count(); }
  [[nodiscard]] constexpr std::uint64_t threads() const { return grid.count() * block.count(); }

  friend constexpr bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

// Whether there is at least one thread for each of n elements (and at least one thread at all:
// CUDA rejects empty grids and blocks).
[[nodiscard]] constexpr bool covers(const LaunchConfig& launch, std::integral auto n) {
  return launch.threads() > 0 && (n <= 0 || launch.threads() >= static_cast<std::uint64_t>(n));
}

}  // namespace warpcheck
