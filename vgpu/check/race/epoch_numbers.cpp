#include "vgpu/check/race/epoch_numbers.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace warpcheck::vgpu {

void EpochNumbers::reset() {
  first_recorded_ = launch_ + 1;
  recorded_.clear();
  put_away_.clear();
}

void EpochNumbers::begin_launch(const Sync& sync, std::uint32_t launch) {
  if (++launch_ >= limits_.launches) renumber_launches();
  recorded_.push_back(launch);
  ++launches_;
  single_block_ = sync.grid.count() == 1;
  global_period_ = ++periods_;
}

EpochNumbers::Slot& EpochNumbers::slot_at(std::uint32_t slot) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& result = slots_[slot];
  if (result.launch != launches_) {
    result.launch = launches_;
    result.base = result.last = 0;
  }
  return result;
}

bool EpochNumbers::begin_block(const WarpPlace& place) {
  Slot& slot = slot_at(place.slot);
  slot.block = place.block;
  slot.phase = slot.global_base = 0;
  return begin_phase(slot, place.phase, slot.last + 1);
}

bool EpochNumbers::complete_barrier(const WarpPlace& place) {
  Slot& slot = slots_[place.slot];
  slot.phase = place.phase;
  has_renumbered_phases_ = slot.phase - slot.global_base >= limits_.phases;
  if (has_renumbered_phases_) renumber_phases();
  return begin_phase(slot, place.phase, slot.base + slot.phase);
}

//   phase: of the block
//   in_slot: the phase counted from the slot's beginning; may be past the end of its bits
bool EpochNumbers::begin_phase(Slot& slot, std::uint32_t phase, std::uint32_t in_slot) {
  const bool starts_again = in_slot >= limits_.phases;
  if (starts_again) in_slot = 1;
  slot.base = in_slot - phase;
  slot.last = in_slot;
  slot.period = ++periods_;
  if (single_block_) global_period_ = slot.period;
  return starts_again;
}

void EpochNumbers::rows_to_cells() {
  perform_rows_();
  for (Shadow& shadow : shadows_) shadow.all_to_cells();
}

// Renumbers launches because the launch numbers in epochs have run out.  Launches that some cell
// still has a record of get new numbers from 1, in the same order; records of earlier trials do not
// matter.  If that would leave too few numbers, the records of the oldest launches are put away:
// they are ordered before everything to come, unless launches turn out to be unordered
// (take_accesses).
void EpochNumbers::renumber_launches() {
  rows_to_cells();
  std::vector<std::uint32_t> renewed(recorded_.size());
  for_each_record(
      [&](Epoch epoch, const RecalledAccess&) { renewed[launch_of(epoch) - first_recorded_] = 1; });
  const auto live = static_cast<std::size_t>(std::ranges::count(renewed, 1u));
  const std::size_t left = static_cast<std::size_t>(limits_.launches) / 2;
  std::size_t too_many = live > left ? live - left : 0;
  std::vector<std::uint32_t> kept;
  std::uint32_t goes_below = 0;  // an old number, relative to first_recorded_
  for (std::uint32_t launch = 0; launch < renewed.size(); ++launch) {
    if (renewed[launch] == 0) continue;
    if (too_many != 0) {
      --too_many;
      renewed[launch] = 0;
      goes_below = launch + 1;
      continue;
    }
    kept.push_back(recorded_[launch]);
    renewed[launch] = static_cast<std::uint32_t>(kept.size());
  }
  for_each_record([&](Epoch epoch, const RecalledAccess& access) {
    if (launch_of(epoch) - first_recorded_ < goes_below) put_away_.push_back(access);
  });
  for (Shadow& shadow : shadows_) {
    shadow.renew_epochs([&](Epoch epoch) -> Epoch {
      const std::uint32_t launch = launch_of(epoch) - first_recorded_;
      if (launch >= renewed.size() || renewed[launch] == 0) return 0;
      return epoch % kLaunchUnit + renewed[launch] * kLaunchUnit;
    });
  }
  launch_ = static_cast<std::uint32_t>(kept.size()) + 1;
  first_recorded_ = 1;
  recorded_ = std::move(kept);
}

// Renumbers phases because some block has no phase numbers left.  All phases of a block except the
// current one come before whatever it does next, and no phase of it comes before an access of
// another block.  So one number can stand for all of them.
void EpochNumbers::renumber_phases() {
  rows_to_cells();
  std::unordered_map<std::uint32_t, std::uint32_t> present;  // current phases, by block
  for (const Slot& slot : slots_) {
    if (slot.launch == launches_) present[slot.block] = slot.phase - slot.global_base;
  }
  for (Shadow& shadow : shadows_) {
    if (!shadow.period().global || shadow.period().launch != launches_) continue;
    shadow.renew_epochs([&](Epoch epoch) -> Epoch {
      if (launch_of(epoch) != launch_) return epoch;
      const auto block = present.find(block_of(epoch));
      const bool is_present = block != present.end() && block->second == phase_of(epoch);
      const Epoch old = epoch - phase_of(epoch) * kPhaseUnit;
      return is_present ? old + kPhaseUnit : old;
    });
  }
  for (Slot& slot : slots_) slot.global_base = slot.phase - 1;
}

}  // namespace warpcheck::vgpu
