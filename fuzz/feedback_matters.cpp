// Shows that feedback guides the search: the two planted pairs are found with it, and not without
// it, by the same engine in the same number of executions, for every seed.
//
// Prints a table; the exit code is 0 if that holds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "harness/pair/registry.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

constexpr std::array<std::string_view, 2> kPlanted{"planted_magic", "planted_order"};

struct Search {
  bool found = false;
  std::uint64_t executions = 0;
};

Search search(const AnyPair& pair, bool feedback, std::uint32_t seed, std::uint64_t executions,
              const std::filesystem::path& directory) {
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
  return {!outcome.kinds().empty(), outcome.executions};
}

int compare(const std::vector<std::uint32_t>& seeds, std::uint64_t executions) {
  const TemporaryDirectory temporary;
  const std::filesystem::path& directory = temporary.path();
  bool holds = true;
  fmt::print(
      "| pair | seed | with feedback | without, in as many executions |\n|---|---|---|---|\n");
  for (const std::string_view name : kPlanted) {
    const AnyPair& pair = *Registry::global().find(name);
    for (const std::uint32_t seed : seeds) {
      const Search with = search(pair, true, seed, executions, directory);
      const Search without = search(pair, false, seed, with.executions, directory);
      fmt::print("| {} | {} | {} after {} | {} |\n", name, seed, with.found ? "found" : "missed",
                 with.executions, without.found ? "found" : "missed");
      holds = holds && with.found && !without.found;
    }
  }
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  CLI::App app("Planted defects, with feedback and without");
  std::vector<std::uint32_t> seeds{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::uint64_t executions = 300'000;
  app.add_option("--seeds", seeds)->capture_default_str();
  app.add_option("--executions", executions)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return warpcheck::compare(seeds, executions);
}
