// The segments of a trial: stretches of one warp's execution in which no lane released or learned
// anything.  Accesses are recorded by their segment.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/check/order/clocks/vector_clock.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

using SegmentId = std::uint32_t;  // 0: none
inline constexpr SegmentId kSegmentsMax = 1u << 27;

struct Segment {
  BlockKey block = 0;
  Tick phase = 0;
  std::uint32_t launch = 0;  // in the trial
  std::uint32_t ticks = 0;   // index into the rows of ticks; 0: `tick` is that of all lanes
  Tick tick = 0;
  std::uint16_t warp = 0;
  bool asynchronous = false;
  bool async_proxy = false;
  // For asynchronous segments: the agent, and the block that counts its ticks.  An mbarrier is
  // one agent for all lanes; other agents have one number per lane.
  bool is_object = false;
  std::uint32_t agent = 0;
  BlockKey agent_block = 0;
};

class Segments {
 public:
  // The ticks of the lanes of a warp, or of their agents, at the start of a segment.
  using Ticks = std::array<Tick, kWarpLanes>;

  // Begins a trial.
  void reset();
  [[nodiscard]] const Segment& at(SegmentId id) const { return segments_[id]; }
  [[nodiscard]] Tick tick_of(const Segment& segment, unsigned lane) const {
    return segment.ticks == 0 ? segment.tick : ticks_[segment.ticks][lane];
  }
  // Returns whether program order orders what a lane did in segment `a` before what it does, or
  // what copies that it begins do, in segment `b`.
  [[nodiscard]] bool are_of_same_warp(SegmentId a, SegmentId b) const {
    const Segment &one = segments_[a], &other = segments_[b];
    return one.block == other.block && one.warp == other.warp && !one.asynchronous;
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(segments_.size()); }
  SegmentId add(const Segment& segment, const Ticks& ticks);
  // Adds a segment to be filled in where it is: a copy of what was just written in parts stalls the
  // host.
  Segment& add() { return segments_.emplace_back(); }
  void set_ticks(Segment& segment, const Ticks& ticks);
  // Returns the latest segment of an agent of this kind if it equals the new one; else adds that.
  SegmentId add_of_agent(const Segment& segment, const Ticks& ticks);
  // Returns a segment for everything that a warp did in an earlier launch, or in a phase of the
  // current one.
  SegmentId past(std::uint32_t launch, BlockKey block, std::uint32_t warp, Tick phase = 0);

  // Forgets all segments that are not `live` (by number), and renumbers the others in the same
  // order.  Returns the new number for each old number.  For a forgotten segment, and for the
  // number after the last, it is the new number of the next remaining segment.
  std::vector<SegmentId> forget(std::vector<bool> live);

 private:
  std::vector<Segment> segments_;             // the first is none
  std::vector<Ticks> ticks_;                  // of segments whose lanes differ
  using Past = std::array<std::uint64_t, 4>;  // launch, block, warp, phase
  std::map<Past, SegmentId> past_;
  Past latest_past_{};
  SegmentId latest_past_id_ = 0;  // 0: not known
  // the latest segment of an agent, by the kind of agent
  std::array<SegmentId, 4> last_agents_{};
};

}  // namespace warpcheck::vgpu
