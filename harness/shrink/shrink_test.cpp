#include "harness/shrink/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "harness/pair/registry.hpp"
#include "harness/search/search.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

AnyInput iota_input(int n, int block) {
  FakeInput in{.values = std::vector<int>(static_cast<std::size_t>(n)),
               .launch = {.grid = 1, .block = block}};
  std::iota(in.values.begin(), in.values.end(), 1);
  return std::make_shared<const FakeInput>(std::move(in));
}

Case case_of(const char* pair, AnyInput input, vgpu::WarpModel model) {
  Case a_case{.pair = Registry::global().find(pair),
              .property = "",
              .input = std::move(input),
              .schedule = {},
              .settings = {},
              .tape = {}};
  a_case.settings.warp_model = model;
  return a_case;
}

const FakeInput& input_of(const ShrunkCase& shrunk) {
  return *static_cast<const FakeInput*>(shrunk.a_case.input.get());
}

class ShrinkTest : public testing::Test {
 protected:
  FakeEngine engine_;
  TrialRunner runner_{engine_};
};

TEST_F(ShrinkTest, RaceAndMismatchUnderLockstepNeedsTwoWarpsAndNoDecision) {
  const Case a_case =
      case_of("fake_scan_published", iota_input(200, 256), vgpu::WarpModel::lockstep);
  const ShrunkCase shrunk = shrink(a_case, runner_);
  ASSERT_TRUE(shrunk.kept);
  EXPECT_TRUE(shrunk.complete);
  const std::vector<int>& values = input_of(shrunk).values;
  EXPECT_EQ(values.size(), 33u);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 1);
  EXPECT_EQ(std::ranges::count(values, 0), 32);
  EXPECT_EQ(input_of(shrunk).launch, (LaunchConfig{.grid = 1, .block = 33}));
  EXPECT_TRUE(shrunk.verdict.schedule.decisions.empty());
  EXPECT_EQ(show_kinds(failure_kinds(shrunk.verdict)), "data-race, mismatch");
  EXPECT_EQ(shrunk.verdict.findings.back().message, "out[32] = 2, reference 1");
}

TEST_F(ShrinkTest, RaceAndMismatchUnderIndependentNeedsThreeThreadsAndOneDecision) {
  const Case a_case =
      case_of("fake_scan_published", iota_input(200, 256), vgpu::WarpModel::independent);
  const ShrunkCase shrunk = shrink(a_case, runner_);
  ASSERT_TRUE(shrunk.kept);
  EXPECT_TRUE(shrunk.complete);
  EXPECT_EQ(input_of(shrunk).values, (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(input_of(shrunk).launch, (LaunchConfig{.grid = 1, .block = 3}));
  ASSERT_EQ(shrunk.verdict.schedule.decisions.size(), 1u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions.front().held, 0x4u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions.front().index, 0u);
  EXPECT_EQ(shrunk.verdict.findings.back().message, "out[2] = 2, reference 1");
}

TEST_F(ShrinkTest, TheSameFromEverySeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const AnyPair& pair = *Registry::global().find("fake_scan_published");
    for (std::uint64_t trial = 0;; ++trial) {
      ASSERT_LT(trial, 1000u);
      const Case a_case = nth_case(pair, "", Settings{}, seed, trial);
      if (failure_kinds(runner_.run(a_case)).size() != 2) continue;
      const ShrunkCase shrunk = shrink(a_case, runner_);
      EXPECT_EQ(input_of(shrunk).values, (std::vector<int>{1, 0, 0})) << seed;
      EXPECT_EQ(shrunk.verdict.schedule.decisions.size(), 1u) << seed;
      break;
    }
  }
}

TEST_F(ShrinkTest, ARaceAloneIsShrunkWithoutTheMismatch) {
  const Case a_case =
      case_of("fake_scan_published", iota_input(20, 20), vgpu::WarpModel::independent);
  const ShrunkCase shrunk = shrink(a_case, runner_);
  EXPECT_EQ(show_kinds(failure_kinds(shrunk.verdict)), "data-race");
  EXPECT_EQ(input_of(shrunk).values, (std::vector<int>{0, 0, 0}));
  EXPECT_TRUE(shrunk.verdict.schedule.decisions.empty());
}

TEST_F(ShrinkTest, ARaceNeverSlipsIntoAMismatch) {
  const Case a_case = case_of("fake_two_bugs", iota_input(100, 128), vgpu::WarpModel::independent);
  const ShrunkCase both = shrink(a_case, runner_);
  EXPECT_EQ(show_kinds(failure_kinds(both.verdict)), "data-race, mismatch");
  EXPECT_EQ(input_of(both).values, std::vector<int>(20, 0));
}

TEST_F(ShrinkTest, ATargetIsReachedFromACaseThatShowsMore) {
  const Case a_case = case_of("fake_two_bugs", iota_input(15, 15), vgpu::WarpModel::independent);
  const FailureClass mismatch = failure_class(runner_.run(a_case));
  ShrinkOptions options;
  options.target = mismatch;
  const ShrunkCase shrunk = shrink(a_case, runner_, options);
  EXPECT_EQ(input_of(shrunk).values, std::vector<int>(5, 0));
  EXPECT_EQ(input_of(shrunk).launch.block, Dim3{5});
}

TEST_F(ShrinkTest, SchedulesLoseWhatTheyDoNotNeed) {
  Case a_case = case_of("fake_two_decisions", iota_input(9, 9), vgpu::WarpModel::independent);
  vgpu::Schedule schedule;
  for (std::uint64_t round = 0; round < 6; ++round) {
    schedule.decisions.push_back({.launch = 0,
                                  .at = {0, 0},
                                  .point = vgpu::Decision::Point::access,
                                  .index = round,
                                  .held = 0xf0,
                                  .next = {0, 0}});
  }
  a_case.schedule = schedule;
  const ShrunkCase shrunk = shrink(a_case, runner_);
  ASSERT_EQ(shrunk.verdict.schedule.decisions.size(), 2u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions[0].index, 1u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions[0].held, 0x10u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions[1].index, 3u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions[1].held, 0x10u);
  EXPECT_EQ(input_of(shrunk).values, (std::vector<int>{0}));
}

TEST_F(ShrinkTest, AHangIsCutShortButNeverMistakenForSlowness) {
  Case a_case = case_of("fake_hang", iota_input(90, 90), vgpu::WarpModel::independent);
  const ShrunkCase shrunk = shrink(a_case, runner_);
  EXPECT_EQ(show_kinds(failure_kinds(shrunk.verdict)), "deadlock");
  EXPECT_EQ(shrunk.verdict.steps, Settings{}.limits.steps_max);
  EXPECT_EQ(shrunk.a_case.settings.limits.steps_max, Settings{}.limits.steps_max);
  EXPECT_EQ(input_of(shrunk).values, std::vector<int>(7, 0));
}

TEST_F(ShrinkTest, StopsAtItsBudgetWithAFailingCase) {
  const Case a_case =
      case_of("fake_scan_published", iota_input(200, 256), vgpu::WarpModel::lockstep);
  ShrinkOptions options;
  options.trials_max = 5;
  const ShrunkCase shrunk = shrink(a_case, runner_, options);
  EXPECT_FALSE(shrunk.complete);
  EXPECT_EQ(shrunk.trials, 5u);
  EXPECT_EQ(show_kinds(failure_kinds(shrunk.verdict)), "data-race, mismatch");
}

TEST_F(ShrinkTest, ACaseThatDoesNotFailIsNotKept) {
  const Case a_case = case_of("fake_clean", iota_input(9, 9), vgpu::WarpModel::independent);
  EXPECT_FALSE(shrink(a_case, runner_).kept);
}

TEST_F(ShrinkTest, ShrinkingTwiceGivesTheSame) {
  const Case a_case =
      case_of("fake_scan_published", iota_input(150, 150), vgpu::WarpModel::independent);
  const ShrunkCase once = shrink(a_case, runner_);
  const ShrunkCase twice = shrink(once.a_case, runner_);
  EXPECT_EQ(twice.shrinks, 0u);
  EXPECT_EQ(twice.verdict.findings, once.verdict.findings);
  EXPECT_EQ(twice.verdict.schedule, once.verdict.schedule);
}

}  // namespace
}  // namespace warpcheck
