// Scattered rows that are a few runs of lanes, each of them in order.
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {
namespace {

// Runs of lanes of a row that is checked in cells, or recorded as rows: a masked row takes longer
// than eight lanes one by one.
constexpr unsigned kRunsInShadowMax = 4;

}  // namespace

// Tiles whose rows are shorter than a warp make scattered offsets of a few runs of lanes, each of
// which is a row for the log.
bool RaceChecker::log_scattered(RowLog& log, const Access& access) {
  const bool is_plain = access.pattern == Pattern::scattered && access.kind != AccessKind::atomic &&
                        access.order == ptx::Order::weak && !access.asynchronous;
  return is_plain && log_runs(log, access, access.offset.data());
}

template <typename AnyAccess>
bool RaceChecker::log_runs(RowLog& log, const AnyAccess& access, const std::uint32_t* offsets) {
  if (access.bytes < 4) return false;
  // Lanes of a run are side by side, or all at one place.
  bool uniform = access.mask == ~0u && offsets[0] == offsets[1];
  LaneRuns runs = functions_->runs(offsets, access.mask, uniform ? 0 : access.bytes);
  if (runs.count > RowLog::kRunsMax) {
    uniform = !uniform;
    runs = functions_->runs(offsets, access.mask, uniform ? 0 : access.bytes);
    if (runs.count > RowLog::kRunsMax) return false;
  }
  return log.take_runs({.pc = access.pc,
                        .mask = access.mask,
                        .warp = access.place.warp,
                        .cells_log2 = static_cast<std::uint8_t>(access.bytes >> 3),
                        .write = access.kind == AccessKind::write,
                        .uniform = uniform},
                       offsets, runs.begins, ordered_threads_);
}

template bool RaceChecker::log_runs(RowLog&, const RowAccess&, const std::uint32_t*);

// The same of weak reads in the shadow; lanes that are found in order and then looked at again find
// themselves.  False: they are no such row, or some lane is unordered.
bool RaceChecker::read_runs(RaceRow row, std::uint32_t bytes, Shadow& shadow) {
  const std::uint32_t mask = row.mask;
  const LaneRuns runs = functions_->runs(row.offset, mask, bytes);
  if (runs.count > kRunsInShadowMax) return false;
  constexpr std::uint32_t of_reads = 1u << kWeakRead;
  return for_each_run(runs.begins, mask, [&](unsigned first, std::uint32_t lanes) {
    const std::int64_t offset = row.offset[first];
    row.cell = (offset - std::int64_t{first} * bytes) >> row.offset_shift;
    row.mask = lanes;
    const RaceRowResult result = functions_->strided(row);
    if (result == RaceRowResult::displaced) shadow.mark(of_reads, of_reads);
    return result != RaceRowResult::conflict;
  });
}

// A row in words that is one for the records of global memory, or a few runs of lanes that are.
// False: the cells are to tell.
//   row: with its offsets where they are scattered, and its cell where not
bool RaceChecker::take_as_rows(RaceRow row, Pattern pattern, unsigned access_class,
                               Shadow& shadow) const {
  if (!limits_.has_rows || !shadow.takes_rows(access_class)) return false;
  if (pattern != Pattern::scattered) return shadow.take_row(row, pattern, access_class);
  const std::uint32_t bytes = 4u << row.cells_log2, mask = row.mask;
  const LaneRuns runs = functions_->runs(row.offset, mask, bytes);
  if (runs.count > kRunsInShadowMax) return false;
  return for_each_run(runs.begins, mask, [&](unsigned first, std::uint32_t lanes) {
    row.cell = (std::int64_t{row.offset[first]} - std::int64_t{first} * bytes) >> 2;
    row.mask = lanes;
    return shadow.take_row(row, Pattern::strided, access_class);
  });
}

}  // namespace warpcheck::vgpu
