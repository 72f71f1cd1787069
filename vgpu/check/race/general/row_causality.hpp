// The causality order (PTX ISA 8.9.5) between earlier accesses and the lanes of a row.
//
// Most rows follow accesses of few segments, so the answers for a segment are cached: in the row,
// and for the rows after it.  What comes before a segment once always comes before it.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/general/checked_row.hpp"

namespace warpcheck::vgpu {

class RowCausality {
 public:
  RowCausality(ThreadOrder& order, const BarrierObjectOrder& barrier_objects)
      : order_(order), barrier_objects_(barrier_objects) {}

  void forget_answers() {
    if (std::exchange(has_recent_, false)) recent_ = {};
  }
  // All segments below `first` come before the current launch.
  void begin_launch(SegmentId first) { first_unordered_ = first; }
  [[nodiscard]] SegmentId first_unordered() const { return first_unordered_; }
  //   renewed: the new numbers of segments, by their old numbers
  void renew_thresholds(const std::vector<SegmentId>& renewed) {
    first_unordered_ = renewed[first_unordered_];
  }
  // Completes a row that has its access, `now` and `first`.
  void begin(CheckedRow& row) {
    row.known.first = std::max(row.first, first_unordered_);
    // An earlier asynchronous copy of the same lane is not ordered by program order, so here no
    // segment counts as the lane's own.
    row.known.own = row.access->asynchronous ? kSegmentsMax - 1 : row.now;
    std::ranges::copy(recent_of(row.now).before, row.known.segments);
  }

  // Returns whether what a lane did in an earlier segment comes before what a lane of the row does.
  bool is_before(CheckedRow& row, SegmentId earlier, unsigned earlier_lane, unsigned lane) {
    if (earlier < row.known.first) return true;
    const WarpPlace& place = row.access->place;
    if (earlier == row.now && !row.access->asynchronous) {
      return order_.threads().actor_of(earlier_lane) == order_.threads().actor_of(lane) ||
             order_.before(earlier, earlier_lane, place, lane);
    }
    const ThreadOrder::Before answer = ask(row, earlier);
    if (answer == ThreadOrder::Before::all_lanes) return true;
    if (answer == ThreadOrder::Before::some_lanes &&
        order_.before(earlier, earlier_lane, place, lane)) {
      return true;
    }
    return row.access->async_proxy &&
           is_before_awaited_arrival(*row.access, earlier, earlier_lane, lane);
  }
  // Returns whether the segment's lanes come before all lanes of the row; false: not known.
  bool all_before(CheckedRow& row, SegmentId earlier) {
    if (earlier < row.known.first) return true;
    if (earlier == row.now && !row.access->asynchronous) return false;
    return ask(row, earlier) == ThreadOrder::Before::all_lanes;
  }

  // Does the same for lanes of a warp, or for their copies, in the segment `now`.
  bool all_before(SegmentId earlier, SegmentId now, const WarpPlace& place) {
    if (earlier < first_unordered_) return true;
    if (earlier == now) {  // copies of one warp are not ordered among themselves
      return order_.threads().is_lockstep() && !order_.segments().at(now).asynchronous;
    }
    Recent& recent = recent_of(now);
    if (std::ranges::find(recent.before, earlier) != recent.before.end()) return true;
    if (order_.before(earlier, now, place) != ThreadOrder::Before::all_lanes) return false;
    recent.add(earlier);
    return true;
  }

 private:
  // Some segments that come before all lanes of the segment `now`, the latest known first.
  struct Recent {
    SegmentId now = 0;
    std::array<SegmentId, 4> before{};
    void add(SegmentId earlier) {
      std::ranges::copy_backward(std::span(before).first<3>(), before.end());
      before[0] = earlier;
    }
  };
  static constexpr std::size_t kRecent = 256;

  Recent& recent_of(SegmentId now) {
    has_recent_ = true;
    Recent& recent = recent_[now % kRecent];
    if (recent.now != now) recent = {now, {}};
    return recent;
  }
  ThreadOrder::Before ask(CheckedRow& row, SegmentId earlier) {
    CheckedRow::Answer& answer = row.answers[earlier % row.answers.size()];
    if (answer.earlier != earlier) {
      answer = {earlier, order_.before(earlier, row.now, row.access->place)};
      if (answer.before == ThreadOrder::Before::all_lanes) remember(row, earlier);
    }
    return answer.before;
  }
  void remember(CheckedRow& row, SegmentId earlier) {
    Recent& recent = recent_[row.now % kRecent];
    if (std::ranges::find(recent.before, earlier) != recent.before.end()) return;
    recent.add(earlier);
    std::ranges::copy(recent.before, row.known.segments);
  }
  // Returns whether a lane that begins a copy has waited for an arrival that comes after the
  // earlier access.  By the letter, an arrival at block scope, the default, says nothing to other
  // blocks of the cluster.  The vendor's pipelines of multicast copies tell by such arrivals that a
  // tile may be overwritten: the threads that arrive have read it, so their values cannot change
  // any more.
  [[nodiscard]] bool is_before_awaited_arrival(const Access& access, SegmentId earlier,
                                               unsigned earlier_lane, unsigned lane) const {
    return access.space == ptx::Space::shared &&
           barrier_objects_.is_before_awaited(earlier, earlier_lane, access.place, lane);
  }

  ThreadOrder& order_;
  const BarrierObjectOrder& barrier_objects_;
  std::array<Recent, kRecent> recent_{};  // indexed by the segment `now`
  bool has_recent_ = false;
  SegmentId first_unordered_ = 0;
};

}  // namespace warpcheck::vgpu
