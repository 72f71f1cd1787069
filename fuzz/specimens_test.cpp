// Every published defect is found from an empty corpus, by a number of executions, not by time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "harness/registry.hpp"

namespace warpcheck {
namespace {

std::vector<const AnyPair*> specimens() {
  std::vector<const AnyPair*> found = Registry::global().pairs();
  std::erase_if(found, [](const AnyPair* pair) { return pair->clean(); });
  return found;
}

class EverySpecimen : public testing::TestWithParam<const AnyPair*> {};
INSTANTIATE_TEST_SUITE_P(Fuzzing, EverySpecimen, testing::ValuesIn(specimens()),
                         [](const auto& test) { return test.param->name(); });

TEST_P(EverySpecimen, IsFoundFromAnEmptyCorpus) {
  const std::filesystem::path cases =
      std::filesystem::path(testing::TempDir()) /   // tests run side by side: a place for each
      ("fuzz_specimens_test_" + GetParam()->name() + "_" + std::to_string(getpid()));
  FuzzOptions options;
  options.pair = GetParam();
  options.seconds = 0;
  options.executions = 20'000;
  options.cases = cases.string();
  options.stop_when_found = true;
  options.shrink.trials_max = 200;  // shrinking has tests of its own
  const FuzzOutcome outcome = run_fuzz(options);
  EXPECT_EQ(outcome.errors, std::vector<std::string>{});
  EXPECT_TRUE(std::ranges::includes(outcome.kinds(), options.pair->expects()))
      << show_kinds(outcome.kinds()) << " after " << outcome.executions << " executions";
  for (const Report& report : outcome.reports) {
    EXPECT_TRUE(std::filesystem::exists(report.replay_path)) << report.replay_path;
  }
  std::filesystem::remove_all(cases);
}

}  // namespace
}  // namespace warpcheck
