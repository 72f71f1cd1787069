// Loads, stores and atomics: the lanes of one instruction, one allocation at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/memory/atomics.hpp"
#include "vgpu/machine/memory/current_access.hpp"
#include "vgpu/machine/memory/local_memory.hpp"
#include "vgpu/machine/memory/meant_objects.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class Accesses {
 public:
  struct Parts {
    Targets& targets;
    MeantObjects& meant_objects;
    CurrentAccess& current;
    Atomics& atomics;
    LocalMemory& local_memory;
    StrongWrites& strong_writes;
  };
  Accesses(RunningLaunch& launch, const Parts& parts)
      : launch_(launch),
        targets_(parts.targets),
        meant_objects_(parts.meant_objects),
        current_(parts.current),
        atomics_(parts.atomics),
        local_memory_(parts.local_memory),
        strong_writes_(parts.strong_writes) {}

  // False: it knows nothing yet of the program's accesses.
  bool begin_launch();
  [[nodiscard]] AccessSite* sites() { return targets_.sites(); }
  // Tells the plain access at `pc` of all lanes, which lie side by side from `offset` bytes behind
  // the site's base on, or all there.  False: some of what it loads is undefined; it has been made.
  bool tell(RunningFragment& run, std::uint32_t pc, std::uint64_t offset, bool strided) {
    set_row(run, pc, offset, strided ? Pattern::strided : Pattern::uniform);
    return tell_row(row_, [&](std::size_t first) { return tell_rest(run, first); });
  }
  // The same of vectors, and of scattered lanes, whose offsets are `offsets`.
  bool tell_lanes(RunningFragment& run, std::uint32_t pc, std::uint64_t offset, Pattern pattern,
                  const std::array<std::uint32_t, kWarpLanes>& offsets);
  // Tells and performs the atomic at `pc` of all lanes, which lie at `offsets` of the site.
  void perform_atomic(RunningFragment& run, std::uint32_t pc,
                      const std::array<std::uint32_t, kWarpLanes>& offsets);
  // What becomes of an access that may go where the last one at its pc went.
  enum class Again : std::uint8_t {
    made,
    made_undefined,  // some of what it loads is
    elsewhere,       // nothing was done
  };
  // Tells and executes the load or store at run.pc.
  Again execute_again(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes the program's instruction at run.pc, a load, store or atomic.
  void execute_next(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes a load, store or atomic, one that another instruction is made of perhaps, of the lanes
  // of `active`.  Lanes that no allocation answers fault and are dropped.
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // One whose lanes are all inside of `target`, at the offsets of the current access.
  void perform(RunningFragment& run, const Instr& instr, const Target& target, const RowScan& scan,
               std::uint32_t mask);
  // What lanes get whose access is dropped.
  void zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask);

 private:
  // What is known of an instruction before its lanes are.
  struct Plan {
    enum class Kind : std::uint8_t {
      unknown,
      plain,  // a weak load or store of one element a lane, of memory that lanes share
      other,
    };
    Kind kind = Kind::unknown;
    bool is_load = false;
    bool wide_address = false;
    std::uint8_t bytes = 0;        // of the element
    std::uint8_t value_bytes = 0;  // of a lane in the register's row
    std::uint8_t move = 0;         // row_move_index()
    // How often the short way is not tried, after lanes went each its own way.
    std::uint8_t skips = 0;
  };
  static Plan plan_of(const Instr& instr);
  // execute_again() of lanes that are in no order.
  Again execute_scattered_again(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // False, and nothing done: some lane needs a closer look.
  bool execute_plain(RunningFragment& run, const Instr& instr, Plan& plan, std::uint32_t active);
  struct PlainRow {
    std::uint32_t first;  // offset of lane 0, which need not be active
    bool strided;         // else all the same
    std::uint32_t active;
  };
  [[nodiscard]] RowAccess row_access(const RunningFragment& run, const Plan& plan,
                                     const Allocation& allocation, const PlainRow& row) const;
  bool tell_plain(const RunningFragment& run, const Instr& instr, const Plan& plan,
                  const RowAccess& row);
  bool tell_whole(const RunningFragment& run, const Instr& instr, const Plan& plan,
                  const RowAccess& row, std::size_t first);
  void set_row(const RunningFragment& run, std::uint32_t pc, std::uint64_t offset,
               Pattern pattern) {
    const AccessSite& site = targets_.sites()[pc];
    row_.allocation = site.allocation == nullptr ? run.slot.shared : site.allocation;
    row_.place = launch_.place_of(run.slot, run.warp);
    row_.pc = pc;
    row_.first = static_cast<std::uint32_t>(offset) + site.begin;
    row_.space = site.space;
    row_.kind = site.is_store ? AccessKind::write : AccessKind::read;
    row_.pattern = pattern;
    row_.bytes = site.bytes;
    row_.element_bytes = site.element_bytes;
  }
  // Tells the row to the observers, up to the first that wants all of it: from that one on,
  // rest(its number) tells.  False: some of what the access loads is undefined.
  template <typename Rest>
  [[gnu::always_inline]] bool tell_row(const RowAccess& row, Rest rest) {
    const std::vector<Observer*>& observers = launch_.observers.of_accesses;
    for (std::size_t i = 0; i < observers.size(); ++i) {
      if (!observers[i]->takes_row(row)) [[unlikely]]
        return rest(i);
    }
    return true;
  }
  bool tell_rest(RunningFragment& run, std::size_t first);
  bool tell_rest_of_lanes(RunningFragment& run, std::size_t first);
  void move_bytes(RunningFragment& run, const Instr& instr, const Target& target,
                  const RowScan& scan, std::uint32_t mask);
  // weak_accesses.cpp
  static bool is_weak_memory_of(const Target& target) {
    return target.space == ptx::Space::shared || target.space == ptx::Space::global;
  }
  void perform_weakly(RunningFragment& run, const Instr& instr, const Target& target,
                      const RowScan& scan);
  void move(const Plan& plan, bool strided, std::byte* value, std::byte* memory,
            std::uint32_t active) const;
  // Remembers where the access at run.pc went, if one that goes there again needs no closer look.
  //   bytes: of a lane
  void remember(const RunningFragment& run, const Instr& instr, std::uint32_t bytes,
                const Target& target);
  void move_elements(RunningFragment& run, const Instr& instr, const Target& target,
                     const RowScan& scan, std::uint32_t mask);

  RunningLaunch& launch_;
  Targets& targets_;
  MeantObjects& meant_objects_;
  CurrentAccess& current_;
  Atomics& atomics_;
  LocalMemory& local_memory_;
  StrongWrites& strong_writes_;
  std::vector<Plan> plans_;                         // by pc
  std::shared_ptr<const NativeTier> plans_are_of_;  // its program; null: nobody's
  RowAccess row_;  // that is told, of all lanes; whoever tells it of others restores that
  alignas(64) std::array<std::uint32_t, kWarpLanes> offsets_{};  // scratch
};

}  // namespace warpcheck::vgpu
