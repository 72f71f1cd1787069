// Lets time pass faster while all threads of a launch only wait for it.
//
// Time counts warp instructions (scalars.cpp), so a wait for 50 ms would execute 50 million of
// them.  Turns of warps form rounds: a round is over when every warp that can run has used up its
// quantum, pauses or polls.  If in a round each of them has waited for time, has paused, or is
// known to poll in vain, nothing but time can end that.  Then time advances at the end of the round
// by a share of what has passed since the first such round.  A share, so that waits of different
// lengths end in their order.  A warp that may only poll is looked at first (polls.hpp,
// progress.hpp): threads that wait for ever also read the time, for their pauses, which would
// become absurd.
//
// A warp waits for time in a turn if it reads the time again and again and otherwise only accesses
// the same places: a counter may change, work goes elsewhere.  A pause (nanosleep) of a warp that
// does not look at the time may be one of a number of pauses, so time advances little beside it.
#pragma once

#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class TimeWaits {
 public:
  explicit TimeWaits(RunningLaunch& launch) : launch_(launch) {}

  // The quantum of a warp that has waited for time in its last turn.
  static constexpr std::uint32_t kQuantum = 256;

  void begin_launch() {
    is_used_ = is_waiting_ = needs_look_ = may_pass_ = wants_look_ = false;
    since_ = 0;
  }
  // Called after a turn of a warp.
  //   steps: of the turn
  void end_turn(Warp& warp, Stop stop, std::uint64_t steps);
  // Returns whether end_round() must be called.
  [[nodiscard]] bool is_used() const { return is_used_; }
  // Called when a look-ahead was complete and has not found that the launch is stuck.
  void may_pass() { may_pass_ = true; }
  // Returns whether time would pass faster after such a look-ahead.
  [[nodiscard]] bool wants_look() const { return wants_look_; }
  //   may_begin: there are blocks that can begin
  void end_round(bool may_begin);

 private:
  // Returns by how much time may advance at most; 0: a warp works.
  [[nodiscard]] std::uint64_t advance_max() const;

  RunningLaunch& launch_;
  bool is_used_ = false;  // a warp has read the time
  // Whether a warp waits that may only poll, whether a look-ahead says that it does more, and
  // whether one should.
  bool needs_look_ = false, may_pass_ = false, wants_look_ = false;
  bool is_waiting_ = false;  // all have waited in the last round
  std::uint64_t since_ = 0;  // the time at the beginning of the first such round
};

}  // namespace warpcheck::vgpu
