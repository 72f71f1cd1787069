// The race checker when the numbers of an epoch run out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/check/race/race_testing.hpp"

namespace warpcheck::vgpu {
namespace {

// Tests with epochs that have few numbers.
class ShortEpochTest : public RaceTest {
 protected:
  ShortEpochTest()
      : RaceTest(WarpModel::independent, {.launches = 4, .blocks = 8, .phases = 3, .segments = 4}) {
  }
};

TEST_F(RaceTest, ASlotMayLiveThroughMorePhasesThanAnEpochHolds) {
  launch.start({3, 1, 1}, {32, 1, 1});
  for (std::uint32_t block = 0; block < 3; ++block) {
    launch.start_block(block, 0, &shared);
    for (std::uint32_t i = 0; i < kPhasesMax / 2; ++i) {
      launch.barrier(block);
      if (i % 4096 != 0) continue;
      launch.strided(kWrite, shared, block, 0, 1);
      launch.strided(kRead, shared, block, 0, 2);
    }
    launch.strided(kWrite, shared, block, 0, 1);
  }
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 2, 1, 3, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 103"}));
}

TEST_F(RaceTest, ABlockMayCompleteMoreBarriersThanAnEpochHolds) {
  start(2, 64, 2);
  launch.one(kWrite, global, 0, 0, 1, 0);
  launch.one(kWrite, shared, 0, 0, 1, 0);
  for (std::uint32_t i = 0; i < kPhasesMax + 5; ++i) launch.barrier(0);
  launch.one(kRead, global, 0, 32, 2, 0);
  launch.one(kRead, shared, 0, 32, 2, 0);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 1, 0, 3, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 103"}));
}

TEST_F(ShortEpochTest, OlderPhasesOfABlockStayOrderedForItAlone) {
  start(2, 64, 2);
  for (std::uint32_t i = 0; i < 10; ++i) {
    launch.one(kWrite, global, 0, 32 * (i % 2), 1, i);
    launch.barrier(0);
  }
  for (std::uint32_t i = 0; i < 10; ++i) launch.one(kRead, global, 0, 7, 2, i);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 1, 7, 3, 9);
  EXPECT_EQ(findings().size(), 1u);
  launch.one(kWrite, global, 1, 7, 4, 0);
  EXPECT_EQ(summary(),
            (Lines{"write 101 / read 103", "read 102 / write 104", "write 101 / write 104"}));
}

// Block 1 stays in its phase while block 0 uses up the phase numbers.
TEST_F(ShortEpochTest, ThePresentPhaseOfAnotherBlockIsNotClosed) {
  start(2, 64, 2);
  launch.barrier(1);
  launch.one(kWrite, global, 1, 0, 1, 0);
  for (std::uint32_t i = 0; i < 20; ++i) launch.barrier(0);
  launch.one(kRead, global, 1, 32, 2, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 102"}));
  launch.barrier(1);
  launch.one(kRead, global, 1, 32, 3, 0);
  EXPECT_EQ(findings().size(), 1u);
}

TEST_F(ShortEpochTest, SharedMemoryOfLaterPhasesIsOrdered) {
  start(1, 64);
  for (std::uint32_t i = 0; i < 20; ++i) {
    launch.one(kWrite, shared, 0, 32 * (i % 2), 1, 0);
    launch.barrier(0);
    launch.one(kRead, shared, 0, 32 * (i % 2), 2, 0);
    launch.barrier(0);
  }
  EXPECT_EQ(summary(), Lines{});
  launch.one(kWrite, shared, 0, 0, 3, 0);
  launch.one(kRead, shared, 0, 32, 4, 0);
  EXPECT_EQ(summary(), (Lines{"write 103 / read 104"}));
}

TEST_F(ShortEpochTest, AGridMayHaveMoreBlocksThanAnEpochHolds) {
  start(20, 32, 20);
  launch.one(kWrite, global, 3, 0, 1, 0);
  launch.one(kWrite, global, 19, 0, 1, 1);
  launch.barrier(19);
  launch.one(kRead, global, 19, 1, 2, 1);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 11, 0, 3, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 103"}));
}

TEST_F(RaceTest, AGridMayHaveMoreBlocksThanEpochsTellApart) {
  launch.start({1u << 22, 2, 1}, {32, 1, 1});
  for (const std::uint32_t block : {0u, 1u << 22}) launch.start_block(block, block != 0, &shared);
  launch.one(kWrite, global, 0, 0, 1, 0);
  launch.one(kWrite, global, 1u << 22, 0, 2, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / write 102"}));
}

// Many launches later, a launch is unordered with an early one.
TEST_F(ShortEpochTest, EarlyLaunchesAreRememberedUntilOneIsUnordered) {
  for (std::uint32_t i = 0; i < 40; ++i) {
    start(1, 32);
    launch.one(kWrite, global, 0, i % 32, 1, i);
    EXPECT_EQ(summary(), Lines{});
  }
  const std::array<std::uint32_t, 2> unordered{2, 38};
  launch.start({1, 1, 1}, {32, 1, 1}, unordered);
  launch.start_block(0, 0, &shared);
  for (const std::uint32_t i : {0u, 1u, 3u, 20u, 37u, 39u}) launch.one(kRead, global, 0, 0, 2, i);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 0, 5, 3, 2);
  ASSERT_EQ(summary(), (Lines{"write 101 / read 103"}));
  EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{2, 0, 0}));
  launch.one(kRead, global, 0, 0, 4, 38);
  ASSERT_EQ(summary(), (Lines{"write 101 / read 103", "write 101 / read 104"}));
  EXPECT_EQ(findings()[1].accesses[0].thread, (Dim3{6, 0, 0}));
}

// Only launches that are checked by epochs count, and each trial begins to count at 0.
TEST_F(RaceTest, LaunchesOfATrialCountUntilOneIsUnordered) {
  for (const std::uint32_t before : {3u, 1u, 0u}) {
    checker.reset(WarpModel::independent);
    reporter.reset();
    for (std::uint32_t i = 0; i < before; ++i) start(2, 32, 2);
    start(1, 64);
    launch.one(kWrite, global, 0, 33, 1, 7);
    const std::array<std::uint32_t, 1> unordered{before};
    launch.start({1, 1, 1}, {32, 1, 1}, unordered);
    launch.start_block(0, 0, &shared);
    launch.one(kRead, global, 0, 5, 2, 7);
    ASSERT_EQ(summary(), (Lines{"write 101 / read 102"}));
    EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{33, 0, 0}));
    checker.reset(WarpModel::independent);
    reporter.reset();
    start(1, 32);  // a trial with only this launch
    launch.one(kWrite, global, 0, 0, 1, 7);
    EXPECT_EQ(summary(), Lines{});
  }
}

TEST_F(RaceTest, LaunchesOfManyShapesAreCountedInTheirOrder) {
  // each grid size occurs again later
  const auto grid_of = [](std::uint32_t i) { return 1 + i * i % 151; };
  for (std::uint32_t i = 0; i < 300; ++i) {
    start(grid_of(i), 32, grid_of(i));
    launch.one(kWrite, global, grid_of(i) - 1, i % 32, 1, i);
  }
  std::array<std::uint32_t, 300> all{};
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  launch.start({1, 1, 1}, {32, 1, 1}, all);
  launch.start_block(0, 0, &shared);
  for (const std::uint32_t i : {0u, 64u, 150u, 151u, 299u}) {
    reporter.reset();
    launch.one(kRead, global, 0, 0, 2, i);
    ASSERT_EQ(summary(), (Lines{"write 101 / read 102"}));
    EXPECT_EQ(findings()[0].accesses[0].block, (Dim3{grid_of(i) - 1, 0, 0}));
    EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{i % 32, 0, 0}));
  }
}

TEST_F(RaceTest, TheLaunchNumberMayWrapAround) {
  start(2, 32, 2);
  launch.one(kWrite, global, 0, 0, 1, 0);
  for (std::uint64_t i = 1; i < kLaunchesMax - 1; ++i) start(1, 32);
  start(2, 32, 2);  // has the same number as the first launch
  launch.one(kRead, global, 1, 0, 2, 0);
  EXPECT_EQ(summary(), Lines{});
}

}  // namespace
}  // namespace warpcheck::vgpu
