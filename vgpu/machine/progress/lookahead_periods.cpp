// Detects loops that return to an earlier state only after several rounds: a list that leads back
// to itself, a probe of a full table.
//
// A loop that follows such a list and sums up its elements is never in the same state again, and
// one of the values that differ after one round is an address.  But that address occurs again: the
// values of a register, recorded at each visit of one place, may be periodic.  The rounds of a
// common multiple of all periods, taken as one round, are then examined as in lookahead_rounds.cpp.
// Only that examination proves anything; the periods only suggest the length of the round.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

// The number of visits of a place after which periods are searched, and again whenever the number
// has doubled.
constexpr std::size_t kVisitsMin = 32;
// Limits in instructions: an absolute one, and a small fraction of what the launch has executed so
// far.
constexpr std::uint64_t kStepsMax = 1u << 16;
constexpr std::uint64_t kStepsPerStep = 256;
constexpr std::uint64_t kStepsMaxWithTime = 1'024;  // what depends on the time has no period
constexpr std::size_t kValuesMax = 1u << 22;

// Adds one value for each row of a bank.
void add_rows(const RowBank& bank, std::size_t row_bytes, std::vector<std::uint64_t>& to) {
  for (std::size_t at = 0; at + row_bytes <= bank.bytes(); at += row_bytes) {
    std::uint64_t hash = 0;
    for (std::size_t byte = 0; byte < row_bytes; byte += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, bank.data() + at + byte, sizeof word);
      hash = (hash ^ word) * 0x9fb21c651e98df25u;
      hash ^= hash >> 29;
    }
    to.push_back(hash);
  }
}

// Returns the period with which the second half of a row's values repeats, at least twice; 0: there
// is none.  It uses the longest border, as in the algorithm of Knuth, Morris and Pratt.
std::size_t period_of(const std::vector<std::vector<std::uint64_t>>& visits, std::size_t row) {
  const std::size_t first = visits.size() / 2, count = visits.size() - first;
  std::vector<std::size_t> border(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    const auto value = [&](std::size_t at) { return visits[first + at][row]; };
    std::size_t length = border[i - 1];
    while (length != 0 && value(i) != value(length)) length = border[length - 1];
    border[i] = length + (value(i) == value(length));
  }
  const std::size_t period = count - border.back();
  return 2 * period <= count ? period : 0;
}

// Returns the common period of all rows that have one; 0: none is short enough to be detected.
std::size_t common_period(const std::vector<std::vector<std::uint64_t>>& visits) {
  std::size_t common = 1;
  for (std::size_t row = 0; row < visits.front().size(); ++row) {
    const std::size_t period = period_of(visits, row);
    if (period != 0) common = std::lcm(common, period);
    if (common > visits.size()) return 0;
  }
  return common;
}

}  // namespace

// Called after run_indifferently() has found nothing.
Lookahead::Fate Lookahead::run_periodically(Slot& slot, Warp& warp) {
  const WarpState head = state_of(slot, warp);
  const std::size_t foreign = snapshot_.changes().foreign();
  const std::uint64_t steps_max =
      std::min(reads_time_ ? kStepsMaxWithTime : kStepsMax, snapshot_.steps() / kStepsPerStep);
  std::vector<std::vector<std::uint64_t>> visits;
  for (std::uint64_t steps = 1; steps <= steps_max; ++steps) {
    const Fate fate = step(slot, warp);
    if (snapshot_.changes().foreign() != foreign) return Fate::acts;
    if (fate != Fate::runs) return fate;
    if (!head.is_at_places_of(warp)) continue;
    std::vector<std::uint64_t>& rows = visits.emplace_back();
    cost_.count_hashed(warp.words.bytes() + warp.wides.bytes() + warp.predicates.bytes());
    add_rows(warp.words, kWordRowBytes, rows);
    add_rows(warp.wides, kWideRowBytes, rows);
    add_rows(warp.predicates, 4, rows);
    if (rows.size() * visits.size() > kValuesMax) return Fate::unknown;
    if (visits.size() < kVisitsMin || !std::has_single_bit(visits.size())) continue;
    cost_.count(rows.size() * visits.size());
    const std::size_t period = common_period(visits);
    if (period < 2) continue;
    // A round may take twice the steps that this many visits have taken.
    const std::uint64_t steps_of_round = std::exchange(
        steps_of_round_, std::max(steps_of_round_, 2 * steps * period / visits.size()));
    visits_of_round_ = period;
    const Fate closed = run_indifferently(slot, warp);
    visits_of_round_ = 1;
    steps_of_round_ = steps_of_round;
    if (closed != Fate::unknown) return closed;
    visits.clear();
  }
  return Fate::unknown;
}

}  // namespace warpcheck::vgpu
