// Executes loads, stores and atomics: the lanes of one instruction, one allocation at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/atomics.hpp"
#include "vgpu/machine/memory/local_memory.hpp"
#include "vgpu/machine/memory/provenance_objects.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

// A queue of rows, and of which memory they are.
struct OpenQueue {
  const RowQueue* queue;
  const Allocation* allocation;
};

class Accesses {
 public:
  struct Dependencies {
    Targets& targets;
    ProvenanceObjects& provenance_objects;
    CurrentAccess& current;
    Atomics& atomics;
    LocalMemory& local_memory;
    StrongWrites& strong_writes;
  };
  Accesses(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch),
        targets_(dependencies.targets),
        provenance_objects_(dependencies.provenance_objects),
        current_(dependencies.current),
        atomics_(dependencies.atomics),
        local_memory_(dependencies.local_memory),
        strong_writes_(dependencies.strong_writes) {}

  // The queues to which machine code appends in this launch.
  [[nodiscard]] std::span<const OpenQueue> open_queues() const { return open_queues_; }
  // Returns false if nothing is known yet about the program's accesses.
  bool begin_launch();
  [[nodiscard]] AccessSite* sites() { return targets_.sites(); }
  // Reports the weak load or store at `pc` by all lanes, which goes to the memory of its access
  // site (AccessSite).
  //   offset: of the lanes, relative to the site's base; strided: of lane 0, and the others ascend
  //   offsets: of scattered lanes, relative to the allocation
  // Returns false if some loaded bits are undefined; then the access has also been executed.
  bool report_at_site(RunningFragment& run, std::uint32_t pc, std::uint64_t offset, Pattern pattern,
                      const std::array<std::uint32_t, kWarpLanes>& offsets) {
    const AccessSite& site = targets_.sites()[pc];
    if (pattern == Pattern::scattered) {
      // Code for stores does not ask whether all lanes have the same address.
      pattern = launch_.rows().pattern_of_words(reinterpret_cast<const std::byte*>(offsets.data()),
                                                site.bytes, ~0u);
      offset = offsets.front() - site.begin;
    }
    RowAccess row = row_at_site(run, pc, pattern, ~0u);
    row.first += static_cast<std::uint32_t>(offset);
    row.offsets = offsets.data();
    const Instr& instr = launch_.program().code[pc];
    if (current_.report(run, instr, row, {0, instr.modifiers.vector})) [[likely]] {
      if (row.space != ptx::Space::shared) open_queue(pc, *row.allocation);
      return true;
    }
    move_elements(run, instr, *row.allocation, scan_of(pattern), row.mask);
    return false;
  }
  // Reports and executes the atomic at `pc` by all lanes, at `offsets` relative to the site's base.
  void perform_atomic(RunningFragment& run, std::uint32_t pc,
                      const std::array<std::uint32_t, kWarpLanes>& offsets);
  // Executes the load or store at run.pc if it goes to the memory of its access site.  False: it
  // does not, and nothing was done.
  bool execute_at_site(RunningFragment& run, const Instr& instr, std::uint32_t active);
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
    const MemoryRowFunctions& rows = launch_.rows();
    return plan.wide_address ? rows.pattern_of_wides(addresses, plan.bytes, active)
                             : rows.pattern_of_words(addresses, plan.bytes, active);
  }
  // Find the row of a plain access, if it is one and its place is known already: in the memory of
  // its access site, or in that of the last access at its pc.
  bool find_at_site(const RunningFragment& run, const Instr& instr, const Plan& plan,
                    std::uint32_t active, RowAccess& row);
  bool find_again(const RunningFragment& run, const Instr& instr, Plan& plan, std::uint32_t active,
                  RowAccess& row);
  [[nodiscard]] RowAccess row_at_site(const RunningFragment& run, std::uint32_t pc, Pattern pattern,
                                      std::uint32_t active) const {
    const AccessSite& site = targets_.sites()[pc];
    return {.allocation = site.allocation == nullptr ? run.slot.shared : site.allocation,
            .place = launch_.place_of(run.slot, run.warp),
            .pc = pc,
            .mask = active,
            .first = site.begin,
            .space = site.space,
            .kind = site.is_store ? AccessKind::write : AccessKind::read,
            .pattern = pattern,
            .bytes = site.bytes,
            .element_bytes = site.element_bytes};
  }
  // Lets machine code queue such rows itself, if it may: those of the instruction at `pc`.
  void open_queue(std::uint32_t pc, const Allocation& allocation);
  // Returns a scan of lanes that are all inside.
  static RowScan scan_of(Pattern pattern) {
    return {.inside = true,
            .strided = pattern == Pattern::strided,
            .uniform = pattern == Pattern::uniform};
  }
  // Reports and executes a plain access.
  void execute_row(RunningFragment& run, const Instr& instr, const Plan& plan,
                   const RowAccess& row);
  void move_bytes(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                  const RowScan& scan, std::uint32_t mask);
  // end_accesses.cpp
  static bool ends_in_word(const Instr& instr, const Target& target, std::uint64_t address);
  void perform_at_end(RunningFragment& run, const Instr& instr, const Target& target,
                      unsigned lane);
  // weak_accesses.cpp
  static bool is_weak_memory_of(const Target& target) {
    return target.space == ptx::Space::shared || target.space == ptx::Space::global;
  }
  void perform_weakly(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                      const RowScan& scan);
  void move_elements(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                     const RowScan& scan, std::uint32_t mask);

  RunningLaunch& launch_;
  Targets& targets_;
  ProvenanceObjects& provenance_objects_;
  CurrentAccess& current_;
  Atomics& atomics_;
  LocalMemory& local_memory_;
  StrongWrites& strong_writes_;
  std::vector<OpenQueue> open_queues_;
  std::vector<Plan> plans_;                         // by pc
  std::shared_ptr<const NativeTier> plans_are_of_;  // the program that plans_ belong to; null: none
  alignas(64) std::array<std::uint32_t, kWarpLanes> offsets_{};  // scratch
};

}  // namespace warpcheck::vgpu
