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
// The minimal number of active lanes in a row that says at which distance lanes lie.
constexpr int kLanesApartMin = 16;

// Returns the bytes of one lane.
std::uint32_t bytes_of(const RaceRow& row) { return 1u << (row.offset_shift + row.cells_log2); }

// Returns the distance, in cells, at which scattered lanes probably lie; 0: at none.
std::uint32_t distance_of(const RaceRow& row) {
  const std::uint32_t neighbours = row.mask & row.mask >> 1;
  const bool are_many = row.mask == ~0u || std::popcount(row.mask) >= kLanesApartMin;
  if (neighbours == 0 || !are_many) return 0;
  const auto first = static_cast<unsigned>(std::countr_zero(neighbours)),
             last = static_cast<unsigned>(31 - std::countl_zero(row.mask));
  const std::uint32_t step = row.offset[first + 1] - row.offset[first];
  if (row.offset[last] - row.offset[first] != (last - first) * step) return 0;
  return step >> row.offset_shift;
}

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
bool RowLoops::read_runs(RaceRow row, Shadow& shadow) const {
  const std::uint32_t mask = row.mask, bytes = bytes_of(row);
  const LaneRuns runs = functions_->runs(row.offset, mask, bytes);
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

bool RowLoops::take_scattered(const RaceRow& row, unsigned access_class, Shadow& shadow) const {
  if (shadow.distance() != 1 && take_apart(row, access_class, shadow)) return true;
  const std::uint32_t distance = distance_of(row);
  if (distance == shadow.distance()) return false;
  if (distance > 1) return shadow.suits(distance) && take_apart(row, access_class, shadow);
  return take_runs(row, access_class, shadow);
}

// Takes lanes at the distance of the shadow's lines.
bool RowLoops::take_apart(RaceRow row, unsigned access_class, Shadow& shadow) const {
  const std::uint32_t mask = row.mask, step = shadow.distance() << row.offset_shift;
  const LaneRuns runs = functions_->runs(row.offset, mask, step);
  if (runs.count > kRunsInShadowMax) return false;
  const auto take = [&](std::int64_t offset, std::uint32_t lanes) {
    row.cell = offset >> row.offset_shift;
    row.mask = lanes;
    return shadow.take_row_apart(row, access_class);
  };
  return for_each_run_of(runs, row.offset, mask, step, take);
}

// Takes neighbouring lanes.
bool RowLoops::take_runs(RaceRow row, unsigned access_class, Shadow& shadow) const {
  const std::uint32_t mask = row.mask, bytes = bytes_of(row);
  const LaneRuns runs = functions_->runs(row.offset, mask, bytes);
  if (runs.count > kRunsInShadowMax) return false;
  const auto take = [&](std::int64_t offset, std::uint32_t lanes) {
    row.cell = offset >> row.offset_shift;
    row.mask = lanes;
    return shadow.take_row(row, Pattern::strided, access_class);
  };
  return for_each_run_of(runs, row.offset, mask, bytes, take);
}

}  // namespace warpcheck::vgpu
