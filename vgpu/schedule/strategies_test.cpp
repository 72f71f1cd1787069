#include "vgpu/schedule/strategies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <vector>

#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/round_robin.hpp"

namespace warpcheck::vgpu {
namespace {

using Point = Decision::Point;

// Simulates a machine without instructions: every warp of `blocks` blocks makes `accesses` accesses
// with all lanes and exits.  Returns the decisions that differ from the default, as the machine
// does.
std::vector<Decision> simulate(Strategy& strategy, std::uint32_t blocks, std::uint32_t warps,
                               std::uint64_t accesses, WarpModel model = WarpModel::independent,
                               std::uint32_t launch = 0) {
  struct State {
    std::uint64_t done = 0, asked = 0;
  };
  std::map<WarpId, State> state;
  std::vector<WarpId> ready;
  strategy.begin(launch, blocks, warps);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      const WarpId id{block, warp};
      ready.push_back(id);
      state[id].asked = strategy.next_access(launch, id, 0);
    }
  }
  std::vector<Decision> decisions;
  WarpId running{0, 0};
  while (!ready.empty()) {
    State& warp = state[running];
    SchedulePoint point{.launch = launch,
                        .at = running,
                        .index = warp.done,
                        .active = 0xffffffff,
                        .model = model,
                        .default_next = running,
                        .ready = ready};
    if (warp.done == accesses) {
      std::erase(ready, running);
      if (ready.empty()) break;
      point.point = Point::stop;
      point.active = 0;
      point.index = 0;
      point.default_next = ready.front();
      point.ready = ready;
      const auto choice = strategy.decides_stops() ? strategy.decide(point) : std::nullopt;
      const WarpId next = choice ? choice->next : point.default_next;
      if (next != point.default_next) {
        decisions.push_back({launch, running, Point::stop, 0, 0, next});
      }
      running = next;
      continue;
    }
    if (warp.asked == warp.done) {
      const auto choice = strategy.decide(point);
      warp.asked = strategy.next_access(launch, running, warp.done + 1);
      if (choice) {
        decisions.push_back(
            {launch, running, Point::access, warp.done, choice->held, choice->next});
        if (choice->held == point.active) {
          EXPECT_NE(choice->next, running);
          running = choice->next;
          continue;
        }
        EXPECT_EQ(model, WarpModel::independent);
      }
    }
    ++warp.done;
  }
  return decisions;
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for (const StrategyRow& row : strategies()) list.push_back(row.name);
  return list;
}

class EveryStrategy : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(ByName, EveryStrategy, testing::ValuesIn(names()),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(EveryStrategy, IsAFunctionOfItsSeed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto first = make_strategy(GetParam(), seed), second = make_strategy(GetParam(), seed);
    EXPECT_EQ(simulate(*first, 3, 4, 20), simulate(*second, 3, 4, 20));
  }
}

TEST_P(EveryStrategy, IsReplayedDecisionByDecision) {
  for (const WarpModel model : {WarpModel::independent, WarpModel::lockstep}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto strategy = make_strategy(GetParam(), seed);
      const Schedule recorded{simulate(*strategy, 3, 4, 20, model)};
      Replay replay(recorded);
      EXPECT_EQ(simulate(replay, 3, 4, 20, model), recorded.decisions);
      EXPECT_EQ(replay.ignored(), 0u);
    }
  }
}

TEST_P(EveryStrategy, NeverSplitsAWarpInLockstep) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto strategy = make_strategy(GetParam(), seed);
    for (const Decision& decision : simulate(*strategy, 2, 2, 20, WarpModel::lockstep)) {
      EXPECT_EQ(decision.held, decision.point == Point::access ? 0xffffffffu : 0u);
    }
  }
}

TEST(Strategies, RefusesAnUnknownNameAndListsTheKnown) {
  try {
    make_strategy("fifo", 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "no strategy 'fifo'; there are: default, random, pct, round_robin, weak_memory, pos, "
        "reads_from");
  }
  EXPECT_EQ(find_strategy("fifo"), nullptr);
  EXPECT_EQ(find_strategy("pct")->name, "pct");
}

// The meaning of a tape or a seed must not change, because recorded cases and reports depend on it.
TEST(Strategies, AreDrawnByTicketAndSearchedByTurns) {
  std::vector<std::string_view> drawn, searched;
  for (std::uint64_t i = 0; i < draw_tickets(); ++i) drawn.push_back(drawn_strategy(i).name);
  for (std::uint64_t i = 0; i < 4; ++i) searched.push_back(searched_strategy(i).name);
  EXPECT_EQ(drawn, (std::vector<std::string_view>{"default", "random", "pct", "round_robin"}));
  EXPECT_EQ(searched, (std::vector<std::string_view>{"random", "pct", "random", "pct"}));
}

// Half of a row's seeds belong to the strategy that shares them, always the same ones.
TEST(Strategies, SharedSeedsAreHalfOfThem) {
  const std::map<std::string_view, std::string_view> sharers{{"random", "weak_memory"},
                                                             {"round_robin", "reads_from"}};
  for (const auto& [name, sharer] : sharers) {
    int shared = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const StrategyRow& row = strategy_of_seed(*find_strategy(name), seed);
      shared += row.name == sharer ? 1 : 0;
      EXPECT_TRUE(row.name == sharer || row.name == name);
      EXPECT_EQ(strategy_of_seed(*find_strategy("pct"), seed).name, "pct");
    }
    EXPECT_GT(shared, 450);
    EXPECT_LT(shared, 550);
  }
  const StrategyRow& random = *find_strategy("random");
  EXPECT_EQ(strategy_of_seed(random, 0).name, "weak_memory");
  EXPECT_EQ(strategy_of_seed(random, 3).name, "random");
}

TEST(Strategies, HelpNamesEachAndWhatItDoes) {
  const std::string help = strategies_help();
  for (const StrategyRow& row : strategies()) {
    EXPECT_NE(help.find(std::string(row.name) + " (" + std::string(row.help) + ")"),
              std::string::npos);
  }
}

TEST(DefaultPolicy, DecidesNothing) {
  EXPECT_TRUE(simulate(*make_strategy("default", 1), 3, 4, 20).empty());
}

TEST(RoundRobin, GivesTheNextReadyWarpItsTurn) {
  RoundRobin strategy(1);
  const WarpId a{0, 0}, b{0, 1};
  const std::vector<Decision> expected{{0, a, Point::access, 0, 0xffffffff, b},
                                       {0, b, Point::access, 0, 0xffffffff, a},
                                       {0, a, Point::access, 1, 0xffffffff, b},
                                       {0, b, Point::access, 1, 0xffffffff, a}};
  EXPECT_EQ(simulate(strategy, 1, 2, 2), expected);
}

TEST(RoundRobin, WaitsForItsPeriod) {
  RoundRobin strategy(4);
  EXPECT_EQ(strategy.next_access(0, {0, 0}, 1), 4u);
  EXPECT_EQ(strategy.next_access(0, {0, 0}, 4), 4u);
  EXPECT_EQ(strategy.next_access(0, {0, 0}, 5), 8u);
}

// A race of lanes `a` and `b` whose outcome changes if exactly one of them is late at access
// `index` of 12.  Returns how many of 1,000 trials reach it.
int trials_that_part(std::string_view name, unsigned a, unsigned b, std::uint64_t index) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto strategy = make_strategy(name, seed);
    const auto decisions = simulate(*strategy, 1, 1, 12);
    met += std::any_of(decisions.begin(), decisions.end(), [&](const Decision& decision) {
      return decision.index == index && ((decision.held >> a ^ decision.held >> b) & 1) != 0;
    });
  }
  return met;
}

TEST(Random, PartsTwoLanesAtOneAccessOften) {
  EXPECT_GT(trials_that_part("random", 0, 31, 0), 50);
  EXPECT_GT(trials_that_part("random", 15, 16, 5), 50);
  EXPECT_GT(trials_that_part("random", 30, 31, 11), 8);
}

TEST(Pct, PartsTwoLanesAtOneAccessOften) {
  EXPECT_GT(trials_that_part("pct", 0, 31, 0), 50);
  EXPECT_GT(trials_that_part("pct", 15, 16, 5), 15);
  EXPECT_GT(trials_that_part("pct", 30, 31, 11), 3);
}

TEST(Random, MostlyTakesFewDecisionsAndSometimesMany) {
  int none = 0, few = 0, many = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::size_t count = simulate(*make_strategy("random", seed), 4, 8, 50).size();
    none += count == 0;
    few += count >= 1 && count <= 8;
    many += count > 8;
  }
  EXPECT_GT(few, 600);
  EXPECT_GT(many, 20);
  EXPECT_LT(none, 300);
}

TEST(Weak, SchedulesAsRandomDoes) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(simulate(*make_strategy("weak_memory", seed), 3, 4, 20),
              simulate(*make_strategy("random", seed), 3, 4, 20));
    EXPECT_TRUE(make_strategy("weak_memory", seed)->chooses_past(0));
    EXPECT_FALSE(make_strategy("random", seed)->chooses_past(0));
  }
}

TEST(Weak, LeavesOutWritesOfSomeLanesAndIsReplayed) {
  int chosen = 0, deepest = 0, of_few_lanes = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto strategy = make_strategy("weak_memory", seed);
    strategy->begin(0, 2, 1);
    Schedule schedule;
    PastPoint point{.at = {1, 0}, .index = 0, .lanes = 0xf0, .depth = 3};
    for (; point.index < 40; ++point.index) {
      const auto choice = strategy->choose_past(point);
      if (!choice) continue;
      EXPECT_NE(choice->lanes, 0U);
      EXPECT_EQ(choice->lanes & ~point.lanes, 0U);
      EXPECT_GE(choice->writes, 1U);
      EXPECT_LE(choice->writes, 3U);
      ++chosen;
      deepest += choice->writes == 3 ? 1 : 0;
      of_few_lanes += choice->lanes != point.lanes ? 1 : 0;
      schedule.decisions.push_back(
          {0, point.at, Point::past, point.index, choice->lanes, {choice->writes, 0}});
    }
    Replay replay(schedule);
    EXPECT_EQ(replay.chooses_past(0), !schedule.decisions.empty());
    EXPECT_FALSE(replay.chooses_past(1));
    for (const Decision& decision : schedule.decisions) {
      point.index = decision.index;
      const auto choice = replay.choose_past(point);
      ASSERT_TRUE(choice);
      EXPECT_EQ(choice->lanes, decision.held);
      EXPECT_EQ(choice->writes, decision.next.block);
    }
    EXPECT_EQ(replay.ignored(), 0U);
  }
  EXPECT_GT(chosen, 500);
  EXPECT_GT(deepest, chosen / 2);
  EXPECT_GT(of_few_lanes, chosen / 4);
}

// A poll soon sees the value that it waits for; decisions at accesses that are not neighbours are
// independent.
TEST(Weak, RarelyLeavesOutWritesAtNeighbouringAccesses) {
  for (const std::uint64_t distance : {1U, 2U}) {
    int chosen = 0, again = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      const auto strategy = make_strategy("weak_memory", seed);
      strategy->begin(0, 2, 1);
      PastPoint point{.at = {1, 0}, .index = 0, .lanes = 1, .depth = 1};
      if (!strategy->choose_past(point)) continue;
      ++chosen;
      point.index = distance;
      again += strategy->choose_past(point) ? 1 : 0;
    }
    EXPECT_GT(chosen, 300);
    EXPECT_EQ(again < chosen / 4, distance == 1) << again << " of " << chosen;
  }
}

TEST(Pct, RunsTheHighestPriorityAtEveryStop) {
  const auto strategy = make_strategy("pct", 3);
  strategy->begin(0, 1, 8);
  std::vector<WarpId> ready;
  for (std::uint32_t warp = 1; warp < 8; ++warp) ready.push_back({0, warp});
  std::vector<WarpId> order;
  while (!ready.empty()) {
    const auto choice = strategy->decide(
        {.at = {0, 0}, .point = Point::stop, .default_next = ready.front(), .ready = ready});
    order.push_back(choice ? choice->next : ready.front());
    std::erase(ready, order.back());
  }
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  // Removing one element does not change the order of the others.
  ready.assign(order.begin() + 2, order.end());
  std::sort(ready.begin(), ready.end());
  const auto choice = strategy->decide(
      {.at = {0, 0}, .point = Point::stop, .default_next = ready.front(), .ready = ready});
  EXPECT_EQ(choice ? choice->next : ready.front(), order[2]);
}

TEST(Pct, ADemotedWarpRunsLast) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto strategy = make_strategy("pct", seed);
    strategy->begin(0, 1, 3);
    const std::vector<WarpId> ready{{0, 0}, {0, 1}, {0, 2}};
    // With lockstep warps, a change point always lowers the priority.
    const auto choice = strategy->decide({.at = {0, 1},
                                          .active = 0xff,
                                          .model = WarpModel::lockstep,
                                          .default_next = {0, 1},
                                          .ready = ready});
    ASSERT_TRUE(choice);
    EXPECT_NE(choice->next, (WarpId{0, 1}));
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
