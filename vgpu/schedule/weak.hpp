// Weak memory: loads may return older writes than the latest, and stores may come before writes
// that were made earlier, wherever the PTX memory model allows it (ISA chapter 8).
//
// What is allowed is found out by whoever runs the launch (check/weak); here it is chosen.  Warps
// are scheduled as `random` does for the same seed, so that a launch in which nothing is left to
// choose runs as it does there.  As in probabilistic testing for weak memory (Gao, Chakraborty,
// Ozkan, ASPLOS 2023), few choices at the right places show most defects: each launch draws how
// rare they are, and mostly how many it may take.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "vgpu/schedule/random.hpp"

namespace warpcheck::vgpu {

class Weak final : public Strategy {
 public:
  explicit Weak(std::uint64_t seed) : order_(seed), prng_(seed ^ 0x5765'616b'5061'7374u) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override {
    return order_.next_access(launch, warp, from);
  }
  StartOrder choose_start(const StartPoint& point) override { return order_.choose_start(point); }
  [[nodiscard]] bool decides_stops() const override { return order_.decides_stops(); }
  [[nodiscard]] bool decides_releases() const override { return order_.decides_releases(); }
  std::optional<Choice> decide(const SchedulePoint& point) override { return order_.decide(point); }
  std::uint32_t choose_operation(const OperationPoint& point) override {
    return order_.choose_operation(point);
  }
  [[nodiscard]] bool chooses_past(std::uint32_t) const override { return true; }
  std::optional<PastChoice> choose_past(const PastPoint& point) override;

 private:
  Random order_;
  Prng prng_;
  std::uint64_t budget_ = 0;  // choices left in this launch
  std::uint64_t odds_ = 2;    // one load in so many is given an older write
  std::optional<std::pair<WarpId, std::uint64_t>> latest_;  // choice: at which access
};

}  // namespace warpcheck::vgpu
