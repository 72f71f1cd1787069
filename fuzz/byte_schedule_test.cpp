#include "fuzz/byte_schedule.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace warpcheck::fuzz {
namespace {

using vgpu::Choice;
using vgpu::SchedulePoint;
using vgpu::WarpId;
using Bytes = std::vector<std::uint8_t>;
using Point = vgpu::Decision::Point;

constexpr std::uint8_t kStop = 0b1100'0000;
constexpr std::uint64_t kNever = UINT64_MAX;

using Ready = std::vector<WarpId>;

// Warp 0 of block 0, its lanes `active`, at its first access.
SchedulePoint access_point(std::uint32_t active, const Ready& ready) {
  SchedulePoint point;
  point.active = active;
  point.ready = ready;
  return point;
}

ByteSchedule schedule_of(const Bytes& decisions) { return ByteSchedule({.decisions = decisions}); }

TEST(ByteSchedule, WithoutBytesIsTheDefaultPolicy) {
  ByteSchedule schedule = schedule_of({});
  schedule.begin(0, 4, 4);
  EXPECT_EQ(schedule.next_access(0, {0, 0}, 0), kNever);
  EXPECT_FALSE(schedule.decides_stops());
  const Ready ready{{0, 0}, {0, 1}};
  EXPECT_FALSE(schedule.decide(access_point(~0u, ready)));
}

TEST(ByteSchedule, AnAccessDecisionIsAskedForAtItsPlace) {
  ByteSchedule schedule = schedule_of({0, 5, 0, 6, 41, 0, 1, 0});
  schedule.begin(0, 4, 4);  // block 5 % 4, warp 6 % 4
  EXPECT_EQ(schedule.next_access(0, {1, 2}, 0), 41u);
  EXPECT_EQ(schedule.next_access(0, {1, 2}, 41), 41u);
  EXPECT_EQ(schedule.next_access(0, {1, 2}, 42), kNever);
  EXPECT_EQ(schedule.next_access(0, {1, 1}, 0), kNever);
  EXPECT_EQ(schedule.next_access(0, {0, 2}, 0), kNever);
  EXPECT_FALSE(schedule.decides_stops());
}

TEST(ByteSchedule, LaunchesAreCountedInOnes) {
  ByteSchedule schedule = schedule_of({0b011, 0, 0, 0, 0, 0, 0, 0});
  for (std::uint32_t launch = 0; launch < 5; ++launch) {
    schedule.begin(launch, 1, 1);
    EXPECT_EQ(schedule.next_access(launch, {0, 0}, 0), launch == 2 ? 0 : kNever) << launch;
  }
}

TEST(ByteSchedule, TheTopBitsOfTheIndexScaleIt) {
  const auto index = [](std::uint8_t low, std::uint8_t high) {
    ByteSchedule schedule = schedule_of({0, 0, 0, 0, low, high, 0, 0});
    schedule.begin(0, 1, 1);
    return schedule.next_access(0, {0, 0}, 0);
  };
  EXPECT_EQ(index(0xff, 0x0f), 4095u);
  EXPECT_EQ(index(0xff, 0x2f), 2047u);
  EXPECT_EQ(index(0xff, 0x8f), 63u);
  EXPECT_EQ(index(0xff, 0xff), 1u);
}

TEST(ByteSchedule, AStopIsDecidedAtStopsOnly) {
  ByteSchedule schedule = schedule_of({kStop, 0, 0, 0, 0, 0, 1, 0});
  schedule.begin(0, 1, 4);
  EXPECT_TRUE(schedule.decides_stops());
  EXPECT_EQ(schedule.next_access(0, {0, 0}, 0), kNever);
  const Ready ready{{0, 1}, {0, 2}, {0, 3}};
  // The choice bytes decide; some of them choose another warp than the default.
  int others = 0;
  for (std::uint8_t choice = 0; choice < 64; ++choice) {
    ByteSchedule one = schedule_of({kStop, 0, 0, 0, 0, 0, choice, 0});
    one.begin(0, 1, 4);
    SchedulePoint point = access_point(0, ready);
    point.point = Point::stop;
    point.default_next = ready.front();
    const auto chosen = one.decide(point);
    if (!chosen) continue;
    ++others;
    EXPECT_EQ(chosen->held, 0u);
    EXPECT_NE(chosen->next, ready.front());
  }
  EXPECT_GT(others, 20);
}

TEST(ByteSchedule, AStartSaysWhoComesFirst) {
  ByteSchedule schedule = schedule_of({0b1110'0001, 5, 0, 6, 1, 0, 0, 0});
  schedule.begin(1, 100, 4);
  EXPECT_EQ(schedule.choose_start({0, 4, 4}), vgpu::StartOrder{});
  EXPECT_EQ(schedule.choose_start({1, 4, 4}), (vgpu::StartOrder{{1, 2}, true}));
  EXPECT_FALSE(schedule.decides_stops());
  EXPECT_EQ(schedule.next_access(1, {5, 2}, 0), kNever);
}

TEST(ByteSchedule, ChoicesFitWhatTheyMeet) {
  const Ready ready{{0, 0}, {0, 1}, {0, 2}};
  int splits = 0, preemptions = 0;
  for (int choice = 0; choice < 256; ++choice) {
    ByteSchedule schedule = schedule_of({0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(choice), 3});
    schedule.begin(0, 1, 3);
    const SchedulePoint point = access_point(0xf0, ready);
    const auto chosen = schedule.decide(point);
    ASSERT_TRUE(chosen);
    EXPECT_NE(chosen->held, 0u);
    EXPECT_EQ(chosen->held & ~0xf0u, 0u);
    if (chosen->held == 0xf0) {
      EXPECT_NE(chosen->next, point.at);
      ++preemptions;
    } else {
      ++splits;
    }
  }
  EXPECT_GT(splits, 60);
  EXPECT_GT(preemptions, 60);
}

TEST(ByteSchedule, InLockstepItOnlyPreempts) {
  const Ready ready{{0, 0}, {0, 1}};
  for (int choice = 0; choice < 256; ++choice) {
    ByteSchedule schedule = schedule_of({0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(choice), 0});
    schedule.begin(0, 1, 2);
    SchedulePoint point = access_point(0xff, ready);
    point.model = vgpu::WarpModel::lockstep;
    const auto chosen = schedule.decide(point);
    if (!chosen) continue;
    EXPECT_EQ(chosen->held, 0xffu);
    EXPECT_EQ(chosen->next, (WarpId{0, 1}));
  }
}

TEST(ByteSchedule, OneLaneAloneCannotBeParted) {
  const Ready ready{{0, 0}};
  for (int choice = 0; choice < 256; ++choice) {
    ByteSchedule schedule = schedule_of({0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(choice), 0});
    schedule.begin(0, 1, 1);
    EXPECT_FALSE(schedule.decide(access_point(1, ready)));
  }
}

TEST(ByteSchedule, OneDecisionDoesNotShiftTheOthers) {
  const Bytes one{0, 0, 0, 1, 41, 0, 1, 0};
  Bytes two{0, 0, 0, 0, 7, 0, 1, 0};
  two.insert(two.end(), one.begin(), one.end());
  ByteSchedule a = schedule_of(one), b = schedule_of(two);
  a.begin(0, 1, 2);
  b.begin(0, 1, 2);
  const Ready ready{{0, 0}, {0, 1}};
  SchedulePoint point = access_point(~0u, ready);
  point.at = {0, 1};
  point.index = 41;
  const auto chosen_a = a.decide(point), chosen_b = b.decide(point);
  ASSERT_TRUE(chosen_a && chosen_b);
  EXPECT_EQ(chosen_a->held, chosen_b->held);
  EXPECT_EQ(chosen_a->next, chosen_b->next);
}

}  // namespace
}  // namespace warpcheck::fuzz
