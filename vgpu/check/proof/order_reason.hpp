// Why bytes differ between two schedules, as sides and a sentence of a finding.
#pragma once

#include <string>
#include <vector>

#include "vgpu/check/proof/order_flow.hpp"

namespace warpcheck::vgpu {

struct OrderReason {
  // First the instructions whose order matters; then, if the order decides what is executed or
  // accessed, where it does.
  std::vector<AccessSide> sides;
  std::string text;  // "the order of (1) decides it"; empty: no line is known, as of a data race
};
// At most so many instructions are named.
inline constexpr std::size_t kOrderSourcesMax = 4;

// The order changes the value itself.
//   sources: of the bytes that differ
[[nodiscard]] OrderReason reason_of(std::vector<OrderPoint> sources);
// The order changes no value, but which instructions are executed, or what they access.
[[nodiscard]] OrderReason reason_of(const std::vector<OrderFlow::Decision>& decisions);

}  // namespace warpcheck::vgpu
