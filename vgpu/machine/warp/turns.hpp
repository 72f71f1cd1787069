// Decides which warp runs next, by the default policy and by asking the strategy.
//
// Blocks that the device has admitted begin when one of their warps is chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/machine/blocks.hpp"
#include "vgpu/machine/progress/block_watch.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/machine/warp/words_ahead.hpp"

namespace warpcheck::vgpu {

class Turns {
 public:
  Turns(RunningLaunch& launch, const Clusters& clusters, const Blocks& blocks, BlockWatch& watch)
      : launch_(launch),
        clusters_(clusters),
        blocks_(blocks),
        watch_(watch),
        words_ahead_(launch) {}

  // Asks the strategy which block and warp come first in this launch.
  void begin_launch();
  // Chooses the first warp to run.  False: there is none.
  [[nodiscard]] bool choose_first(WarpId& next) { return default_next(false, next); }
  // Chooses what runs after a warp stopped by itself.  False: no warp can run. slot: of the stopped
  // warp; null if its block has ended.
  bool choose_after_stop(Stop stop, Slot* slot, const WarpId& stopped, std::uint64_t stop_index,
                         WarpId& next);
  // The running warp arrived last at a barrier and can continue: chooses what runs next.
  void choose_at_release(const Slot& slot, const Warp& warp, WarpId& next);
  // Returns whether choose_at_release() must be called.
  [[nodiscard]] bool decides_releases() const {
    return order_ != StartOrder{} || launch_.strategy().decides_releases();
  }
  // Asks the strategy before an access or a fence.  It may hold some lanes of the fragment, or stop
  // the whole warp.
  Step ask(RunningFragment& run, std::size_t index, std::uint32_t active, Decision::Point kind);
  // Returns whether the next warp is the first ready one of `slot`, as long as warps of that block
  // stop only at barriers and exits and one that has not yielded is ready.
  [[nodiscard]] bool keeps_block(const Slot& slot) const;
  // Returns whether, since the last call, no warp could do anything except poll in vain.
  [[nodiscard]] bool all_poll_in_vain() { return std::exchange(all_poll_in_vain_, false); }
  // Returns whether, since the last call, all warps that can run have had their turn.
  [[nodiscard]] bool round_has_ended() { return std::exchange(round_has_ended_, false); }
  // Valid after Stop::preempted.
  [[nodiscard]] const WarpId& preempted_to() const { return preempted_to_; }

 private:
  [[nodiscard]] std::uint64_t rank_of(const WarpId& id) const;
  template <class Visit>
  bool visit_in_order(Visit visit) const;
  [[nodiscard]] std::optional<WarpId> first_admitted() const;
  void list_ready();
  [[nodiscard]] bool default_next(bool after_current, WarpId& next);
  [[nodiscard]] bool search_next(bool after_current, WarpId& next);
  [[nodiscard]] SchedulePoint point_of(const WarpId& at, Decision::Point point,
                                       std::uint64_t index);
  [[nodiscard]] bool can_run(const WarpId& id) const;
  void record(const SchedulePoint& point, const Choice& choice);

  RunningLaunch& launch_;
  const Clusters& clusters_;
  const Blocks& blocks_;
  BlockWatch& watch_;
  WordsAhead words_ahead_;
  StartOrder order_;           // of the default policy
  std::vector<WarpId> ready_;  // scratch of list_ready()
  WarpId preempted_to_;
  bool all_poll_in_vain_ = false, round_has_ended_ = false;
};

}  // namespace warpcheck::vgpu
