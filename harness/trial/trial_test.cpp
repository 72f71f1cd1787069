#include "harness/trial/trial.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/pair/pair.hpp"
#include "harness/search/search.hpp"
#include "harness/testing/fake_engine.hpp"
#include "harness/trial/schedule_search.hpp"
#include "vgpu/schedule/default_policy.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {

KERNEL_PAIR(always_zero, FakeInput, int) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel = [](Device&, const FakeInput&) { return 0; },
    .reference = [](const FakeInput&) { return 0; },
};
namespace {

int references_run = 0;
int behaviour = 0;  // of pair_that_misbehaves

}  // namespace

// Sums in floats, in an order that follows the schedule; within its bound either way.
KERNEL_PAIR(fake_order_sensitive, FakeInput, std::vector<float>) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel =
        [](Device&, const FakeInput&) {
          const bool other = FakeEngine::current().held_lanes({0, 0}, 0, 3) != 0;
          return std::vector<float>{other ? 1.0F : 1.25F};
        },
    .reference = [](const FakeInput&) { return ++references_run, std::vector<float>{1.0F}; },
    .agreement = within_error_bound([](const FakeInput&) { return std::vector<double>{0.5}; }),
};

// The same, but declared as order-sensitive.
KERNEL_PAIR(fake_order_declared, FakeInput, std::vector<float>) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel = warpcheck_pair_fake_order_sensitive.kernel,
    .reference = [](const FakeInput&) { return std::vector<float>{1.0F}; },
    .agreement = {.difference = [](const FakeInput&, const std::vector<float>&,
                                   const std::vector<float>&) { return std::nullopt; },
                  .exact = false,
                  .order_sensitive = true},
};

// A zero, or a NaN, whose bits depend on the schedule; equal to the reference either way.
KERNEL_PAIR(fake_other_bits, FakeInput, std::vector<float>) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel =
        [](Device&, const FakeInput& in) {
          const bool other = FakeEngine::current().held_lanes({0, 0}, 0, 3) != 0;
          if (in.values[0] == 0) return std::vector<float>{other ? -0.0F : 0.0F};
          return std::vector<float>{std::bit_cast<float>(other ? 0x7fc00001U : 0x7fc00000U)};
        },
    .reference =
        [](const FakeInput& in) {
          return std::vector<float>{in.values[0] == 0 ? 0
                                                      : std::numeric_limits<float>::quiet_NaN()};
        },
};

// Shows its finding only if no lane is held back.
KERNEL_PAIR(fake_fails_by_default, FakeInput, std::vector<float>) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel =
        [](Device&, const FakeInput&) {
          FakeEngine& engine = FakeEngine::current();
          const bool held = engine.held_lanes({0, 0}, 0, 3) != 0;
          if (!held) engine.report(vgpu::FindingKind::out_of_bounds, "k", 3);
          return std::vector<float>{1};
        },
    .reference = [](const FakeInput&) { return std::vector<float>{1}; },
    .agreement = within_error_bound([](const FakeInput&) { return std::vector<double>{0.5}; }),
};

KERNEL_PAIR(fake_misbehaving, FakeInput, int) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel = [](Device&, const FakeInput&) -> int {
      FakeEngine& engine = FakeEngine::current();
      if (behaviour >= 2) engine.report(vgpu::FindingKind::trap, "k", 3);
      if (behaviour == 3) engine.refuse("an instruction");
      check(cudaErrorInvalidValue);
      return 0;
    },
    .reference = [](const FakeInput&) { return 0; },
};

namespace {

Case case_of(const char* pair, const char* property = "") {
  return {.pair = Registry::global().find(pair),
          .property = property,
          .input = std::make_shared<const FakeInput>(
              FakeInput{.values = {600, 600}, .launch = {.grid = 1, .block = 2}}),
          .schedule = {},
          .settings = {},
          .tape = {}};
}

vgpu::Schedule hold_lane_1() {
  vgpu::Schedule schedule;
  schedule.decisions.push_back({.launch = 0,
                                .at = {0, 0},
                                .point = vgpu::Decision::Point::access,
                                .index = 0,
                                .held = 2,
                                .next = {0, 0}});
  return schedule;
}

TEST(Trial, ACleanPairHasNoFinding) {
  FakeEngine engine;
  EXPECT_FALSE(TrialRunner(engine).run(case_of("fake_clean")).failed());
}

// Launches one kernel without findings, and records the settings of its run.
class LaunchingEngine final : public Engine {
 public:
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    const bool is_default = dynamic_cast<vgpu::DefaultPolicy*>(settings.strategy) != nullptr;
    ran.emplace_back(is_default ? "default" : "strategy");
    body();
    TrialResult result;
    result.launches = 1;
    result.order_source = order_source;
    return result;
  }
  std::vector<std::string> ran;
  std::string order_source;
};

// If the order cannot show, the default schedule holds for all, and the next trial is of another
// input.
TEST(Trial, AStrategyIsFollowedOnlyWhereTheOrderOfThreadsCanShow) {
  using Ran = std::vector<std::string>;
  LaunchingEngine engine;
  TrialRunner runner(engine);
  Case a_case = case_of("always_zero");
  a_case.schedule = StrategyChoice{.name = "random", .seed = 1};
  bool stands = false;
  const auto ran = [&] {
    engine.ran.clear();
    a_case.input = std::make_shared<const FakeInput>();
    stands = runner.run(a_case).for_every_schedule;
    return engine.ran;
  };
  EXPECT_EQ(ran(), Ran{"strategy"});  // nothing is known of the kernel yet
  EXPECT_TRUE(stands);
  EXPECT_EQ(ran(), Ran{"default"});
  EXPECT_TRUE(stands);
  engine.order_source = "reads a clock";
  EXPECT_EQ(ran(), (Ran{"default", "strategy"}));
  EXPECT_FALSE(stands);
  EXPECT_EQ(ran(), Ran{"strategy"});
  engine.order_source.clear();
  EXPECT_EQ(ran(), Ran{"strategy"});
  EXPECT_EQ(ran(), Ran{"default"});
  a_case.settings.warp_model = vgpu::WarpModel::lockstep;
  EXPECT_EQ(ran(), Ran{"strategy"});
  EXPECT_FALSE(stands);
}

TEST(Trial, FilesAreRelativeToTheRepository) {
  FakeEngine engine;
  Case a_case = case_of("fake_scan_published");
  a_case.input = std::make_shared<const FakeInput>(
      FakeInput{.values = {1, 1, 1}, .launch = {.grid = 1, .block = 3}});
  const Verdict verdict = TrialRunner(engine).run(a_case);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].accesses[0].file, "kernels/fake.cu");
}

TEST(Trial, AFailedExpectationIsAMismatchOfTheProperty) {
  FakeEngine engine;
  const Verdict verdict = TrialRunner(engine).run(case_of("fake_clean", "last_is_below_1000"));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].kernel, "fake_clean.last_is_below_1000");
  EXPECT_EQ(verdict.findings[0].message.rfind("harness/testing/fake_engine.cpp:", 0), 0u);
  EXPECT_NE(verdict.findings[0].message.find("1200 vs 1000"), std::string::npos);
  EXPECT_FALSE(TrialRunner(engine).run(case_of("fake_clean", "keeps_its_length")).failed());
}

TEST(Trial, AnInexactAnswerMayNotDependOnTheSchedule) {
  FakeEngine engine;
  TrialRunner runner(engine);
  Case a_case = case_of("fake_order_sensitive");
  references_run = 0;
  EXPECT_FALSE(runner.run(a_case).failed());
  a_case.schedule = hold_lane_1();
  const Verdict verdict = runner.run(a_case);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].kind, vgpu::FindingKind::schedule_dependent);
  EXPECT_TRUE(verdict.findings[0].accesses.empty());  // nothing was executed
  EXPECT_EQ(verdict.findings[0].message,
            "out[0] = 1, under the default schedule 1.25; under 16 schedules, out[0] has 2 values "
            "from 1 to 1.25, 2.1e+06 ulps apart");
  EXPECT_EQ(references_run, 1);  // cached for the input
}

TEST(Trial, WhatAnAgreementDeclaresToFollowTheScheduleMay) {
  FakeEngine engine;
  Case a_case = case_of("fake_order_declared");
  a_case.schedule = hold_lane_1();
  EXPECT_FALSE(TrialRunner(engine).run(a_case).failed());
}

TEST(Trial, BytesMayNotDependOnTheScheduleEvenWhereTheyAreEqualValues) {
  FakeEngine engine;
  const auto message = [&](int value) {
    Case a_case = case_of("fake_other_bits");
    a_case.input = std::make_shared<const FakeInput>(FakeInput{.values = {value}, .launch = {}});
    EXPECT_FALSE(TrialRunner(engine).run(a_case).failed());
    a_case.schedule = hold_lane_1();
    const Verdict verdict = TrialRunner(engine).run(a_case);
    EXPECT_EQ(show_kinds(failure_kinds(verdict)), "schedule-dependent");
    return verdict.findings.empty() ? "" : verdict.findings[0].message;
  };
  EXPECT_EQ(message(0),
            "out[0] = -0, under the default schedule 0; under 16 schedules, out[0] has 2 values");
  EXPECT_EQ(message(1),
            "out[0] = nan (0x7fc00001), under the default schedule nan (0x7fc00000); under 16 "
            "schedules, out[0] has 2 values, not all of them numbers");
}

TEST(Trial, ACallThatFailsIsAMismatchUnlessAFindingExplainsIt) {
  FakeEngine engine;
  TrialRunner runner(engine);
  behaviour = 1;
  Verdict verdict = runner.run(case_of("fake_misbehaving"));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].message.rfind("no output: cudaErrorInvalidValue", 0), 0u);
  EXPECT_EQ(verdict.findings[0].lack, vgpu::Lack::output);
  behaviour = 2;
  EXPECT_EQ(show_kinds(failure_kinds(runner.run(case_of("fake_misbehaving")))), "trap");
  behaviour = 3;
  verdict = runner.run(case_of("fake_misbehaving"));
  EXPECT_EQ(verdict.refusals, std::vector<std::string>{"an instruction"});
}

TEST(Trial, WhatTheDefaultScheduleShowsIsNotLostInTheComparison) {
  FakeEngine engine;
  TrialRunner runner(engine);
  Case a_case = case_of("fake_fails_by_default");
  EXPECT_EQ(show_kinds(failure_kinds(runner.run(a_case))), "out-of-bounds");
  a_case.schedule = hold_lane_1();
  for (int i = 0; i < 2; ++i) {  // the second time it is cached
    const Verdict verdict = runner.run(a_case);
    ASSERT_EQ(verdict.findings.size(), 1u);
    EXPECT_EQ(verdict.findings[0].kind, vgpu::FindingKind::out_of_bounds);
    EXPECT_EQ(verdict.findings[0].message,
              "no barrier orders (1) and (2); under the default schedule, with which the output is "
              "compared");
  }
}

TEST(FailureClass, KeepsSignaturesAtNoNewPlace) {
  const FailureClass original{.signatures = {"a"}, .places = {"a|f:1", "a|f:2"}};
  EXPECT_TRUE(keeps(original, {.signatures = {"a"}, .places = {"a|f:2"}}));
  EXPECT_FALSE(keeps(original, {.signatures = {"a"}, .places = {"a|f:3"}}));
  EXPECT_FALSE(keeps(original, {.signatures = {"a", "b"}, .places = {"a|f:1", "b|f:1"}}));
  EXPECT_FALSE(keeps(original, {}));
}

// --- search -------------------------------------------------------------------------------------

Verdict verdict_of(std::vector<vgpu::FindingKind> kinds) {
  Verdict verdict;
  for (const vgpu::FindingKind kind : kinds) {
    vgpu::Finding finding;
    finding.kind = kind;
    verdict.findings.push_back(finding);
  }
  return verdict;
}

TEST(FailureLog, ReportsForEachKindTheClassThatShowsLittleElse) {
  using Kind = vgpu::FindingKind;
  FailureLog log;
  const Case a_case = case_of("fake_clean");
  EXPECT_TRUE(log.add({a_case, verdict_of({Kind::out_of_bounds, Kind::mismatch}), 1}));
  EXPECT_TRUE(log.add({a_case, verdict_of({Kind::mismatch}), 2}));
  EXPECT_TRUE(log.add({a_case, verdict_of({Kind::out_of_bounds}), 3}));
  EXPECT_FALSE(log.add({a_case, verdict_of({Kind::out_of_bounds}), 4}));
  const auto chosen = log.worth_reporting();
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(show_kinds(failure_kinds(chosen[0]->verdict)), "mismatch");
  EXPECT_EQ(show_kinds(failure_kinds(chosen[1]->verdict)), "out-of-bounds");
  EXPECT_EQ(chosen[1]->trial, 3u);
}

TEST(FailureLog, LeavesOutWhatIsAPartOfAnother) {
  using Kind = vgpu::FindingKind;
  FailureLog log;
  const Case a_case = case_of("fake_clean");
  log.add({a_case, verdict_of({Kind::data_race}), 1});
  log.add({a_case, verdict_of({Kind::data_race, Kind::mismatch}), 2});
  const auto chosen = log.worth_reporting();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(show_kinds(failure_kinds(chosen[0]->verdict)), "data-race, mismatch");
}

TEST(Search, TheSameSeedDrawsTheSameCase) {
  const AnyPair& pair = *Registry::global().find("fake_clean");
  const Case a = nth_case(pair, "", {}, 7, 3), b = nth_case(pair, "", {}, 7, 3);
  EXPECT_TRUE(pair.identical(a.input, b.input));
  EXPECT_EQ(a.schedule, b.schedule);
  EXPECT_EQ(a.tape, b.tape);
  EXPECT_FALSE(pair.identical(a.input, nth_case(pair, "", {}, 8, 3).input));
}

TEST(Search, EveryPolicyTakesPart) {
  const AnyPair& pair = *Registry::global().find("fake_clean");
  std::map<std::string, int> seen;
  for (std::uint64_t i = 0; i < 400; ++i) {
    ++seen[std::get<StrategyChoice>(nth_case(pair, "", {}, 1, i).schedule).name];
  }
  // Other strategies run only by name.
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    EXPECT_EQ(seen.contains(std::string(row.name)),
              row.draw_weight != 0 || !row.shares_seeds_of.empty());
  }
  // Two strategies share the seeds of one.
  for (const auto& [name, count] : seen) EXPECT_GT(count, 40) << name;
}

TEST(SearchOfSchedules, TriesTheFewSeedsFirstAndThenTakesTurns) {
  const std::vector<StrategyChoice> expected{{"default", 0}, {"round_robin", 0}, {"round_robin", 1},
                                             {"random", 3},  {"pct", 4},         {"random", 5}};
  std::vector<StrategyChoice> tried;
  for (std::uint64_t i = 0; i < expected.size(); ++i) tried.push_back(policy(i));
  EXPECT_EQ(tried, expected);
}

TEST(SingleDecisions, AreTheSimplestFirst) {
  ScheduleProbe probe(10);
  const std::vector<vgpu::WarpId> ready{{0, 0}, {0, 1}};
  static_cast<void>(probe.decide({.launch = 0,
                                  .at = {0, 0},
                                  .point = vgpu::Decision::Point::access,
                                  .index = 1,
                                  .active = 0x7,
                                  .model = vgpu::WarpModel::independent,
                                  .default_next = {0, 0},
                                  .ready = ready}));
  const auto decisions = single_decisions(probe.points(), vgpu::WarpModel::independent);
  ASSERT_EQ(decisions.size(), 7u);
  EXPECT_EQ(decisions[0].held, 1u);
  EXPECT_EQ(decisions[1].held, 2u);
  EXPECT_EQ(decisions[2].held, 4u);
  EXPECT_EQ(decisions[3].held, 5u);
  EXPECT_EQ(decisions.back().next, (vgpu::WarpId{0, 1}));
  EXPECT_EQ(decisions.back().held, 7u);
  EXPECT_EQ(single_decisions(probe.points(), vgpu::WarpModel::lockstep).size(), 1u);
}

}  // namespace
}  // namespace warpcheck
