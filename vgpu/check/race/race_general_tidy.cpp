// Forgets segments that no cell refers to any more, so that a trial may have any number of
// synchronisations.  The remaining segments are renumbered in the same order, which is all that the
// stored thresholds depend on.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vgpu/check/race/race_general.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {

// Calls visit(segment) for every variable that holds the number of a segment whose accesses are
// still recorded.
template <typename Visit>
void GeneralRaceChecker::for_each_segment(Visit visit) {
  const auto visit_record = [&](Record record) {
    ThreadOrder::SegmentId segment = record.segment();
    visit(segment);
    return record.in(segment);
  };
  for (CellMemory& memory : memories_) {
    memory.for_each_seen([&](Cell& cell, std::size_t) {
      if (cell.write.bits != 0) cell.write = visit_record(cell.write);
      if (cell.rest != 0 && !cell.has_list()) cell.rest = visit_record({cell.rest}).bits;
    });
  }
  lists_.for_each([&](CellList& list) {
    for (CellEntry& entry : list.entries) visit(entry.segment);
  });
  for (Phase& phase : phases_) {
    if (!phase.log.is_open()) continue;
    for (RowLog::Row& row : phase.log.rows()) visit(row.segment);
    phase.log.atomics().for_each_segment(visit);
  }
  for (auto& [id, log] : deferred_) log.for_each_segment(visit);
  owners_.for_each_segment(visit);
  proxy_fences_.for_each_segment(visit);
}

void GeneralRaceChecker::tidy_up() {
  std::vector<bool> live(order_.segments());
  for_each_segment([&](ThreadOrder::SegmentId id) { live[id] = true; });
  const std::vector<ThreadOrder::SegmentId> renewed = order_.forget_segments(std::move(live));
  for_each_segment([&](ThreadOrder::SegmentId& id) { id = renewed[id]; });
  lists_.for_each([](CellList& list) { list.forget_answers(); });
  // Thresholds, which compare segment numbers.
  for (Phase& phase : phases_) {
    if (phase.first < renewed.size()) phase.first = renewed[phase.first];
  }
  owners_.renew_thresholds(renewed);
  recent_ = {};
  seen_release_ = {};
  std::size_t cells = 0;
  for (const CellMemory& memory : memories_) cells += memory.size();
  const std::size_t more = std::max<std::size_t>({segments_kept_, order_.segments(), cells / 16});
  constexpr std::uint32_t kMost = ThreadOrder::kSegmentsMax - 1;
  tidy_at_ = static_cast<std::uint32_t>(std::min<std::size_t>(order_.segments() + more, kMost));
  if (order_.segments() >= kMost - kMost / 64) {
    throw Refusal(fmt::format(
        "the race checker remembers accesses of up to {} stretches between synchronisations, and "
        "memory holds as many; turn the race checker off",
        kMost));
  }
}

}  // namespace warpcheck::vgpu
