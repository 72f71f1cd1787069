// Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatti, "A Randomized
// Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
//
// Every warp has a random priority and the ready warp of highest priority runs; at d - 1 random
// change points the priority of the running warp drops below all others.  A bug of depth d (d
// ordering constraints) in a run of n warps and k accesses is met with probability >= 1 / (n
// k^(d-1)).
//
// Adapted: a change point is the k-th access of one warp, not the k-th step of the run, so that it
// costs nothing elsewhere; k is guessed with every order of magnitude alike, as the length of the
// run is not known.  Under `independent` lanes are the threads: three change points in four hold
// back some lanes of the warp instead of demoting it.  A warp that a barrier has just released
// takes over at the next stop or change point, not at once.  A warp that has used up its quantum,
// or sleeps or polls, is demoted, or it might wait for ever for one that never runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/schedule/prng.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Pct final : public Strategy {
 public:
  // depth: d; 0 draws 2 to 5 for every launch.
  explicit Pct(std::uint64_t seed, unsigned depth = 0, std::uint64_t accesses_per_warp = 64)
      : prng_(seed), depth_(depth), accesses_per_warp_(accesses_per_warp) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  [[nodiscard]] bool decides_stops() const override { return true; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  std::uint32_t choose_operation(const OperationPoint& point) override;

 private:
  struct ChangePoint {
    WarpId warp;
    std::uint64_t index = 0;
  };
  struct Demotion {
    WarpId warp;
    std::uint64_t rank = 0;  // later demotions are lower
  };

  void demote(WarpId warp);
  [[nodiscard]] std::uint64_t priority(WarpId warp) const;
  [[nodiscard]] WarpId highest(std::span<const WarpId> ready) const;

  Prng prng_;
  unsigned depth_;
  std::uint64_t accesses_per_warp_;
  std::uint64_t salt_ = 0;  // priorities of this launch are a hash of it and the warp
  std::vector<ChangePoint> changes_;
  std::vector<Demotion> demotions_;
  std::uint64_t rank_ = 0;
};

}  // namespace warpcheck::vgpu
