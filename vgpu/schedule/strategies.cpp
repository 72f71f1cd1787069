#include "vgpu/schedule/strategies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "vgpu/schedule/default_policy.hpp"
#include "vgpu/schedule/pct.hpp"
#include "vgpu/schedule/pos.hpp"
#include "vgpu/schedule/prng.hpp"
#include "vgpu/schedule/random.hpp"
#include "vgpu/schedule/reads_from.hpp"
#include "vgpu/schedule/round_robin.hpp"
#include "vgpu/schedule/weak.hpp"

namespace warpcheck::vgpu {
namespace {

using StrategyPtr = std::unique_ptr<Strategy>;

// The order of the rows and their draw_weight decide which strategy a seed draws, so a new row with
// a weight changes the meaning of every seed.  Recorded cases contain their schedules and do not
// change.
constexpr std::array kRows{
    StrategyRow{
        .name = "default",
        .help = "the lowest warp, until it waits",
        .draw_weight = 1,
        .seeds_tried_first = 1,
        .make = [](std::uint64_t) -> StrategyPtr { return std::make_unique<DefaultPolicy>(); }},
    StrategyRow{
        .name = "random",
        .help = "few decisions, at random accesses",
        .draw_weight = 1,
        .search_weight = 1,
        .looks_again = true,
        .make = [](std::uint64_t seed) -> StrategyPtr { return std::make_unique<Random>(seed); }},
    StrategyRow{
        .name = "pct",
        .help = "the warp of highest priority, which drops at random accesses",
        .draw_weight = 1,
        .search_weight = 1,
        .make = [](std::uint64_t seed) -> StrategyPtr { return std::make_unique<Pct>(seed); }},
    StrategyRow{.name = "round_robin",
                .help = "every warp in turn, after a few accesses",
                .draw_weight = 1,
                .seeds_tried_first = 2,
                .looks_again = true,
                .make = [](std::uint64_t seed) -> StrategyPtr {
                  return std::make_unique<RoundRobin>(1 + seed % 8, seed / 8);
                }},
    StrategyRow{
        .name = "weak_memory",
        .help = "as random, and memory is as weak as the PTX model allows",
        .looks_again = true,
        .shares_seeds_of = "random",
        .make = [](std::uint64_t seed) -> StrategyPtr { return std::make_unique<Weak>(seed); }},
    StrategyRow{
        .name = "pos",
        .help = "the warp whose next access has the highest priority; racing accesses draw anew",
        .looks_again = true,
        .make = [](std::uint64_t seed) -> StrategyPtr { return std::make_unique<Pos>(seed); }},
    StrategyRow{
        .name = "reads_from",
        .help = "as pos, towards reads of writes that the search has seen least",
        .looks_again = true,
        .shares_seeds_of = "round_robin",
        .make = [](std::uint64_t seed) -> StrategyPtr { return std::make_unique<ReadsFrom>(seed); },
        .make_guided = [](std::uint64_t seed, ReadsFromSeen& seen) -> StrategyPtr {
          return std::make_unique<ReadsFrom>(seed, &seen);
        }},
};

constexpr std::uint64_t sum_of(unsigned StrategyRow::*weight) {
  std::uint64_t sum = 0;
  for (const StrategyRow& row : kRows) sum += row.*weight;
  return sum;
}

// Returns the row for a ticket below the sum of the weights.
const StrategyRow& row_of(std::uint64_t ticket, unsigned StrategyRow::*weight) {
  const StrategyRow* row = kRows.data();
  for (; ticket >= row->*weight; ++row) ticket -= row->*weight;
  return *row;
}

}  // namespace

std::span<const StrategyRow> strategies() { return kRows; }

const StrategyRow* find_strategy(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &StrategyRow::name);
  return row == kRows.end() ? nullptr : &*row;
}

StrategyPtr make_strategy(std::string_view name, std::uint64_t seed, ReadsFromSeen* seen) {
  if (const StrategyRow* row = find_strategy(name)) {
    const bool is_guided = seen != nullptr && row->make_guided != nullptr;
    return is_guided ? row->make_guided(seed, *seen) : row->make(seed);
  }
  std::vector<std::string_view> names;
  for (const StrategyRow& row : kRows) names.push_back(row.name);
  throw std::invalid_argument(
      fmt::format("no strategy '{}'; there are: {}", name, fmt::join(names, ", ")));
}

std::uint64_t draw_tickets() { return sum_of(&StrategyRow::draw_weight); }

const StrategyRow& drawn_strategy(std::uint64_t ticket) {
  return row_of(ticket % draw_tickets(), &StrategyRow::draw_weight);
}

const StrategyRow& searched_strategy(std::uint64_t turn) {
  return row_of(turn % sum_of(&StrategyRow::search_weight), &StrategyRow::search_weight);
}

const StrategyRow& strategy_of_seed(const StrategyRow& row, std::uint64_t seed) {
  const auto sharer = std::ranges::find(kRows, row.name, &StrategyRow::shares_seeds_of);
  return sharer == kRows.end() || Prng(seed).one_in(2) ? row : *sharer;
}

std::string strategies_help() {
  std::vector<std::string> each;
  for (const StrategyRow& row : kRows) each.push_back(fmt::format("{} ({})", row.name, row.help));
  return fmt::format("{}", fmt::join(each, ", "));
}

}  // namespace warpcheck::vgpu
