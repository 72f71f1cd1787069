// Decides whether other blocks must have their turn before a block continues.  A block that only
// polls across barriers never uses up a quantum (poll_watch.hpp).
#pragma once

#include "vgpu/machine/progress/poll_watch.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

// Watches one block at a time.
class BlockWatch {
 public:
  explicit BlockWatch(RunningLaunch& launch) : launch_(launch) {}

  void begin_launch() { end(); }
  // Called for a block that has stopped after at least Slot::watch_at steps of its turn.  Returns
  // whether its turn ends.
  [[nodiscard]] bool ends_turn(Slot& slot);
  // Called when the block has ended.
  void forget(const Slot& slot) {
    if (watched_ == &slot) end();
  }

 private:
  void begin(Slot& slot);
  void end();

  RunningLaunch& launch_;
  PollWatch watch_;
  const Slot* watched_ = nullptr;  // the block that is being watched
};

}  // namespace warpcheck::vgpu
