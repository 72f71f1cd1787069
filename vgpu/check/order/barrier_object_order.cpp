#include "vgpu/check/order/barrier_object_order.hpp"

#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {

void BarrierObjectOrder::forget(std::uint32_t allocation) {
  std::erase_if(states_, [&](const auto& state) { return state.first.first == allocation; });
}

void BarrierObjectOrder::clear() {
  states_.clear();
  awaited_.clear();
  relaxed_.clear();
}

void BarrierObjectOrder::complete_barrier(const WarpPlace& place) {
  if (relaxed_.empty()) return;
  const auto relaxed = relaxed_.find(order_.launches().block_key(place));
  if (relaxed != relaxed_.end()) relaxed->second.at_barrier = relaxed->second.observed;
}

bool BarrierObjectOrder::is_before_barrier(SegmentId earlier, unsigned earlier_lane,
                                           const WarpPlace& place) const {
  const auto relaxed = relaxed_.find(order_.launches().block_key(place));
  return relaxed != relaxed_.end() &&
         order_.knows(relaxed->second.at_barrier, earlier, earlier_lane);
}

void BarrierObjectOrder::add_seen(std::uint32_t allocation, VectorClock& known) const {
  for (const auto& [place, state] : states_) {
    if (place.first == allocation) known.join(state.seen);
  }
}

BarrierObjectOrder::Wait BarrierObjectOrder::wait_for(SegmentId copy, unsigned lane,
                                                      const WarpPlace& place) const {
  const auto relaxed = relaxed_.find(order_.launches().block_key(place));
  if (relaxed != relaxed_.end() && order_.knows(relaxed->second.observed, copy, lane)) {
    return Wait::relaxed;
  }
  for (const auto& [object, state] : states_) {
    if (order_.knows(state.seen, copy, lane)) return Wait::acquired;
  }
  return Wait::none;
}

bool BarrierObjectOrder::is_before_awaited(SegmentId earlier, unsigned earlier_lane,
                                           const WarpPlace& place, unsigned lane) const {
  const auto awaited = awaited_.find(order_.threads().key_of(place, lane));
  return awaited != awaited_.end() && order_.knows(awaited->second, earlier, earlier_lane);
}

void BarrierObjectOrder::pass(const BarrierObject& event, BlockKey block) {
  using Kind = BarrierObject::Kind;
  State& state = states_[{event.allocation->id, event.offset}];
  if (event.kind == Kind::init || event.kind == Kind::invalidate) {
    state = {};
    return;
  }
  if (event.kind == Kind::arrive && event.phase > state.phase) {
    state.phase = event.phase;
    state.before = state.current;
  }
  const bool is_near = block == order_.launches().block_key(event.place);
  const bool reaches = is_near || event.completes || event.scope != ptx::Scope::cta;
  VectorClock& into = is_near || event.completes ? state.current.near : state.current.far;
  if (event.completes) {
    const VectorClock done = order_.copies().complete({block, event.offset});
    into.join(done);
    state.arrived.join(done);
    return;
  }
  if (event.for_products) {
    // The arrival itself is an access by the object's agent, as that of a copy is.
    const VectorClock arrival = order_.copies().complete({block, event.offset});
    state.current.near.join(arrival);
    state.arrived.join(arrival);
    for_each_bit(event.mask, [&](unsigned lane) {
      VectorClock done = order_.copies().release_products(event.place, lane);
      // The products come after what their thread knew of: copies that brought their operands.
      done.join(order_.threads().at(event.place, lane).knows);
      state.current.near.join(done);
      state.arrived.join(done);
    });
    return;
  }
  if (event.kind == Kind::wait) state.seen = state.arrived;
  //   lanes: one lane, or lanes that are alike
  const auto pass_lanes = [&](std::uint32_t lanes) {
    if (event.kind == Kind::arrive) {
      const VectorClock done = arrive(event, lanes, reaches ? &into : nullptr);
      state.arrived.join(done);
      state.current.all.join(done);
    } else {
      wait(event, lanes, event.phase < state.phase ? state.before : state.current);
    }
  };
  if (event.for_copies) {
    for_each_bit(event.mask,
                 [&](unsigned lane) { into.join(order_.copies().release(event.place, lane)); });
  } else if (order_.threads().are_alike(event.place, event.mask)) {
    pass_lanes(event.mask);
  } else {
    for_each_bit(event.mask, [&](unsigned lane) { pass_lanes(1u << lane); });
  }
}

// A relaxed arrival releases what an earlier fence has released.  Returns what the lanes have done.
VectorClock BarrierObjectOrder::arrive(const BarrierObject& event, std::uint32_t lanes,
                                       VectorClock* into) {
  const auto reach = static_cast<std::size_t>(order_.launches().reach_of(event.scope));
  Threads& threads = order_.threads();
  VectorClock released;
  threads.for_each_actor(event.place, lanes, [&](ThreadState& self) {
    const Moment fence = self.fence[reach];
    released = threads.clock_of_alike(threads.release(event.place, self), event.place, lanes);
    if (into == nullptr) return;
    if (!event.relaxed) {
      into->join(released);
    } else if (fence.is_set) {
      into->join(threads.clock_of_alike(fence, event.place, lanes));
    }
  });
  return released;
}

// A later fence completes a relaxed wait.
void BarrierObjectOrder::wait(const BarrierObject& event, std::uint32_t lanes,
                              const Released& released) {
  VectorClock all = released.near;
  if (event.scope != ptx::Scope::cta) all.join(released.far);
  if (order_.launches().has_clusters()) {
    for_each_bit(lanes, [&](unsigned lane) {
      awaited_[order_.threads().key_of(event.place, lane)].join(released.all);
    });
  }
  Threads& threads = order_.threads();
  if (!event.relaxed) {
    const bool is_one = (lanes & (lanes - 1)) == 0;
    if (is_one) return threads.learn(event.place, static_cast<unsigned>(__builtin_ctz(lanes)), all);
    return threads.learn_together(event.place, lanes, all);
  }
  relaxed_[order_.launches().block_key(event.place)].observed.join(released.near);
  const ReleasedClocks released_clocks{released.near, all, all};
  threads.for_each_actor(event.place, lanes,
                         [&](ThreadState& self) { self.observed.join(released_clocks); });
}

}  // namespace warpcheck::vgpu
