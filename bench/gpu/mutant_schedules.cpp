// After how many schedules a mutant of the fast kernels is found, and as what: rows of the table in
// docs/use/gallery.md.
//
//   mutant_schedules [SERIES [SCHEDULES_MAX]]
//
// A series tries the seeds from 1,000 s + 1 on until one shows an error.  Per strategy: the mean
// over the series, in brackets the number of series that found nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "bench/gpu/mutant_trials.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

void print_table(std::uint64_t series, std::uint64_t schedules_max) {
  std::vector<std::string_view> strategies;
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    if (row.name != "default") strategies.push_back(row.name);
  }
  fmt::print("| kernel | without | found by | schedules: {} |\n|---|---|---",
             fmt::join(strategies, " | "));
  for (std::size_t i = 0; i < strategies.size(); ++i) fmt::print("|---");
  fmt::print("|\n");
  for (const fast::Mutant& mutant : fast::fast_mutants()) {
    const std::vector<std::uint32_t> expected = run_mutant(mutant.unchanged, "default", 0).out;
    std::set<std::string> kinds;
    std::vector<std::string> cells;
    for (const std::string_view strategy : strategies) {
      std::uint64_t schedules = 0;
      std::uint64_t not_found = 0;
      for (std::uint64_t s = 0; s < series; ++s) {
        const MutantSearch search =
            search_mutant(mutant, strategy, 1'000 * s + 1, schedules_max, expected);
        schedules += search.schedules == 0 ? schedules_max : search.schedules;
        not_found += search.schedules == 0 ? 1 : 0;
        kinds.insert(search.kinds.begin(), search.kinds.end());
      }
      const double mean = static_cast<double>(schedules) / static_cast<double>(series);
      cells.push_back(not_found == 0 ? fmt::format("{:.1f}", mean)
                                     : fmt::format("> {:.1f} ({})", mean, not_found));
    }
    fmt::print("| {} | `{}` | {} | {} |\n", mutant.kernel, mutant.missing, fmt::join(kinds, ", "),
               fmt::join(cells, " | "));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace warpcheck

int main(int count, char** words) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
  };
  warpcheck::print_table(number(1, 20), number(2, 100));
  return 0;
}
