#include "harness/case/case.hpp"

#include <bit>

namespace warpcheck {

std::uint64_t weight(const vgpu::Decision& decision) {
  if (decision.point == vgpu::Decision::Point::start) {
    const std::uint64_t from_first = std::uint64_t{decision.next.block} + decision.next.warp;
    return (decision.launch + from_first) * 4096 + decision.index * 32;
  }
  const auto held = static_cast<std::uint64_t>(std::popcount(decision.held));
  const std::uint64_t lowest = decision.held == 0 ? 0 : std::countr_zero(decision.held);
  if (decision.point == vgpu::Decision::Point::past) {
    return (decision.launch + decision.at.block + decision.at.warp) * 4096 + (held - 1) * 1024 +
           decision.index * 32 + lowest + decision.next.block - 1;
  }
  const std::uint64_t elsewhere = decision.next == decision.at ? 0 : 1;
  return (decision.launch + elsewhere + decision.at.block + decision.at.warp) * 4096 +
         (held == 0 ? 0 : held - 1) * 1024 + decision.index * 32 + lowest;
}

CaseSize size_of(const Case& a_case, const vgpu::Schedule& schedule) {
  const InputSize input = a_case.pair->size_of(a_case.input);
  CaseSize size{.elements = input.elements,
                .threads = input.threads,
                .blocks = input.blocks,
                .decisions = schedule.decisions.size(),
                .magnitude = input.magnitude};
  for (const vgpu::Decision& decision : schedule.decisions) {
    size.decision_weight += weight(decision);
  }
  return size;
}

}  // namespace warpcheck
