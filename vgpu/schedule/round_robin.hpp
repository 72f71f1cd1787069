// Round robin: every warp executes `period` memory accesses, then the next ready warp has its turn.
// This is the most even interleaving of warps; it never splits the lanes of a warp.  `start`
// selects the warp that begins, and the direction of the default policy's order (start.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/schedule.hpp"
#include "vgpu/schedule/start.hpp"

namespace warpcheck::vgpu {

class RoundRobin final : public Strategy {
 public:
  explicit RoundRobin(std::uint64_t period, std::uint64_t start = 0)
      : period_(period == 0 ? 1 : period), start_(start) {}

  StartOrder choose_start(const StartPoint& point) override { return nth_start(start_, point); }
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  [[nodiscard]] bool decides_stops() const override { return true; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  // Chooses the second operation, so that streams take turns.
  std::uint32_t choose_operation(const OperationPoint& point) override { return point.ready[1]; }

 private:
  std::uint64_t period_, start_;
};

}  // namespace warpcheck::vgpu
