// Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatti, "A Randomized
// Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
//
// Every warp has a random priority and the ready warp of highest priority runs; at d - 1 change
// points, which are drawn, the priority of the running warp drops below all that were there at
// first, to one that is the point's own.  A bug of depth d (d ordering constraints) in a launch of
// n warps and at most k accesses is met with probability >= 1 / (n k^(d-1)).
//
// That holds here for a depth that is given, with k = n * accesses_per_warp, as no warp makes more
// accesses than those: a change point is an access of one warp, each as likely, so that it costs
// nothing elsewhere.  A warp that has used up its quantum, or sleeps or polls, is demoted, or it
// might wait for ever for one that never runs.  Which warp has the highest priority at the start is
// not drawn but taken in turn (start.hpp); each has the lowest as often as any other.
//
// Depth 0 is for programs of which nobody knows how deep or long they are: each launch draws its
// depth, and change points whose order of magnitude is uniform.  Under `independent` lanes are
// threads, too: in two of three launches three change points in four hold back some lanes of the
// warp instead of demoting it.
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
  // depth: d; 0 draws 1 to 5 for every launch, of a warp that is alone 2 to 5.
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

  // Of a block that has not begun: its warp of highest priority.
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
  std::uint64_t salt_ = 0;  // priorities of this launch are a hash of it and the warp
  bool holds_lanes_ = false;
  std::optional<WarpId> first_;  // above all others, until it is demoted
  std::vector<ChangePoint> changes_;
  std::vector<Demotion> demotions_;
  std::uint64_t lowest_ = 0;    // priority so far
  std::array<Top, 64> tops_{};  // a cache, by block
};

}  // namespace warpcheck::vgpu
