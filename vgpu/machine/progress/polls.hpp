// Runs the turns of warps that may poll.
//
// A warp that has used up a quantum may be polling.  In its later turns, its accesses are watched
// (poll_watch.hpp).  If they only repeat themselves, a look-ahead examines the warp
// (lookahead_polls.cpp).  If the warp can only poll as long as what it reads is unchanged, its turn
// ends, and it gets no further turn until that has changed.  If the lanes that are running only
// poll while other lanes of the warp are ready, the other lanes continue the turn: the lane that
// polls may wait for a barrier at which they have to arrive.
//
// A turn is watched from its beginning until the accesses are found to be work.  A turn of a warp
// that has polled before is watched repeatedly, at intervals that double.  Warps that work are
// watched less and less often.
#pragma once

#include "vgpu/machine/progress/lookahead.hpp"
#include "vgpu/machine/progress/poll_watch.hpp"
#include "vgpu/machine/progress/time_waits.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/warps.hpp"

namespace warpcheck::vgpu {

class Polls {
 public:
  Polls(RunningLaunch& launch, Warps& warps, TimeWaits& time_waits,
        const Lookahead::Dependencies& lookahead)
      : launch_(launch), warps_(warps), time_waits_(time_waits), lookahead_(lookahead) {}

  // Runs a warp's turn: a quantum, or the rest of one.
  Stop run(Slot& slot, Warp& warp);

 private:
  Stop run_turn(Slot& slot, Warp& warp);
  void begin_watched_quantum(Warp& warp);
  Stop run_watched(Slot& slot, Warp& warp);
  bool stops_polling(Slot& slot, Warp& warp);
  bool polls_beside_others(Slot& slot, Warp& warp, std::size_t fragment);
  template <class Look>
  bool look(Slot& slot, Look look);
  void note_places(Warp& warp) const;
  void watch_on(const Slot& slot, Warp& warp, std::uint32_t steps);

  RunningLaunch& launch_;
  Warps& warps_;
  TimeWaits& time_waits_;
  bool is_complete_ = false;  // the last look
  Lookahead::Dependencies lookahead_;
  PollWatch watch_;  // watches the accesses of the running warp
};

}  // namespace warpcheck::vgpu
