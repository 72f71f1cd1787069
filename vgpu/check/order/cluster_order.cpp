#include "vgpu/check/order/cluster_order.hpp"

#include <vector>

#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {
void ClusterOrder::clear() {
  barriers_.clear();
  fenced_inits_.clear();
  known_inits_.clear();
}

void ClusterOrder::pass(const ClusterBarrier& event) {
  State& state = barriers_[order_.launches().cluster_of(order_.launches().block_key(event.place))];
  if (event.kind == ClusterBarrier::Kind::wait) {
    return wait(event, event.phase < state.phase ? state.before : state.current);
  }
  if (event.phase > state.phase) {
    state.phase = event.phase;
    state.before = state.current;
  }
  if (event.relaxed) {
    arrive_relaxed(event, state.current);
  } else {
    arrive(event, state.current);
  }
}

void ClusterOrder::arrive(const ClusterBarrier& event, Released& released) {
  std::vector<ThreadTime> times;
  Tick phase = 0;
  for_each_bit(order_.threads().actors_of(event.mask), [&](unsigned lane) {
    const Moment moment = order_.threads().release(event.place, lane);
    released.all.join(moment.knows);
    phase = moment.phase;
    times.push_back({order_.threads().thread_at(event.place, lane), moment.ticks, moment.phase});
  });
  released.all.learn(order_.launches().block_key(event.place), phase, times);
}

void ClusterOrder::arrive_relaxed(const ClusterBarrier& event, Released& released) {
  for_each_bit(order_.threads().actors_of(event.mask), [&](unsigned lane) {
    const auto reach = static_cast<std::size_t>(order_.launches().reach_of(ptx::Scope::cluster));
    const Moment& fence = order_.threads().at(event.place, lane).fence[reach];
    if (fence.is_set) released.all.join(order_.threads().clock_of(fence, event.place, lane));
    const auto inits = fenced_inits_.find(order_.threads().key_of(event.place, lane));
    if (inits != fenced_inits_.end()) released.inits.join(inits->second);
  });
}

// Threads with equal knowledge learn the same, so they share the joined clock.
void ClusterOrder::wait(const ClusterBarrier& event, const Released& released) {
  VectorClock before, after;
  for_each_bit(order_.threads().actors_of(event.mask), [&](unsigned lane) {
    const VectorClock& knows = order_.threads().at(event.place, lane).knows;
    if (after.is_empty() || !before.is_same(knows)) {
      before = after = knows;
      after.join(released.all);
    }
    order_.threads().learn(event.place, lane, after);
    if (!released.inits.is_empty()) {
      known_inits_[order_.threads().key_of(event.place, lane)].join(released.inits);
    }
  });
}

void ClusterOrder::fence_object_inits(const Fence& fence) {
  for_each_bit(order_.threads().actors_of(fence.mask), [&](unsigned lane) {
    const Moment moment = order_.threads().release(fence.place, lane);
    fenced_inits_[order_.threads().key_of(fence.place, lane)] =
        order_.threads().clock_of(moment, fence.place, lane);
  });
}

bool ClusterOrder::knows_init(SegmentId init, unsigned init_lane, const WarpPlace& place,
                              unsigned lane) const {
  const auto known = known_inits_.find(order_.threads().key_of(place, lane));
  return known != known_inits_.end() && order_.knows(known->second, init, init_lane);
}

}  // namespace warpcheck::vgpu
