// The order that mbarriers give (PTX ISA 9.7.13.15.16): an arrival releases into the current phase.
// A thread that sees a phase complete has acquired everything that arrived in this phase and in
// earlier ones, and all asynchronous accesses that the object has counted.  The first holds at
// scopes that include the other's thread.  The second holds at every scope, whichever block began
// the copy: its completion is an operation on this object, and only threads of the object's block
// can wait. The vendor's pipelines of multicast copies wait at block scope.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class BarrierObjectOrder {
 public:
  explicit BarrierObjectOrder(ThreadOrder& order) : order_(order) {}

  void clear();
  // Forgets the objects in a shared memory that another block gets.
  void forget(std::uint32_t allocation);
  //   block: the block whose shared memory holds the object
  void pass(const BarrierObject& event, BlockKey block);
  // Adds what the threads of a block have seen arrive at the objects in its shared memory.
  void add_seen(std::uint32_t allocation, VectorClock& known) const;
  // Returns whether a lane has waited for an arrival that comes after what another lane did,
  // whatever the scope of the arrival; known in launches of clusters.
  [[nodiscard]] bool is_before_awaited(SegmentId earlier, unsigned earlier_lane,
                                       const WarpPlace& place, unsigned lane) const;

  // A barrier of the block completes.
  void complete_barrier(const WarpPlace& place);
  // Returns whether a thread of the block has waited, relaxed, for what comes after an earlier
  // access, and then a barrier of the block completed.  A barrier is no fence, so by the letter
  // nothing is acquired; libcu++ counts on it in cuda::device::for_each_canceled_block.
  [[nodiscard]] bool is_before_barrier(SegmentId earlier, unsigned earlier_lane,
                                       const WarpPlace& place) const;
  // What a block's threads have done so far about the phase that counts an asynchronous copy.
  enum class Wait : std::uint8_t { none, relaxed, acquired };
  [[nodiscard]] Wait wait_for(SegmentId copy, unsigned lane, const WarpPlace& place) const;

 private:
  // What arrivals in this phase and in earlier ones have released.
  struct Released {
    VectorClock near;  // by threads of the object's own block, and by the completion of copies
    VectorClock far;   // by threads of other blocks, at scopes that reach the object's block
    VectorClock all;   // near, far, and arrivals at scopes that do not reach the object's block
  };
  struct State {
    std::uint64_t phase = 0;   // the latest one with an arrival
    Released current, before;  // in that phase, and as it began
    VectorClock arrived;       // all threads that have arrived, even without a release
    VectorClock seen;          // of that: before the latest completed wait
  };
  VectorClock arrive(const BarrierObject& event, std::uint32_t lanes, VectorClock* into);
  void wait(const BarrierObject& event, std::uint32_t lanes, const Released& released);

  ThreadOrder& order_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, State> states_;  // allocation, offset
  // What relaxed waits of a block's threads have observed: all, and before its latest barrier.
  struct Relaxed {
    VectorClock observed, at_barrier;
  };
  std::map<BlockKey, Relaxed> relaxed_;
  // What came before the arrivals that a thread has waited for; by thread.
  std::map<std::uint64_t, VectorClock> awaited_;
};

}  // namespace warpcheck::vgpu
