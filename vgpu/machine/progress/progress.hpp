// Threads that do not get on: where each group waits, and for what.
//
// Warp operations, barriers and mbarriers are of one block, so a block of which no thread can go on
// never will: that is found at once.  Launches that only poll are found by looking ahead
// (lookahead.hpp): for the first time when no block has ended for Limits::look_after steps, then
// again and again, at intervals that grow with what a look has cost; and as soon as all warps that
// could run are known to poll in vain (polls.hpp).  A launch that only polls waits for
// concurrent work (concurrent_work.hpp), and is a deadlock when there is none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "vgpu/machine/blocks.hpp"
#include "vgpu/machine/progress/lookahead.hpp"
#include "vgpu/machine/progress/waiting_threads.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/named_barriers.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class ConcurrentWork;

class Progress {
 public:
  struct Parts {
    const Blocks& blocks;
    WarpMeetings& meetings;
    NamedBarriers& named_barriers;
    const WaitingThreads& waiting_threads;
    Lookahead::Parts lookahead;
  };
  Progress(RunningLaunch& launch, const Parts& parts) : launch_(launch), parts_(parts) {}

  void begin_launch();
  // Lets threads of a block in which nothing can run go on, if what holds them up is misuse that
  // can be reported.  False: it is a deadlock, and is reported.
  bool unblock(Slot& slot);
  // After how many steps of the launch it is time for cannot_end(), and whether it is.
  [[nodiscard]] std::uint64_t looks_at() const { return look_at_; }
  [[nodiscard]] bool must_look() const { return launch_.outcome.steps >= look_at_; }
  // Whether the launch is deadlocked; then that is told.
  bool cannot_end();
  // All warps that could run poll in vain.
  void look_soon() {
    if (concurrent_work_ != nullptr) look_at_ = std::min(look_at_, soonest_look_);
  }
  // The launch has used up its steps.  It may be deadlocked all the same.
  Outcome::End end_at_step_limit(Slot& slot, Warp& warp);

 private:
  bool release_stuck(Slot& slot);
  bool look_ahead(std::uint64_t& cost);
  void choose_next_look(std::uint64_t cost);
  [[nodiscard]] bool may_be_told_something(const Lookahead& ahead);

  RunningLaunch& launch_;
  Parts parts_;
  // When it is looked whether the launch can end: after so many warp instructions.
  std::uint64_t look_at_ = 0;
  std::uint32_t blocks_ended_at_look_ = 0;
  std::uint32_t looks_ = 0;
  std::uint32_t repeating_looks_ = 0;  // the last so many saw memory come back
  std::uint64_t repeats_since_ = 0;    // steps
  std::uint32_t restless_block_ = 0;
  ConcurrentWork* concurrent_work_ = nullptr;  // null: there is none
  bool is_told_ = false;                       // may_be_told_something()
  std::uint64_t soonest_look_ = 0;
  std::uint64_t interval_ = 0;  // of looks, since the launch waited for concurrent work; 0: never
  enum class Reads : std::uint8_t { not_known, strongly, weakly } reads_ = Reads::not_known;
};

}  // namespace warpcheck::vgpu
