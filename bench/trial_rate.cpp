// Trials a second of the cases in directories, run once before they are timed: `trial_rate
// DIRECTORY...`.  `proved_points --cases` makes such directories.  To compare with an older tree,
// compile this file there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <span>
#include <vector>

#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

std::vector<Case> cases_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Case> cases;
  for (const auto& file : files) cases.push_back(read_case(file, Registry::global()).a_case);
  return cases;
}

void time_trials(const std::filesystem::path& directory) {
  const std::vector<Case> cases = cases_in(directory);
  TrialRunner runner;
  const auto run_all = [&] {
    for (const Case& a_case : cases) static_cast<void>(runner.run(a_case));
  };
  run_all();
  const std::clock_t begin = std::clock();
  run_all();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  fmt::print("| {} | {} | {:.0f} |\n", directory.filename().string(), cases.size(),
             static_cast<double>(cases.size()) / seconds);
  static_cast<void>(std::fflush(stdout));
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  fmt::print("| pair | trials | trials/s |\n|---|---|---|\n");
  for (const char* directory : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
    warpcheck::time_trials(directory);
  }
}
