#include "harness/shrink/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"
#include "harness/search/search.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {

struct FakeEdge {
  int from = 0, to = 0;
};
FIELDS(FakeEdge, from, to);
struct FakeGraph {
  std::vector<FakeEdge> edges;
  int nodes = 1;
};
FIELDS(FakeGraph, edges, nodes);

// Wrong if two edges lead to the same node, from node 2 on.
KERNEL_PAIR(fake_meeting_edges, FakeGraph, bool) = {
    .family = "fake",
    .origin = "ours",
    .expects = {"mismatch"},
    .domain =
        [](const FakeGraph& in) {
          return std::ranges::all_of(in.edges, [&](const FakeEdge& edge) {
            return edge.from >= 0 && edge.from < in.nodes && edge.to >= 0 && edge.to < in.nodes;
          });
        },
    .arbitrary = [](Draw&) { return FakeGraph{}; },
    .kernel =
        [](Device&, const FakeGraph& in) {
          return in.edges.size() >= 2 && in.edges[0].to == in.edges[1].to && in.edges[0].to >= 2;
        },
    .reference = [](const FakeGraph&) { return false; },
};

struct FakeTable {
  int slots = 1, key = 0;
};
FIELDS(FakeTable, slots, key);

// Wrong if the key is seven times the number of slots: neither can change alone.
KERNEL_PAIR(fake_table, FakeTable, bool) = {
    .family = "fake",
    .origin = "ours",
    .expects = {"mismatch"},
    .domain = [](const FakeTable& in) { return in.slots >= 1 && in.slots <= 100 && in.key >= 0; },
    .arbitrary =
        [](Draw& draw) {
          const auto slots = static_cast<int>(draw.between(1, 10));
          return FakeTable{slots, slots * static_cast<int>(draw.between(0, 9))};
        },
    .kernel = [](Device&, const FakeTable& in) { return in.key == 7 * in.slots; },
    .reference = [](const FakeTable&) { return false; },
};

struct FakeThreads {
  int threads = 1;
};
FIELDS(FakeThreads, threads);

// Wrong if lane 0 is held at the last access; the number of accesses is that of threads.
KERNEL_PAIR(fake_last_access, FakeThreads, bool) = {
    .family = "fake",
    .origin = "ours",
    .expects = {"mismatch"},
    .domain = [](const FakeThreads& in) { return in.threads >= 1; },
    .arbitrary = [](Draw&) { return FakeThreads{}; },
    .kernel =
        [](Device&, const FakeThreads& in) {
          FakeEngine& engine = FakeEngine::current();
          std::uint32_t held = 0;
          for (int i = 0; i < in.threads; ++i) {
            held = engine.held_lanes({0, 0}, static_cast<std::uint64_t>(i), 0x3);
            engine.spin(1);
          }
          return (held & 1) != 0;
        },
    .reference = [](const FakeThreads&) { return false; },
};

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

template <class Input = FakeInput>
const Input& input_of(const ShrunkCase& shrunk) {
  return *static_cast<const Input*>(shrunk.a_case.input.get());
}

template <class Input>
Case case_with(const char* pair, Input input) {
  return case_of(pair, std::make_shared<const Input>(std::move(input)),
                 vgpu::WarpModel::independent);
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

TEST_F(ShrinkTest, EqualIntegersBecomeLowerTogether) {
  const ShrunkCase shrunk =
      shrink(case_with("fake_meeting_edges", FakeGraph{{{1, 12}, {0, 12}}, 13}), runner_);
  EXPECT_EQ(input_of<FakeGraph>(shrunk), (FakeGraph{{{0, 2}, {0, 2}}, 3}));
  EXPECT_TRUE(shrunk.complete);
}

TEST_F(ShrinkTest, ASmallInputIsDrawnWhereNoSingleStepLeads) {
  const ShrunkCase shrunk = shrink(case_with("fake_table", FakeTable{40, 280}), runner_);
  EXPECT_EQ(input_of<FakeTable>(shrunk), (FakeTable{1, 7}));
  EXPECT_TRUE(shrunk.complete);
}

TEST_F(ShrinkTest, FewerThreadsThatNeedAnotherDecisionAreFound) {
  Case a_case = case_with("fake_last_access", FakeThreads{64});
  a_case.schedule = vgpu::Schedule{{{.launch = 0,
                                     .at = {0, 0},
                                     .point = vgpu::Decision::Point::access,
                                     .index = 63,
                                     .held = 0x1,
                                     .next = {0, 0}}}};
  const ShrunkCase shrunk = shrink(a_case, runner_);
  EXPECT_EQ(input_of<FakeThreads>(shrunk).threads, 1);
  ASSERT_EQ(shrunk.verdict.schedule.decisions.size(), 1u);
  EXPECT_EQ(shrunk.verdict.schedule.decisions[0].index, 0u);
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
  // Elements that are looked at are work, whatever the trials take.
  options = {};
  options.elements_max = 1'000;
  const ShrunkCase large = shrink(a_case, runner_, options);
  EXPECT_FALSE(large.complete);
  EXPECT_LT(large.trials, 100u);
  EXPECT_EQ(show_kinds(failure_kinds(large.verdict)), "data-race, mismatch");
}

// Counts the trials that each of two checkers watches; one of them finds something.
class WatchedFake final : public Engine {
 public:
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    with_numerics += settings.checkers.numerics ? 1 : 0;
    with_precision += settings.checkers.precision ? 1 : 0;
    return engine_.run(settings, [&] {
      body();
      if (finds_infinities && settings.checkers.numerics)
        FakeEngine::current().report(vgpu::FindingKind::infinity, "fake_scan", 9);
    });
  }
  int with_numerics = 0, with_precision = 0;
  bool finds_infinities = false;

 private:
  FakeEngine engine_;
};

TEST_F(ShrinkTest, CheckersThatShowNothingAreOffMeanwhile) {
  Case a_case = case_of("fake_scan_published", iota_input(20, 20), vgpu::WarpModel::independent);
  a_case.settings.checkers.numerics = a_case.settings.checkers.precision = true;
  WatchedFake engine;
  TrialRunner runner(engine);
  const ShrunkCase shrunk = shrink(a_case, runner);
  EXPECT_TRUE(shrunk.kept);
  EXPECT_EQ(input_of(shrunk).values, (std::vector<int>{0, 0, 0}));
  EXPECT_TRUE(shrunk.a_case.settings.checkers.numerics);
  EXPECT_TRUE(shrunk.a_case.settings.checkers.precision);
  EXPECT_LE(engine.with_numerics, 6);
  EXPECT_LE(engine.with_precision, 6);

  engine = {};
  engine.finds_infinities = true;
  const ShrunkCase infinite = shrink(a_case, runner);
  EXPECT_EQ(show_kinds(failure_kinds(infinite.verdict)), "data-race, infinity");
  EXPECT_EQ(input_of(infinite).values, (std::vector<int>{0, 0, 0}));
  EXPECT_LE(engine.with_precision, 6);
  EXPECT_GT(engine.with_numerics, 6);
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
