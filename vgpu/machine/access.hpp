// The events of the machine: accesses, synchronisation, faults; and the Observer that receives
// them.
//
// The machine does not depend on its observers.  It reports one Access per warp instruction and
// allocation, before the bytes move; rows that touch several allocations are split.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/memory/undefined.hpp"
#include "vgpu/machine/pattern.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct RowNotes;  // native/noted_rows.hpp

enum class AccessKind : std::uint8_t { read, write, atomic };

// The position of a warp in its launch, which identifies the thread of every lane.
struct WarpPlace {
  std::uint32_t block = 0;  // linear index in the grid
  std::uint32_t warp = 0;   // in the block; lane l is thread warp * 32 + l, linear
  std::uint32_t slot = 0;   // resident-block slot, dense and small
  std::uint32_t phase = 0;  // whole-block barriers completed by this block
};

struct Access {
  alignas(64) std::array<std::uint32_t, kWarpLanes> offset{};  // bytes from the allocation's start
  const Allocation* allocation = nullptr;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;                  // active lanes, all inside the allocation and aligned
  ptx::Space space = ptx::Space::generic;  // of the allocation, never generic
  AccessKind kind = AccessKind::read;
  Pattern pattern = Pattern::scattered;  // of the offsets
  std::uint8_t bytes = 0;                // per lane: 1 2 4 8 16 (a vector access is one access)
  ptx::Order order = ptx::Order::weak;
  ptx::Scope scope = ptx::Scope::none;
  // The access is part of a cp.async: no thread's program order contains it.  It comes after what
  // the issuing lane did before; until the lane waits for it (CopyWait), it comes before nothing
  // that the lane does.
  bool asynchronous = false;
  // The access is asynchronous and uses the asynchronous proxy: writes by loads and stores reach it
  // only across a fence (cp.async.bulk; PTX ISA 8.4, proxies).
  bool async_proxy = false;
  // Asynchronous accesses: the mbarrier that signals the completion; null: a thread waits for the
  // copy itself.
  const Allocation* object = nullptr;
  std::uint32_t object_offset = 0;
  // Lanes of a compare-and-swap that will find another value, so they read and do not write.  Set
  // only if Program::synchronizes_threads.
  std::uint32_t unwritten = 0;
  // Weak memory (null: not used): the write that element e of lane l finds, at index l * 4 + e. 0:
  // the latest write; kNoStrongSource: none of the strong writes; otherwise 1 + the number of
  // strong writes of the location after the one that it finds.
  const std::uint8_t* sources = nullptr;
  static constexpr std::uint8_t kNoStrongSource = 255;
  // The registers of the fragment while observers are told; null for weak accesses that are told as
  // rows, and for those of atomics that are performed later.
  const LaneBanks* registers = nullptr;
  // The values to be stored: one row of lanes per vector element, with `value_bytes` (4 or 8) per
  // lane in the row, of which `element_bytes` are stored.  Null for reads and atomics.
  std::array<const std::byte*, 4> values{};
  std::uint8_t value_bytes = 0;
  std::uint8_t element_bytes = 0;
  // Initialisation.  For a write: the lanes whose value is undefined.  For a read or atomic: an
  // observer sets it to the lanes whose loaded value is undefined.  `origin` is the pc of the load
  // that first read undefined bytes (kNone: none).
  std::uint32_t undefined = 0;
  std::uint32_t origin = ptx::kNone;
  ValueLanes of_values{};  // those of `undefined` whose undefined bits are a value
  // The undefined lanes of each element of a vector access; valid only if `undefined`, their union,
  // is not 0.
  std::array<UndefinedLanes, 4> of_element{};
  // Which bits of the values are undefined: those in the first 8 bytes of each lane's access, and
  // those in the other 8.  Valid for the lanes of `undefined`, if is_partial; otherwise all their
  // bits are undefined.
  bool is_partial = false;
  std::array<LaneBits, 2> undefined_bits{};

  [[nodiscard]] unsigned first_lane() const { return static_cast<unsigned>(__builtin_ctz(mask)); }
  // Returns the number of vector elements; 1 for a part of an element (local memory).
  [[nodiscard]] std::uint32_t elements() const {
    return bytes <= element_bytes ? 1 : bytes / std::uint32_t{element_bytes};
  }
  // Returns the undefined bits of up to 8 bytes from `byte` on, for a lane of `undefined`.  The
  // bytes must lie in one half of the access, and is_partial must be set.
  [[nodiscard]] std::uint64_t undefined_bits_at(std::uint32_t byte, std::uint32_t count,
                                                unsigned lane) const {
    return undefined_bits[byte / 8][lane] >> (8 * (byte % 8)) & ones_of(count);
  }
  [[nodiscard]] UndefinedLanes undefined_in(std::uint32_t element) const {
    return undefined == 0 || elements() == 1 ? UndefinedLanes{undefined, origin, of_values}
                                             : of_element[element];
  }
};

// The form of nearly all accesses: a weak load or store of one element or vector per lane, without
// undefined bits.  Observers that accept it receive it in place of an Access.
struct RowAccess {
  const Allocation* allocation = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  std::uint32_t first = 0;                 // offset of lane 0, active or not; unused if scattered
  ptx::Space space = ptx::Space::generic;  // this and the next members are as in Access
  AccessKind kind = AccessKind::read;
  Pattern pattern = Pattern::strided;
  std::uint8_t bytes = 0;
  std::uint8_t element_bytes = 0;
  // Scattered: the offset of each lane; an inactive lane has the offset of an active one.
  const std::uint32_t* offsets = nullptr;
};

// Returns the scope of a strong access, with the default if its instruction names none: .gpu for an
// atomic operation (PTX ISA 9.7.13.5), .sys for a volatile access (8.4.1).
inline ptx::Scope scope_of(const Instr& instr) {
  if (instr.modifiers.scope != ptx::Scope::none) return instr.modifiers.scope;
  const bool is_plain = instr.kind == InstrKind::load || instr.kind == InstrKind::store;
  return is_plain ? ptx::Scope::sys : ptx::Scope::gpu;
}

// A lane accesses an address where it must not.  The fault is reported before the lane is dropped
// from its access: a bad load gives 0, a bad store or atomic does nothing.
struct Fault {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    use_after_free,
    read_only,
    destroyed_object,  // `address` is the handle of a texture or surface
    block_exited,      // shared memory of a block of the cluster that has exited
    no_such_block,     // shared memory of a block that the cluster does not have
    no_peer_access,    // memory of another device to which this one has no access
  };
  Kind kind = Kind::out_of_bounds;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  ptx::Space space = ptx::Space::generic;  // the space that was meant
  AccessKind access = AccessKind::read;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;            // global: device address; shared, local: offset
  const Allocation* nearest = nullptr;  // at or below the address; for shared: the block's
  // The object that the address was computed from, if the code shows it (provenance.hpp); in shared
  // memory: the variable.
  const Allocation* meant = nullptr;
  const Symbol* symbol = nullptr;
  std::uint32_t block = 0;  // block_exited: that block; no_such_block: its rank
  unsigned device = 0;      // no_peer_access: the device that runs the launch
};

// Device code calls free(); reported before the memory is released.
struct HeapFree {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  const Allocation* allocation = nullptr;
};

// A lane launches a kernel, which comes after everything that the lane has done and knows.
struct DeviceLaunch {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  std::uint32_t number = 0;  // unique for each device launch
};

// Device code calls free() with a pointer at which no live allocation of the device heap begins.
struct InvalidFree {
  CodePlace at;
  std::uint64_t address = 0;
  ptx::Space space = ptx::Space::global;  // the space of the address
  const Allocation* nearest = nullptr;    // global: at or below the address; may be freed or null
};

// An undefined value is used where it can matter.
struct UndefinedUse {
  enum class Kind : std::uint8_t {
    address,
    branch,
    // Another lane, or a product of matrices, takes the result of a product of a warpgroup that has
    // not been waited for (wgmma.wait_group).
    handed_on,
    // Reported only to observers that follow values. operand: the value is not moved or calculated
    // with, but controls the instruction: it selects a barrier, lanes or a number of bytes.
    // instruction: `lanes` execute an instruction whose values are not followed; `origin` is its
    // own pc.
    operand,
    instruction,
  };
  Kind kind = Kind::branch;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t lanes = 0;
  std::uint32_t origin = ptx::kNone;  // pc of the load
};

struct Sync {
  enum class Kind : std::uint8_t {
    kernel_start,
    kernel_end,
    block_start,
    block_end,         // block_start: the slot's shared memory is undefined again
    barrier_complete,  // place.phase is the phase that begins
  };
  Kind kind = Kind::kernel_start;
  const Program* program = nullptr;
  WarpPlace place;                     // warp unused
  const Allocation* shared = nullptr;  // block_start: the slot's shared memory, or null
  Dim3 grid, block;                    // kernel_start
  Dim3 cluster;                        // kernel_start: blocks of a cluster
  bool has_ended = false;              // block_end: all threads of the block have exited
  // kernel_start: earlier launches of the trial, by Launch::index, that are not ordered before this
  // one (streams).  Usually none.
  std::span<const std::uint32_t> unordered_launches{};
  // kernel_start: the previous launch, if this one may begin before that has completed
  // (programmatic dependent launch); it is one of the unordered launches.  It comes before what
  // follows griddepcontrol.wait. kNone: there is none.
  std::uint32_t early_after = ptx::kNone;
  std::span<const std::byte> parameters{};  // kernel_start
  // kernel_start: DeviceLaunch::number; 0: launched by the host
  std::uint32_t launched_as = 0;
  // kernel_start: the device that runs the launch, and the number of devices
  unsigned device = 0, devices = 1;
};

// Lanes of one warp execute a fence: membar or fence (PTX ISA 9.7.13.4).  Reported before they
// continue.
struct Fence {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  ptx::Order order = ptx::Order::weak;  // acq_rel, sc, acquire or release
  ptx::Scope scope = ptx::Scope::none;
  bool object_inits = false;  // applies only to initialisations of mbarriers
  // A fence between the generic and the asynchronous proxy, in `space` (generic: in all spaces).
  // It does not order threads.
  bool proxy = false;
  ptx::Space space = ptx::Space::generic;
  // griddepcontrol, which orders nothing else.  The lanes wait for Sync::early_after and everything
  // that it has done, or they let the next launch begin.
  bool waits_for_grid = false, lets_grid_begin = false;
  [[nodiscard]] bool controls_grids() const { return waits_for_grid || lets_grid_begin; }
};

// Lanes of one warp.
struct WarpLanes {
  std::uint32_t warp = 0, lanes = 0;
};

// Threads of one block synchronised, but not by a barrier of the whole block: what `arrived` did
// before they arrived comes before what `released` do from now on. bar.warp.sync: both are the
// lanes of the member mask, in one warp.  Barriers of a part of the block: `released` are the
// threads that waited (bar.arrive does not wait).
struct Meeting {
  const Program* program = nullptr;
  WarpPlace place;  // warp: of bar.warp.sync; otherwise the number of the barrier
  // `released` is empty when threads arrive at a barrier without waiting (bar.arrive); another
  // Meeting follows when the barrier completes.
  std::span<const WarpLanes> arrived, released;
};

// Lanes of one warp executed shfl, vote, match, redux or another operation for which they waited
// for each other.  It orders no memory (PTX ISA 9.7.9).
struct Collective {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // lanes that executed this instruction
  // all lanes that met; some may have been at other instructions of the same kind
  std::uint32_t members = 0;
};

// Lanes arrive at an mbarrier, or observe that one of its phases is complete.  An arrival is a
// release at `scope` into the current phase; a wait is an acquire of everything that arrived in
// phases up to `phase`.
struct BarrierObject {
  enum class Kind : std::uint8_t { init, arrive, wait, invalidate };
  Kind kind = Kind::arrive;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  const Allocation* allocation = nullptr;  // holds the object
  std::uint32_t offset = 0;                // of the object in it
  std::uint64_t phase = 0;                 // counted from init
  ptx::Scope scope = ptx::Scope::cta;
  bool relaxed = false;  // orders no memory
  // arrive: on behalf of the asynchronous copies that the lanes have begun so far, and not of other
  // actions of the lanes (cp.async.mbarrier.arrive).
  bool for_copies = false;
  // arrive: not an arrival; asynchronous accesses that name this object are complete.
  bool completes = false;
};

// Lanes of one warp arrive at the barrier of their cluster, or continue after a wait for it.
struct ClusterBarrier {
  enum class Kind : std::uint8_t { arrive, wait };
  Kind kind = Kind::arrive;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t mask = 0;
  std::uint64_t phase = 0;  // of the barrier, counted from the cluster's beginning
  bool relaxed = false;     // arrive: releases nothing
};

// Lanes put the asynchronous copies that they began since their last group into a new group.
struct CopyCommit {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  bool bulk = false;  // of bulk copies, which have separate groups
};

// Lanes wait for their own asynchronous copies: the copies of all groups except the latest
// `groups_left` are complete and visible to these lanes.  A wait for all copies is a CopyCommit and
// a CopyWait for all groups.
struct CopyWait {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  std::uint32_t groups_left = 0;
  bool bulk = false;        // for bulk copies
  bool reads_only = false;  // bulk copies: only until their sources have been read
};

// Threads of one block wait at barriers that cannot be the same one, or lanes of one warp execute
// operations that cannot be the same one.
struct BarrierDivergence {
  enum class Reason : std::uint8_t {
    different_barriers,  // both wait for the whole block, at different barriers
    exited,              // the other thread has exited; from sm_70 on, barriers do not wait for it
    different_counts,    // one barrier, with different numbers of threads
    different_uses,      // one barrier, with .red and with .sync or .arrive
    bad_count,           // not a multiple of the warp size; no other side
    bad_number,          // no barrier has this number; no other side
    no_object,           // no mbarrier was initialised at the address; no other side
    too_many_arrivals,   // more than the mbarrier's phase expects; no other side
    not_a_member,        // the mask of a warp operation does not contain the lane; no other side
    elsewhere,           // a lane of the mask waits elsewhere
    arrived_already,     // at the cluster barrier, without a wait in between; no other side
    not_arrived,         // waits at the cluster barrier without having arrived; no other side
  };
  Reason reason = Reason::different_barriers;
  const Program* program = nullptr;
  WarpPlace place;       // of the first waiting thread's warp
  std::uint32_t pc = 0;  // where `lane` waits
  unsigned lane = 0;
  std::uint32_t other_pc = ptx::kNone;
  std::uint32_t other_warp = 0;
  unsigned other_lane = 0;
};

// The latest strong write or atomic to a location.
struct LastWrite {
  WarpPlace place;
  unsigned lane = 0;
  std::uint32_t pc = ptx::kNone;  // kNone: not known
  bool has_exited = false;        // the writing thread
};

// Lanes of one warp that cannot continue, and the reason.
struct Waiting {
  enum class Kind : std::uint8_t {
    barrier,  // for threads that have not arrived at barrier `number`
    members,  // for lanes of their warp that have not reached a warp operation
    reads,    // they poll: they read one location again and again
    rejoin,   // for lanes of their warp that are ahead of them (lockstep)
    cluster,  // for threads that have not arrived at the cluster barrier
    object,   // they poll the phase of an mbarrier
    runs,     // they still run, as far as the search looked
    exited,   // they have exited, and others of their block wait
  };
  Kind kind = Kind::barrier;
  WarpPlace place;
  std::uint32_t pc = 0;  // kNone: not known, for `exited`
  std::uint32_t lanes = 0;
  // barrier, cluster: numbers of threads; object: arrivals of its phase.
  std::uint32_t number = 0, arrived = 0, expected = 0;
  std::uint32_t missing = 0;  // members: lanes
  // reads: the location, and the first lane's last value.  Null: they read nothing.
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0, bytes = 0;
  std::uint64_t value = 0;
  LastWrite written{};  // reads: the last write there
  // object: the bytes that asynchronous copies must still bring in this phase; below 0: they have
  // brought more than expected.
  std::int32_t missing_bytes = 0;
};

// No thread of a block can continue, and no thread of another block can change that.  For a launch:
// no thread of it can ever change what any of them waits for, in any schedule.
struct Deadlock {
  const Program* program = nullptr;
  std::span<const Waiting> waiting;  // by block and warp; not empty
  bool of_launch = false;
  // For a launch: threads do write, but memory returns to an earlier state.
  bool repeats = false;
  // For a launch: the host can write a location that they poll, but the host waits for the launch.
  bool host_waits = false;
  std::uint64_t steps = 0;               // warp instructions so far
  std::uint32_t blocks_not_started = 0;  // they wait for the end of other blocks
};

// The launch exceeded the step limit, and no deadlock was found.
struct StepLimit {
  const Program* program = nullptr;
  WarpPlace place;  // of a warp that was running
  std::uint32_t pc = 0;
  unsigned lane = 0;
  std::uint64_t steps = 0;
  std::span<const Waiting> waiting{};  // by block and warp
  std::uint32_t blocks_not_started = 0;
};

// Lanes end the launch by a trap or an error.
struct Trap {
  enum class Cause : std::uint8_t {
    trap,
    breakpoint,      // brkpt without a debugger
    assertion,       // detail: "assertion failed: n < 3"
    bad_call,        // detail: what is wrong with the address
    bad_index,       // of brx.idx; detail
    stack_overflow,  // detail: how much was needed
    no_object,       // no texture or surface object has the handle; detail
    surface_bounds,  // a surface access outside with .trap; detail, object
    surface_alignment,
    faults,  // bad accesses that do not end; detail
  };
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t lanes = 0;
  Cause cause = Cause::trap;
  std::string_view detail{};
  std::string_view object{};  // of a surface access: the surface
};

// A lane prints text: printf(), or the message of a failed assertion.
struct Print {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  bool error = false;              // an assertion's: to stderr
  std::string_view text;           // formatted
  std::uint32_t record_bytes = 0;  // printf(): bytes of the buffer that the record used
};

// The place in the program's own code at which the host reads or writes memory without a call.
struct HostPlace {
  std::uint32_t id = 0;  // unique in the process
  std::string file{};    // empty: not known
  std::uint32_t line = 0;
  std::string code{};        // "main+0x2f"; empty: not known
  bool in_function = false;  // in a host function that a stream calls (cudaLaunchHostFunc)
};

// An access by the host: copies and fills (cudaMemcpy, cudaMemset), or a load or store.  It is
// ordered after all earlier launches except those in `unordered_launches`.
struct HostAccess {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0, bytes = 0;
  bool write = false;      // false: device to host
  bool undefined = false;  // write: a copy of undefined device bytes (device to device)
  bool frees = false;      // write: the memory is freed
  bool allocates = false;  // write: the memory begins to exist, in the order of a stream
  // By Launch::index, ascending; usually none.
  std::span<const std::uint32_t> unordered_launches{};
  const HostPlace* place = nullptr;  // of a load or store; null: a call
  std::string_view call{};           // the API function; empty: a load or store, or not known
  // size of the whole row, if this is a part of it; 0: it is the whole row
  std::uint64_t row_bytes = 0;
  // The bytes and their states have moved before: only the order of the access is new.
  bool ahead = false;
};

// A copy within device memory (cudaMemcpyDeviceToDevice), reported before the bytes move.
// Undefined bytes stay undefined; the copy does not use them.  The ranges may overlap.
struct DeviceCopy {
  const Allocation* target = nullptr;
  const Allocation* source = nullptr;
  std::uint32_t target_offset = 0, source_offset = 0, bytes = 0;
  std::span<const std::uint32_t> unordered_launches{};  // as in HostAccess
  std::string_view call{};                              // the API function; empty: not known
  bool ahead = false;                                   // as in HostAccess
};

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
  // True: the observer receives accesses if a load of the launch may find, past the coherent
  // caches, what the launch has written (Program::noncoherent_loads).
  bool noncoherent_loads : 1 = false;
  // on_sync() reports the beginning and the end of launches.
  bool launches : 1 = true;
  // on_sync() reports blocks and their barriers, too.
  bool blocks : 1 = true;
  // False: what happens to memory outside launches is not reported: on_allocate(), on_free(),
  // on_host_access(), on_late_host_access() and on_device_copy().
  bool memory : 1 = true;
  bool trial_end : 1 = false;  // on_trial_end()
  bool collectives : 1 = false;
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

// Receives the events of a launch.  Every function has an empty default, so an observer overrides
// only what it needs. on_access may set Access::undefined and Access::origin of reads.
class Observer {
 public:
  virtual ~Observer() = default;
  // Asked when the observer is added to a list (observer_list.hpp).
  [[nodiscard]] virtual Watched watches() const { return {}; }
  // Asked once per launch of an observer that watches accesses, and of one that watches
  // collectives, the latter after the launch has begun.
  [[nodiscard]] virtual bool watches_accesses_of(const Program&) const { return true; }
  [[nodiscard]] virtual bool watches_collectives_of(const Program&) const { return true; }
  virtual void on_access(Access&) {}
  // Receives an access as a RowAccess.  False: nothing was done, and the machine must call
  // on_access() with the access.
  virtual bool takes_row(const RowAccess&) { return false; }
  // Fills in the notes in which machine code records rows of a slot's shared memory in this launch
  // instead of calling takes_row().  Valid while the set of observers stays the same.  False: the
  // machine must report each row.
  virtual bool lends_notes(std::uint32_t /*slot*/, RowNotes&) { return false; }
  virtual void on_sync(const Sync&) {}
  virtual void on_fence(const Fence&) {}
  virtual void on_meeting(const Meeting&) {}
  virtual void on_collective(const Collective&) {}
  virtual void on_barrier_object(const BarrierObject&) {}
  virtual void on_cluster_barrier(const ClusterBarrier&) {}
  virtual void on_copy_commit(const CopyCommit&) {}
  virtual void on_copy_wait(const CopyWait&) {}
  virtual void on_fault(const Fault&) {}
  virtual void on_undefined_use(const UndefinedUse&) {}
  virtual void on_barrier_divergence(const BarrierDivergence&) {}
  virtual void on_deadlock(const Deadlock&) {}
  virtual void on_step_limit(const StepLimit&) {}
  virtual void on_trap(const Trap&) {}
  virtual void on_print(const Print&) {}
  virtual void on_allocate(const Allocation&) {}  // its bytes are undefined
  virtual void on_free(const Allocation&) {}
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
