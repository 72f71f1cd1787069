// The receiver of a machine's events: a checker, a log, a follower of coverage.  The machine does
// not depend on its observers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/events.hpp"
#include "vgpu/machine/instr_tally.hpp"

namespace warpcheck::vgpu {

struct AccessRecord;  // access/access_record.hpp
struct RowQueue;
struct AppendedRows;       // access/appended_rows.hpp
struct ProductRead;        // access/product_read.hpp
struct TensorMemoryEvent;  // tensor_memory/tensor_memory_event.hpp
class UndefinedMemory;     // undefined/undefined_memory.hpp

// What an observer wants the machine to mark as undefined, so that it can follow these values.
struct Following {
  // values that the observer marks; every decision that depends on one is reported
  bool values = false;
  // also values that depend on the order of threads: clocks, masks of active lanes
  bool order = false;
};

// Which frequent events an observer receives, and what the machine marks as undefined for it.
struct Watched {
  bool accesses : 1 = true;
  // Accesses to the shared memory of blocks, too.  Asked again once a launch has begun,
  // for the whole launch.
  bool shared : 1 = true;
  // The observer looks at no values, so plain accesses (RowAccess) come by on_rows().
  bool rows : 1 = false;
  // True: the observer receives accesses if a load of the launch may find, past the coherent
  // caches, what the launch has written (Program::noncoherent_loads).
  bool noncoherent_loads : 1 = false;
  // on_sync() reports the beginning and the end of launches.
  bool launches : 1 = true;
  // on_sync() reports blocks and their barriers, too.
  bool blocks : 1 = true;
  // False: what happens to memory outside launches is not reported: on_allocate(), on_hand_out(),
  // on_free(), on_host_access(), on_late_host_access() and on_device_copy().
  bool memory : 1 = true;
  bool trial_end : 1 = false;  // on_trial_end()
  bool collectives : 1 = false;
  bool frames : 1 = false;  // on_frame_end()
  // on_step() and on_step_end().  The launch is then interpreted, and no slower path is taken by
  // launches that no observer watches so closely.
  bool steps : 1 = false;
  // on_tally().  If all observers of rows watch tallies, rows that are counted there are not
  // reported, and those of a queue (queue_of()) are reported later than they are executed.
  bool tallies : 1 = false;
  // Registers that a thread has not written yet are undefined.
  bool unwritten_registers : 1 = false;
  // Following.  An observer that follows values replaces the initialisation checker, because both
  // mark registers as undefined.
  bool followed_values : 1 = false;
  bool followed_order : 1 = false;

  // None of the frequent events.
  static constexpr Watched rare() {
    return {.accesses = false, .launches = false, .blocks = false, .memory = false};
  }
};

// Receives the events of a launch, and changes nothing of it.  Every function has an empty default,
// so an observer overrides only what it needs.
class Observer {
 public:
  virtual ~Observer() = default;
  // Asked when the observer is added to a list (observer_list.hpp).
  [[nodiscard]] virtual Watched watches() const { return {}; }
  // Asked once per launch of an observer that watches accesses, and of one that watches
  // collectives, the latter after the launch has begun.
  [[nodiscard]] virtual bool watches_accesses_of(const Program&) const { return true; }
  [[nodiscard]] virtual bool watches_collectives_of(const Program&) const { return true; }
  // Returns the plane of undefined bits of memory that the machine is to keep for the observer;
  // null: it needs none.  Asked when the observer is added to a list, where at most one has a
  // plane.
  [[nodiscard]] virtual UndefinedMemory* undefined_memory() { return nullptr; }
  // An observer overrides one of these two functions and receives every access by it, interpreted
  // or in machine code: in batches, with what is accessed (Watched::rows makes that fast), or one
  // by one, with the registers and values and before the bytes move.  An observer of rows that
  // overrides both receives by on_access() what is no RowAccess.
  virtual void on_rows(const Program&, std::span<const RowAccess>) {}
  virtual void on_access(const Access& access) {
    const RowAccess row = row_of(access);
    on_rows(*access.program, {&row, 1});
  }
  // Receives an access as a RowAccess.  False: nothing was done, and the machine must call
  // on_access() with the access.  For checkers that decide most accesses by their rows, but some by
  // values and memory as they are before the bytes move: two racing stores of equal bytes are a
  // note.  on_rows() cannot ask for these, because its rows may have been executed, and on_access()
  // for all takes twice the time in machine code, where each access must be described.
  virtual bool takes_row(const RowAccess&) { return false; }
  // Receives rows that machine code has appended, as they are.  False: nothing was done, and the
  // machine must make RowAccesses of them and call on_rows(), which takes 60 host instructions a
  // row.
  virtual bool takes_appended(const Program&, const AppendedRows&) { return false; }
  // Receives the reads of a product.  False: nothing was done, and the machine must report them one
  // by one.  Observers of rows are asked first; one that returns true does not need them at all.
  virtual bool takes_product(const ProductRead&) { return false; }
  // Returns the record of accesses to a slot's shared memory, to which machine code may append rows
  // instead of calling takes_row().  Valid while the set of observers stays the same.  Null: each
  // row must be reported.
  virtual AccessRecord* record_of(std::uint32_t /*slot*/) { return nullptr; }
  // Returns the queue of an allocation, to which machine code may append weak reads, or atomics;
  // null: the observer needs no reads of it any more; nothing: each row must be reported.  Valid
  // for the launch.  Machine code appends only if it has the record of the slot, too.
  virtual std::optional<RowQueue*> queue_of(const Allocation&) { return std::nullopt; }
  // Before lanes execute an instruction, with their registers as it reads them; and when they have
  // executed it and go on.  Without on_step_end(), the lanes wait at the instruction, leave the
  // kernel, or are in another function or on both sides of a branch.
  virtual void on_step(const InstrStep&) {}
  virtual void on_step_end(const InstrStep&) {}
  // At the end of a launch, and now and then before, what the machine has counted of it since the
  // last time: by pc, and one more, because runs may end behind the last instruction.
  virtual void on_tally(const Program&, std::span<const InstrTally>) {}
  virtual void on_sync(const Sync&) {}
  virtual void on_fence(const Fence&) {}
  virtual void on_meeting(const Meeting&) {}
  virtual void on_collective(const Collective&) {}
  virtual void on_barrier_object(const BarrierObject&) {}
  virtual void on_cluster_barrier(const ClusterBarrier&) {}
  virtual void on_copy_commit(const CopyCommit&) {}
  virtual void on_copy_wait(const CopyWait&) {}
  // A tcgen05 instruction, before its accesses.
  virtual void on_tensor_memory(const TensorMemoryEvent&) {}
  virtual void on_fault(const Fault&) {}
  virtual void on_undefined_use(const UndefinedUse&) {}
  virtual void on_barrier_divergence(const BarrierDivergence&) {}
  virtual void on_deadlock(const Deadlock&) {}
  virtual void on_step_limit(const StepLimit&) {}
  virtual void on_trap(const Trap&) {}
  virtual void on_print(const Print&) {}
  virtual void on_allocate(const Allocation&) {}  // its bytes are undefined
  // A region in it has been handed out anew: its bytes are undefined.
  virtual void on_hand_out(const Allocation&, std::uint32_t /*offset*/, std::uint32_t /*bytes*/) {}
  virtual void on_free(const Allocation&) {}
  virtual void on_frame_end(const FrameEnd&) {}
  virtual void on_device_launch(const DeviceLaunch&) {}
  virtual void on_heap_free(const HeapFree&) {}  // on_free() follows
  virtual void on_invalid_free(const InvalidFree&) {}
  // left: the live allocations that are not variables of the program, ordered as by
  // DeviceMemory::live().
  virtual void on_trial_end(std::span<const Allocation* const> /*left*/) {}
  virtual void on_host_access(const HostAccess&) {}
  virtual void on_device_copy(const DeviceCopy&) {}
  // An operation uses bytes of the device, and observers receive no details of it: a library
  // function that the host computes, or a stream's wait for a value.
  //   call: "cublasSgemm"; lives as long as the process
  virtual void on_opaque_operation(std::string_view /*call*/) {}
  // An access that was already reported, with more unordered_launches: launches that have run since
  // then are not ordered with it either.  No bytes move; the call is only for the search for races.
  virtual void on_late_host_access(const HostAccess&) {}
  virtual void on_edge(std::uint32_t /*from*/, std::uint32_t /*to*/, const Program&) {}
};

}  // namespace warpcheck::vgpu
