// The events that a machine emits beside accesses (access.hpp): what threads and the host do, and
// what goes wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/program/dim3.hpp"
#include "vgpu/program/symbol.hpp"

namespace warpcheck::vgpu {

struct FunctionCode;  // vgpu/program/program.hpp
class RunningLaunch;  // running_launch.hpp
struct Slot;          // state.hpp
struct Warp;

// Lanes of one warp execute an instruction.  Reported only to observers that watch steps.
struct InstrStep {
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;    // lanes that are at the instruction together
  std::uint32_t active = 0;  // of them, those that execute it: its guard is true for them
  const LaneBanks* registers = nullptr;
  // For a debugger: the state of the launch, of the block and of the warp, and the index of the
  // running fragment in it, whose pc is this step's.
  const RunningLaunch* launch = nullptr;
  const Slot* slot = nullptr;
  const Warp* warp = nullptr;
  std::size_t fragment = 0;
};

// A lane accesses an address where it must not.  The fault is reported before the lane is dropped
// from its access: a bad load gives 0, a bad store or atomic does nothing.
struct Fault {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    use_after_free,
    read_only,
    no_such_atomic,    // local memory does not have it
    destroyed_object,  // `address` is the handle of a texture or surface
    block_exited,      // shared memory of a block of the cluster that has exited
    no_such_block,     // shared memory of a block that the cluster does not have
    no_peer_access,    // memory of another device to which this one has no access
    in_no_region,      // a pool of the program, where it has handed out nothing (regions.hpp)
    not_generic,  // a shared address where a generic one belongs, that devices take all the same
    no_right,     // memory that the program allows other kinds of access to (access_rights.hpp)
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
  const FunctionCode* frame = nullptr;  // the function whose local variables it was computed from
  std::uint32_t block = 0;              // block_exited: that block; no_such_block: its rank
  unsigned device = 0;                  // no_peer_access: the device that runs the launch
};

// Lanes of one warp give back local memory: a function returns, or its stack pointer is restored.
// From now on these bytes are undefined.
struct FrameEnd {
  const Allocation* allocation = nullptr;  // interleaved
  std::uint32_t begin = 0, bytes = 0;      // of each lane, in the allocation; multiples of 4
  std::uint32_t mask = 0;
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
  // kernel_start: everything else of the trial comes before this launch, or after it
  bool is_alone = false;
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
// Where a tensor map begins; null: not in memory.
struct MapPlace {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0;
};

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
  // fence.proxy.tensormap::generic.acquire: the map of each lane.
  const std::array<MapPlace, 32>* maps = nullptr;
  [[nodiscard]] bool controls_grids() const { return waits_for_grid || lets_grid_begin; }
};

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
  // arrive: on behalf of the tcgen05 operations that the lanes have begun so far, and not of other
  // actions of the lanes (tcgen05.commit).
  bool for_products = false;
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
  // All lanes of the warp wait for copies that the warp has made as one operation
  // (tensormap.cp_fenceproxy); there are no groups of these.
  bool of_warp = false;
};

// Threads of one block wait at barriers that cannot be the same one, or lanes of one warp execute
// operations that cannot be the same one.
struct BarrierDivergence {
  enum class Reason : std::uint8_t {
    different_barriers,    // both wait for the whole block, at different barriers
    by_role,               // the same, but each warp waits at one barrier, and all warps wait
    different_iterations,  // lanes of a warp wait at one barrier in different iterations or calls
    passed_by,             // the other thread has passed the barrier by, run on, and exited
    exited,               // the other thread has exited; from sm_70 on, barriers do not wait for it
    different_counts,     // one barrier, with different numbers of threads
    different_uses,       // one barrier, with .red and with .sync or .arrive
    bad_count,            // not a multiple of the warp size; no other side
    bad_number,           // no barrier has this number; no other side
    no_object,            // no mbarrier was initialised at the address; no other side
    too_many_arrivals,    // more than the mbarrier's phase expects; no other side
    not_a_member,         // the mask of a warp operation does not contain the lane; no other side
    elsewhere,            // a lane of the mask waits elsewhere
    arrived_already,      // at the cluster barrier, without a wait in between; no other side
    not_arrived,          // waits at the cluster barrier without having arrived; no other side
    part_of_warpgroup,    // executes what its warpgroup must execute, and the other thread has not
    unlike_in_warpgroup,  // the other thread has executed it in another form
    no_fence,             // a product of a warpgroup before any wgmma.fence; no other side
  };
  Reason reason = Reason::different_barriers;
  const Program* program = nullptr;
  WarpPlace place;       // of the first waiting thread's warp
  std::uint32_t pc = 0;  // where `lane` waits
  unsigned lane = 0;
  std::uint32_t other_pc = ptx::kNone;
  std::uint32_t other_block = ptx::kNone;  // kNone: the same block
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
  std::uint64_t steps = 0;                      // warp instructions so far
  std::uint32_t blocks_not_started = 0;         // they wait for the end of other blocks
  std::uint32_t blocks = 0, blocks_exited = 0;  // of the launch
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
    copy_bytes,     // a bulk copy of a size that none has; detail
    faults,         // bad accesses that do not end; detail
    tensor_rule,    // a tcgen05 instruction breaks a rule; detail
    tensor_bounds,  // it accesses tensor memory that is not allocated, or not its warp's; detail
    map_rule,       // a copy by a tensor map is one that none does; detail
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
  // Of a copy: where the program has the other side, which must not be read; null: not known.
  const void* host = nullptr;
  // Of a copy to the device: the bytes; null: not known.
  const std::byte* brought = nullptr;
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

}  // namespace warpcheck::vgpu
