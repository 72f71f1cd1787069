// How the addresses of a row's active lanes are arranged.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

enum class Pattern : std::uint8_t {
  scattered,  // neither of the others
  strided,    // a[l] == a[0] + l * bytes for every active lane; if lane 0 is inactive, a[0] is
              // nominal and may wrap below 0
  uniform,    // all are equal; also for a single lane
};

}  // namespace warpcheck::vgpu
