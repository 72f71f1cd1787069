// What the machine tells the world: accesses, synchronisation, faults.
//
// The machine does not know that it is watched.  It reports one Access per warp instruction and
// allocation (rows that touch several allocations are split), before the bytes move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/memory/undefined.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct RowNotes;  // native/noted_rows.hpp

enum class AccessKind : std::uint8_t { read, write, atomic };

// How the offsets of the active lanes lie.  strided: offset[l] == offset[0] + l * bytes for every
// active lane (offset[0] is then nominal, and wraps below 0 when lane 0 is inactive);
// uniform: all the same.
enum class Pattern : std::uint8_t { scattered, strided, uniform };

// Enough to name every lane's thread.
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
  Pattern pattern = Pattern::scattered;
  std::uint8_t bytes = 0;  // a lane: 1 2 4 8 16 (vector accesses are one access)
  ptx::Order order = ptx::Order::weak;
  ptx::Scope scope = ptx::Scope::none;
  // A part of cp.async: made by nobody's thread, after what the issuing lane did before and, until
  // the lane waits for it (CopyWait), before nothing that the lane does.
  bool asynchronous = false;
  // Asynchronous, and by another way to memory than that of loads and stores: what those have
  // written reaches it only across a fence (cp.async.bulk; PTX ISA 8.4, proxies).
  bool async_proxy = false;
  // Asynchronous, and complete when this mbarrier says so; null: copies that a thread waits for.
  const Allocation* object = nullptr;
  std::uint32_t object_offset = 0;
  // Lanes of a compare-and-swap that will find another value: they read and do not write.  Told
  // where Program::synchronizes_threads.
  std::uint32_t unwritten = 0;
  // Weak memory (null: none): of element `e` of lane `l`, number l * 4 + e says which write it
  // finds: 0 the one that was made last, kNoStrongSource none of the strong ones, else how many
  // strong writes of the location were made since, and 1.
  const std::uint8_t* sources = nullptr;
  static constexpr std::uint8_t kNoStrongSource = 255;
  // Values to be stored: rows of lanes, `value_bytes` (4 or 8) a lane in the row and
  // `element_bytes` of them stored, one row per vector element.  Null for reads and atomics.
  std::array<const std::byte*, 4> values{};
  std::uint8_t value_bytes = 0;
  std::uint8_t element_bytes = 0;
  // Initialisation: for a write, the lanes whose value is undefined; for a read or atomic, set by
  // an observer to the lanes whose loaded value is undefined.  `origin` is the pc of the load
  // that first read undefined bytes (kNone: none).
  std::uint32_t undefined = 0;
  std::uint32_t origin = ptx::kNone;
  // The same by element of a vector access; holds only where `undefined`, the union, is not 0.
  std::array<UndefinedLanes, 4> of_element{};
  // Which bits of the values those are: the first 8 bytes of each lane's access, and the other 8.
  // Holds for the lanes of `undefined`, where is_partial; otherwise all their bits are undefined.
  bool is_partial = false;
  std::array<LaneBits, 2> undefined_bits{};

  [[nodiscard]] unsigned first_lane() const { return static_cast<unsigned>(__builtin_ctz(mask)); }
  // Elements of a vector; 1 for a part of an element (local memory).
  [[nodiscard]] std::uint32_t elements() const {
    return bytes <= element_bytes ? 1 : bytes / std::uint32_t{element_bytes};
  }
  // Of up to 8 bytes from `byte` on that lie in one half, for a lane of `undefined`; is_partial.
  [[nodiscard]] std::uint64_t undefined_bits_at(std::uint32_t byte, std::uint32_t count,
                                                unsigned lane) const {
    return undefined_bits[byte / 8][lane] >> (8 * (byte % 8)) & ones_of(count);
  }
  [[nodiscard]] UndefinedLanes undefined_in(std::uint32_t element) const {
    return undefined == 0 || elements() == 1 ? UndefinedLanes{undefined, origin}
                                             : of_element[element];
  }
};

// What nearly all accesses are: a weak load or store of one element or vector a lane, none of it
// undefined.  Told in place of an Access to who takes it.
struct RowAccess {
  const Allocation* allocation = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  std::uint32_t first = 0;                 // the offset of lane 0, active or not; not of scattered
  ptx::Space space = ptx::Space::generic;  // as in Access, and so are these
  AccessKind kind = AccessKind::read;
  Pattern pattern = Pattern::strided;
  std::uint8_t bytes = 0;
  std::uint8_t element_bytes = 0;
  // Scattered: of the lanes; of inactive ones, that of an active one.
  const std::uint32_t* offsets = nullptr;
};

// Of a strong access, whatever its instruction leaves out: .gpu of an atomic operation (PTX ISA
// 9.7.13.5), .sys of a volatile access (8.4.1).
inline ptx::Scope scope_of(const Instr& instr) {
  if (instr.modifiers.scope != ptx::Scope::none) return instr.modifiers.scope;
  const bool is_plain = instr.kind == InstrKind::load || instr.kind == InstrKind::store;
  return is_plain ? ptx::Scope::sys : ptx::Scope::gpu;
}

// A lane's address that no memory answers, before the lane is dropped from its access (a bad
// load gives 0, a bad store or atomic does nothing).
struct Fault {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    use_after_free,
    read_only,
    destroyed_object,  // `address` is the handle of a texture or surface
    block_exited,      // shared memory of a block of the cluster that has ended
    no_such_block,     // of a block that the cluster does not have
    no_peer_access,    // of another device, which this one has no access to
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
  const Allocation* nearest = nullptr;  // below or at the address; for shared: the block's
  // The object that the address was made from, where the code shows it (provenance.hpp); of shared
  // memory, the variable.
  const Allocation* meant = nullptr;
  const Symbol* symbol = nullptr;
  std::uint32_t block = 0;  // block_exited: which one; no_such_block: its rank
  unsigned device = 0;      // no_peer_access: that runs the launch
};

// free() of device code, before the memory goes.
struct HeapFree {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  const Allocation* allocation = nullptr;
};

// A lane launches a kernel, which comes after what the lane has done and knows.
struct DeviceLaunch {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  std::uint32_t number = 0;  // another one for each
};

// free() of a pointer that no live allocation of the device heap begins at.
struct InvalidFree {
  CodePlace at;
  std::uint64_t address = 0;
  ptx::Space space = ptx::Space::global;  // that the address lies in
  const Allocation* nearest = nullptr;    // global: at or below the address; may be freed or null
};

// A use of an undefined value that can matter.
struct UndefinedUse {
  enum class Kind : std::uint8_t {
    address,
    branch,
    // Told to observers that follow values alone.  operand: it says what an instruction does, and
    // is no value that it moves or calculates with: which barrier, which lanes, how many bytes.
    // instruction: one that is not followed at all; `lanes` execute it, and `origin` is its own pc.
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
  bool has_ended = false;              // block_end: all its threads have exited
  // kernel_start: earlier launches of the trial, by Launch::index, that nothing orders before
  // this one (streams).  Usually none.
  std::span<const std::uint32_t> unordered_launches{};
  // kernel_start: of these, the one before, if this one may begin before that has completed
  // (programmatic dependent launch): it comes before what follows griddepcontrol.wait.  Or kNone.
  std::uint32_t early_after = ptx::kNone;
  std::span<const std::byte> parameters{};  // kernel_start
  std::uint32_t launched_as = 0;            // kernel_start: DeviceLaunch::number; 0: by the host
  unsigned device = 0, devices = 1;  // kernel_start: that runs the launch, and how many there are
};

// Lanes of one warp execute a fence: membar or fence (PTX ISA 9.7.13.4), before they go on.
struct Fence {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  ptx::Order order = ptx::Order::weak;  // acq_rel, sc, acquire or release
  ptx::Scope scope = ptx::Scope::none;
  bool object_inits = false;  // concerns initialisations of mbarriers alone
  // Between loads and stores and the asynchronous proxy, in `space` (generic: everywhere); it
  // orders no threads.
  bool proxy = false;
  ptx::Space space = ptx::Space::generic;
  // griddepcontrol, which orders nothing else: the lanes wait for Sync::early_after and all that it
  // has done, or let the next launch begin.
  bool waits_for_grid = false, lets_grid_begin = false;
  [[nodiscard]] bool controls_grids() const { return waits_for_grid || lets_grid_begin; }
};

// Lanes of one warp.
struct WarpLanes {
  std::uint32_t warp = 0, lanes = 0;
};

// Threads of one block that synchronised, other than by a barrier of the whole block: what
// `arrived` did before they arrived comes before what `released` do from now on.
//   bar.warp.sync: both are the member mask, of one warp; barriers of a part of the block:
//   `released` are those that waited (bar.arrive waits for nothing).
struct Meeting {
  const Program* program = nullptr;
  WarpPlace place;  // warp: of bar.warp.sync; else the number of the barrier
  // Nobody is released when threads arrive at a barrier that they do not wait for (bar.arrive);
  // the meeting follows when it completes.
  std::span<const WarpLanes> arrived, released;
};

// Lanes of one warp executed shfl, vote, match, redux or another operation for which they waited
// for each other, and which orders no memory (PTX ISA 9.7.9).
struct Collective {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;     // that executed this instruction
  std::uint32_t members = 0;  // all that met: some may have been at instructions of the same kind
};

// Lanes arrive at an mbarrier, or see that one of its phases is complete.  An arrival is a release
// at `scope` into the phase that is current; a wait is an acquire of all that arrived in phases up
// to `phase`.
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
  bool relaxed = false;  // orders nothing
  // arrive: for the asynchronous copies that the lanes have begun so far, and for nothing that they
  // did themselves (cp.async.mbarrier.arrive).
  bool for_copies = false;
  // arrive: no arrival, but asynchronous accesses that name this object are complete.
  bool completes = false;
};

// Lanes of one warp arrive at the barrier of their cluster, or go on after having waited for it.
struct ClusterBarrier {
  enum class Kind : std::uint8_t { arrive, wait };
  Kind kind = Kind::arrive;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t mask = 0;
  std::uint64_t phase = 0;  // of the barrier, counted from the cluster's beginning
  bool relaxed = false;     // arrive: releases nothing
};

// Lanes put their asynchronous copies since their last group into a new one.
struct CopyCommit {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  bool bulk = false;  // of bulk copies, which have groups of their own
};

// Lanes wait for asynchronous copies of their own: those of all groups but the latest
// `groups_left` are complete and visible to these lanes.  A wait for all copies is a CopyCommit and
// a CopyWait for all groups.
struct CopyWait {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  std::uint32_t groups_left = 0;
  bool bulk = false;        // for bulk copies
  bool reads_only = false;  // of them: until their sources have been read
};

// Threads of one block that cannot have meant the same barrier, or lanes of one warp that cannot
// have meant the same operation.
struct BarrierDivergence {
  enum class Reason : std::uint8_t {
    different_barriers,  // each waits for the whole block, at another barrier
    exited,              // the other has exited: nobody waits for it from sm_70 on
    different_counts,    // one barrier, for another number of threads
    different_uses,      // one barrier, by .red and by .sync or .arrive
    bad_count,           // no multiple of the warp size; there is no other
    bad_number,          // no barrier has this number; there is no other
    no_object,           // no mbarrier was initialised there; there is no other
    too_many_arrivals,   // more than the mbarrier's phase waits for; there is no other
    not_a_member,        // a warp operation whose mask does not name the lane; there is no other
    elsewhere,           // a lane of its mask waits elsewhere
    arrived_already,     // at the barrier of the cluster, without waiting; there is no other
    not_arrived,         // waits for that barrier without having arrived; there is no other
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

// The strong write or atomic that gave a place its value.
struct LastWrite {
  WarpPlace place;
  unsigned lane = 0;
  std::uint32_t pc = ptx::kNone;  // kNone: nobody knows
  bool has_exited = false;        // who wrote it
};

// Lanes of one warp that do not get on, and why.
struct Waiting {
  enum class Kind : std::uint8_t {
    barrier,  // for threads to arrive at barrier `number`
    members,  // for lanes of their warp to arrive at an operation
    reads,    // nothing: they read one place again and again
    rejoin,   // for lanes of their warp that are ahead of them in order (lockstep)
    cluster,  // for threads to arrive at the barrier of the cluster
    object,   // as reads: for the phase of an mbarrier
    runs,     // they go on, as far as anybody looked
    exited,   // they have ended, and others of their block wait
  };
  Kind kind = Kind::barrier;
  WarpPlace place;
  std::uint32_t pc = 0;  // kNone: of `exited`, not known
  std::uint32_t lanes = 0;
  // barrier, cluster: threads; object: of its phase, arrivals.
  std::uint32_t number = 0, arrived = 0, expected = 0;
  std::uint32_t missing = 0;  // members: lanes
  // reads: where, and the first lane's last value.  Null: they read nothing.
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0, bytes = 0;
  std::uint64_t value = 0;
  LastWrite written{};  // reads: by whom
  // object: of its phase, bytes that asynchronous copies have still to bring; below 0: they have
  // brought more than was expected.
  std::int32_t missing_bytes = 0;
};

// No thread of a block can go on, and none of another can help; or, of a launch: no thread of it
// can ever change what any of them waits for, whichever runs next.
struct Deadlock {
  const Program* program = nullptr;
  std::span<const Waiting> waiting;  // by block and warp; not empty
  bool of_launch = false;
  // Of a launch: threads do write, but memory comes back to what it was.
  bool repeats = false;
  // Of a launch: a place that they read can be written by the host, which waits for the launch.
  bool host_waits = false;
  std::uint64_t steps = 0;               // warp instructions so far
  std::uint32_t blocks_not_started = 0;  // they wait for others to end
};

// The step limit was passed, and nothing says that the launch would not end.
struct StepLimit {
  const Program* program = nullptr;
  WarpPlace place;  // of a warp that was running
  std::uint32_t pc = 0;
  unsigned lane = 0;
  std::uint64_t steps = 0;
  std::span<const Waiting> waiting{};  // by block and warp
  std::uint32_t blocks_not_started = 0;
};

// Lanes end the launch.
struct Trap {
  enum class Cause : std::uint8_t {
    trap,
    breakpoint,      // and nobody there who debugs
    assertion,       // detail: "assertion failed: n < 3"
    bad_call,        // detail: what is wrong with the address
    bad_index,       // of brx.idx; detail
    stack_overflow,  // detail: how much was needed
    no_object,       // no texture or surface object has the handle; detail
    surface_bounds,  // a surface access outside with .trap; detail, object
    surface_alignment,
    faults,  // they do not end; detail
  };
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t lanes = 0;
  Cause cause = Cause::trap;
  std::string_view detail{};
  std::string_view object{};  // of a surface access: what it is about
};

// Text that a lane writes: printf(), or what a failed assertion says.
struct Print {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  unsigned lane = 0;
  bool error = false;              // an assertion's: to stderr
  std::string_view text;           // formatted
  std::uint32_t record_bytes = 0;  // what printf() took up of the buffer
};

// Where in the program's own code the host reads or writes memory by itself, without a call.
struct HostPlace {
  std::uint32_t id = 0;  // unique in the process
  std::string file{};    // empty: not known
  std::uint32_t line = 0;
  std::string code{};  // "main+0x2f"; empty: not known
};

// Host copies and fills (cudaMemcpy, cudaMemset): an access by the host, ordered after all earlier
// launches but those in `unordered_launches`.
struct HostAccess {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0, bytes = 0;
  bool write = false;      // false: device to host
  bool undefined = false;  // write: a copy of undefined device bytes (device to device)
  std::span<const std::uint32_t> unordered_launches{};  // by Launch::index; usually none
  const HostPlace* place = nullptr;                     // of a load or store; null: a call's
  std::uint64_t row_bytes = 0;  // of the row that these are a part of; 0: they are all of it
};

// A copy within device memory (cudaMemcpyDeviceToDevice), before the bytes move: it is no use of
// them, so undefined ones stay what they are.  The ranges may overlap.
struct DeviceCopy {
  const Allocation* target = nullptr;
  const Allocation* source = nullptr;
  std::uint32_t target_offset = 0, source_offset = 0, bytes = 0;
  std::span<const std::uint32_t> unordered_launches{};  // by Launch::index; usually none
};

// What an observer wants to be marked as undefined, so that it follows where values go.
struct Following {
  bool values = false;  // what the observer itself marks: nothing that these decide goes untold
  bool order = false;   // and what depends on the order of threads: clocks, who is active
};

// Receives what a launch does.  Every function has an empty default, so an observer names just
// what it looks at; on_access may set Access::undefined and Access::origin of reads.
class Observer {
 public:
  virtual ~Observer() = default;
  // Asked once a launch.  Accesses are most of the events: an observer that answers false is spared
  // them.
  [[nodiscard]] virtual bool watches_accesses() const { return true; }
  [[nodiscard]] virtual bool watches_accesses_of(const Program&) const {
    return watches_accesses();
  }
  // Asked once a launch.  False: on_sync() tells it of launches alone, not of blocks and their
  // barriers, which are many more.
  [[nodiscard]] virtual bool watches_blocks() const { return true; }
  // Asked when the launch has begun.
  [[nodiscard]] virtual bool watches_collectives() const { return false; }
  // Asked once a launch.  An observer that follows values does so instead of the initialisation
  // checker: both mark registers as undefined.
  [[nodiscard]] virtual Following follows() const { return {}; }
  virtual void on_access(Access&) {}
  // The same of a row.  False: on_access() is to tell it, and nothing was done.
  virtual bool takes_row(const RowAccess&) { return false; }
  // What machine code notes rows of a slot's shared memory with in place of takes_row(), in this
  // launch, while the same observers are told.  False: all are to be told.
  virtual bool lends_notes(std::uint32_t /*slot*/, RowNotes&) { return false; }
  virtual void on_sync(const Sync&) {}
  virtual void on_fence(const Fence&) {}
  virtual void on_meeting(const Meeting&) {}
  // Told only to observers that watch_collectives().
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
  virtual void on_allocate(const Allocation&) {}  // undefined bytes
  virtual void on_free(const Allocation&) {}
  virtual void on_device_launch(const DeviceLaunch&) {}
  virtual void on_heap_free(const HeapFree&) {}  // on_free() follows
  virtual void on_invalid_free(const InvalidFree&) {}
  // left: what is live and is no variable of the program, as DeviceMemory::live() orders it.
  virtual void on_trial_end(std::span<const Allocation* const> /*left*/) {}
  virtual void on_host_access(const HostAccess&) {}
  virtual void on_device_copy(const DeviceCopy&) {}
  // An operation in which bytes of the device have a say, and of which observers are told no more:
  // a function of a library, which the host computes; a stream's wait for a value.
  //   call: "cublasSgemm"; lives as long as the process
  virtual void on_opaque_operation(std::string_view /*call*/) {}
  // An access that was told before: a launch that has run since, in unordered_launches, is not
  // ordered with it either.  Nothing moves; only races are to be looked for.
  virtual void on_late_host_access(const HostAccess&) {}
  virtual void on_edge(std::uint32_t /*from*/, std::uint32_t /*to*/, const Program&) {}
};

}  // namespace warpcheck::vgpu
