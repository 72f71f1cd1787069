// Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatti, "A Randomized
// Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
//
// Every warp has a random priority, and the ready warp with the highest priority runs.  At d - 1
// randomly drawn change points, the priority of the running warp drops below all initial
// priorities, to a value that belongs to the change point.  A bug of depth d (d ordering
// constraints) in a launch of n warps and at most k accesses is found with probability >= 1 / (n
// k^(d-1)).
//
// That holds here for a given depth, with k = n * accesses_per_warp, if no warp makes more accesses
// than accesses_per_warp: a change point is an access of one warp, each with equal probability, so
// other accesses have no cost.  A warp that has used up its quantum, sleeps or polls is demoted,
// because it might otherwise wait for ever for a warp that never runs.  The warp with the highest
// initial priority is not drawn; launches take all warps in turn (start.hpp).  Each warp has the
// lowest priority as often as any other.
//
// Depth 0 is for programs whose depth and length are not known: each launch draws its depth, and
// change points whose order of magnitude is uniform.  Under `independent`, lanes are threads too:
// in two of three launches, three change points in four hold some lanes of the warp instead of
// demoting the warp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/schedule/prng.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Pct final : public Strategy {
 public:
  // depth: d; 0 draws 1 to 5 for every launch; 2 to 5 if there is only one warp.
  explicit Pct(std::uint64_t seed, unsigned depth = 0, std::uint64_t accesses_per_warp = 64)
      : seed_(seed),
        prng_(seed),
        depth_(depth),
        accesses_per_warp_(accesses_per_warp == 0 ? 1 : accesses_per_warp) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  StartOrder choose_start(const StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return true; }
  [[nodiscard]] bool decides_releases() const override { return true; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  std::uint32_t choose_operation(const OperationPoint& point) override;

 private:
  struct ChangePoint {
    WarpId warp;
    std::uint64_t index = 0;
  };
  struct Demotion {
    WarpId warp;
    std::uint64_t priority = 0;
  };

  // For a block that has not begun: its warp with the highest priority.
  struct Top {
    std::uint64_t salt = 0;
    std::uint32_t block = 0, warp = 0;
  };

  void demote(WarpId warp);
  void demote(WarpId warp, std::uint64_t priority);
  [[nodiscard]] std::uint64_t priority(WarpId warp) const;
  [[nodiscard]] WarpId top_of(std::uint32_t block, std::uint32_t warps);
  [[nodiscard]] WarpId highest(const SchedulePoint& point);

  std::uint64_t seed_;
  Prng prng_;
  unsigned depth_;
  std::uint64_t accesses_per_warp_;
  std::uint64_t salt_ = 0;  // a warp's priority in this launch is a hash of this and the warp
  bool holds_lanes_ = false;
  std::optional<WarpId> first_;  // has the highest priority until it is demoted
  std::vector<ChangePoint> changes_;
  std::vector<Demotion> demotions_;
  std::uint64_t lowest_ = 0;    // the lowest priority so far
  std::array<Top, 64> tops_{};  // a cache, by block
};

}  // namespace warpcheck::vgpu
