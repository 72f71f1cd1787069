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

// Gathers what threads tell each other about fence.sc.
class Gatherer {
 public:
  Gatherer(const Threads& threads, FenceOrder::Told& all) : threads_(threads), all_(all) {}
  // Adds what some lanes of a warp tell.
  void add(const WarpPlace& place, std::uint32_t lanes) {
    const std::uint32_t actors = threads_.actors_of(lanes & threads_.lanes_of(place.warp));
    if (threads_.are_alike(place, lanes)) {
      return add(place, 0, static_cast<std::uint32_t>(std::popcount(actors)));
    }
    for_each_bit(actors, [&](unsigned lane) { add(place, lane, 1); });
  }

 private:
  //   count: of threads with the same state, from the lane on
  void add(const WarpPlace& place, unsigned lane, std::uint32_t count) {
    const ThreadState& self = threads_.at(place, lane);
    const Moment& sc = self.fence.sc;
    observed_.add(all_.observed, self.sc_observed);
    of_others_.add(all_.fenced, self.fence.sc_of_others);
    if (!sc.is_set) return;
    known_.add(all_.fenced, sc.knows);
    all_.times.push_back({threads_.thread_at(place, lane), sc.ticks, sc.phase, count});
    all_.phase = std::max(all_.phase, sc.phase);
  }

  const Threads& threads_;
  FenceOrder::Told& all_;
  Joiner observed_, of_others_, known_;
};

// Tells threads what was gathered.
class Messenger {
 public:
  Messenger(Threads& threads, const FenceOrder::Told& all)
      : threads_(threads),
        fenced_(all.fenced),
        observed_(all.observed),
        has_fenced_(!all.fenced.is_empty()),
        has_observed_(!all.observed.is_empty()) {}
  [[nodiscard]] bool has_news() const { return has_fenced_ || has_observed_; }
  void tell(const WarpPlace& place, std::uint32_t lanes) {
    threads_.for_each_actor(place, lanes, [&](ThreadState& self) {
      if (has_fenced_) fenced_.teach(self.fence.sc_of_others);
      if (has_observed_) observed_.teach(self.sc_observed);
    });
    threads_.changed(place);
  }

 private:
  Threads& threads_;
  Teacher fenced_, observed_;
  bool has_fenced_, has_observed_;
};

// Makes the times of fences a part of what was gathered.
void add_times(FenceOrder::Told& all, BlockKey block) {
  if (all.times.empty()) return;
  arrange(all.times);
  all.fenced.learn(block, all.phase, all.times);
  all.times.clear();
}

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

// Its warps mostly have done the same, so what they tell and learn is joined once.
void FenceOrder::complete_barrier(const WarpPlace& place) {
  if (!has_sc(place)) return;
  has_sc_[place.slot] = false;
  Told all;
  all.times.reserve(threads_.warps());
  WarpPlace at = place;
  Gatherer gatherer(threads_, all);
  for (at.warp = 0; at.warp < threads_.warps(); ++at.warp) {
    gatherer.add(at, threads_.lanes_of(at.warp));
  }
  add_times(all, launches_.block_key(place));
  Messenger messenger(threads_, all);
  if (!messenger.has_news()) return;
  for (at.warp = 0; at.warp < threads_.warps(); ++at.warp) {
    messenger.tell(at, threads_.lanes_of(at.warp));
  }
}

void FenceOrder::gather(const WarpPlace& place, std::uint32_t lanes, Told& all) const {
  Gatherer(threads_, all).add(place, lanes);
}

void FenceOrder::hand_on(const WarpPlace& place, std::uint32_t lanes, Told& all) {
  add_times(all, launches_.block_key(place));
  Messenger messenger(threads_, all);
  if (!messenger.has_news()) return;
  messenger.tell(place, lanes);
  has_sc_[place.slot] = true;
}

}  // namespace warpcheck::vgpu
