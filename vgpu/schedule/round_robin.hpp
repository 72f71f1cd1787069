// Round robin: every warp runs `period` memory accesses, then the next ready warp gets its turn.
// The most even interleaving of warps; it never splits the lanes of a warp.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class RoundRobin final : public Strategy {
 public:
  explicit RoundRobin(std::uint64_t period) : period_(period == 0 ? 1 : period) {}

  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  [[nodiscard]] bool decides_stops() const override { return true; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  // The second: streams take turns.
  std::uint32_t choose_operation(const OperationPoint& point) override { return point.ready[1]; }

 private:
  std::uint64_t period_;
};

}  // namespace warpcheck::vgpu
