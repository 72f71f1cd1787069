// Race checks of asynchronous copies: which threads have waited for which copies, and cells that
// many lanes read.
#include <gtest/gtest.h>

#include <array>

#include "vgpu/check/race/race_testing.hpp"

namespace warpcheck::vgpu {
namespace {

class CopiesTest : public RaceTest {
 protected:
  CopiesTest() {
    program.synchronizes_threads = true;
    program.code[0].kind = InstrKind::copy;  // as in a program that copies
    start(1, 64);
  }
  // Lane l of a warp copies a word to element 32 * warp + l, and commits the copy group.
  void copy(std::uint32_t warp, std::uint32_t pc) {
    Access row = launch.access(kWrite, shared, 0, warp, pc);
    row.mask = ~0u;
    row.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      row.offset[lane] = 4 * (warp * kWarpLanes + lane);
    row.asynchronous = true;
    launch.emit(row);
    checker.on_copy_commit({&program, launch.place(0, warp), pc, ~0u});
  }
  void wait(std::uint32_t warp, std::uint32_t groups_left = 0) {
    checker.on_copy_wait({&program, launch.place(0, warp), 60, ~0u, groups_left});
  }
  // Lane l of a warp reads element l % 16, which has `bytes` bytes.
  void read_twice(std::uint32_t warp, std::uint32_t pc, std::uint8_t bytes) {
    Access row = launch.access(kRead, shared, 0, warp, pc, bytes);
    row.mask = ~0u;
    row.pattern = Pattern::scattered;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) row.offset[lane] = lane % 16 * bytes;
    launch.emit(row);
  }
};

TEST_F(CopiesTest, AWarpThatWaitsKnowsOfEachLaneItsOwn) {
  copy(0, 1);
  wait(0);
  launch.one(kRead, shared, 0, 5, 2, 5);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 5, 3, 6);
  EXPECT_EQ(summary(), Lines{"write 101 / read 103"});
  launch.one(kRead, shared, 0, 40, 4, 5);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 103", "write 101 / read 104"}));
}

TEST_F(CopiesTest, ABarrierPassesOnWhatAllWarpsHaveWaitedFor) {
  copy(0, 1);
  copy(1, 2);
  wait(0);
  wait(1);
  launch.barrier(0);
  launch.one(kRead, shared, 0, 40, 3, 5);
  launch.one(kRead, shared, 0, 5, 4, 40);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(CopiesTest, ABarrierPassesOnNoMoreThanWasWaitedFor) {
  copy(0, 1);
  launch.barrier(0);
  copy(1, 2);
  wait(0);
  wait(1, 1);
  launch.barrier(0);
  launch.one(kRead, shared, 0, 40, 3, 5);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 5, 4, 40);
  EXPECT_EQ(summary(), Lines{"write 102 / read 104"});
  wait(1);
  launch.barrier(0);
  launch.one(kRead, shared, 0, 5, 5, 40);
  EXPECT_EQ(summary(), Lines{"write 102 / read 104"});
}

TEST_F(CopiesTest, AWriteThatALaneReleasesAfterItsWaitIsTheCopyToo) {
  copy(0, 1);
  wait(0);
  const std::array party{WarpLanes{0, 1u << 5 | 1u << 6}};
  // bar.warp.sync of lanes 5 and 6
  checker.on_meeting({&program, launch.place(0, 0), party, party});
  launch.one(kRead, shared, 0, 5, 2, 6);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 5, 3, 7);
  EXPECT_EQ(summary(), Lines{"write 101 / read 103"});
}

TEST_F(CopiesTest, LanesThatReadTheSameAreAllRemembered) {
  for (const std::uint32_t reader : {0u, 16u}) {
    SCOPED_TRACE(reader);
    launch.barrier(0);
    reporter.reset();
    read_twice(1, 1, 4);
    read_twice(0, 2, 4);
    launch.one(kWrite, shared, 0, 32 + reader, 3 + reader, 3);
    EXPECT_EQ(findings().size(), 2u);  // readers of both warps
    reporter.reset();
    launch.barrier(0);
    read_twice(0, 2, 4);
    launch.one(kWrite, shared, 0, reader, 4 + reader, 0);  // the other lane has read it as well
    EXPECT_EQ(findings().size(), 1u);
  }
}

TEST_F(CopiesTest, HalvesThatLieSideBySideDoNotRace) {
  read_twice(0, 1, 2);
  launch.one(kWrite, shared, 0, 40, 2, 16, 2);
  launch.one(kWrite, shared, 0, 41, 3, 17, 2);
  launch.one(kWrite, shared, 0, 42, 4, 9, 4);  // elements 18 and 19
  EXPECT_EQ(summary(), Lines{});
  launch.one(kWrite, shared, 0, 43, 5, 15, 2);
  EXPECT_EQ(summary(), Lines{"read 101 / write 105"});
}

TEST_F(CopiesTest, BytesOfAHalfRaceWithIt) {
  read_twice(0, 1, 2);
  launch.one(kWrite, shared, 0, 40, 2, 32, 1);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kWrite, shared, 0, 40, 3, 31, 1);
  EXPECT_EQ(summary(), Lines{"read 101 / write 103"});
}

TEST_F(CopiesTest, WordsThatWereWrittenBeforeCellsBecameHalvesAreKnown) {
  launch.one(kWrite, shared, 0, 0, 1, 2);
  read_twice(1, 2, 4);
  const std::size_t races = findings().size();
  EXPECT_EQ(races, 1u);
  launch.one(kRead, shared, 0, 40, 3, 5, 2);  // the upper half of the element
  ASSERT_EQ(findings().size(), 2u);
  EXPECT_EQ(summary()[1], "write 101 / read 103");
  launch.one(kRead, shared, 0, 40, 4, 6, 2);
  EXPECT_EQ(findings().size(), 2u);
}

TEST_F(CopiesTest, WhatIsBesideAnOpenCopyIsChecked) {
  copy(0, 1);
  launch.one(kWrite, shared, 0, 40, 2, 200);
  launch.one(kRead, shared, 0, 41, 3, 201);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 41, 4, 200);
  EXPECT_EQ(summary(), Lines{"write 102 / read 104"});
  launch.barrier(0);
  launch.one(kWrite, shared, 0, 41, 5, 200);
  launch.one(kRead, shared, 0, 41, 6, 7);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 104", "write 101 / read 106"}));
}

// The products of a warpgroup read one tile.
class ProductsTest : public RaceTest {
 protected:
  static constexpr std::uint32_t kRead1 = 1, kRead2 = 2, kGroup = 50;
  ProductsTest() {
    program.synchronizes_threads = true;
    program.code[kGroup].kind = InstrKind::group_pending;
    start(1, 128);
  }
  void read(std::uint32_t warp, std::uint32_t pc = kRead1) {
    Access row = launch.access(kRead, shared, 0, warp, pc);
    row.mask = ~0u;
    row.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) row.offset[lane] = 4 * lane;
    row.asynchronous = row.async_proxy = true;
    program.code[pc].kind = InstrKind::group_load;
    launch.emit(row);
  }
  void commit(std::uint32_t warp) {
    checker.on_copy_commit({&program, launch.place(0, warp), kGroup, ~0u});
  }
  void wait(std::uint32_t warp, std::uint32_t groups_left = 0) {
    checker.on_copy_wait({&program, launch.place(0, warp), kGroup, ~0u, groups_left});
  }
  void write(std::uint32_t thread, std::uint32_t pc) {
    launch.one(kWrite, shared, 0, thread, pc, 5);
  }
};

TEST_F(ProductsTest, WhoHasWaitedKnowsTheReadsOfAllFourWarps) {
  for (const std::uint32_t warp : {2u, 0u, 1u, 3u}) read(warp);
  for (std::uint32_t warp = 0; warp < 4; ++warp) commit(warp);
  wait(1);
  write(40, 3);
  EXPECT_EQ(summary(), Lines{});
  write(100, 4);  // the reads came before the write that this one races with
  EXPECT_EQ(summary(), Lines{"write 103 / write 104"});
}

TEST_F(ProductsTest, AReadOfALaterGroupIsNotKnown) {
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    read(warp);
    commit(warp);
  }
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    read(warp, kRead2);
    commit(warp);
  }
  wait(0, 1);
  write(0, 3);
  EXPECT_EQ(summary(), Lines{"read 102 / write 103"});
}

TEST_F(ProductsTest, AReadAgainStandsForTheOneBefore) {
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      read(warp);
      commit(warp);
    }
    for (std::uint32_t warp = 0; warp < 4; ++warp) wait(warp);
  }
  read(3);
  write(0, 3);
  EXPECT_EQ(summary(), Lines{"read 101 / write 103"});
}

TEST_F(ProductsTest, AWarpThatHasNotClosedItsGroupIsNotWaitedFor) {
  for (std::uint32_t warp = 0; warp < 4; ++warp) read(warp);
  for (std::uint32_t warp = 0; warp < 3; ++warp) commit(warp);
  wait(0);
  write(0, 3);
  EXPECT_EQ(summary(), Lines{"read 101 / write 103"});
}

}  // namespace
}  // namespace warpcheck::vgpu
