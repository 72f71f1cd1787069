#include "vgpu/check/order/clocks/segments.hpp"

#include <gtest/gtest.h>

#include "vgpu/check/order/agents.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(Segments, KeepTheTicksOfEachLane) {
  Segments segments;
  segments.reset();
  Segments::Ticks same{}, differ{};
  same.fill(5);
  differ.fill(5);
  differ[31] = 6;
  const SegmentId alike = segments.add({}, same), apart = segments.add({}, differ);
  const SegmentId again = segments.add({}, differ), later = segments.add({}, same);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(segments.tick_of(segments.at(alike), lane), 5U);
    EXPECT_EQ(segments.tick_of(segments.at(apart), lane), lane == 31 ? 6U : 5U);
    EXPECT_EQ(segments.tick_of(segments.at(again), lane), lane == 31 ? 6U : 5U);
    EXPECT_EQ(segments.tick_of(segments.at(later), lane), 5U);
  }
}

TEST(Segments, KeepTheirTicksWhenOthersAreForgotten) {
  Segments segments;
  segments.reset();
  Segments::Ticks first{}, second{};
  first[0] = 3;
  second.fill(4);
  second[1] = 9;
  segments.add({}, first);
  const SegmentId kept = segments.add({}, second);
  std::vector<bool> live(segments.count());
  live[kept] = true;
  const SegmentId renewed = segments.forget(std::move(live))[kept];
  EXPECT_EQ(segments.count(), 2U);
  EXPECT_EQ(segments.tick_of(segments.at(renewed), 0), 4U);
  EXPECT_EQ(segments.tick_of(segments.at(renewed), 1), 9U);
}

TEST(Segments, OfAnAgentAreTheSameWhileItDoesNotTick) {
  Segments segments;
  segments.reset();
  Segments::Ticks ticks{};
  ticks.fill(2);
  const SegmentId first = segments.add_of_agent({}, ticks);
  EXPECT_EQ(segments.add_of_agent({}, ticks), first);
  ticks[31] = 3;
  const SegmentId second = segments.add_of_agent({}, ticks);
  EXPECT_NE(second, first);
  EXPECT_EQ(segments.add_of_agent({}, ticks), second);
}

TEST(Segments, OfAgentsThatTakeTurnsAreTheSame) {
  Segments segments;
  segments.reset();
  const Segments::Ticks ticks{};
  Segment reads, writes;
  reads.agent = agents::kBulkReads;
  writes.agent = agents::kBulkWrites;
  const SegmentId of_reads = segments.add_of_agent(reads, ticks);
  const SegmentId of_writes = segments.add_of_agent(writes, ticks);
  for (int piece = 0; piece < 1000; ++piece) {
    EXPECT_EQ(segments.add_of_agent(reads, ticks), of_reads);
    EXPECT_EQ(segments.add_of_agent(writes, ticks), of_writes);
  }
  EXPECT_EQ(segments.count(), 3U);
}

}  // namespace
}  // namespace warpcheck::vgpu
