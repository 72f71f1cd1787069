// The state of the running launch that all components of the machine share: the request, the
// strategy and the observers, the resident blocks, and the progress.
//
// Every component of the machine holds a reference to it.  State that only one component needs
// belongs to that component.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class NativeCode;
class PassedBarriers;
struct RunningFragment;
enum class Step : std::uint8_t;

// The observers of the launch, in the order in which they are called.
struct Observers {
  const ObserverList* list = nullptr;
  std::vector<Observer*> of_accesses;           // those that watch accesses
  std::vector<Observer*> of_collectives;        // those that watch collectives
  UndefinedMemory* undefined_memory = nullptr;  // null: no bits of memory are undefined
  bool want_edges = false;
  // from Launch; null while the executed code must not be observed
  WeakMemory* weak_memory = nullptr;
  // Notes which barriers threads pass by; null while the executed code must not be observed, and if
  // the program has no such barriers.
  PassedBarriers* passed_barriers = nullptr;
  Following following{};  // the union of what observers follow
  // Registers that a thread has not written are undefined; set if the program may read one.
  bool mark_unwritten = false;
  bool watch_steps = false;          // some of the list watch steps
  std::size_t watch_throughout = 0;  // how many of of_accesses have watched since the launch began

  // Returns whether an observer was added later: a component watches how a warp or a block
  // proceeds.
  [[nodiscard]] bool is_looked_at() const { return of_accesses.size() != watch_throughout; }
  // Returns whether accesses need to be described.
  [[nodiscard]] bool watch_accesses() const {
    return !of_accesses.empty() || undefined_memory != nullptr;
  }
  //   is_noncoherent: a load of the launch may find what the launch has written before
  void begin(const ObserverList& watching, bool edges, const Launch& launch, bool is_noncoherent) {
    list = &watching;
    of_accesses.clear();
    watching.watch_accesses_of(*launch.program, is_noncoherent, of_accesses);
    watch_throughout = of_accesses.size();
    undefined_memory = watching.undefined_memory();
    of_collectives = watching.of_collectives();
    watch_steps = !watching.of_steps().empty();
    want_edges = edges;
    weak_memory = launch.weak_memory;
    following = watching.following();
    mark_unwritten = watching.unwritten_registers() && !launch.program->unwritten_registers.empty();
  }
};

struct RunningLaunch {
  explicit RunningLaunch(DeviceMemory& device_memory)
      : memory(device_memory), rows(memory_row_functions(device_memory.is_shared())) {}

  // Begins the launch.  Observers are set separately.
  void begin(const Launch& launch, WarpModel warp_model, Strategy& its_strategy,
             const Limits& its_limits);
  template <class Function>
  void notify(Function function) const {
    for (Observer* const observer : observers.list->all()) function(*observer);
  }
  // Reports that the launch begins or ends.
  void notify_of_launch(const Sync& sync) const {
    for (Observer* const observer : observers.list->of_launches()) observer->on_sync(sync);
  }
  // Reports that a block begins or ends, or that its threads have met.
  void notify_of_block(const Sync& sync) const {
    for (Observer* const observer : observers.list->of_blocks()) observer->on_sync(sync);
  }
  void edge(std::uint32_t from, std::uint32_t to) const {
    if (observers.want_edges) notify([&](Observer& o) { o.on_edge(from, to, *program); });
  }
  // Lanes go from one instruction to another, which need not be the next one.
  void cross(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
             std::uint32_t to) const {
    edge(from, to);
    pass(slot, warp, lanes, from, to);
  }
  // The same, without a report to observers.
  void pass(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
            std::uint32_t to) const {
    if (observers.passed_barriers != nullptr) [[unlikely]]
      note_crossing(slot, warp, lanes, from, to);
  }
  // Marks the registers of a frame that begins as undefined, if the program may read them before it
  // writes them.
  //   function: the one that begins, an index into Program::functions
  void mark_unwritten(Warp& warp, const Fragment& fragment, std::uint32_t function) const {
    if (observers.mark_unwritten) [[unlikely]]
      mark(warp, fragment, function);
  }
  void mark(Warp& warp, const Fragment& fragment, std::uint32_t function) const;
  void note_crossing(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
                     std::uint32_t to) const;
  // Reports a use of undefined bits, if `ref` has any in `lanes`.
  void use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind, const Ref& ref,
                        std::uint32_t lanes) const;
  // Reports that a lane breaks a rule of barriers without a second side.
  void report_misuse(const RunningFragment& run, unsigned lane,
                     BarrierDivergence::Reason reason) const;
  // Ends the launch.
  Step halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
            std::string_view detail = {}, std::string_view object = {});
  Step refuse(std::string_view why);

  // Lets other fragments run, because spinning lanes must not starve the lanes that they wait for:
  // first the other fragments of the same warp, then other warps.
  Step yield(Fragment& fragment) const;

  // Returns the warps of a block, one bit each.
  [[nodiscard]] std::uint32_t all_warps() const {
    return warps_per_block == 32 ? ~0u : (1u << warps_per_block) - 1;
  }
  [[nodiscard]] WarpPlace place_of(const Slot& slot, const Warp& warp) const {
    return {slot.block, warp.index, slot.index, slot.phase};
  }
  [[nodiscard]] CodePlace code_place(const RunningFragment& run, unsigned lane) const;
  // Returns null if the block is not resident.
  [[nodiscard]] Slot* slot_of(std::uint32_t block) const;
  // Returns whether blocks form clusters, or the program can access other blocks as in a cluster.
  [[nodiscard]] bool has_clusters() const {
    return request->cluster.count() != 1 || program->uses_clusters;
  }
  [[nodiscard]] bool may_use(const Allocation& allocation) const {
    return allocation.is_open_to(request->device, request->peers);
  }
  [[nodiscard]] bool is_enough() const { return limits.enough != nullptr && *limits.enough; }
  // Returns the warp instructions of the launch so far, including the running one.
  [[nodiscard]] std::uint64_t steps_so_far() const {
    return outcome.steps + (quantum_left_before - quantum_left);
  }
  // Returns the time that clocks show.
  [[nodiscard]] std::uint64_t time() const { return steps_so_far() + time_ahead; }

  DeviceMemory& memory;
  const MemoryRowFunctions& rows;

  const Launch* request = nullptr;
  const Program* program = nullptr;
  WarpModel model = WarpModel::independent;
  Strategy* strategy = nullptr;
  Observers observers;
  Limits limits;
  Outcome outcome;
  std::uint64_t number = 0;  // the number of launches so far
  std::uint32_t block_count = 0, warps_per_block = 0, threads = 0;
  std::vector<Slot*> resident;  // by ascending block
  // Machine code of the program for fragments of all lanes (native) and of some lanes; null:
  // interpreted.
  const NativeCode* native = nullptr;
  const NativeCode* native_some = nullptr;

  std::uint64_t time_ahead = 0;  // how far time is ahead of the steps (progress/time_waits.hpp)

  // The warp instructions left in the running warp's quantum: now, and when the running fragment
  // began.
  std::uint32_t quantum_left = 0, quantum_left_before = 0;
  bool came_last = false;  // the running warp was the last to arrive at a barrier
};

}  // namespace warpcheck::vgpu
