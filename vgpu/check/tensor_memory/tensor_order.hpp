// The order of operations on tensor memory (PTX ISA 9.0, 9.7.16.6): a part of the race checker, for
// programs with tcgen05 instructions alone.
//
// Loads, stores, products, copies and shifts are asynchronous.  An operation X comes before a
// conflicting Y
//   - of the same warp, if the two form a pipeline; or if X is a load or store that the warp has
//     waited for (tcgen05.wait); or if X is complete (below);
//   - of another warp, if X is complete; or if X is a load or store that has been waited for, or
//     forms a pipeline with Y, and tcgen05.fence::before_thread_sync follows X, and what follows
//     wait and fence synchronises with Y's thread, whose tcgen05.fence::after_thread_sync comes
//     between.
// A product, copy or shift is complete for a thread that knows of the phase of an mbarrier to which
// a tcgen05.commit of its thread behind it arrives, or of one to which that of an operation behind
// it in a pipeline arrives; an asynchronous Y also needs the fence::after_thread_sync.
//
// "The standard memory consistency model synchronization mechanisms also apply to the tcgen05
// family of instructions" (9.7.16.6.3): the two fences are for synchronisation that is not by
// release and acquire, as that of relaxed arrivals and waits.  So a program that has no fence of
// one kind, as those of the vendor's template library have none of either, needs none: there, an
// arrival orders what its thread has waited for only if it releases, and a wait only if it
// acquires.  A program that has fences of that kind relies on them: a missing one is an error.
// Without a release of its own, what is not complete is ordered by the assembler alone: a pipeline
// of two threads without before_thread_sync is a note.
//
// A copy behind a product of its own thread is no pipeline by the letter. The libraries that scale
// blocks copy the next scale factors over those of the last product without a wait: a note.
//
// Threads synchronise here by everything that orders their execution, relaxed waits included where
// fences make them count, but for flags in memory, which are not followed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/order/cluster_order.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/tensor_memory/tensor_memory_event.hpp"

namespace warpcheck::vgpu {

class TensorOrder {
 public:
  explicit TensorOrder(Reporter& reporter) : reporter_(reporter) {}

  void begin_launch(const Sync& sync, WarpModel model);
  void on_sync(const Sync& sync);
  void on_meeting(const Meeting& meeting) { order_.meet(meeting); }
  void on_barrier_object(const BarrierObject& event);
  void on_cluster_barrier(const ClusterBarrier& event);
  void on_tensor_memory(const TensorMemoryEvent& event);

 private:
  // When the warp of an operation did something; others know of it by what synchronises later.
  struct Moment {
    SegmentId segment = 0;
    Tick phase = 0;
    bool is_set = false;
  };
  // An operation on some words that nothing later has replaced.
  struct Operation {
    TensorArea area;
    TensorOp op{};
    WarpPlace place;
    std::uint32_t pc = 0;
    unsigned lane = 0;
    std::uint32_t number = 0;  // of the instruction's execution
    std::uint32_t accumulator = 0, rows = 0, columns = 0;
    ProductKind kind = ProductKind::f16;
    std::uint32_t ctas = 1;
    bool is_narrow_copy = false;
    SegmentId products = 0;  // product, copy, shift: of its thread's operations
    // The same of a later operation that is executed behind it in a pipeline.
    struct {
      SegmentId products = 0;
      unsigned lane = 0;
    } follower{};
    bool is_committed = false;
    Moment issued, waited, fenced;  // waited: load, store
  };
  // What a thread knew at its latest tcgen05.fence::after_thread_sync.
  struct After {
    VectorClock knows;
    Tick phase = 0;
    bool is_set = false;
  };
  enum class Missing : std::uint8_t {
    nothing,
    wait,            // tcgen05.wait, before the threads synchronise
    commit,          // tcgen05.commit
    phase,           // the thread does not know of the mbarrier's phase
    before_fence,    // tcgen05.fence::before_thread_sync
    after_fence,     // tcgen05.fence::after_thread_sync
    order,           // nothing orders the threads
    pipeline_fence,  // the same as before_fence, in a program that has none
    pair,            // a pair of one thread that is no pipeline, and that every library relies on
  };

  static bool is_move(TensorOp op) { return op == TensorOp::load || op == TensorOp::store; }
  static bool is_pipeline(const Operation& first, const Operation& second);
  [[nodiscard]] bool is_of_thread(const Operation& one, const WarpPlace& place, unsigned lane,
                                  TensorOp op) const;
  [[nodiscard]] Moment moment_of(const WarpPlace& place);
  void note(const TensorMemoryEvent& event);
  void access(const TensorMemoryEvent& event);
  [[nodiscard]] Missing missing(const Operation& earlier, const Operation& now) const;
  // What is missing where the threads have synchronised without a fence behind it.
  [[nodiscard]] Missing missing_after() const {
    return has_after_ ? Missing::after_fence : Missing::nothing;
  }
  // Returns whether the ISA names no order where libraries rely on one.
  static bool is_by_convention(Missing missing) {
    return missing == Missing::pair || missing == Missing::pipeline_fence;
  }
  [[nodiscard]] bool knows_products(const Operation& earlier, const WarpPlace& place, unsigned lane,
                                    bool at_fence) const;
  [[nodiscard]] bool knows(const Operation& earlier, const Moment& moment, const WarpPlace& place,
                           unsigned lane, bool at_fence) const;
  [[nodiscard]] const After& after_of(const WarpPlace& place, unsigned lane) const;
  void report(const Operation& earlier, const Operation& now, Missing missing);

  Reporter& reporter_;
  const Program* program_ = nullptr;
  bool has_before_ = false, has_after_ = false;  // tcgen05.fence of this kind
  ThreadOrder order_;
  BarrierObjectOrder objects_{order_};
  ClusterOrder clusters_{order_};
  std::map<const Allocation*, BlockKey> owners_;            // of shared memories
  std::map<std::uint32_t, std::vector<Operation>> blocks_;  // by block of the launch
  std::map<std::uint64_t, After> after_;                    // by thread
  std::uint32_t number_ = 0;
};

}  // namespace warpcheck::vgpu
