// Detects launches that make no progress: deadlocks, and launches that only poll.
//
// Warp operations, barriers and mbarriers belong to one block.  So a block in which no thread can
// run is a deadlock, which is found at once.  A look-ahead finds launches that only poll
// (lookahead.hpp).  It runs for the first time when no block has ended for Limits::look_after
// steps, then at intervals that grow with the cost of a look-ahead, and as soon as all warps that
// could run are known to poll in vain (polls.hpp).  A launch that only polls waits for concurrent
// work (concurrent_work.hpp); without such work it is a deadlock.
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
  struct Dependencies {
    Blocks& blocks;
    WarpMeetings& meetings;
    NamedBarriers& named_barriers;
    const WaitingThreads& waiting_threads;
    Lookahead::Dependencies lookahead;
  };
  Progress(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch), dependencies_(dependencies) {}

  void begin_launch();
  // Releases threads of a block in which no thread can run, if they are blocked by misuse that can
  // be reported.  False: it is a deadlock, which has been reported.
  bool unblock(Slot& slot);
  // looks_at(): the number of steps of the launch at which cannot_end() is due. must_look():
  // whether it is due.
  [[nodiscard]] std::uint64_t looks_at() const { return look_at_; }
  [[nodiscard]] bool must_look() const { return launch_.steps() >= look_at_; }
  // Returns whether the launch is deadlocked, and reports it.
  bool cannot_end();
  // Returns whether the last look-ahead was complete, and found that the launch may go on.
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  // Called when all warps that could run poll in vain.
  void look_soon() {
    const bool is_shared = launch_.request().share != nullptr;
    if (concurrent_work_ != nullptr || is_shared) {
      look_at_ = std::min(look_at_, soonest_look_);
    } else if (!account_.is_overdrawn(launch_.steps())) {
      look_at_ = std::min(look_at_, looked_at_ + launch_.limits().look_after);
    }
  }
  // Called when the next look-ahead is worth what it costs.
  void look_when_paid() {
    const std::uint64_t soon = looked_at_ + launch_.limits().look_after;
    look_at_ = std::min(look_at_, std::max(account_.next_look(), soon));
  }
  // Called when the launch has used up its steps.  It may be deadlocked nevertheless.
  Outcome::End end_at_step_limit(Slot& slot, Warp& warp);

 private:
  bool release_stuck(Slot& slot);
  bool look_ahead(LookCost& cost, std::uint64_t& steps);
  void give_up_share_of_waiting_block();
  void choose_next_look(std::uint64_t steps);
  [[nodiscard]] bool all_seem_to_poll() const;
  [[nodiscard]] std::uint64_t steps_until_watched() const;
  // Returns whether blocks that had not begun can begin now.
  bool admit_more();
  [[nodiscard]] bool may_be_told_something(const Lookahead& ahead);

  RunningLaunch& launch_;
  Dependencies dependencies_;
  LookAccount account_;
  std::uint64_t looked_at_ = 0;  // the number of warp instructions at the last look-ahead
  // The number of warp instructions at which the next look-ahead runs.
  std::uint64_t look_at_ = 0;
  std::uint32_t blocks_ended_at_look_ = 0;
  std::uint32_t looks_ = 0;
  // the number of latest looks that saw memory return to an earlier state
  std::uint32_t repeating_looks_ = 0;
  std::uint64_t repeats_since_ = 0;  // in steps
  std::uint32_t restless_block_ = 0;
  bool goes_on_ = false;
  ConcurrentWork* concurrent_work_ = nullptr;  // null: there is none
  bool is_told_ = false;                       // may_be_told_something()
  std::uint64_t soonest_look_ = 0;
  // between looks, since the launch waited for concurrent work; 0: it has not waited
  std::uint64_t interval_ = 0;
  enum class Reads : std::uint8_t { not_known, strongly, weakly } reads_ = Reads::not_known;
};

}  // namespace warpcheck::vgpu
