// The launch that runs: what was asked for, who decides and who watches, which blocks are resident,
// and how far it is.
//
// Every component of the machine holds it by reference.  What only one of them needs to remember is
// that one's own.
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
struct RunningFragment;
enum class Step : std::uint8_t;

// Who watches the launch, in the order in which they are told.
struct Observers {
  std::span<Observer* const> all;
  std::vector<Observer*> of_accesses;     // those that watch accesses
  std::vector<Observer*> of_collectives;  // and those that watch collectives
  std::vector<Observer*> of_blocks;       // and those that watch blocks
  bool want_edges = false;
  WeakMemory* weak_memory = nullptr;  // of Launch; null while nobody is to see what is run
  Following following{};              // what any of them follows
  std::size_t watch_throughout = 0;   // of_accesses: those that do so from the launch's begin on

  // Somebody watches how a warp or a block goes on.
  [[nodiscard]] bool is_looked_at() const { return of_accesses.size() != watch_throughout; }
  // Who watches accesses and collectives, and what is followed, is still to be asked.
  void begin(std::span<Observer* const> watching, bool edges, WeakMemory* memory) {
    all = watching;
    of_accesses.clear();
    of_collectives.clear();
    of_blocks.clear();
    want_edges = edges;
    weak_memory = memory;
    following = {};
  }
};

struct RunningLaunch {
  explicit RunningLaunch(DeviceMemory& device_memory)
      : memory(device_memory), rows(memory_row_functions(device_memory.is_shared())) {}

  // Those who watch are another matter.
  void begin(const Launch& launch, WarpModel warp_model, Strategy& its_strategy,
             const Limits& its_limits);
  template <class Function>
  void notify(Function function) const {
    for (Observer* observer : observers.all) function(*observer);
  }
  // Of a block: it begins or ends, or its threads have met.
  void notify_of_block(const Sync& sync) const {
    for (Observer* observer : observers.of_blocks) observer->on_sync(sync);
  }
  void edge(std::uint32_t from, std::uint32_t to) const {
    if (observers.want_edges) notify([&](Observer& o) { o.on_edge(from, to, *program); });
  }
  // Lanes use what is undefined, if it is.
  void use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind, const Ref& ref,
                        std::uint32_t lanes) const;
  // A lane breaks a rule of barriers, by itself: there is no other that it disagrees with.
  void report_misuse(const RunningFragment& run, unsigned lane,
                     BarrierDivergence::Reason reason) const;
  // Ends the launch.
  Step halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
            std::string_view detail = {}, std::string_view object = {});
  Step refuse(std::string_view why);

  // Lanes that spin must not starve those that they wait for: the others of their own warp go
  // first, then other warps.
  Step yield(Fragment& fragment) const;

  // Of a block, a bit each.
  [[nodiscard]] std::uint32_t all_warps() const {
    return warps_per_block == 32 ? ~0u : (1u << warps_per_block) - 1;
  }
  [[nodiscard]] WarpPlace place_of(const Slot& slot, const Warp& warp) const {
    return {slot.block, warp.index, slot.index, slot.phase};
  }
  [[nodiscard]] CodePlace code_place(const RunningFragment& run, unsigned lane) const;
  // Null: the block is not resident.
  [[nodiscard]] Slot* slot_of(std::uint32_t block) const;
  // Blocks form clusters, or may reach each other as if they did.
  [[nodiscard]] bool has_clusters() const {
    return request->cluster.count() != 1 || program->uses_clusters;
  }
  [[nodiscard]] bool may_use(const Allocation& allocation) const {
    return allocation.is_open_to(request->device, request->peers);
  }
  [[nodiscard]] bool is_enough() const { return limits.enough != nullptr && *limits.enough; }
  // Warp instructions of the launch, the running one included.
  [[nodiscard]] std::uint64_t steps_so_far() const {
    return outcome.steps + (quantum_left_before - quantum_left);
  }

  DeviceMemory& memory;
  const MemoryRowFunctions& rows;

  const Launch* request = nullptr;
  const Program* program = nullptr;
  WarpModel model = WarpModel::independent;
  Strategy* strategy = nullptr;
  Observers observers;
  Limits limits;
  Outcome outcome;
  std::uint64_t number = 0;  // of launches so far
  std::uint32_t block_count = 0, warps_per_block = 0, threads = 0;
  std::vector<Slot*> resident;  // by ascending block
  // Of the program, for fragments of all lanes and of some; null: they are interpreted.
  const NativeCode* native = nullptr;
  const NativeCode* native_some = nullptr;

  // Warp instructions left of the running warp's quantum: now, and when the running fragment began.
  std::uint32_t quantum_left = 0, quantum_left_before = 0;
  bool came_last = false;  // the running warp has completed a barrier
};

}  // namespace warpcheck::vgpu
