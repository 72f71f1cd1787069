// How many schedules it takes to find a missing synchronisation, under each strategy.
//
//   schedules_to_finding [SERIES [SCHEDULES_MAX]]
//
// For vgpu/cudart/programs/contenders.  A series tries the seeds from 1,000 s + 1 on until one
// shows an error, without the default schedule.  Per contest and strategy: the mean over the
// series, and the number of series that found nothing.
//
//   schedules_to_finding specimens [SEEDS [SCHEDULES_MAX]]
//
// For the specimens whose defect is one of order.  A search makes the trials that `hunt` makes from
// its seed, with one strategy, until one shows something; all strategies get the same inputs. Per
// specimen and strategy: the median and maximum over the searches, of the first report, and of the
// first trial whose result is wrong, depends on the schedule, or is missing.
//
//   schedules_to_finding clean [TRIALS [STRATEGY]]
//
// The trials that `hunt` makes of the clean pairs, all under each strategy or the named one, in
// each build and warp model: the findings, and the CPU seconds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "harness/pair/registry.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/programs/contenders/contenders.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

bool shows_an_error(const Contest& contest, std::string_view strategy_name, std::uint64_t seed,
                    vgpu::ReadsFromSeen& seen) {
  const auto strategy = vgpu::make_strategy(strategy_name, seed, &seen);
  cudart::TrialSettings settings;
  settings.strategy = strategy.get();
  cudart::begin_trial(settings);
  Memory* memory = nullptr;
  cudaMalloc(&memory, sizeof *memory);
  cudaMemset(memory, 0, sizeof *memory);
  contest.defect(memory);
  cudaFree(memory);
  const cudart::TrialResult result = cudart::end_trial();
  return std::ranges::any_of(result.findings, [](const vgpu::Finding& finding) {
    return finding.severity == vgpu::Severity::error;
  });
}

struct Figures {
  std::uint64_t schedules = 0, not_found = 0, within_nine = 0;
};

Figures measure(const Contest& contest, std::string_view strategy, std::uint64_t series,
                std::uint64_t schedules_max) {
  Figures figures;
  for (std::uint64_t s = 0; s < series; ++s) {
    std::uint64_t count = 0;
    bool found = false;
    vgpu::ReadsFromSeen seen;
    while (!found && count < schedules_max)
      found = shows_an_error(contest, strategy, 1'000 * s + ++count, seen);
    figures.schedules += count;
    figures.not_found += found ? 0 : 1;
    figures.within_nine += found && count <= 9 ? 1 : 0;
  }
  return figures;
}

void print_table(std::uint64_t series, std::uint64_t schedules_max) {
  std::vector<std::string_view> strategies;
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    if (row.name != "default") strategies.push_back(row.name);
  }
  fmt::print("{} series, at most {} schedules; mean, share within 9 schedules\n", series,
             schedules_max);
  fmt::print("| contest | {} |\n|---|", fmt::join(strategies, " | "));
  for (std::size_t i = 0; i < strategies.size(); ++i) fmt::print("---|");
  fmt::print("\n");
  std::vector<Figures> all(strategies.size());
  const auto show = [&](const Figures& figures, std::uint64_t count) {
    return fmt::format(
        "{}{:.1f}, {:.0f} %", figures.not_found != 0 ? "> " : "",
        static_cast<double>(figures.schedules) / static_cast<double>(count),
        100.0 * static_cast<double>(figures.within_nine) / static_cast<double>(count));
  };
  for (const Contest& contest : contests()) {
    std::vector<std::string> cells(strategies.size());
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      const Figures figures = measure(contest, strategies[i], series, schedules_max);
      all[i].schedules += figures.schedules;
      all[i].not_found += figures.not_found;
      all[i].within_nine += figures.within_nine;
      cells[i] = show(figures, series);
    }
    fmt::print("| {} | {} |\n", contest.name, fmt::join(cells, " | "));
  }
  std::vector<std::string> cells(strategies.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = show(all[i], series * contests().size());
  fmt::print("| all | {} |\n", fmt::join(cells, " | "));
}

// --- specimens -----------------------------------------------------------------------------------

bool is_shown(vgpu::FindingKind kind) {
  return kind == vgpu::FindingKind::mismatch || kind == vgpu::FindingKind::schedule_dependent ||
         kind == vgpu::FindingKind::deadlock;
}

bool is_of_order(const AnyPair& pair) {
  return std::ranges::any_of(pair.expects(), [](vgpu::FindingKind kind) {
    return kind == vgpu::FindingKind::data_race || is_shown(kind);
  });
}

// Trials until the first report, from 1; SCHEDULES_MAX + 1: there was none.
struct First {
  std::uint64_t report = 0, wrong = 0;
};

First search(const AnyPair& pair, std::string_view strategy, std::uint64_t seed,
             std::uint64_t schedules_max) {
  TrialRunner runner;
  First first{schedules_max + 1, schedules_max + 1};
  for (std::uint64_t i = 0; i < schedules_max && first.wrong > schedules_max; ++i) {
    Case a_case = nth_case(pair, "", {}, seed, i);
    auto& choice = std::get<StrategyChoice>(a_case.schedule);
    choice.name = strategy;
    const std::vector<vgpu::FindingKind> kinds = failure_kinds(runner.run(a_case));
    if (!kinds.empty()) first.report = std::min(first.report, i + 1);
    if (std::ranges::any_of(kinds, is_shown)) first.wrong = i + 1;
  }
  return first;
}

// "3, 41"; "3, -": some search found nothing.
std::string median_and_maximum(std::vector<std::uint64_t> counts, std::uint64_t schedules_max) {
  std::ranges::sort(counts);
  const auto text = [&](std::uint64_t count) {
    return count > schedules_max ? "-" : fmt::format("{}", count);
  };
  return fmt::format("{}, {}", text(counts[counts.size() / 2]), text(counts.back()));
}

void print_specimens(std::uint64_t seeds, std::uint64_t schedules_max) {
  fmt::print(
      "{} searches of at most {} schedules; median, maximum of the first report / of the "
      "first wrong result\n| specimen |",
      seeds, schedules_max);
  for (const vgpu::StrategyRow& row : vgpu::strategies()) fmt::print(" {} |", row.name);
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < vgpu::strategies().size(); ++i) fmt::print("---|");
  fmt::print("\n");
  for (const AnyPair* pair : Registry::global().pairs()) {
    if (!is_of_order(*pair)) continue;
    fmt::print("| {} |", pair->name());
    for (const vgpu::StrategyRow& row : vgpu::strategies()) {
      std::vector<std::uint64_t> reports, wrong;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const First first = search(*pair, row.name, seed, schedules_max);
        reports.push_back(first.report);
        wrong.push_back(first.wrong);
      }
      const std::string report = median_and_maximum(reports, schedules_max);
      const std::string result = median_and_maximum(wrong, schedules_max);
      fmt::print(" {} |", report == result ? report : report + " / " + result);
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
}

// --- clean pairs ---------------------------------------------------------------------------------

// Prints the findings, and returns the number of trials with one.
std::uint64_t run_clean_pair(const AnyPair& pair, std::string_view strategy, std::uint64_t trials) {
  std::uint64_t failures = 0;
  for (const auto build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
    for (const auto model : {vgpu::WarpModel::independent, vgpu::WarpModel::lockstep}) {
      TrialRunner runner;
      for (std::uint64_t i = 0; i < trials; ++i) {
        Case a_case = nth_case(pair, "", {.build = build, .warp_model = model}, 1, i);
        std::get<StrategyChoice>(a_case.schedule).name = strategy;
        const Verdict verdict = runner.run(a_case);
        if (!verdict.failed() && verdict.refusals.empty()) continue;
        ++failures;
        fmt::print("{} trial {}: {}\n", pair.name(), i, show_kinds(failure_kinds(verdict)));
      }
    }
  }
  return failures;
}

void print_clean_pairs(std::uint64_t trials, std::string_view only) {
  fmt::print("{} trials of each clean pair in each build and warp model\n", trials);
  fmt::print("| strategy | failures | CPU seconds |\n|---|---|---|\n");
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    if (!only.empty() && row.name != only) continue;
    const std::clock_t begin = std::clock();
    std::uint64_t failures = 0;
    for (const AnyPair* pair : Registry::global().pairs()) {
      if (pair->clean()) failures += run_clean_pair(*pair, row.name, trials);
    }
    const auto taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    fmt::print("| {} | {} | {:.1f} |\n", row.name, failures, taken);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace warpcheck

int main(int count, char** words) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
  };
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "specimens") {
    warpcheck::print_specimens(number(2, 50), number(3, 200));
  } else if (what == "clean") {
    warpcheck::print_clean_pairs(number(2, 250), count > 3 ? words[3] : "");
  } else {
    warpcheck::print_table(number(1, 100), number(2, 100));
  }
  return 0;
}
