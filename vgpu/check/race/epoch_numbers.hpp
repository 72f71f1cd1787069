// The numbers that epochs consist of (epoch.hpp): those of launches, and of the phases of blocks.
// They are reused when they run out, because accesses that come before everything in the future
// need not be distinguished any more.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_shadow.hpp"
#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

class EpochNumbers {
 public:
  //   shadows: by Allocation::id; renumbered when numbers run out
  //   perform_rows: performs the reads that wait in front of them
  EpochNumbers(std::vector<Shadow>& shadows, const EpochLimits& limits,
               std::function<void()> perform_rows)
      : shadows_(shadows), limits_(limits), perform_rows_(std::move(perform_rows)) {}

  // Begins a trial.
  void reset();
  //   launch: its number in the trial
  void begin_launch(const Sync& sync, std::uint32_t launch);
  // Returns whether the numbers of this slot's phases start again: all records of its shared memory
  // come before what follows, and must go.
  bool begin_block(const WarpPlace& place);
  bool complete_barrier(const WarpPlace& place);
  // Returns whether the latest complete_barrier() has renumbered the phases of all blocks.
  [[nodiscard]] bool has_renumbered_phases() const { return has_renumbered_phases_; }

  // Take an Access or a RowAccess.
  template <typename AnyAccess>
  [[nodiscard]] Epoch epoch_of(const AnyAccess& access) const {
    const WarpPlace& place = access.place;
    const bool shared = access.space == ptx::Space::shared;
    const std::uint32_t block = shared ? 0 : place.block;
    const Slot& slot = slots_[place.slot];
    const std::uint32_t phase = place.phase + (shared ? slot.base : 0u - slot.global_base);
    return launch_ * kLaunchUnit + block * kBlockUnit + phase * kPhaseUnit +
           std::uint64_t{place.warp} * kWarpLanes;
  }
  template <typename AnyAccess>
  [[nodiscard]] Shadow::Period period_of(const AnyAccess& access) const {
    if (access.space == ptx::Space::shared) return {slots_[access.place.slot].period, launches_};
    return {global_period_, launches_, access.space == ptx::Space::global};
  }
  // Returns the number of the period of global memory.
  [[nodiscard]] std::uint64_t global_period() const { return global_period_; }
  // Returns the running launch, counted over all trials.
  [[nodiscard]] std::uint64_t launches() const { return launches_; }

  // Calls visit(place) for the latest block in each slot of the launch, with its phase.
  template <typename Visit>
  void for_each_slot(Visit visit) const {
    for (std::uint32_t at = 0; at < slots_.size(); ++at) {
      const Slot& slot = slots_[at];
      if (slot.launch == launches_) visit(WarpPlace{slot.block, 0, at, slot.phase});
    }
  }

  // Calls visit(access) for the accesses of this trial that are recorded, and for those whose
  // launch numbers had to be reused, which are forgotten then.
  template <typename Visit>
  void take_accesses(Visit visit) {
    for (const RecalledAccess& access : std::exchange(put_away_, {})) visit(access);
    rows_to_cells();
    for_each_record([&](Epoch, const RecalledAccess& access) { visit(access); });
  }

 private:
  // The phases of consecutive blocks in one slot are numbered consecutively.  So the slot's shared
  // memory, which only its own block accesses, needs no clearing between blocks.
  struct Slot {
    std::uint32_t base = 0;    // phase 0 of the current block
    std::uint32_t last = 0;    // the current phase, counted from the slot's beginning
    std::uint64_t period = 0;  // the period of its shared memory
    std::uint64_t launch = 0;  // the launch that this slot's state belongs to
    // The current block, its phase, and the phase that is 0 in epochs of global memory.
    std::uint32_t block = 0, phase = 0, global_base = 0;
  };

  Slot& slot_at(std::uint32_t slot);
  bool begin_phase(Slot& slot, std::uint32_t phase, std::uint32_t in_slot);
  void renumber_launches();
  void renumber_phases();
  void rows_to_cells();
  // Visits all records of this trial in the cells, with their epochs.
  template <typename Visit>
  void for_each_record(Visit visit) const {
    for (std::uint32_t id = 0; id < shadows_.size(); ++id) {
      shadows_[id].for_each_record([&](unsigned access_class, std::uint32_t offset,
                                       std::uint32_t bytes, Epoch epoch, std::uint32_t pc) {
        const std::uint32_t launch = launch_of(epoch) - first_recorded_;
        if (launch >= recorded_.size()) return;
        visit(epoch, RecalledAccess{.allocation = id,
                                    .allocation_bytes = shadows_[id].capacity(),
                                    .is_global = shadows_[id].period().global,
                                    .offset = offset,
                                    .bytes = bytes,
                                    .access_class = access_class,
                                    .launch = recorded_[launch],
                                    .block = block_of(epoch),
                                    .thread = thread_of(epoch),
                                    .pc = pc,
                                    .phase = launch_of(epoch) == launch_ ? phase_of(epoch) : 0});
      });
    }
  }

  std::vector<Shadow>& shadows_;
  EpochLimits limits_;
  std::function<void()> perform_rows_;
  std::uint32_t launch_ = 0;    // as in an epoch
  std::uint64_t launches_ = 0;  // not wrapped around
  bool single_block_ = false;   // the launch has one block
  bool has_renumbered_phases_ = false;
  std::uint64_t periods_ = 0;  // number of periods so far
  std::uint64_t global_period_ = 0;
  std::vector<Slot> slots_;
  std::uint32_t first_recorded_ = 1;      // the launch number, as in an epoch, of recorded_[0]
  std::vector<std::uint32_t> recorded_;   // launches of the trial that the shadows have records of
  std::vector<RecalledAccess> put_away_;  // records whose launch numbers had to be reused
};

}  // namespace warpcheck::vgpu
