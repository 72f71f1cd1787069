// For tests of strategies: programs that consist of accesses only, with one lane per warp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct TestAccess {
  std::uint64_t word = 0;  // 0: a word that no other warp accesses
  bool writes = true;      // false: it reads
};
// The accesses of each warp of a block, in order.
using AccessProgram = std::vector<std::vector<TestAccess>>;

// Runs the program.  Returns which warp made each access: "ABA".
inline std::string order_under(Strategy& strategy, const AccessProgram& program) {
  const auto warps = static_cast<std::uint32_t>(program.size());
  std::vector<std::uint64_t> done(warps), asked(warps);
  std::vector<WarpId> ready;
  strategy.begin(0, 1, warps);
  const StartOrder start = strategy.choose_start({.warps_per_block = warps});
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    ready.push_back({0, warp});
    asked[warp] = strategy.next_access(0, {0, warp}, 0);
  }
  std::string order;
  std::uint32_t running = start.first.warp;
  while (true) {
    SchedulePoint point{.at = {0, running},
                        .index = done[running],
                        .active = 1,
                        .model = WarpModel::lockstep,
                        .default_next = {0, running}};
    const std::vector<TestAccess>& accesses = program[running];
    if (done[running] == accesses.size()) {
      std::erase(ready, WarpId{0, running});
      if (ready.empty()) return order;
      point.point = Decision::Point::stop;
      point.index = point.active = 0;
      point.default_next = ready.front();
      point.ready = ready;
      const auto choice = strategy.decides_stops() ? strategy.decide(point) : std::nullopt;
      running = choice ? choice->next.warp : ready.front().warp;
      continue;
    }
    if (asked[running] == done[running]) {
      const TestAccess& access = accesses[done[running]];
      const std::uint64_t own = 1000 * (running + 1) + done[running];
      const std::array<std::uint64_t, 1> words{access.word != 0 ? access.word : own};
      const std::array<std::uint8_t, 1> lanes{0};
      const AccessedWords accessed{.site = 100 * (running + 1) + done[running],
                                   .reads = !access.writes,
                                   .writes = access.writes,
                                   .words = words,
                                   .lanes = lanes};
      point.ready = ready;
      point.accessed = &accessed;
      const auto choice = strategy.decide(point);
      asked[running] = strategy.next_access(0, {0, running}, done[running] + 1);
      if (choice && choice->next.warp != running) {
        running = choice->next.warp;
        continue;
      }
    }
    ++done[running];
    order += static_cast<char>('A' + running);
  }
}

}  // namespace warpcheck::vgpu
