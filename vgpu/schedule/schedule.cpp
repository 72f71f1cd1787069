#include "vgpu/schedule/schedule.hpp"

#include <fmt/format.h>

namespace warpcheck::vgpu {

std::string to_string(const Decision& decision) {
  if (decision.point == Decision::Point::operation) {
    return fmt::format("operation {}, passed over {} times: run operation {} first",
                       decision.at.block, decision.index, decision.next.block);
  }
  if (decision.point == Decision::Point::start) {
    return fmt::format("launch {}: start with block {} warp {}, {}", decision.launch,
                       decision.next.block, decision.next.warp,
                       decision.index == 0 ? "ascending" : "descending");
  }
  if (decision.point == Decision::Point::past) {
    return fmt::format("launch {}: block {} warp {} access {}: lanes {:#x} leave out {} write{}",
                       decision.launch, decision.at.block, decision.at.warp, decision.index,
                       decision.held, decision.next.block, decision.next.block == 1 ? "" : "s");
  }
  const bool access = decision.point == Decision::Point::access;
  const bool stop = decision.point == Decision::Point::stop;
  std::string line = fmt::format("launch {}: block {} warp {} {} {}: ", decision.launch,
                                 decision.at.block, decision.at.warp,
                                 access ? "access"
                                 : stop ? "stop"
                                        : "release",
                                 decision.index);
  if (access) line += fmt::format("hold lanes {:#x}, ", decision.held);
  line += fmt::format("run block {} warp {}", decision.next.block, decision.next.warp);
  return line;
}

}  // namespace warpcheck::vgpu
