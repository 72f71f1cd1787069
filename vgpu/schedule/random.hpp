// Random scheduling with few decisions.
//
// A uniformly random choice at every access almost never produces the one long delay that a race
// needs, and its schedules are unreadable.  So each launch draws how rare its decisions are and how
// many it may take (mostly 1 to 8, sometimes without limit).  The accesses in between have no cost,
// because their number is drawn from a geometric distribution.  Under `independent`, a decision
// mostly splits the lanes of a warp; otherwise it preempts the warp.  Every launch also decides
// which warp comes first, whatever its budget is: see start.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/prng.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Random final : public Strategy {
 public:
  // accesses_per_warp: the assumed number of accesses of a warp; it determines how rare the rarest
  // decisions are.
  explicit Random(std::uint64_t seed, std::uint64_t accesses_per_warp = 64)
      : seed_(seed), prng_(seed), accesses_per_warp_(accesses_per_warp) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  StartOrder choose_start(const StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return budget_ != 0; }
  [[nodiscard]] bool decides_releases() const override { return budget_ != 0; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  // Chooses another operation than the default in half of the cases.
  std::uint32_t choose_operation(const OperationPoint& point) override;

 private:
  [[nodiscard]] bool spares(const WarpId& now, const WarpId& next) const;
  std::optional<Choice> decide_access(const SchedulePoint& point);
  std::optional<Choice> decide_stop(const SchedulePoint& point);

  std::uint64_t seed_;
  Prng prng_;
  std::uint64_t accesses_per_warp_;
  std::uint64_t budget_ = 0;     // decisions left in this launch
  std::uint64_t mean_gap_ = 1;   // accesses of a warp between two of its decisions
  std::uint64_t stop_odds_ = 1;  // one stop in this many is decided
  WarpId first_;                 // comes first in this launch
  std::uint32_t last_warp_ = 0;  // of a block: the first to continue after a barrier
  // Whether the warps of the first block, and the first and last warp of every block, are not
  // preempted while other warps could run instead.
  bool spares_block_ = false, spares_warps_ = false;
};

}  // namespace warpcheck::vgpu
