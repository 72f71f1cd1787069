// Turns of warps that poll.
//
// A warp that has used up a quantum may be polling.  In later turns its accesses are watched
// (poll_watch.hpp): where they only repeat themselves, the warp is looked at closely
// (lookahead_polls.cpp).  If it can do nothing but poll as long as what it reads is as it is, its
// turn is over, and it gets none until that has changed.
//
// A turn is watched from its begin on, until the accesses are seen to be work; that of a warp that
// has polled before, again and again, at intervals that double.  Warps that work are watched less
// and less often.
#pragma once

#include "vgpu/machine/progress/lookahead.hpp"
#include "vgpu/machine/progress/poll_watch.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/warps.hpp"

namespace warpcheck::vgpu {

class Polls {
 public:
  Polls(RunningLaunch& launch, Warps& warps, const Lookahead::Parts& lookahead)
      : launch_(launch), warps_(warps), lookahead_(lookahead) {}

  // A warp's turn: runs it for a quantum, or for what was left of one.
  Stop run(Slot& slot, Warp& warp);

 private:
  void begin_watched_quantum(Warp& warp);
  Stop run_watched(Slot& slot, Warp& warp);
  bool stops_polling(Slot& slot, Warp& warp);

  RunningLaunch& launch_;
  Warps& warps_;
  Lookahead::Parts lookahead_;
  PollWatch watch_;  // of the accesses of the running warp
};

}  // namespace warpcheck::vgpu
