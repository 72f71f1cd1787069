// Every published defect is found from an empty corpus, within a number of executions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "harness/pair/registry.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

std::vector<std::string> specimens() {
  std::vector<std::string> names;
  for (const AnyPair* pair : Registry::global().pairs()) {
    if (!pair->clean()) names.push_back(pair->name());
  }
  return names;
}

class EverySpecimen : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fuzzing, EverySpecimen, testing::ValuesIn(specimens()),
                         [](const auto& test) { return test.param; });

TEST_P(EverySpecimen, IsFoundFromAnEmptyCorpus) {
  const TemporaryDirectory temporary;
  FuzzOptions options;
  options.pair = Registry::global().find(GetParam());
  options.seconds = 0;
  options.executions = 20'000;
  options.cases = temporary.path().string();
  options.stop_when_found = true;
  options.shrink.trials_max = 200;  // shrinking is tested elsewhere
  const FuzzOutcome outcome = run_fuzz(options);
  EXPECT_EQ(outcome.errors, std::vector<std::string>{});
  EXPECT_TRUE(std::ranges::includes(outcome.kinds(), options.pair->expects()))
      << show_kinds(outcome.kinds()) << " after " << outcome.executions << " executions";
  for (const Report& report : outcome.reports) {
    EXPECT_TRUE(std::filesystem::exists(report.replay_path)) << report.replay_path;
  }
}

}  // namespace
}  // namespace warpcheck
