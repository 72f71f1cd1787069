// The strategies by name.  Adding one costs its files and a row in strategies.cpp: see
// docs/adding-a-strategy.md.  Code that chooses among strategies asks the rows.
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
  std::string_view help;  // half a sentence: who runs next
  // Its share of the trials that `check`, `hunt` and their like draw.
  unsigned draw_weight = 0;
  // How many of its seeds, from 0, a search of schedules tries before all others.
  std::uint64_t seeds_tried_first = 0;
  // Its share of what a search of schedules tries then, a campaign confirms a finding with, and
  // further runs of `exec` have.
  unsigned search_weight = 0;
  // Not empty: half of the seeds that are drawn, or searched, of that row are this one's.
  std::string_view shares_seeds_of = {};
  std::unique_ptr<Strategy> (*make)(std::uint64_t seed) = nullptr;
  // Not null: it is guided by what the trials of a search have seen, and adds to it.  Then a seed
  // decides the same again only after the same trials; make() is for a trial by itself.
  std::unique_ptr<Strategy> (*make_guided)(std::uint64_t seed, ReadsFromSeen& seen) = nullptr;
};

// (A replay is none of them: it is made from its Schedule, replay.hpp.)
std::span<const StrategyRow> strategies();

// Null: there is none.
const StrategyRow* find_strategy(std::string_view name);

// seen: of the search that the trial is one of; null: of none.
// Throws std::invalid_argument, listing the names, when there is no such strategy.
std::unique_ptr<Strategy> make_strategy(std::string_view name, std::uint64_t seed,
                                        ReadsFromSeen* seen = nullptr);

// A strategy by its draw_weight: of `ticket` below draw_tickets() each is as likely as the others.
std::uint64_t draw_tickets();
const StrategyRow& drawn_strategy(std::uint64_t ticket);

// The strategies of a search by turns, each as often as its search_weight says.
const StrategyRow& searched_strategy(std::uint64_t turn);

// Whose that seed of the row is: its own, or of the one that shares its seeds.
const StrategyRow& strategy_of_seed(const StrategyRow& row, std::uint64_t seed);

// "default (what it does), random (...), ...": for help.
std::string strategies_help();

}  // namespace warpcheck::vgpu
