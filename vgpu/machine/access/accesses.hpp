// Executes loads, stores and atomics: the lanes of one instruction, one allocation at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/atomics.hpp"
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

  // Returns false if nothing is known yet about the program's accesses.
  bool begin_launch();
  [[nodiscard]] AccessSite* sites() { return targets_.sites(); }
  // Reports the plain access at `pc` by all lanes to the observers.  The lanes' offsets are
  // relative to the base of the access site at `pc` (AccessSite): they ascend from `offset` if
  // strided, otherwise all are `offset`.  Returns false if some loaded bits are undefined; then the
  // access has also been executed.
  bool tell(RunningFragment& run, std::uint32_t pc, std::uint64_t offset, bool strided) {
    set_row(run, pc, offset, strided ? Pattern::strided : Pattern::uniform);
    return tell_row(row_, [&](std::size_t first) { return tell_rest(run, first); });
  }
  // Like tell(), for vectors and for lanes in any order; those (Pattern::scattered) have the given
  // offsets.
  bool tell_lanes(RunningFragment& run, std::uint32_t pc, std::uint64_t offset, Pattern pattern,
                  const std::array<std::uint32_t, kWarpLanes>& offsets);
  // Reports and executes the atomic at `pc` by all lanes, at `offsets` relative to the site's base.
  void perform_atomic(RunningFragment& run, std::uint32_t pc,
                      const std::array<std::uint32_t, kWarpLanes>& offsets);
  // The result of an access that may go to the same place as the last access at its pc.
  enum class Again : std::uint8_t {
    made,
    made_undefined,  // executed; some loaded bits are undefined
    elsewhere,       // it goes to another place; nothing was done
  };
  // Reports and executes the load or store at run.pc.
  Again execute_again(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes the load, store or atomic at run.pc.
  void execute_next(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes a load, store or atomic for the lanes in `active`; the instruction may be a part of
  // another one.  Lanes whose address is outside every allocation cause a fault and are dropped.
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes an access whose lanes are all inside `target`, at the offsets of the current access.
  void perform(RunningFragment& run, const Instr& instr, const Target& target, const RowScan& scan,
               std::uint32_t mask);
  // Sets the result of lanes whose access is dropped to zero.
  void zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask);

 private:
  // What is known of an instruction before its lanes are known.
  struct Plan {
    enum class Kind : std::uint8_t {
      unknown,
      plain,  // a weak load or store of one element per lane, in memory that lanes share
      other,
    };
    Kind kind = Kind::unknown;
    bool is_load = false;
    bool wide_address = false;
    std::uint8_t bytes = 0;        // of an element in memory
    std::uint8_t value_bytes = 0;  // of a lane in the register's row
    std::uint8_t move = 0;         // row_move_index()
    // How often the fast path is still skipped after lanes had scattered addresses.
    std::uint8_t skips = 0;
  };
  static Plan plan_of(const Instr& instr);
  [[nodiscard]] Pattern pattern_of(const Plan& plan, const std::byte* addresses,
                                   std::uint32_t active) const {
    const MemoryRowFunctions& rows = launch_.rows;
    return plan.wide_address ? rows.pattern_of_wides(addresses, plan.bytes, active)
                             : rows.pattern_of_words(addresses, plan.bytes, active);
  }
  // execute_again() for lanes with scattered addresses.
  Again execute_scattered_again(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Executes a plain access on the fast path.  False: nothing was done, because some lane needs the
  // slow path.
  bool execute_plain(RunningFragment& run, const Instr& instr, Plan& plan, std::uint32_t active);
  struct PlainRow {
    std::uint32_t first;  // offset of lane 0, active or not
    Pattern pattern;      // not scattered
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
  // Reports the row to the observers, up to the first observer that needs a full Access; from that
  // observer's number on, rest(number) reports.  Returns false if some loaded bits are undefined.
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
  // end_accesses.cpp
  static bool ends_in_word(const Instr& instr, const Target& target, std::uint64_t address);
  void perform_at_end(RunningFragment& run, const Instr& instr, const Target& target,
                      unsigned lane);
  // weak_accesses.cpp
  static bool is_weak_memory_of(const Target& target) {
    return target.space == ptx::Space::shared || target.space == ptx::Space::global;
  }
  void perform_weakly(RunningFragment& run, const Instr& instr, const Target& target,
                      const RowScan& scan);
  void move(const Plan& plan, bool strided, std::byte* value, std::byte* memory,
            std::uint32_t active) const;
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
  std::shared_ptr<const NativeTier> plans_are_of_;  // the program that plans_ belong to; null: none
  RowAccess row_;  // reported for all lanes; code that reports other lanes restores its mask
  alignas(64) std::array<std::uint32_t, kWarpLanes> offsets_{};  // scratch
};

}  // namespace warpcheck::vgpu
