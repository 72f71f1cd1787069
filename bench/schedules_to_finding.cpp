// How many schedules it takes to find a missing order: vgpu/cudart/programs/contenders under each
// strategy.
//
//   schedules_to_finding [SERIES [SCHEDULES_MAX]]
//
// A series tries the seeds from 1,000 s + 1 on until one shows an error; the default schedule is
// not among them.  Per contest and strategy: the mean over the series, and how many found nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/programs/contenders/contenders.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

bool shows_an_error(const Contest& contest, std::string_view strategy_name, std::uint64_t seed) {
  const auto strategy = vgpu::make_strategy(strategy_name, seed);
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
    while (!found && count < schedules_max)
      found = shows_an_error(contest, strategy, 1'000 * s + ++count);
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

}  // namespace
}  // namespace warpcheck

int main(int count, char** words) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
  };
  warpcheck::print_table(number(1, 100), number(2, 100));
  return 0;
}
