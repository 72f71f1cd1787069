#include "vgpu/check/race/row_loops.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {
namespace {

// The maximal number of runs in a row that is checked in cells or recorded as rows: beyond that,
// masked rows take longer than eight single lanes.
constexpr unsigned kRunsInShadowMax = 4;
// The minimal number of lanes, on average, of runs that are checked in cells.
constexpr unsigned kLanesOfRunMin = 3;
// The maximal number of runs in a row of the log.
constexpr unsigned kRunsMax = 8;

}  // namespace

// A run is of lanes whose offsets are adjacent, or all equal.
RaceRowResult RowLoops::record_scattered(RaceRow row, std::uint32_t bytes) const {
  const std::uint32_t mask = row.mask;
  bool uniform = mask == ~0u && row.offset[0] == row.offset[1];
  LaneRuns runs = functions_->runs(row.offset, mask, uniform ? 0 : bytes);
  if (runs.count > kRunsMax) {
    uniform = !uniform;
    runs = functions_->runs(row.offset, mask, uniform ? 0 : bytes);
    if (runs.count > kRunsMax) return functions_->scattered(row);
  }
  RaceRowResult result = RaceRowResult::recorded;
  const std::uint32_t step = uniform ? 0 : bytes;
  for_each_run_of(runs, row.offset, mask, step, [&](std::int64_t offset, std::uint32_t lanes) {
    row.cell = offset >> row.offset_shift;
    row.mask = lanes;
    result = std::max(result, uniform ? functions_->uniform(row) : functions_->strided(row));
    return true;
  });
  return result;
}

// Records a scattered weak read in the shadow in the same way.  Lanes that are checked twice find
// their own record.  False: the row has no such runs, or some lane is unordered.
bool RowLoops::read_runs(RaceRow row, const LaneRuns& runs, std::uint32_t bytes,
                         Shadow& shadow) const {
  const std::uint32_t mask = row.mask;
  const auto active = static_cast<unsigned>(std::popcount(mask));
  if (runs.count > kRunsInShadowMax || active < kLanesOfRunMin * runs.count) return false;
  constexpr std::uint32_t of_reads = 1u << kWeakRead;
  const auto read = [&](std::int64_t offset, std::uint32_t lanes) {
    row.cell = offset >> row.offset_shift;
    row.mask = lanes;
    const RaceRowResult result = functions_->strided(row);
    if (result == RaceRowResult::displaced) shadow.mark(of_reads, of_reads);
    return result != RaceRowResult::conflict;
  };
  return for_each_run_of(runs, row.offset, mask, bytes, read);
}

bool RowLoops::take_as_rows(const RaceRow& all, Pattern pattern, const LaneRuns& runs,
                            unsigned access_class, Shadow& shadow) {
  if (!shadow.takes_rows(access_class)) return false;
  if (pattern != Pattern::scattered) return shadow.take_row(all, pattern, access_class);
  if (runs.count > kRunsInShadowMax) return false;
  RaceRow row = all;
  const std::uint32_t bytes = 1u << (row.offset_shift + row.cells_log2), mask = row.mask;
  const auto take = [&](std::int64_t offset, std::uint32_t lanes) {
    row.cell = offset >> row.offset_shift;
    row.mask = lanes;
    return shadow.take_row(row, Pattern::strided, access_class);
  };
  return for_each_run_of(runs, row.offset, mask, bytes, take);
}

}  // namespace warpcheck::vgpu
