// Random scheduling with few decisions.
//
// A uniformly random choice at every access almost never produces the one long delay that a race
// needs, and its schedules are unreadable.  So each launch draws how rare its decisions are and how
// many it may take (mostly 1 to 8, sometimes no limit); the accesses in between cost nothing, as
// their number is drawn from a geometric distribution.
// Under `independent` a decision mostly splits the lanes of a warp; else it preempts the warp.
// Which warp comes first is decided in every launch, whatever the budget: see start.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/prng.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Random final : public Strategy {
 public:
  // accesses_per_warp: how many accesses a warp is guessed to make; sets how rare the rarest
  // decisions are.
  explicit Random(std::uint64_t seed, std::uint64_t accesses_per_warp = 64)
      : seed_(seed), prng_(seed), accesses_per_warp_(accesses_per_warp) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  StartOrder choose_start(const StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return budget_ != 0; }
  [[nodiscard]] bool decides_releases() const override { return budget_ != 0; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  // Half of the time another than the default's.
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
  std::uint64_t stop_odds_ = 1;  // one stop in so many is decided
  WarpId first_;                 // comes first in this launch
  std::uint32_t last_warp_ = 0;  // of a block: goes on first behind a barrier
  // Whether whole warps of the first block, and the first and last warp of every block, are left
  // alone while others could take over.
  bool spares_block_ = false, spares_warps_ = false;
};

}  // namespace warpcheck::vgpu
