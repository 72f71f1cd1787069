// The shape of a launch as a plain value that a case can draw, shrink, print and store.
//
// Includes no CUDA header.
#pragma once

#include <concepts>
#include <cstdint>

#include "vgpu/program/dim3.hpp"

namespace warpcheck {

struct LaunchConfig {
  Dim3 grid{};                     // blocks
  Dim3 block{};                    // threads of a block
  std::uint32_t shared_bytes = 0;  // dynamic shared memory of a block

  [[nodiscard]] constexpr std::uint64_t blocks() const { return grid.count(); }
  [[nodiscard]] constexpr std::uint64_t threads() const { return grid.count() * block.count(); }

  friend constexpr bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

// Whether there is at least one thread for each of n elements, and at least one thread in all (CUDA
// rejects empty grids and blocks).
[[nodiscard]] constexpr bool covers(const LaunchConfig& launch, std::integral auto n) {
  return launch.threads() > 0 && (n <= 0 || launch.threads() >= static_cast<std::uint64_t>(n));
}

}  // namespace warpcheck
