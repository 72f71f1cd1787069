#include "harness/report/finding_help.hpp"

#include <array>

namespace warpcheck {
namespace {

using vgpu::FindingKind;
using vgpu::Lack;

constexpr std::array<FindingHelp, kFindingKinds> kHelp{{
    {FindingKind::data_race, "Data race",
     "Two threads access the same bytes, at least one of them writes, not both are atomic, and "
     "nothing orders the two accesses.",
     "Put a barrier between the two accesses: __syncthreads() between warps of a block, "
     "__syncwarp() between lanes of a warp; between blocks, use two launches or atomics. A loop "
     "often needs a barrier both after its reads and after its writes."},
    {FindingKind::out_of_bounds, "Access out of bounds",
     "A thread or a host copy accesses memory outside the allocation that it means.",
     "Compare the index with the size before the access; check the launch shapes that do not "
     "divide the size, and sizes 0 and 1. An index far outside may have wrapped: compute it in 64 "
     "bits, or test an unsigned difference before it is formed."},
    {FindingKind::misaligned_access, "Misaligned access",
     "An address is not a multiple of the size of the access.",
     "Vector types need addresses that are multiples of their size: check pointer offsets and "
     "casts to wider types."},
    {FindingKind::uninitialized_read, "Use of memory that was never written",
     "A value that nothing has written decides a branch or an address, or is copied to the host.",
     "Initialise the memory or the variable: cudaMalloc, __shared__ arrays and local variables "
     "begin "
     "undefined. Check that every element that is read was written on every path."},
    {FindingKind::use_after_free, "Use after free",
     "A thread or a host copy accesses memory that has been freed.",
     "Free memory only when every kernel that uses it has ended, and keep no pointer to it."},
    {FindingKind::invalid_free, "Invalid free",
     "A pointer is freed that is not the beginning of a live allocation.",
     "Free each pointer that an allocation returned once, with the function that belongs to it."},
    {FindingKind::leak, "Leaked memory", "Memory is still allocated when the trial ends.",
     "Free it on every path, also where an error ends the work early."},
    {FindingKind::barrier_divergence, "Divergent barrier",
     "Threads of one block wait at different barriers, or a thread runs on behind a barrier at "
     "which others wait, or lanes of one warp wait for lanes that are elsewhere.",
     "Every thread of the block that has not exited must come to the same __syncthreads(): take it "
     "out of branches and loops that threads leave at different times. The mask of a warp "
     "operation names the lanes that come to it, and no others."},
    {FindingKind::not_a_number, "NaN",
     "An operation makes a NaN of operands that are none, or divides an integer by 0, and the "
     "result is seen.",
     "Look at the operands at (1): 0 / 0, inf - inf, 0 * inf, an integer's divisor, or a root or a "
     "logarithm of a negative number. Subtract the maximum before exp(), and handle rows that are "
     "masked completely."},
    {FindingKind::infinity, "Infinity",
     "An operation makes an infinity of finite operands: an overflow or a division by zero.",
     "Scale before the operation, use a wider type for sums of half, or test the divisor."},
    {FindingKind::lossy_conversion, "Conversion that loses the value",
     "A float that is no number, or is out of range, becomes an integer.",
     "Clamp the value or test it before the conversion."},
    {FindingKind::wrapped_integer, "Index that wraps",
     "An integer of 32 bits wraps, and then becomes an address or decides a bound.",
     "Compute the index in 64 bits: convert one operand to size_t before the product. The mean of "
     "two "
     "is low + (high - low) / 2; in a ring, add the size before you subtract."},
    {FindingKind::ignored_nan, "NaN that is ignored",
     "A maximum, a minimum or a comparison drops a NaN, or an integer comparison of the bits of "
     "floats orders them otherwise than floats.",
     "Test for NaNs where they matter, or use an operation that hands them on; for atomics, "
     "order negative floats by an atomic minimum of their unsigned bits, and -0.0 as them."},
    {FindingKind::underflow, "Small value that becomes zero",
     "A value is flushed to zero (-ftz=true, -use_fast_math), or a narrower type cannot hold it.",
     "Scale the values, or compile without flushing if the values matter."},
    {FindingKind::rounding_error, "Result far from exact arithmetic",
     "Rounding has moved an output away from what exact arithmetic gives, or decides a branch.",
     "Sum pairwise or compensated, or in a wider type; subtract the mean before squaring; compare "
     "with room for the error."},
    {FindingKind::deadlock, "Kernel does not end",
     "No thread can change what the others wait for, or the launch passed the limit of steps.",
     "Look for a lock that is not given back, for a loop whose end depends on a thread that has "
     "exited, waits itself or cannot start, for arrivals that a barrier still waits for, and for "
     "loops that do not end: sizes 0 and 1, a list that leads back to itself, a full table."},
    {FindingKind::trap, "Trap",
     "The kernel stopped itself (a failed assert(), __trap()), or an instruction cannot go on.",
     "The assertion names what the kernel expected."},
    {FindingKind::mismatch, "Wrong result",
     "The result is not the reference's, or a claimed property does not hold.",
     "Where a race or a bad access is reported beside it, that is the likely cause; else compare "
     "kernel and reference on the input shown, which is as small as could be found."},
    {FindingKind::schedule_dependent, "Result depends on the schedule",
     "The same input gives different results under different interleavings.",
     "Look for atomics whose returned order matters and for sums of floating-point numbers in the "
     "order of arrival; where any order is right, say so in the pair's agreement."},
    {FindingKind::api_error, "A runtime call failed",
     "A call of CUDA returned an error. Whether the program handles it cannot be seen from "
     "outside.",
     "Check the result of every call, and cudaGetLastError() after a launch: what was not "
     "allocated, copied or launched is missing later on."},
}};

// How to add the synchronisation that a data race lacks; empty: FindingHelp::advice tells it, or
// advice_for_atomicity().
struct AdviceForLack {
  Lack lack;
  std::string_view text;
};
constexpr auto kAdvice = std::to_array<AdviceForLack>({
    {Lack::unknown, ""},
    {Lack::warp_barrier,
     "Put __syncwarp() between the two accesses: lanes of a warp are not in step. A loop "
     "often needs one both after its reads and after its writes."},
    {Lack::block_barrier,
     "Put __syncthreads() between the two accesses, where all threads of the block come "
     "to it. A loop often needs one both after its reads and after its writes."},
    {Lack::cluster_barrier,
     "Put a barrier of the cluster between the two accesses: cluster.sync() of cooperative "
     "groups."},
    {Lack::order_of_blocks,
     "Blocks of one launch run in any order. Give each block memory of its own, or use two "
     "launches, or atomics; or hand the data on by a flag: write it, __threadfence(), "
     "write the flag atomically; read the flag atomically, __threadfence(), read the data."},
    {Lack::order_of_launches,
     "Order the two: the same stream, an event (cudaEventRecord, cudaStreamWaitEvent), or "
     "a wait of the host; nodes of a graph by an edge (cudaGraphAddDependencies). A non-blocking "
     "stream is not ordered with the default stream."},
    {Lack::wait_of_host,
     "Order the two: the same stream, an event (cudaEventRecord, cudaStreamWaitEvent), or "
     "a wait of the host. A non-blocking stream is not ordered with the default stream."},
    {Lack::grid_wait,
     "Call cudaGridDependencySynchronize() (griddepcontrol.wait) in every kernel of such a "
     "chain, before its first access to what the kernels before it use; where not all "
     "threads call it, put a barrier behind it."},
    {Lack::atomicity, ""},
    {Lack::atomic_update,
     "Several threads read, change and write one place: updates are lost. Use an atomic "
     "operation, atomicAdd() for +=; or sum up for each thread apart and add the sums at "
     "the end."},
    {Lack::equal_sizes,
     "Access the place by operations of one size: atomics of different sizes are not "
     "atomic to each other."},
    {Lack::scope,
     "The scope is too narrow for threads of other blocks: drop `_block` (atomicAdd for "
     "atomicAdd_block), or use cuda::thread_scope_device."},
    {Lack::flag_scope,
     "Access the flag at a scope that includes both blocks: drop `_block`, or use "
     "cuda::thread_scope_device."},
    {Lack::release,
     "Release the data before the flag: __threadfence() between the write of the data and "
     "the write of the flag, or cuda::memory_order_release at the flag."},
    {Lack::release_scope,
     "The release reaches the threads of its own block only: __threadfence() in the place "
     "of __threadfence_block(), or cuda::thread_scope_device."},
    {Lack::host_release,
     "Put __threadfence_system() between the write of the data and the write of the flag "
     "that the host reads, or release the flag at cuda::thread_scope_system: what is of "
     "device scope does not reach the host."},
    {Lack::acquire,
     "Acquire after the flag was read: __threadfence() between the read of the flag and "
     "the read of the data, or cuda::memory_order_acquire at the flag; then a barrier, if "
     "other threads of the block go on with the data."},
    {Lack::handover,
     "volatile and relaxed accesses order nothing. Where a thread polls a flag or a counter: "
     "__threadfence_block() between the write of the data and that of the flag, and another "
     "between the read of the flag and that of the data. Else put __syncwarp() or "
     "__syncthreads() between the two."},
    {Lack::copy_wait,
     "Wait for the copy before its bytes are used: cuda::pipeline's consumer_wait(), "
     "__pipeline_wait_prior(), or the barrier that counts it; for a warpgroup's product, "
     "wgmma.wait_group."},
    {Lack::copy_handover,
     "The thread that began the copy waits for it, and a barrier passes that on to the "
     "others: wait, then __syncthreads(), then use the bytes. Where (2) uses what an earlier copy "
     "brought, (1) refills the buffer too early: put the barrier behind the uses, before the next "
     "copy begins."},
    {Lack::phase_wait,
     "Every thread that uses the bytes waits for the phase first: cuda::barrier's wait(), or "
     "mbarrier.try_wait with the phase's parity and without .relaxed. A barrier of the block does "
     "not wait for a copy."},
    {Lack::lock_fences,
     "Atomics that take and give back a lock order no other memory. Put __threadfence() (between "
     "threads of one block, __threadfence_block()) after the lock was taken and before it is given "
     "back; or take it with cuda::memory_order_acquire and give it back with "
     "cuda::memory_order_release."},
    {Lack::proxy_fence,
     "Put fence.proxy.async (cuda::ptx::fence_proxy_async) between the writes and the bulk "
     "copy, by the threads that have written, and a barrier after it. If it is a tensor map that "
     "was written: fence.proxy.tensormap::generic.release behind the writes, and .acquire with "
     "its address (cuda::ptx::fence_proxy_tensormap_generic) before the copy by it."},
    {Lack::participation,
     "Let every lane that is read from take part: name it in the mask, and begin with an "
     "offset of half as many lanes as take part."},
    {Lack::separate_memory,
     "Copy to another buffer and from there to the target, or move the bytes by a kernel that "
     "reads all of them before it writes."},
    {Lack::coherent_read,
     "Read what the same launch has written by an ordinary load: not by __ldg(), not through a "
     "texture or surface, and not through a pointer that is const and __restrict__; or read it in "
     "a launch of its own."},
    {Lack::output,
     "A call of the CUDA runtime failed, so there is no result to compare: look at its "
     "error "
     "first."},
    {Lack::other_device,
     "Another device gives another result from the same memory. If the assembler's optimisation is "
     "the cause, show its makers the smaller kernel, and build the file with -Xptxas -O1 "
     "meanwhile; "
     "if it is the order of threads or a freedom of PTX, compare within an error bound."},
    {Lack::order_of_grids,
     "A grid that device code launches begins at any time after its launch, and sees what its "
     "parent has done before: threads other than the one that launches need a barrier before the "
     "launch. Its parent cannot wait for it: read its results in a second grid of the same stream, "
     "in one that is launched into cudaStreamTailLaunch, or in the host's next launch."},
    {Lack::arrival_of_blocks,
     "Every thread of every block comes to each grid.sync(): let those without work leave out the "
     "work, not the barrier, and return only behind the last one."},
    {Lack::peer_access,
     "Let the device that runs the kernel into the other one's memory: cudaSetDevice() to the one "
     "that runs it, then cudaDeviceEnablePeerAccess() of the other; for pools and mapped memory, "
     "cudaMemPoolSetAccess() and cuMemSetAccess(). Or copy the data with cudaMemcpyPeer()."},
    {Lack::copy_to_host,
     "Only kernels and calls like cudaMemcpy() use the address of device memory. Copy the data to "
     "an array of the host and use that one, or allocate the memory with cudaMallocManaged()."},
});

template <typename Rows, typename Key>
consteval bool in_order(const Rows& rows, Key key) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].*key) != i) return false;
  }
  return true;
}
static_assert(in_order(kHelp, &FindingHelp::kind),
              "kHelp: a row for each kind, in the order of finding_kinds.def");
static_assert(in_order(kAdvice, &AdviceForLack::lack),
              "kAdvice: a row for each Lack, in its order");
static_assert(kAdvice.back().lack == Lack::copy_to_host, "the last Lack");

// A barrier does not help between blocks, except between those of a cluster.
std::string_view advice_for_atomicity(const vgpu::Finding& finding) {
  if (finding.relation == vgpu::Relation::blocks && finding.space == "shared") {
    return "One of the two is atomic and the other is not. If one is meant to come first, put a "
           "barrier of the cluster between them (cluster.sync() of cooperative groups); else read "
           "it by an atomic.";
  }
  if (finding.relation == vgpu::Relation::blocks) {
    return "One of the two is atomic and the other is not. Read it by an atomic, or with "
           "cuda::atomic_ref (load, store); or initialise and read it in launches of their own.";
  }
  return "One of the two is atomic and the other is not. If one is meant to come first, put a "
         "barrier between them; else read it by an atomic, or with cuda::atomic_ref (load, store).";
}

// Between launches that communicate, only system scope includes another device.
std::string_view advice_for_launches(Lack lack) {
  switch (lack) {
    case Lack::scope:
      return "The scope does not include the other device: take the atomic with `_system` "
             "(atomicAdd_system for atomicAdd), or cuda::thread_scope_system.";
    case Lack::release:
      return "Release the data before the flag: __threadfence() between the write of the data and "
             "the write of the flag, or, between devices, __threadfence_system().";
    case Lack::release_scope:
      return "The release does not reach the other launch: __threadfence() in the place of "
             "__threadfence_block(), and between devices __threadfence_system() or "
             "cuda::thread_scope_system.";
    case Lack::flag_scope:
      return "Access the flag at a scope that includes both: cuda::thread_scope_device, and "
             "between "
             "devices cuda::thread_scope_system.";
    case Lack::acquire:
      return "Acquire after the flag was read: __threadfence() between the read of the flag and "
             "the "
             "read of the data, between devices __threadfence_system(); then a barrier, if other "
             "threads of the block go on with the data.";
    default: return "";
  }
}

// A bulk copy that is the later side may be one that (1) should have waited for, or the next one
// into the same buffer.
bool is_before_bulk_copy(const vgpu::Finding& finding) {
  return finding.lack == Lack::block_barrier && finding.accesses.size() > 1 &&
         finding.accesses[1].ptx.starts_with("cp.async.bulk") && finding.accesses[0].role == "read";
}

constexpr std::string_view kAdviceForBulkCopies =
    "Every thread that uses the bytes waits first for the phase in which the copy arrives: look at "
    "the parity. Where the copy refills a buffer, its thread waits before it begins for all that "
    "still use the buffer: a barrier, or an mbarrier at which they arrive.";

// Two threads write by one statement.
bool is_one_store(const vgpu::Finding& finding) {
  const bool may_be_ordered = finding.lack == Lack::warp_barrier ||
                              finding.lack == Lack::block_barrier ||
                              finding.lack == Lack::order_of_blocks;
  if (!may_be_ordered || finding.accesses.size() != 2) return false;
  const vgpu::AccessSide &one = finding.accesses[0], &other = finding.accesses[1];
  return one.role == "write" && other.role == "write" && one.file == other.file &&
         one.line == other.line && one.instruction == other.instruction;
}

constexpr std::string_view kAdviceForOneStore =
    "Both sides are the same store. If two threads execute it for one place, no order makes the "
    "result sure: give each thread its own place, let one of them write, or combine the values by "
    "an atomic operation. If it is one of another round, put a barrier between the rounds.";

// Tensor memory has waits, phases and fences of its own.
std::string_view advice_for_tensor_memory(const vgpu::Finding& finding) {
  if (finding.kind == FindingKind::use_after_free) {
    return "Deallocate columns when all that uses them is complete: wait for the phase of the "
           "mbarrier of tcgen05.commit, and for loads by tcgen05.wait::ld; then a barrier, then "
           "tcgen05.dealloc.";
  }
  if (finding.kind == FindingKind::leak) {
    return "Let a warp of the block deallocate the columns before the block ends: tcgen05.dealloc "
           "with the address and the number of columns of the tcgen05.alloc.";
  }
  if (finding.kind != FindingKind::data_race) {
    return "An address has the lane in its upper and the column in its lower 16 bits. Allocate as "
           "many columns as are used, before and until then; a warp loads and stores 32 lanes, "
           "those of its number in its warpgroup.";
  }
  switch (finding.lack) {
    case Lack::copy_wait:
      return "Put tcgen05.wait::ld behind a load, or tcgen05.wait::st behind a store, in the same "
             "warp, before what it reads is overwritten or what it writes is used.";
    case Lack::phase_wait:
      return "Products and copies are complete when their mbarrier says so: tcgen05.commit behind "
             "them, by the same thread, and mbarrier.try_wait for that phase before the columns "
             "are used; then tcgen05.fence::after_thread_sync.";
    case Lack::block_barrier:
      return "Order the two threads: tcgen05.fence::before_thread_sync behind (1), a barrier, and "
             "tcgen05.fence::after_thread_sync before (2).";
    default:
      return "A barrier or an mbarrier orders tcgen05 instructions of two threads only between "
             "fences: tcgen05.fence::before_thread_sync before it, in the thread of (1), and "
             "tcgen05.fence::after_thread_sync behind it, in that of (2).";
  }
}

// The shared address where a generic one belongs.
bool is_address_of_commit(const vgpu::Finding& finding) {
  return finding.kind == FindingKind::out_of_bounds && finding.accesses.size() == 1 &&
         finding.accesses[0].ptx.starts_with("tcgen05.commit");
}

constexpr std::string_view kAdviceForCommits =
    "Name the state space (tcgen05.commit...shared::cluster.b64), which takes a shared address, or "
    "make a generic address of it (cvta.shared.u64).";

// shfl.sync, vote.sync, match.sync, redux.sync, bar.warp.sync: their masks name lanes.
bool waits_for_lanes(std::string_view ptx) {
  return ptx.find(".sync") != std::string_view::npos &&
         (!ptx.starts_with("bar") || ptx.starts_with("bar.warp"));
}

constexpr std::string_view kAdviceForMasks =
    "Every lane that the mask of a warp operation names must come to it, and no other: take it out "
    "of branches and loops that lanes leave at different times, or make the mask before the "
    "branch, "
    "where all lanes are (__ballot_sync()).";

// setmaxnreg, wgmma: all warps of a warpgroup.
bool is_of_warpgroup(std::string_view ptx) {
  return ptx.starts_with("setmaxnreg") || ptx.starts_with("wgmma");
}

constexpr std::string_view kAdviceForWarpgroups =
    "Four warps from a multiple of four on are a warpgroup. Take the instruction out of branches "
    "that depend on the warp or the thread, so that all of its threads execute it.";

constexpr std::string_view kAdviceForFlags =
    "volatile and relaxed accesses order nothing: put __threadfence() between the write of the "
    "data and the write of the flag, and another between the read of the flag and the read of the "
    "data; between devices, and with the host, __threadfence_system().";

}  // namespace

const FindingHelp& help_for(FindingKind kind) { return kHelp.at(static_cast<std::size_t>(kind)); }

std::string_view advice_for(const vgpu::Finding& finding) {
  if (finding.space == "tensor") return advice_for_tensor_memory(finding);
  if (is_address_of_commit(finding)) return kAdviceForCommits;
  if (finding.lack == Lack::atomicity) return advice_for_atomicity(finding);
  if (finding.lack == Lack::handover && finding.relation >= vgpu::Relation::blocks) {
    return kAdviceForFlags;
  }
  if (is_before_bulk_copy(finding)) return kAdviceForBulkCopies;
  if (is_one_store(finding)) return kAdviceForOneStore;
  if (finding.kind == FindingKind::use_after_free && finding.lack == Lack::copy_wait) {
    return "The thread that begins copies waits until they have read, before it exits: "
           "cp.async.bulk.wait_group.read 0, also behind a loop that leaves some in flight. A copy "
           "to another block is known by its mbarrier there: let a barrier of the cluster follow.";
  }
  if (finding.relation == vgpu::Relation::launches) {
    const std::string_view between = advice_for_launches(finding.lack);
    if (!between.empty()) return between;
  }
  const std::string_view advice = kAdvice[static_cast<std::size_t>(finding.lack)].text;
  if (!advice.empty()) return advice;
  if (finding.kind == FindingKind::trap && !finding.accesses.empty() &&
      finding.accesses[0].role == "call") {
    return "Call virtual functions of objects that device code has constructed and not yet "
           "destroyed, and take function pointers in device code: the host's have other values.";
  }
  if (finding.kind == FindingKind::barrier_divergence && !finding.accesses.empty()) {
    const std::string_view ptx = finding.accesses[0].ptx;
    if (is_of_warpgroup(ptx)) return kAdviceForWarpgroups;
    if (waits_for_lanes(ptx)) return kAdviceForMasks;
  }
  const bool is_handle = finding.space.empty() && finding.accesses.size() == 1 &&
                         finding.accesses[0].role.starts_with("host");
  if (finding.kind == FindingKind::use_after_free && is_handle) {
    return "Destroy a stream, an event or a graph after the last call that names it, and set the "
           "handle to null then.";
  }
  if (finding.kind == FindingKind::trap && !finding.accesses.empty() &&
      finding.accesses[0].role == "access" && finding.space != "tensor") {
    return "Look at the result of the call that was to make this object: it may have failed, the "
           "object may be destroyed, or the handle was never set.";
  }
  if (finding.kind == FindingKind::uninitialized_read && finding.space == "host") {
    return "Write every byte of a buffer of malloc() or new before it is used, or take calloc(): "
           "fresh memory is mostly zero, and what was freed before is not.";
  }
  if (finding.kind == FindingKind::schedule_dependent && !finding.cause.empty()) {
    return "What nothing has written differs from run to run: initialise it first. If that changes "
           "nothing, an order is missing.";
  }
  if (finding.kind == FindingKind::schedule_dependent && !finding.object.empty()) {  // of a program
    return finding.severity == vgpu::Severity::error
               ? "No kernel can know who came first, so an order is missing: look for flags and "
                 "volatile accesses that nothing orders, and for barriers that are left out."
               : "Look for updates that get lost, for atomics whose returned order matters, for "
                 "atomic or volatile loads of what other threads still change, and for sums of "
                 "floating-point numbers in the order of arrival. Where any order is right, leave "
                 "the comparison out: `--check` without `output`.";
  }
  return help_for(finding.kind).advice;
}

}  // namespace warpcheck
