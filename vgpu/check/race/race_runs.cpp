// Scattered rows that are a few runs of lanes, each of them in order.
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {
namespace {

// Runs of lanes that a row is logged as.
constexpr unsigned kRunsMax = 8;
// And one that is checked in cells: a masked row takes longer than eight lanes one by one.
constexpr unsigned kRunsInShadowMax = 4;

// Calls visit(first lane, lanes) for each run, ascending.
//   begins: of runs
template <typename Visit>
void for_each_run(std::uint32_t begins, std::uint32_t mask, Visit visit) {
  for (std::uint32_t rest = begins; rest != 0; rest &= rest - 1) {
    const std::uint32_t next = rest & (rest - 1);
    const std::uint32_t before_next = next == 0 ? ~0u : (next & (0u - next)) - 1;
    const auto first = static_cast<unsigned>(__builtin_ctz(rest));
    visit(first, mask & ~0u << first & before_next);
  }
}

}  // namespace

// Tiles whose rows are shorter than a warp make scattered offsets of a few runs of lanes, each of
// which is a row for the log.
bool RaceChecker::log_runs(RowLog& log, const Access& access) {
  const bool is_plain = access.pattern == Pattern::scattered && access.kind != AccessKind::atomic &&
                        access.order == ptx::Order::weak && access.bytes >= 4 &&
                        !access.asynchronous;
  return is_plain && log_runs(log, {access.offset.data(), access.pc, access.mask, access.place.warp,
                                    access.bytes, access.kind == AccessKind::write});
}

bool RaceChecker::log_runs(RowLog& log, const ScatteredRow& access) {
  // Lanes of a run are side by side, or all at one place.
  bool uniform = access.mask == ~0u && access.offset[0] == access.offset[1];
  std::uint32_t begins = functions_->runs(access.offset, access.mask, uniform ? 0 : access.bytes);
  if (lane_count(begins) > kRunsMax) {
    uniform = !uniform;
    begins = functions_->runs(access.offset, access.mask, uniform ? 0 : access.bytes);
    if (lane_count(begins) > kRunsMax) return false;
  }
  const std::size_t before = log.rows().size();
  bool is_taken = true;
  RowLog::Row row{.pc = access.pc,
                  .warp = access.warp,
                  .cells_log2 = static_cast<std::uint8_t>(__builtin_ctz(access.bytes) - 2),
                  .write = access.write,
                  .uniform = uniform};
  for_each_run(begins, access.mask, [&](unsigned first, std::uint32_t lanes) {
    const std::int64_t offset =
        std::int64_t{access.offset[first]} - (uniform ? 0 : std::int64_t{first} * access.bytes);
    row.cell = static_cast<std::int32_t>(offset >> 2);
    row.mask = lanes;
    is_taken = is_taken && log.take(row, ordered_threads_);
  });
  if (!is_taken) log.truncate(before);
  return is_taken;
}

// The same of weak reads in the shadow; lanes that are found in order and then looked at again find
// themselves.  False: they are no such row, or some lane is unordered.
bool RaceChecker::read_runs(RaceRow row, std::uint32_t bytes, Shadow& shadow) {
  const std::uint32_t mask = row.mask;
  const std::uint32_t begins = functions_->runs(row.offset, mask, bytes);
  if (lane_count(begins) > kRunsInShadowMax) return false;
  constexpr std::uint32_t of_reads = 1u << kWeakRead;
  bool is_ordered = true;
  for_each_run(begins, mask, [&](unsigned first, std::uint32_t lanes) {
    if (!is_ordered) return;
    const std::int64_t offset = row.offset[first];
    row.cell = (offset - std::int64_t{first} * bytes) >> row.offset_shift;
    row.mask = lanes;
    const RaceRowResult result = functions_->strided(row);
    is_ordered = result != RaceRowResult::conflict;
    if (result == RaceRowResult::displaced) shadow.mark(of_reads, of_reads);
  });
  return is_ordered;
}

// A row of weak accesses, in words, that is one for the records of global memory, or a few runs of
// lanes that are.  False: the cells are to tell.
//   row: with its offsets where they are scattered, and its cell where not
bool RaceChecker::take_as_rows(RaceRow row, Pattern pattern, Shadow& shadow) const {
  if (!limits_.has_rows || !shadow.takes_rows()) return false;
  if (pattern != Pattern::scattered) return shadow.take_row(row, pattern);
  const std::uint32_t bytes = 4u << row.cells_log2, mask = row.mask;
  const std::uint32_t begins = functions_->runs(row.offset, mask, bytes);
  if (lane_count(begins) > kRunsInShadowMax) return false;
  bool is_taken = true;
  for_each_run(begins, mask, [&](unsigned first, std::uint32_t lanes) {
    row.cell = (std::int64_t{row.offset[first]} - std::int64_t{first} * bytes) >> 2;
    row.mask = lanes;
    is_taken = is_taken && shadow.take_row(row, Pattern::strided);
  });
  return is_taken;
}

}  // namespace warpcheck::vgpu
