#include "vgpu/check/order/fence_order.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {
namespace {

bool fence_acquires(ptx::Order order) { return order != ptx::Order::release; }
bool fence_releases(ptx::Order order) { return order != ptx::Order::acquire; }

// Joins clocks, most of which equal the one before.
class Joiner {
 public:
  // Adds to `sum` what a clock knows.
  void add(VectorClock& sum, const VectorClock& clock) {
    if (clock.is_empty() || clock.is_same(last_)) return;
    sum.join(clock);
    last_ = clock;
  }

 private:
  VectorClock last_;
};

// Lets clocks, most of which equal the one before, learn the same news.
class Teacher {
 public:
  explicit Teacher(const VectorClock& news) : news_(news) {}
  void teach(VectorClock& clock) {
    if (!has_taught_ || !clock.is_same(before_)) {
      before_ = after_ = clock;
      after_.join(news_);
      has_taught_ = true;
    }
    clock = after_;
  }

 private:
  const VectorClock& news_;
  bool has_taught_ = false;
  VectorClock before_, after_;
};

}  // namespace

void FenceOrder::begin_block(const WarpPlace& place) {
  if (place.slot >= has_sc_.size()) has_sc_.resize(place.slot + 1);
  has_sc_[place.slot] = false;
}

// PTX ISA 8.8: a fence ends the acquire patterns that the strong reads before it have begun, and
// begins release patterns with the strong writes after it.
void FenceOrder::fence(const Fence& fence) {
  const Reach reach = launches_.reach_of(fence.scope);
  threads_.for_each_actor(fence.place, fence.mask, [&](ThreadState& self) {
    if (fence_acquires(fence.order)) {
      self.fold();
      if (!self.observed.is_empty()) threads_.learn(fence.place, self, self.observed.at(reach));
      if (reach == Reach::grid) self.forget_observed();
    }
    const bool is_sc = fence.order == ptx::Order::sc && reach == Reach::grid;
    if (is_sc && !self.sc_observed.is_empty()) {
      threads_.learn(fence.place, self, self.sc_observed);
      self.sc_observed = {};  // whoever meets this thread learns it
    }
    if (!fence_releases(fence.order)) return;
    const Moment moment = threads_.release(fence.place, self);
    for (const Reach near : kReaches) {
      if (near <= reach) self.fence[static_cast<std::size_t>(near)] = moment;
    }
    if (!is_sc) return;
    self.fence.sc = moment;
    has_sc_[fence.place.slot] = true;
  });
}

void FenceOrder::observe_sc(const WarpPlace& place, unsigned lane, const VectorClock& released) {
  threads_.own(place, lane).sc_observed.join(released);
  has_sc_[place.slot] = true;
}

void FenceOrder::complete_barrier(const WarpPlace& place) {
  if (!has_sc(place)) return;
  Told all;
  WarpPlace at = place;
  for (at.warp = 0; at.warp < threads_.warps(); ++at.warp) {
    gather(at, threads_.lanes_of(at.warp), all);
  }
  for (at.warp = 0; at.warp < threads_.warps(); ++at.warp) {
    hand_on(at, threads_.lanes_of(at.warp), all);
  }
  has_sc_[place.slot] = false;
}

void FenceOrder::gather(const WarpPlace& place, std::uint32_t lanes, Told& all) const {
  Joiner observed, of_others, known;
  //   count: of threads with the same state, from the lane on
  const auto add = [&](unsigned lane, std::uint32_t count) {
    const ThreadState& self = threads_.at(place, lane);
    observed.add(all.observed, self.sc_observed);
    of_others.add(all.fenced, self.fence.sc_of_others);
    if (!self.fence.sc.is_set) return;
    known.add(all.fenced, self.fence.sc.knows);
    all.times.push_back(
        {threads_.thread_at(place, lane), self.fence.sc.ticks, self.fence.sc.phase, count});
    all.phase = std::max(all.phase, self.fence.sc.phase);
  };
  const std::uint32_t actors = threads_.actors_of(lanes & threads_.lanes_of(place.warp));
  if (threads_.are_alike(place, lanes)) {
    return add(0, static_cast<std::uint32_t>(std::popcount(actors)));
  }
  for_each_bit(actors, [&](unsigned lane) { add(lane, 1); });
}

void FenceOrder::hand_on(const WarpPlace& place, std::uint32_t lanes, Told& all) {
  if (!all.times.empty()) {
    arrange(all.times);
    all.fenced.learn(launches_.block_key(place), all.phase, all.times);
    all.times.clear();
  }
  if (all.fenced.is_empty() && all.observed.is_empty()) return;
  Teacher fenced(all.fenced), observed(all.observed);
  threads_.for_each_actor(place, lanes, [&](ThreadState& self) {
    if (!all.fenced.is_empty()) fenced.teach(self.fence.sc_of_others);
    if (!all.observed.is_empty()) observed.teach(self.sc_observed);
  });
  has_sc_[place.slot] = true;
  threads_.changed(place);
}

}  // namespace warpcheck::vgpu
