// Renumbering in the race checker when the numbers in epochs run out, and the handover to the
// general checker when launches turn out to be unordered.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "vgpu/check/race/race.hpp"
#include "vgpu/check/race/race_general.hpp"

namespace warpcheck::vgpu {

// From now on, launches of the trial may be unordered.  The records in the shadows are all that can
// matter of the earlier launches: those were ordered, so each record stands for the records that it
// has replaced.
void RaceChecker::begin_streams() {
  if (has_streams_) return;
  has_streams_ = true;
  for (const RecalledAccess& access : put_away_) general_->recall(access);
  put_away_.clear();
  recall_all();
  recalls_at_end_ = is_running_;
}

void RaceChecker::recall_all() {
  rows_to_cells();
  for_each_record([&](Epoch, const RecalledAccess& access) { general_->recall(access); });
}

void RaceChecker::rows_to_cells() {
  for (Shadow& shadow : shadows_) shadow.all_to_cells();
}

// Visits all records of this trial in the cells, with their epochs.
template <typename Visit>
void RaceChecker::for_each_record(Visit visit) const {
  for (std::uint32_t id = 0; id < shadows_.size(); ++id) {
    shadows_[id].for_each_record([&](unsigned access_class, std::uint32_t offset,
                                     std::uint32_t bytes, Epoch epoch, std::uint32_t pc) {
      const std::uint32_t launch = launch_of(epoch) - first_recorded_;
      if (launch >= recorded_.size()) return;
      visit(epoch, RecalledAccess{.allocation = id,
                                  .allocation_bytes = shadows_[id].capacity(),
                                  .offset = offset,
                                  .bytes = bytes,
                                  .access_class = access_class,
                                  .launch = recorded_[launch],
                                  .block = block_of(epoch),
                                  .thread = thread_of(epoch),
                                  .pc = pc});
    });
  }
}

// Renumbers launches because the launch numbers in epochs have run out.  Launches that some cell
// still has a record of get new numbers from 1, in the same order; records of earlier trials do not
// matter.  If that would leave too few numbers, the records of the oldest launches are put away:
// they are ordered before everything to come, unless launches turn out to be unordered
// (begin_streams).
void RaceChecker::renumber_launches() {
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
void RaceChecker::renumber_phases() {
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
