// The numbers with shadow values among bytes that the host reads.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/shadow/shadow_cells.hpp"

namespace warpcheck::vgpu {

struct PrecisionOutput {
  std::uint32_t offset = 0, bytes = 0;
  double computed = 0, ulps = 0;  // ulps: 0 for what is not finite
  PrecisionDomain::Value value{};
};

template <class Plane, class Visit>
void for_each_output(Plane& plane, const Allocation& allocation, std::uint32_t offset,
                     std::uint32_t bytes, Visit visit) {
  for (std::uint32_t at = offset + offset % 2, end = offset + bytes; at + 2 <= end;) {
    std::uint32_t width = 8;
    auto reading = plane.in_memory(allocation, at, width);
    while (reading.state != ShadowState::value && width > 2) {
      width /= 2;
      reading = plane.in_memory(allocation, at, width);
    }
    if (reading.state != ShadowState::value || at + width > end) {
      at += 2;
      continue;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, allocation.data + at, width);
    const double computed = float_of_bits(bits, reading.value.type);
    const double ulps = std::isfinite(computed) ? error_in_ulps(computed, reading.value) : 0;
    visit(PrecisionOutput{at, width, computed, ulps, reading.value});
    at += width;
  }
}

}  // namespace warpcheck::vgpu
