// The list of strategies.  A new strategy needs its files and a row in strategies.cpp: see
// docs/develop/adding-a-strategy.md.  Code that chooses among strategies uses the rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/schedule/reads_from_seen.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct StrategyRow {
  std::string_view name;  // in options, case files and reports
  std::string_view help;  // half a sentence: which warp runs next
  // Its share of the trials that `check`, `hunt` and similar commands draw.
  unsigned draw_weight = 0;
  // The number of its seeds, from 0, that a search of schedules tries before all others.
  std::uint64_t seeds_tried_first = 0;
  // Its share of the schedules that a search then tries, of those by which a campaign confirms a
  // finding, and of further runs of `exec`.
  unsigned search_weight = 0;
  // Whether `exec` tries it after a run under the default schedule that shows no error.
  bool looks_again = false;
  // If not empty: half of the drawn or searched seeds of the named row belong to this strategy.
  std::string_view shares_seeds_of = {};
  std::unique_ptr<Strategy> (*make)(std::uint64_t seed) = nullptr;
  // If not null: creates a strategy that is guided by what the trials of a search have seen, and
  // that adds to it.  Its decisions for a seed are then reproducible only after the same trials;
  // make() creates a strategy for a single trial.
  std::unique_ptr<Strategy> (*make_guided)(std::uint64_t seed, ReadsFromSeen& seen) = nullptr;
};

// Returns all strategies except replay, which is made from its Schedule (replay.hpp).
std::span<const StrategyRow> strategies();

// Returns null if there is no such strategy.
const StrategyRow* find_strategy(std::string_view name);

// Creates a strategy. seen: of the search that the trial belongs to; null: it belongs to none.
// Throws std::invalid_argument, with a list of the names, if there is no such strategy.
std::unique_ptr<Strategy> make_strategy(std::string_view name, std::uint64_t seed,
                                        ReadsFromSeen* seen = nullptr);

// Draws a strategy by its draw_weight: all tickets below draw_tickets() are equally likely.
std::uint64_t draw_tickets();
const StrategyRow& drawn_strategy(std::uint64_t ticket);

// Returns the strategies of a search in turn, each as often as its search_weight says.
const StrategyRow& searched_strategy(std::uint64_t turn);

// Returns the row that the seed belongs to: `row`, or the row that shares its seeds.
const StrategyRow& strategy_of_seed(const StrategyRow& row, std::uint64_t seed);

// Returns "default (what it does), random (...), ..." for the help text.
std::string strategies_help();

}  // namespace warpcheck::vgpu
