// Weak memory: loads may return older writes than the latest, and stores may be placed before
// earlier writes, wherever the PTX memory model allows it (ISA chapter 8).
//
// check/weak determines what is allowed; this strategy chooses among that.  It schedules warps as
// `random` does for the same seed, so a launch without such choices runs as it does there.  As in
// probabilistic testing for weak memory (Gao, Chakraborty, Ozkan, ASPLOS 2023), a few choices at
// the right places show most defects: each launch draws how rare its choices are, and mostly also
// their maximal number.
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
  std::uint64_t odds_ = 2;    // one load in this many gets an older write
  std::optional<std::pair<WarpId, std::uint64_t>> latest_;  // the latest choice: warp and access
};

}  // namespace warpcheck::vgpu
