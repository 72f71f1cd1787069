#include "harness/search/check.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "harness/pair/pair.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

int runs_of_kernel = 0;

void race_at(std::uint32_t line) {
  FakeEngine::current().report(vgpu::FindingKind::data_race, "kernel", line);
}

}  // namespace

KERNEL_PAIR(check_races, FakeInput, std::vector<int>) = {
    .arbitrary =
        [](Draw& draw) {
          return FakeInput{.values = std::vector<int>(static_cast<std::size_t>(draw.below(8)), 5),
                           .launch = {}};
        },
    .kernel =
        [](Device&, const FakeInput& in) {
          ++runs_of_kernel;
          if (in.values.size() >= 3) race_at(7);
          return in.values;
        },
    .reference = [](const FakeInput& in) { return in.values; },
};
PROPERTY(check_races, runs_the_kernel)(FakeInput in) { EXPECT_EQ(run(in), in.values); }
PROPERTY(check_races, races_elsewhere)(FakeInput in) {
  EXPECT_EQ(run(in), in.values);
  if (in.values.size() >= 2) race_at(9);
}

namespace {

struct CheckTest : testing::Test {
  FakeEngine engine;
  TrialRunner runner{engine};
  ShrunkFailures shrunk;

  CheckOutcome check(const char* property) {
    return check_claim(*Registry::global().find("check_races"), property, CheckOptions(), runner,
                       &shrunk);
  }
  static std::size_t size_of_input(const Report& report) {
    return report.a_case.pair->size_of(report.a_case.input).elements;
  }
};

TEST_F(CheckTest, AFailureOfAnotherClaimIsNotShrunkAgain) {
  const CheckOutcome first = check("");
  ASSERT_EQ(first.failures.size(), 1U);
  const int runs_before = runs_of_kernel;
  const CheckOutcome second = check("runs_the_kernel");
  ASSERT_EQ(second.failures.size(), 1U);
  EXPECT_EQ(second.failures[0].a_case.property, "runs_the_kernel");
  EXPECT_TRUE(second.failures[0].verdict.failed());
  EXPECT_EQ(size_of_input(second.failures[0]), 3U);
  EXPECT_EQ(static_cast<std::uint64_t>(runs_of_kernel - runs_before), second.trials + 1);
}

TEST_F(CheckTest, AFailureElsewhereIsShrunk) {
  check("");
  const CheckOutcome other = check("races_elsewhere");
  ASSERT_EQ(other.failures.size(), 1U);
  EXPECT_EQ(size_of_input(other.failures[0]), 2U);
}

}  // namespace
}  // namespace warpcheck
