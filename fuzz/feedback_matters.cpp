// Shows that feedback guides the search: the two planted pairs are found with it, and not without
// it, by the same engine in the same number of executions, for every seed.
//
// Prints a table; the exit code is 0 if that holds.
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "fuzz/fuzz.hpp"
#include "harness/pair/registry.hpp"

namespace warpcheck {
namespace {

constexpr std::array<std::string_view, 2> kPlanted{"planted_magic", "planted_order"};

struct Count {
  std::uint32_t found = 0;
  std::uint64_t executions_most = 0;  // of a seed that found it
};

Count count_found(const AnyPair& pair, bool feedback, std::uint32_t seeds, std::uint64_t executions,
                  const std::filesystem::path& directory) {
  Count count;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    FuzzOptions options;
    options.pair = &pair;
    options.seconds = 0;
    options.executions = executions;
    options.seed = seed;
    options.feedback = feedback;
    options.stop_when_found = true;
    options.cases = directory.string();
    options.shrink.trials_max = 10;
    const FuzzOutcome outcome = run_fuzz(options);
    for (const std::string& error : outcome.errors) fmt::print(stderr, "{}\n", error);
    if (outcome.kinds().empty()) continue;
    ++count.found;
    count.executions_most = std::max(count.executions_most, outcome.executions);
  }
  return count;
}

int compare(std::uint32_t seeds, std::uint64_t executions) {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() /
      ("warpcheck_feedback_matters." + std::to_string(::getpid()));
  bool holds = true;
  fmt::print("Found, of {} seeds, within {} executions each\n\n", seeds, executions);
  fmt::print("| pair | with feedback | at most after | without |\n|---|---|---|---|\n");
  for (const std::string_view name : kPlanted) {
    const AnyPair& pair = *Registry::global().find(name);
    const Count with = count_found(pair, true, seeds, executions, directory);
    const Count without = count_found(pair, false, seeds, executions, directory);
    fmt::print("| {} | {} | {} | {} |\n", name, with.found, with.executions_most, without.found);
    holds = holds && with.found == seeds && without.found == 0;
  }
  std::filesystem::remove_all(directory);
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  CLI::App app("Planted defects, with feedback and without");
  std::uint32_t seeds = 10;
  std::uint64_t executions = 300'000;
  app.add_option("--seeds", seeds)->capture_default_str();
  app.add_option("--executions", executions)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return warpcheck::compare(seeds, executions);
}
