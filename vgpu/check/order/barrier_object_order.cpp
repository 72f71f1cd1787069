#include "vgpu/check/order/barrier_object_order.hpp"

#include <bit>

namespace warpcheck::vgpu {

void BarrierObjectOrder::forget(std::uint32_t allocation) {
  std::erase_if(states_, [&](const auto& state) { return state.first.first == allocation; });
}

void BarrierObjectOrder::clear() {
  states_.clear();
  awaited_.clear();
}

void BarrierObjectOrder::add_seen(std::uint32_t allocation, VectorClock& known) const {
  for (const auto& [place, state] : states_) {
    if (place.first == allocation) known.join(state.seen);
  }
}

bool BarrierObjectOrder::is_before_awaited(SegmentId earlier, unsigned earlier_lane,
                                           const WarpPlace& place, unsigned lane) const {
  const auto awaited = awaited_.find(key_of(place, lane));
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
  if (event.kind == Kind::wait) state.seen = state.arrived;
  for (std::uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (event.for_copies) {
      into.join(order_.copies().release(event.place, lane));
    } else if (event.kind == Kind::arrive) {
      const VectorClock done = arrive(event, lane, reaches ? &into : nullptr);
      state.arrived.join(done);
      state.current.all.join(done);
    } else {
      wait(event, lane, event.phase < state.phase ? state.before : state.current);
    }
  }
}

// A relaxed arrival releases what an earlier fence has released.  Returns what the lane has done.
VectorClock BarrierObjectOrder::arrive(const BarrierObject& event, unsigned lane,
                                       VectorClock* into) {
  const auto reach = static_cast<std::size_t>(order_.launches().reach_of(event.scope));
  const Moment fence = order_.threads().at(event.place, lane).fence[reach];
  VectorClock released =
      order_.threads().clock_of(order_.threads().release(event.place, lane), event.place, lane);
  if (into == nullptr) return released;
  if (!event.relaxed) {
    into->join(released);
  } else if (fence.is_set) {
    into->join(order_.threads().clock_of(fence, event.place, lane));
  }
  return released;
}

// A later fence completes a relaxed wait.
void BarrierObjectOrder::wait(const BarrierObject& event, unsigned lane, const Released& released) {
  VectorClock all = released.near;
  if (event.scope != ptx::Scope::cta) all.join(released.far);
  if (order_.launches().has_clusters()) {
    awaited_[key_of(event.place, lane)].join(released.all);
  }
  if (!event.relaxed) return order_.threads().learn(event.place, lane, all);
  ReleasedClocks released_clocks{released.near, all, all};
  order_.threads().own(event.place, lane).observed.join(released_clocks);
}

}  // namespace warpcheck::vgpu
