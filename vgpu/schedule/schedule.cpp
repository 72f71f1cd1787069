#include "vgpu/schedule/schedule.hpp"

#include <fmt/format.h>

#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {

std::string_view name_of(Decision::Point point) {
  switch (point) {
    case Decision::Point::access: return "access";
    case Decision::Point::stop: return "stop";
    case Decision::Point::operation: return "operation";
    case Decision::Point::start: return "start";
    case Decision::Point::release: return "release";
    case Decision::Point::past: return "past";
    case Decision::Point::fence: return "fence";
  }
  return "";
}

std::string to_string(const Decision& decision) {
  if (decision.point == Decision::Point::operation) {
    return fmt::format("operation {}, passed over {}: run operation {} first", decision.at.block,
                       counted(decision.index, "time"), decision.next.block);
  }
  if (decision.point == Decision::Point::start) {
    return fmt::format("launch {}: start with block {} warp {}, {}", decision.launch,
                       decision.next.block, decision.next.warp,
                       decision.index == 0 ? "ascending" : "descending");
  }
  if (decision.point == Decision::Point::past) {
    return fmt::format("launch {}: block {} warp {} access {}: lanes {:#x} leave out {}",
                       decision.launch, decision.at.block, decision.at.warp, decision.index,
                       decision.held, counted(decision.next.block, "write"));
  }
  const bool of_lanes =
      decision.point == Decision::Point::access || decision.point == Decision::Point::fence;
  std::string line =
      fmt::format("launch {}: block {} warp {} {} {}: ", decision.launch, decision.at.block,
                  decision.at.warp, name_of(decision.point), decision.index);
  if (of_lanes) line += fmt::format("hold lanes {:#x}, ", decision.held);
  line += fmt::format("run block {} warp {}", decision.next.block, decision.next.warp);
  return line;
}

}  // namespace warpcheck::vgpu
