#include "vgpu/check/race/race.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race_testing.hpp"

namespace warpcheck::vgpu {
namespace {

class LockstepRaceTest : public RaceTest {
 protected:
  LockstepRaceTest() : RaceTest(WarpModel::lockstep) {}
};

TEST_F(RaceTest, NeighbourReadWithoutABarrierIsARace) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 5);
  launch.strided(kWrite, shared, 0, 1, 5, 32);
  launch.strided(kRead, shared, 0, 1, 6, 31);  // thread 32 reads s[31]
  ASSERT_EQ(findings().size(), 1u);
  const Finding& race = findings()[0];
  EXPECT_EQ(race.kind, FindingKind::data_race);
  EXPECT_EQ(race.severity, Severity::error);
  EXPECT_EQ(race.space, "shared");
  EXPECT_EQ(race.kernel, "k");
  EXPECT_EQ(race.object, "s[31], 4 bytes");
  EXPECT_EQ(race.message, "no barrier orders (1) and (2)");
  EXPECT_EQ(race.count, 32u);  // the other lanes read what their own warp wrote
  const AccessSide writer{"write", {0, 0, 0}, {31, 0, 0}, "k.cu", 105, "op5", "", 0, 5};
  const AccessSide reader{"read", {0, 0, 0}, {32, 0, 0}, "k.cu", 106, "op6", "", 0, 6};
  EXPECT_EQ(race.accesses, (std::vector{writer, reader}));
}

TEST_F(LockstepRaceTest, NeighbourReadRacesBetweenWarpsOnly) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 5);
  launch.strided(kWrite, shared, 0, 1, 5, 32);
  launch.strided(kRead, shared, 0, 1, 6, 31);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].count, 1u);
}

TEST_F(RaceTest, ABarrierOrders) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 5);
  launch.strided(kWrite, shared, 0, 1, 5, 32);
  launch.barrier(0);
  launch.strided(kRead, shared, 0, 1, 6, 31);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(RaceTest, AReadDoesNotRaceWithReads) {
  start(2, 64, 2);
  for (const std::uint32_t warp : {0, 1}) {
    for (const std::uint32_t block : {0, 1}) launch.strided(kRead, global, block, warp, 3);
  }
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(RaceTest, AWriteRacesWithAnEarlierReaderThatIsNotTheLastOne) {
  start(1, 64);
  launch.one(kRead, shared, 0, 40, 1, 7);
  launch.one(kRead, shared, 0, 3, 2, 7);
  launch.one(kWrite, shared, 0, 3, 3, 7);  // the last access was its own read
  EXPECT_EQ(summary(), (Lines{"read 101 / write 103"}));
}

TEST_F(RaceTest, BlocksOfOneLaunchAreNotOrdered) {
  start(2, 32, 2);
  launch.one(kWrite, global, 0, 0, 1, 0);
  launch.barrier(0);
  launch.barrier(1);
  launch.one(kRead, global, 1, 0, 2, 0);
  ASSERT_EQ(summary(), (Lines{"write 101 / read 102"}));
  EXPECT_EQ(findings()[0].message, "nothing orders blocks of one kernel launch");
  EXPECT_EQ(findings()[0].accesses[1].block, (Dim3{1, 0, 0}));
  EXPECT_EQ(findings()[0].object, "g[0], 4 bytes");
}

TEST_F(RaceTest, AReaderOfAnotherBlockIsRememberedThroughLaterPhases) {
  start(2, 32, 2);
  launch.one(kRead, global, 1, 0, 1, 0);
  for (std::uint32_t thread = 0; thread < 4; ++thread) launch.one(kRead, global, 0, thread, 2, 0);
  launch.barrier(0);
  for (std::uint32_t thread = 0; thread < 4; ++thread) launch.one(kRead, global, 0, thread, 2, 0);
  launch.barrier(0);
  launch.one(kWrite, global, 0, 9, 3, 0);
  EXPECT_EQ(summary(), (Lines{"read 101 / write 103"}));
}

TEST_F(RaceTest, LaunchesAreOrdered) {
  start(2, 32, 2);
  launch.one(kWrite, global, 0, 0, 1, 0);
  start(2, 32, 2);
  launch.one(kWrite, global, 1, 0, 2, 0);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(RaceTest, LanesOfAWarpAreNotOrdered) {
  start(1, 32);
  launch.strided(kWrite, shared, 0, 0, 5);
  launch.strided(kRead, shared, 0, 0, 6, 1, 0x7fffffff);
  ASSERT_EQ(summary(), (Lines{"write 105 / read 106"}));
  EXPECT_EQ(findings()[0].count, 31u);
  EXPECT_EQ(findings()[0].message, "lanes of one warp are not ordered without __syncwarp()");
}

TEST_F(LockstepRaceTest, LanesOfAWarpAreOrdered) {
  start(1, 32);
  launch.strided(kWrite, shared, 0, 0, 5);
  launch.strided(kRead, shared, 0, 0, 6, 1, 0x7fffffff);
  launch.uniform(kWrite, shared, 0, 0, 7, 3);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(LockstepRaceTest, LanesThatExecuteOneStoreAreNot) {
  start(1, 32);
  std::array<std::uint32_t, kWarpLanes> values{};
  Access row = launch.access(kWrite, shared, 0, 0, 5);
  row.pattern = Pattern::uniform;
  row.mask = 0x0000ff00;
  row.offset.fill(12);
  row.values[0] = reinterpret_cast<const std::byte*>(values.data());
  row.value_bytes = 4;
  launch.emit(row);
  EXPECT_EQ(summary(), Lines{});  // they store the same
  values[9] = 1;
  row.pc = 6;
  launch.emit(row);
  ASSERT_EQ(summary(), (Lines{"write 106 / write 106"}));
  EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{8, 0, 0}));
  EXPECT_EQ(findings()[0].accesses[1].thread, (Dim3{9, 0, 0}));
}

TEST_F(RaceTest, InactiveLanesDoNothing) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 5, 0, 0x0000ffff);
  launch.strided(kWrite, shared, 0, 1, 6, 0, 0xffff0000);
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 0, 0, 7, 0, 0x0000ffff);
  launch.strided(kRead, shared, 0, 1, 8, 0, 0xffff0000);
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 0, 1, 9, 0, 0x00008000);
  EXPECT_EQ(summary(), (Lines{"write 105 / read 109"}));
}

TEST_F(RaceTest, AStridedRowMayBeginBeforeTheAllocation) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 5, -31, 0x80000000);  // lane 31 writes s[0]
  launch.strided(kRead, shared, 0, 1, 6, -31, 0x80000000, 4);
  EXPECT_EQ(summary(), (Lines{"write 105 / read 106"}));
}

TEST_F(RaceTest, LanesThatStoreToOnePlaceRace) {
  start(1, 32);
  Access row = launch.access(kWrite, shared, 0, 0, 5);
  row.mask = ~0u;
  row.pattern = Pattern::uniform;
  row.offset.fill(12);
  std::array<std::uint32_t, 32> values{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) values[lane] = lane;
  row.values[0] = reinterpret_cast<const std::byte*>(values.data());
  row.value_bytes = 4;
  launch.emit(row);
  ASSERT_EQ(summary(), (Lines{"write 105 / write 105"}));
  EXPECT_EQ(findings()[0].object, "s[3], 4 bytes");
}

TEST_F(RaceTest, ScatteredLanesThatMeetAreFoundWithTheirNeighboursUntouched) {
  start(1, 64);
  launch.one(kWrite, shared, 0, 7, 4, 100);
  launch.barrier(0);
  Access row = launch.access(kWrite, shared, 0, 0, 5);
  row.mask = 0b1111;
  row.offset = {400, 404, 400, 408};
  launch.emit(row);
  ASSERT_EQ(summary(), (Lines{"write 105 / write 105"}));
  EXPECT_EQ(findings()[0].count, 1u);
  EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{0, 0, 0}));
  EXPECT_EQ(findings()[0].accesses[1].thread, (Dim3{2, 0, 0}));
}

TEST_F(RaceTest, EqualBytesAreANote) {
  start(1, 64);
  Access row = launch.access(kWrite, shared, 0, 0, 5);
  row.mask = ~0u;
  row.pattern = Pattern::uniform;
  row.offset.fill(12);
  std::array<std::uint32_t, 32> values{};
  values.fill(7);
  row.values[0] = reinterpret_cast<const std::byte*>(values.data());
  row.value_bytes = 4;
  launch.emit(row);
  EXPECT_EQ(summary(), (Lines{"write 105 / write 105 note"}));
  std::memcpy(shared.allocation().data + 12, values.data(), 4);

  row.place.warp = 1;  // the other warp stores the same
  launch.emit(row);
  EXPECT_EQ(summary(), (Lines{"write 105 / write 105 note"}));

  row.pc = 6;
  values.fill(8);
  row.mask = 1;
  launch.emit(row);
  EXPECT_EQ(summary(), (Lines{"write 105 / write 105 note", "write 105 / write 106"}));
}

TEST_F(RaceTest, SubWordStoresOfEqualBytesAreComparedByByte) {
  start(1, 64);
  Access row = launch.access(kWrite, shared, 0, 0, 5, 2);
  row.mask = 1;
  row.offset.fill(6);
  std::array<std::uint32_t, 32> values{};
  values.fill(0xdead0102);  // only the low half is stored
  row.values[0] = reinterpret_cast<const std::byte*>(values.data());
  row.value_bytes = 4;
  launch.emit(row);
  const std::uint16_t stored = 0x0102;
  std::memcpy(shared.allocation().data + 6, &stored, 2);
  row.place.warp = 1;
  launch.emit(row);
  EXPECT_EQ(summary(), (Lines{"write 105 / write 105 note"}));
}

// The machine reports each element as an atomic of its own size.
TEST_F(RaceTest, ElementsOfAVectorAtomicAreScalars) {
  start(1, 64);
  program.code[5].modifiers.vector = 4;
  for (const std::uint32_t warp : {0u, 1u}) {
    for (std::uint32_t element = 0; element < 4; ++element) {
      launch.uniform(kAtomic, shared, 0, warp, 5, element, ~0u, 2);
    }
  }
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 0, 0, 6);
  EXPECT_EQ(summary(), Lines{"atomic 105 / read 106"});
}

TEST_F(RaceTest, VectorStoresCompareAllElements) {
  start(1, 64);
  Access row = launch.access(kWrite, shared, 0, 0, 5, 8);
  program.code[5].modifiers.vector = 2;
  row.element_bytes = 4;
  row.mask = 1;
  row.offset.fill(8);
  std::array<std::uint32_t, 32> x{}, y{};
  x.fill(1);
  y.fill(2);
  row.values = {reinterpret_cast<const std::byte*>(x.data()),
                reinterpret_cast<const std::byte*>(y.data())};
  row.value_bytes = 4;
  launch.emit(row);
  const std::array<std::uint32_t, 2> stored{1, 2};
  std::memcpy(shared.allocation().data + 8, stored.data(), 8);
  row.place.warp = 1;
  launch.emit(row);
  EXPECT_EQ(summary(), (Lines{"write 105 / write 105 note"}));
  y.fill(3);
  row.place.warp = 2;
  launch.emit(row);
  EXPECT_EQ(summary(), (Lines{"write 105 / write 105 note", "write 105 / write 105"}));
}

TEST_F(RaceTest, AReadBesideAWriteIsAnErrorWhateverTheValue) {
  start(1, 64);
  Access row = launch.access(kWrite, shared, 0, 0, 5);
  row.mask = 1;
  row.offset.fill(0);
  const std::array<std::uint32_t, 32> zeros{};
  row.values[0] = reinterpret_cast<const std::byte*>(zeros.data());
  row.value_bytes = 4;
  launch.emit(row);
  launch.one(kRead, shared, 0, 32, 6, 0);
  EXPECT_EQ(summary(), (Lines{"write 105 / read 106"}));
}

TEST_F(RaceTest, AtomicsDoNotRaceWithEachOther) {
  start(2, 64, 2);
  launch.uniform(kAtomic, global, 0, 0, 1, 0);
  launch.uniform(kAtomic, global, 0, 1, 1, 0);
  launch.uniform(kAtomic, global, 1, 0, 2, 0);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(RaceTest, AtomicsRaceWithPlainAccesses) {
  start(1, 64);
  launch.uniform(kAtomic, shared, 0, 0, 1, 0);
  launch.one(kRead, shared, 0, 40, 2, 0);
  launch.one(kWrite, shared, 0, 41, 3, 1);
  launch.uniform(kAtomic, shared, 0, 0, 4, 1, 1);
  EXPECT_EQ(summary(), (Lines{"atomic 101 / read 102", "write 103 / atomic 104"}));
}

TEST_F(RaceTest, AtomicsOrderNothing) {
  start(1, 64);
  launch.one(kWrite, shared, 0, 0, 1, 8);
  launch.one(kAtomic, shared, 0, 0, 2, 9);
  launch.one(kAtomic, shared, 0, 32, 3, 9);
  launch.one(kRead, shared, 0, 32, 4, 8);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 104"}));
}

TEST_F(RaceTest, AtomicsOfDifferentSizesRace) {
  start(1, 64);
  launch.one(kAtomic, shared, 0, 0, 1, 0, 8);
  launch.one(kAtomic, shared, 0, 1, 2, 1, 4);
  ASSERT_EQ(summary(), (Lines{"atomic 101 / atomic 102"}));
  EXPECT_EQ(findings()[0].message,
            "(1) and (2) are of different sizes, so they are not atomic to each other");
}

TEST_F(RaceTest, ABlockScopedAtomicDoesNotCoverOtherBlocks) {
  start(2, 32, 2);
  const auto atomic = [&](std::uint32_t block, std::uint32_t pc, ptx::Scope scope) {
    Access row = launch.access(kAtomic, global, block, 0, pc);
    row.mask = ~0u;
    row.pattern = Pattern::uniform;
    row.scope = scope;
    launch.emit(row);
  };
  atomic(0, 1, ptx::Scope::cta);
  atomic(0, 2, ptx::Scope::gpu);
  EXPECT_EQ(summary(), Lines{});
  atomic(1, 3, ptx::Scope::gpu);
  ASSERT_EQ(summary(), (Lines{"atomic 101 / atomic 103"}));
  EXPECT_EQ(findings()[0].message, "the scope of (1) or (2) does not include the other's block");
}

TEST_F(RaceTest, VolatileAccessesAreStrong) {
  start(2, 32, 2);
  const auto access = [&](AccessKind kind, std::uint32_t block, std::uint32_t pc,
                          ptx::Order order) {
    Access row = launch.access(kind, global, block, 0, pc);
    row.mask = 1;
    row.order = order;
    launch.emit(row);
  };
  access(kWrite, 0, 1, ptx::Order::volatile_);
  access(kRead, 1, 2, ptx::Order::volatile_);
  access(kAtomic, 1, 3, ptx::Order::weak);
  EXPECT_EQ(summary(), Lines{});
  access(kRead, 1, 4, ptx::Order::weak);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 104"}));
}

TEST_F(RaceTest, NeighbouringBytesDoNotRace) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 1, 0, ~0u, 1);
  launch.strided(kWrite, shared, 0, 1, 2, 32, ~0u, 1);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 0, 3, 33, 1);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 103"}));
  EXPECT_EQ(findings()[0].object, "s[33], 1 byte");
}

TEST_F(RaceTest, WordsSeenBeforeTheSplitToBytesAreRemembered) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 1);
  launch.one(kRead, shared, 0, 32, 2, 7, 1);  // byte 7, in thread 1's word
  launch.one(kRead, shared, 0, 1, 3, 6, 1);
  ASSERT_EQ(summary(), (Lines{"write 101 / read 102"}));
  EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{1, 0, 0}));
}

TEST_F(RaceTest, BytesAreWordsAgainInTheNextLaunch) {
  start(1, 64);
  launch.one(kWrite, shared, 0, 0, 1, 0, 1);
  start(1, 64);
  launch.one(kWrite, shared, 0, 0, 2, 0);
  launch.one(kRead, shared, 0, 1, 3, 0);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 103"}));
}

TEST_F(RaceTest, WideAccessesCoverAllTheirCells) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 1, 0, ~0u, 16);  // 512 bytes
  launch.one(kRead, shared, 0, 33, 2, 127);
  ASSERT_EQ(summary(), (Lines{"write 101 / read 102"}));
  EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{31, 0, 0}));
}

TEST_F(RaceTest, TheNextBlockOfASlotSeesNewSharedMemory) {
  start(2, 32);
  launch.strided(kWrite, shared, 0, 0, 1);
  launch.barrier(0);
  launch.strided(kWrite, shared, 0, 0, 2);
  launch.start_block(1, 0, &shared);
  launch.strided(kWrite, shared, 1, 0, 3, 1, 0x7fffffff);
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 1, 0, 4);
  ASSERT_EQ(summary(), (Lines{"write 103 / read 104"}));
  EXPECT_EQ(findings()[0].accesses[0].block, (Dim3{1, 0, 0}));
}

// Races of lanes of a warp come first, then races of warps, then races of blocks at the same source
// lines.
TEST_F(RaceTest, TheWidestPairIsShown) {
  start(2, 64, 2);
  launch.one(kWrite, global, 0, 0, 1, 0);
  launch.one(kRead, global, 0, 1, 2, 0);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].relation, Relation::lanes);
  EXPECT_EQ(findings()[0].lack, Lack::warp_barrier);
  EXPECT_EQ(findings()[0].variable, "g");
  launch.one(kRead, global, 1, 5, 2, 0);
  launch.one(kRead, global, 0, 32, 2, 0);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].relation, Relation::blocks);
  EXPECT_EQ(findings()[0].also_between, (std::vector{Relation::warps, Relation::lanes}));
  EXPECT_EQ(findings()[0].lack, Lack::order_of_blocks);
  EXPECT_EQ(findings()[0].message, "nothing orders blocks of one kernel launch");
  EXPECT_EQ(findings()[0].accesses[1].block, (Dim3{1, 0, 0}));
  EXPECT_EQ(findings()[0].accesses[1].thread, (Dim3{5, 0, 0}));
  EXPECT_EQ(findings()[0].count, 3u);
}

TEST_F(RaceTest, WhatARaceLacks) {
  start(2, 64, 2);
  const auto lack_of_latest = [&] { return findings().back().lack; };
  launch.one(kAtomic, global, 0, 0, 1, 0);
  launch.one(kRead, global, 0, 32, 2, 0);
  EXPECT_EQ(lack_of_latest(), Lack::atomicity);
  launch.one(kWrite, global, 0, 0, 3, 4);
  launch.one(kRead, global, 0, 32, 4, 4);
  EXPECT_EQ(lack_of_latest(), Lack::block_barrier);
  Access narrow = launch.access(kAtomic, global, 0, 0, 5);
  narrow.mask = 1;
  narrow.offset.fill(32);
  narrow.scope = ptx::Scope::cta;
  launch.emit(narrow);
  launch.one(kAtomic, global, 1, 0, 6, 8);
  EXPECT_EQ(lack_of_latest(), Lack::scope);
}

// x += y: a load and a store on the same source line with the same address register.
TEST_F(RaceTest, AnUpdateByManyThreadsLacksAnAtomic) {
  program.sources[2].location = program.sources[1].location;
  const Ref address{Bank::wide, 256};
  program.code[1][MemoryOperand::address] = program.code[2][MemoryOperand::address] = address;
  start(2, 64, 2);
  for (const std::uint32_t block : {0u, 1u}) {
    launch.one(kRead, global, block, 0, 1, 0);
    launch.one(kWrite, global, block, 0, 2, 0);
  }
  ASSERT_FALSE(findings().empty());
  for (const Finding& finding : findings()) EXPECT_EQ(finding.lack, Lack::atomic_update);
  // The load uses another address, so it reads what another thread has written.
  program.sources[4].location = program.sources[3].location;
  program.code[3][MemoryOperand::address] = Ref{Bank::wide, 512};
  program.code[4][MemoryOperand::address] = address;
  launch.one(kWrite, global, 0, 0, 4, 9);
  launch.one(kRead, global, 0, 32, 3, 9);
  EXPECT_EQ(findings().back().lack, Lack::block_barrier);
}

TEST_F(RaceTest, EitherOrderIsOneFinding) {
  start(1, 64);
  launch.one(kWrite, shared, 0, 0, 1, 0);
  launch.one(kRead, shared, 0, 1, 2, 0);
  launch.one(kRead, shared, 0, 0, 2, 1);
  launch.one(kWrite, shared, 0, 1, 1, 1);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 102"}));
  EXPECT_EQ(findings()[0].count, 2u);
}

TEST_F(RaceTest, PositionsAreThreeDimensional) {
  launch.start({2, 3, 4}, {8, 4, 2});
  launch.start_block(23, 0, &shared);
  launch.one(kWrite, shared, 23, 63, 1, 0);
  launch.one(kRead, shared, 23, 9, 2, 0);
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].accesses[0].block, (Dim3{1, 2, 3}));
  EXPECT_EQ(findings()[0].accesses[0].thread, (Dim3{7, 3, 1}));
  EXPECT_EQ(findings()[0].accesses[1].thread, (Dim3{1, 1, 0}));
}

TEST_F(RaceTest, LocalMemoryIsNobodyElses) {
  FakeMemory local{2, ptx::Space::local, 4096};
  start(1, 64);
  launch.strided(kWrite, local, 0, 0, 1);
  launch.strided(kWrite, local, 0, 1, 2);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(RaceTest, ANewTrialForgets) {
  start(1, 64);
  launch.one(kWrite, shared, 0, 0, 1, 0);
  launch.one(kRead, shared, 0, 1, 2, 0);
  reporter.reset();
  checker.reset(WarpModel::lockstep);
  start(1, 64);
  launch.one(kRead, shared, 0, 1, 2, 0);
  launch.one(kWrite, shared, 0, 0, 1, 0);
  EXPECT_EQ(summary(), Lines{});
}

// Memory whose number was that of global memory in an earlier trial is checked only against its own
// past.
TEST_F(RaceTest, SharedMemoryMayHaveTheNumberOfGlobalMemoryBefore) {
  const FakeMemory before{0, ptx::Space::global, 4096, "b"};
  for (const AccessKind kind : {kRead, kWrite, kAtomic}) {
    start(1, 64);
    launch.strided(kind, before, 0, 0, 1);
    reporter.reset();
    checker.reset(WarpModel::independent);
    start(1, 64);
    launch.strided(kRead, shared, 0, 0, 2, 0, 0b110);
    launch.strided(kRead, shared, 0, 0, 3, -1, 0b110);
    launch.strided(kWrite, shared, 0, 0, 4, 0, 0b110);
    EXPECT_EQ(summary(), (Lines{"read 103 / write 104"}));
    reporter.reset();
    checker.reset(WarpModel::independent);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
