#include "vgpu/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "vgpu/schedule/replay.hpp"

namespace warpcheck::vgpu {
namespace {

using Point = Decision::Point;

const std::vector<WarpId> kThreeWarps{{0, 0}, {0, 1}, {1, 0}};

SchedulePoint access_at(WarpId at, std::uint64_t index, std::uint32_t active = 0xffffffffu) {
  return {.at = at,
          .point = Point::access,
          .index = index,
          .active = active,
          .default_next = at,
          .ready = kThreeWarps};
}

SchedulePoint stop_at(WarpId at, std::uint64_t index) {
  return {
      .at = at, .point = Point::stop, .index = index, .default_next = {0, 0}, .ready = kThreeWarps};
}

void expect_choice(std::optional<Choice> choice, std::uint32_t held, WarpId next) {
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->held, held);
  EXPECT_EQ(choice->next, next);
}

TEST(Decision, ReadsAsOneLine) {
  EXPECT_EQ(to_string(Decision{.at = {0, 0}, .index = 2, .held = 0x4, .next = {0, 0}}),
            "launch 0: block 0 warp 0 access 2: hold lanes 0x4, run block 0 warp 0");
  EXPECT_EQ(to_string(Decision{
                .launch = 3, .at = {1, 2}, .point = Point::stop, .index = 7, .next = {4, 5}}),
            "launch 3: block 1 warp 2 stop 7: run block 4 warp 5");
  EXPECT_EQ(to_string(Decision{
                .at = {3, 0}, .point = Decision::Point::operation, .index = 1, .next = {5, 0}}),
            "operation 3, passed over 1 time: run operation 5 first");
  EXPECT_EQ(to_string(Decision{.launch = 1, .at = {}, .point = Point::start, .next = {3, 2}}),
            "launch 1: start with block 3 warp 2, ascending");
  EXPECT_EQ(to_string(Decision{.at = {}, .point = Point::start, .index = 1, .next = {3, 0}}),
            "launch 0: start with block 3 warp 0, descending");
  EXPECT_EQ(to_string(Decision{
                .at = {0, 1}, .point = Point::fence, .index = 3, .held = 0x4, .next = {1, 0}}),
            "launch 0: block 0 warp 1 fence 3: hold lanes 0x4, run block 1 warp 0");
  EXPECT_EQ(to_string(Decision{.at = {1, 2}, .point = Point::release, .index = 4, .next = {1, 0}}),
            "launch 0: block 1 warp 2 release 4: run block 1 warp 0");
}

TEST(Replay, RunsTheOperationThatWasChosenWhereItIsReady) {
  const std::vector<std::uint32_t> ready{3, 4, 5};
  Replay replay({{{.at = {3, 0}, .point = Decision::Point::operation, .index = 1, .next = {5, 0}},
                  {.at = {4, 0}, .point = Decision::Point::operation, .next = {9, 0}}}});
  EXPECT_EQ(replay.choose_operation({ready, 0}), 3u);
  EXPECT_EQ(replay.choose_operation({ready, 1}), 5u);
  EXPECT_EQ(replay.ignored(), 1u);
  const std::vector<std::uint32_t> others{4, 5};
  EXPECT_EQ(replay.choose_operation({others, 0}), 4u);  // 9 is not ready
  EXPECT_EQ(replay.ignored(), 1u);
}

TEST(Replay, AsksAtItsOwnAccessesOnly) {
  Replay replay({{{.at = {0, 1}, .index = 9, .held = 1, .next = {0, 1}},
                  {.at = {0, 1}, .index = 4, .held = 1, .next = {0, 1}},
                  {.launch = 1, .at = {0, 0}, .index = 5, .held = 1, .next = {0, 0}}}});
  EXPECT_EQ(replay.next_access(0, {0, 1}, 0), 4u);
  EXPECT_EQ(replay.next_access(0, {0, 1}, 4), 4u);
  EXPECT_EQ(replay.next_access(0, {0, 1}, 5), 9u);
  EXPECT_EQ(replay.next_access(0, {0, 1}, 10), UINT64_MAX);
  EXPECT_EQ(replay.next_access(0, {0, 0}, 0), UINT64_MAX);
  EXPECT_EQ(replay.next_access(1, {0, 0}, 0), 5u);
  EXPECT_FALSE(replay.decides_stops());
}

TEST(Replay, FollowsWhatFits) {
  Replay replay({{{.at = {0, 0}, .index = 2, .held = 0x4, .next = {0, 0}},
                  {.at = {0, 0}, .index = 3, .held = 0xffffffff, .next = {1, 0}},
                  {.at = {0, 1}, .point = Point::stop, .index = 2, .next = {1, 0}}}});
  EXPECT_TRUE(replay.decides_stops());
  EXPECT_EQ(replay.ignored(), 3u);
  expect_choice(replay.decide(access_at({0, 0}, 2)), 0x4, {0, 0});
  expect_choice(replay.decide(access_at({0, 0}, 3)), 0xffffffff, {1, 0});
  expect_choice(replay.decide(stop_at({0, 1}, 2)), 0, {1, 0});
  EXPECT_FALSE(replay.decide(stop_at({0, 1}, 3)));
  EXPECT_EQ(replay.ignored(), 0u);
}

TEST(Replay, HoldsAllActiveLanesWhereOthersCouldGoOn) {
  Replay replay({{{.at = {0, 0}, .index = 2, .held = 0x3, .next = {0, 0}}}});
  SchedulePoint diverged = access_at({0, 0}, 2, 0x3);
  diverged.other_ready = 0x4;
  expect_choice(replay.decide(diverged), 0x3, {0, 0});
  diverged.model = WarpModel::lockstep;
  EXPECT_FALSE(replay.decide(diverged));
}

// Several decisions at one access are taken in order, as long as the one before was followed.
TEST(Replay, TakesSeveralDecisionsAtOneAccess) {
  Replay replay({{{.at = {0, 0}, .index = 2, .held = 0x3, .next = {1, 0}},
                  {.at = {0, 0}, .index = 2, .held = 0x1, .next = {0, 0}},
                  {.at = {0, 0}, .index = 2, .held = 0x8, .next = {0, 0}},
                  {.at = {0, 0}, .index = 7, .held = 0x1, .next = {0, 0}}}});
  EXPECT_EQ(replay.next_access(0, {0, 0}, 0), 2u);
  expect_choice(replay.decide(access_at({0, 0}, 2, 0x3)), 0x3, {1, 0});
  EXPECT_EQ(replay.next_access(0, {0, 0}, 3), 2u);
  expect_choice(replay.decide(access_at({0, 0}, 2, 0x3)), 0x1, {0, 0});
  EXPECT_EQ(replay.next_access(0, {0, 0}, 3), 2u);
  EXPECT_FALSE(replay.decide(access_at({0, 0}, 2, 0x3)));
  EXPECT_EQ(replay.next_access(0, {0, 0}, 3), 7u);
  EXPECT_EQ(replay.ignored(), 2u);
}

TEST(Replay, LetsLanesGoOnThatStayBehind) {
  Replay replay({{{.at = {0, 0}, .index = 2, .held = 0x3, .next = {0, 0}}}});
  SchedulePoint alone = access_at({0, 0}, 2, 0x3);
  EXPECT_FALSE(replay.decide(alone));
  alone.behind = 0x4;
  expect_choice(replay.decide(alone), 0x3, {0, 0});
}

TEST(Replay, AsksAtFencesWhereThatWasDecided) {
  Replay replay({{{.launch = 1,
                   .at = {0, 1},
                   .point = Point::fence,
                   .index = 3,
                   .held = 1,
                   .next = {0, 1}}}});
  EXPECT_FALSE(replay.decides_fences(0));
  EXPECT_TRUE(replay.decides_fences(1));
  EXPECT_EQ(replay.next_fence(1, {0, 1}, 0), 3u);
  EXPECT_EQ(replay.next_fence(1, {0, 1}, 4), UINT64_MAX);
  EXPECT_EQ(replay.next_access(1, {0, 1}, 0), UINT64_MAX);
  SchedulePoint point = access_at({0, 1}, 3, 0x3);
  point.launch = 1;
  point.point = Point::fence;
  expect_choice(replay.decide(point), 1, {0, 1});
}

TEST(Replay, StartsWithWhomItSaysWhereThatFits) {
  Replay replay({{{.launch = 1, .at = {}, .point = Point::start, .index = 1, .next = {3, 2}}}});
  EXPECT_EQ(replay.choose_start({0, 4, 4}), StartOrder{});
  EXPECT_EQ(replay.choose_start({1, 3, 4}), StartOrder{});
  EXPECT_EQ(replay.choose_start({1, 4, 2}), StartOrder{});
  EXPECT_EQ(replay.ignored(), 1u);
  EXPECT_EQ(replay.choose_start({1, 4, 3}), (StartOrder{{3, 2}, true}));
  EXPECT_EQ(replay.ignored(), 0u);
  EXPECT_FALSE(replay.decides_stops());
}

TEST(Replay, AsksAtReleasesWhereThatWasDecided) {
  Replay replay({{{.at = {0, 1}, .point = Point::release, .index = 2, .next = {1, 0}}}});
  EXPECT_TRUE(replay.decides_releases());
  EXPECT_FALSE(replay.decides_stops());
  SchedulePoint release = stop_at({0, 1}, 2);
  release.point = Point::release;
  expect_choice(replay.decide(release), 0, {1, 0});
}

TEST(Replay, RunsAnyWarpOfABlockThatHasNotBegun) {
  Replay replay({{{.at = {0, 0}, .point = Point::stop, .index = 0, .next = {1, 2}},
                  {.at = {0, 0}, .point = Point::stop, .index = 1, .next = {1, 3}}}});
  const std::vector<std::uint32_t> not_begun{1};
  for (const std::uint64_t index : {0u, 1u}) {
    SchedulePoint point = stop_at({0, 0}, index);
    EXPECT_FALSE(replay.decide(point));  // block 1 has begun, and its other warps cannot run
    point.not_begun = not_begun;
    point.warps_per_block = 3;
    EXPECT_EQ(replay.decide(point).has_value(), index == 0);
  }
}

TEST(Replay, IgnoresWhatDoesNotFit) {
  Replay replay({{{.at = {0, 0}, .index = 0, .held = 0x4, .next = {0, 0}},
                  {.at = {0, 0}, .index = 1, .held = 0x1, .next = {7, 0}},
                  {.at = {0, 0}, .index = 2, .held = 0x3, .next = {0, 0}},
                  {.at = {0, 0}, .index = 3, .held = 0, .next = {0, 1}},
                  {.at = {0, 0}, .index = 4, .held = 0x1, .next = {0, 0}},
                  {.at = {0, 0}, .point = Point::stop, .index = 0, .next = {7, 0}}}});
  EXPECT_FALSE(replay.decide(access_at({0, 0}, 0, 0x3)));  // lane 2 is not active
  EXPECT_FALSE(replay.decide(access_at({0, 0}, 1, 0x3)));  // block 7 is not ready
  EXPECT_FALSE(replay.decide(access_at({0, 0}, 2, 0x3)));  // no other thread could run
  EXPECT_FALSE(replay.decide(access_at({0, 0}, 3, 0x3)));  // holds no lane
  SchedulePoint lockstep = access_at({0, 0}, 4, 0x3);
  lockstep.model = WarpModel::lockstep;
  EXPECT_FALSE(replay.decide(lockstep));  // would split a warp
  EXPECT_FALSE(replay.decide(stop_at({0, 0}, 0)));
  EXPECT_EQ(replay.ignored(), 6u);
}

}  // namespace
}  // namespace warpcheck::vgpu
