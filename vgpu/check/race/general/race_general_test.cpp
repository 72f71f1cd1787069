#include "vgpu/check/race/general/race_general.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Order;
using ptx::Scope;

constexpr auto kRead = AccessKind::read;
constexpr auto kWrite = AccessKind::write;
constexpr auto kAtomic = AccessKind::atomic;

class GeneralRaceTest : public testing::Test {
 protected:
  explicit GeneralRaceTest(WarpModel model = WarpModel::independent) {
    checker.reset(model);
    program.synchronizes_threads = true;
  }

  void start(std::uint32_t blocks, std::uint32_t threads) {
    launch.start({blocks, 1, 1}, {threads, 1, 1});
    start_blocks(blocks);
  }
  void start_blocks(std::uint32_t blocks) {
    for (std::uint32_t block = 0; block < blocks; ++block) {
      launch.start_block(block, block, block == 0 ? &shared : nullptr);
    }
  }
  // Thread 0 of a block makes a strong access to a word of global memory.
  void strong(AccessKind kind, std::uint32_t block, std::uint32_t pc, std::uint32_t element,
              Order order = Order::relaxed, Scope scope = Scope::gpu) {
    launch.strong(kind, global, block, 0, pc, element, order, scope);
  }
  void fence(std::uint32_t block, Scope scope = Scope::gpu, Order order = Order::sc) {
    launch.fence(block, 0, 1, order, scope);
  }
  // bar.warp.sync
  void sync_warp(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) {
    const std::array party{WarpLanes{warp, lanes}};
    checker.on_meeting({&program, launch.place(block, 0), party, party});
  }

  // "write 105 / read 106: message"
  std::vector<std::string> summary() {
    std::vector<std::string> lines;
    for (const Finding& f : reporter.findings()) {
      lines.push_back(f.accesses[0].role + " " + std::to_string(f.accesses[0].line) + " / " +
                      f.accesses[1].role + " " + std::to_string(f.accesses[1].line) +
                      (f.severity == Severity::note ? " note" : "") + ": " + f.message);
    }
    return lines;
  }
  using Lines = std::vector<std::string>;

  Program program = fake_program();
  Reporter reporter;
  RaceChecker checker{reporter, race_row_functions(simd_level())};
  FakeLaunch launch{program, {&reporter, &checker}};
  FakeMemory shared{0, ptx::Space::shared, 4096, "s"};
  FakeMemory global{1, ptx::Space::global, 4096, "g"};
};

class LockstepGeneralRaceTest : public GeneralRaceTest {
 protected:
  LockstepGeneralRaceTest() : GeneralRaceTest(WarpModel::lockstep) {}
};

// Block 0 writes g[0] and sets g[1]; block 1 reads g[1] and then g[0].
TEST_F(GeneralRaceTest, FencesOnBothSidesPassAMessage) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  fence(0);
  strong(kWrite, 0, 2, 1);
  strong(kRead, 1, 3, 1);
  fence(1);
  launch.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary(), Lines{});
}

// In block 0, a thread writes g[0] and fences; after a barrier, another thread takes a ticket from
// g[1].  In block 1, a thread takes the next ticket; after a barrier, another thread fences and
// reads g[0].
class BlocksHandOn : public GeneralRaceTest {
 protected:
  void hand_on(Order first, Order last, bool has_barriers = true) {
    start(2, 64);
    launch.one(kWrite, global, 0, 32, 1, 0);
    fence_of_warp(0, first);
    if (has_barriers) launch.barrier(0);
    strong(kAtomic, 0, 2, 1);
    strong(kAtomic, 1, 3, 1);
    if (has_barriers) launch.barrier(1);
    fence_of_warp(1, last);
    launch.one(kRead, global, 1, 32, 4, 0);
  }

 protected:
  void fence_of_warp(std::uint32_t block, Order order, std::uint32_t warp = 1,
                     std::uint32_t lanes = 1) {
    launch.fence(block, warp, lanes, order);
  }
};

// The same test within warps, with bar.warp.sync in place of barriers.
TEST_F(BlocksHandOn, BetweenMeetingsOfLanes) {
  start(2, 32);
  launch.one(kWrite, global, 0, 5, 1, 0);
  fence_of_warp(0, Order::sc, 0, 1u << 5);
  sync_warp(0, 0, ~0u);
  strong(kAtomic, 0, 2, 1);
  strong(kAtomic, 1, 3, 1);
  sync_warp(1, 0, ~0u);
  fence_of_warp(1, Order::sc, 0, 1u << 7);
  launch.one(kRead, global, 1, 7, 4, 0);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 1, 6, 4, 0);
  EXPECT_EQ(summary().size(), 1u);
}

TEST_F(BlocksHandOn, BetweenBarriersByFencesThatAreOrderedThemselves) {
  hand_on(Order::sc, Order::sc);
  EXPECT_EQ(summary(), Lines{});
}

TEST_F(BlocksHandOn, NotByFencesThatNothingOrders) {
  hand_on(Order::sc, Order::acq_rel);
  EXPECT_EQ(summary().size(), 1u);
}

TEST_F(BlocksHandOn, NotByReleaseFencesOfOtherThreads) {
  hand_on(Order::acq_rel, Order::sc);
  EXPECT_EQ(summary().size(), 1u);
}

TEST_F(BlocksHandOn, NotWithoutBarriers) {
  hand_on(Order::sc, Order::sc, false);
  EXPECT_EQ(summary().size(), 1u);
}

TEST_F(GeneralRaceTest, WithoutAReleaseTheMessageIsNotPassed) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  strong(kWrite, 0, 2, 1);
  strong(kRead, 1, 3, 1);
  fence(1);
  launch.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary(),
            (Lines{"write 101 / read 104: (1)'s thread wrote a flag that was read before (2), but "
                   "no release (a fence, or a release order) comes between (1) and that write"}));
}

// As where all lanes of a warp exchange a list's head again and again.
TEST_F(GeneralRaceTest, ManyOtherReadsAreNotTakenForTheOneThatMissedTheRelease) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  strong(kWrite, 0, 2, 1);
  strong(kRead, 1, 3, 1);
  for (int i = 0; i < 100; ++i) {
    launch.strong(kAtomic, global, 0, 1, 5, 2, Order::relaxed, Scope::gpu);
    launch.strong(kAtomic, global, 1, 1, 6, 2, Order::relaxed, Scope::gpu);
  }
  fence(1);
  launch.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary(),
            (Lines{"write 101 / read 104: (1)'s thread wrote a flag that was read before (2), but "
                   "no release (a fence, or a release order) comes between (1) and that write"}));
}

TEST_F(GeneralRaceTest, WithoutAnAcquireTheMessageIsNotTaken) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  fence(0);
  strong(kWrite, 0, 2, 1);
  strong(kRead, 1, 3, 1);
  launch.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 104: (1) is released and the thread of (2) has "
                              "read the flag, but no acquire that reaches (1)'s thread follows "
                              "that read"}));
}

TEST_F(GeneralRaceTest, AReleaseOfBlockScopeDoesNotReachAnotherBlock) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  fence(0, Scope::cta);
  strong(kWrite, 0, 2, 1);
  strong(kRead, 1, 3, 1);
  fence(1);
  launch.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary(),
            (Lines{"write 101 / read 104: (1)'s thread wrote a flag that was read before (2), but "
                   "released it at block scope, which does not include (2)'s block"}));
}

TEST_F(GeneralRaceTest, AnAcquireOfBlockScopeDoesNotReachAnotherBlock) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  strong(kWrite, 0, 2, 1, Order::release);
  strong(kRead, 1, 3, 1);
  fence(1, Scope::cta);
  launch.one(kRead, global, 1, 0, 4, 0);
  ASSERT_EQ(summary().size(), 1u);
  EXPECT_EQ(reporter.findings()[0].message,
            "(1) is released and the thread of (2) has read the flag, but no acquire that reaches "
            "(1)'s thread follows that read");
}

TEST_F(GeneralRaceTest, OneFenceEndsManyReads) {
  start(3, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  strong(kWrite, 0, 2, 1, Order::release);
  launch.one(kWrite, global, 1, 0, 3, 2);
  strong(kWrite, 1, 4, 3, Order::release, Scope::sys);
  strong(kRead, 2, 5, 1);
  strong(kRead, 2, 6, 3);
  fence(2, Scope::gpu, Order::acquire);
  launch.one(kRead, global, 2, 0, 7, 0);
  launch.one(kRead, global, 2, 0, 8, 2);
  EXPECT_EQ(summary(), Lines{});
}

// The reads of 96 threads, which are ordered before the write, must not hide the reader that is
// not.
TEST_F(GeneralRaceTest, AllReadersOfAPhaseAreRemembered) {
  start(1, 128);
  launch.one(kRead, shared, 0, 0, 1, 0);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (const std::uint32_t warp : {1u, 2u, 3u}) {
      launch.one(kRead, shared, 0, warp * kWarpLanes + lane, 2, 0);
    }
  }
  const std::array parties{WarpLanes{1, ~0u}, WarpLanes{2, ~0u}, WarpLanes{3, ~0u}};
  checker.on_meeting({&program, launch.place(0, 1), parties, parties});
  launch.one(kWrite, shared, 0, 32, 3, 0);
  EXPECT_EQ(summary(), (Lines{"read 101 / write 103: no barrier orders (1) and (2)"}));
}

TEST_F(GeneralRaceTest, FencesAloneOrderNothing) {
  start(2, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  fence(0);
  fence(1);
  launch.one(kRead, global, 1, 0, 2, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 102: nothing orders blocks of one kernel launch"}));
}

TEST_F(GeneralRaceTest, AFailedCompareAndSwapReleasesNothing) {
  start(3, 32);
  launch.one(kWrite, global, 0, 0, 1, 0);
  Access row = launch.access(kAtomic, global, 0, 0, 2);
  row.mask = row.unwritten = 1;
  row.offset.fill(4);
  row.order = Order::acq_rel;
  row.scope = Scope::gpu;
  launch.emit(row);
  strong(kAtomic, 1, 3, 1, Order::acq_rel);
  launch.one(kRead, global, 1, 0, 4, 0);
  ASSERT_EQ(summary().size(), 1u);
  EXPECT_EQ(reporter.findings()[0].accesses[0].line, 101u);
  EXPECT_EQ(reporter.findings()[0].accesses[1].line, 104u);
}

TEST_F(GeneralRaceTest, AReductionAcquiresNothing) {
  start(2, 32);
  program.code[3].opcode = ptx::Opcode::red_;
  launch.one(kWrite, global, 0, 0, 1, 0);
  strong(kAtomic, 0, 2, 1, Order::release);
  strong(kAtomic, 1, 3, 1);
  fence(1);
  launch.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary().size(), 1u);
}

TEST_F(GeneralRaceTest, WhoSawEveryTicketMayResetTheCounter) {
  start(3, 32);
  for (std::uint32_t block = 0; block < 3; ++block) strong(kAtomic, block, 1, 0);
  launch.one(kWrite, global, 2, 0, 2, 0);
  EXPECT_EQ(summary(), Lines{});
  // it has seen two tickets, and the reset is not ordered before it
  launch.one(kWrite, global, 1, 0, 3, 0);
  EXPECT_EQ(summary(),
            (Lines{"write 102 / write 103: nothing orders blocks of one kernel launch"}));
}

TEST_F(GeneralRaceTest, WhoMissedATicketMayNotResetTheCounter) {
  start(3, 32);
  for (std::uint32_t block = 0; block < 3; ++block) strong(kAtomic, block, 1 + block, 0);
  launch.one(kWrite, global, 1, 0, 5, 0);
  EXPECT_EQ(summary(),
            (Lines{"atomic 103 / write 105: nothing orders blocks of one kernel launch"}));
}

TEST_F(GeneralRaceTest, AWarpBarrierOrdersItsMembers) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 1);
  sync_warp(0, 0, 0xffff);
  launch.strided(kRead, shared, 0, 0, 2, 1, 0x7fff);
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 0, 0, 3, 1, 0x8000);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 103: lanes of one warp are not ordered without "
                              "__syncwarp()"}));
}

TEST_F(LockstepGeneralRaceTest, LanesOfAWarpAreOrderedAndReleaseTogether) {
  start(2, 32);
  launch.strided(kWrite, global, 0, 0, 1, 8);
  launch.strided(kRead, global, 0, 0, 2, 9, 0x7fffffff);
  strong(kWrite, 0, 3, 1, Order::release);
  strong(kRead, 1, 4, 1, Order::acquire);
  launch.strided(kRead, global, 1, 0, 5, 8);
  EXPECT_EQ(summary(), Lines{});
}

// Warp 0 executes bar.arrive and warp 1 bar.sync, so only warp 1 is ordered after warp 0.
TEST_F(GeneralRaceTest, WhoOnlyArrivesLearnsNothing) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 1);
  launch.strided(kWrite, shared, 0, 1, 2, 64);
  const std::array arrived{WarpLanes{0, ~0u}, WarpLanes{1, ~0u}};
  const std::array released{WarpLanes{1, ~0u}};
  checker.on_meeting({&program, launch.place(0, 0), arrived, released});
  launch.strided(kRead, shared, 0, 1, 3);
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 0, 0, 4, 64);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 104: no barrier orders (1) and (2)"}));
}

TEST_F(GeneralRaceTest, WhatFollowsAnArrivalIsNotPartOfTheMeeting) {
  start(1, 64);
  launch.strided(kWrite, shared, 0, 0, 1);
  const std::array producer{WarpLanes{0, ~0u}};
  WarpPlace barrier = launch.place(0, 0);
  barrier.warp = 1;
  checker.on_meeting({&program, barrier, producer, {}});
  launch.strided(kWrite, shared, 0, 0, 2, 32);
  const std::array arrived{WarpLanes{0, ~0u}, WarpLanes{1, ~0u}};
  const std::array released{WarpLanes{1, ~0u}};
  checker.on_meeting({&program, barrier, arrived, released});
  launch.strided(kRead, shared, 0, 1, 3);
  EXPECT_EQ(summary(), Lines{});
  launch.strided(kRead, shared, 0, 1, 4, 32);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 104: no barrier orders (1) and (2)"}));
}

TEST_F(GeneralRaceTest, AnMbarrierOrdersArrivalsBeforeWaits) {
  start(1, 64);
  BarrierObject event;
  event.program = &program;
  event.allocation = &shared.allocation();
  event.offset = 1024;
  event.place = launch.place(0, 0);
  event.mask = 1;
  launch.one(kWrite, shared, 0, 0, 1, 0);
  checker.on_barrier_object(event);
  launch.one(kWrite, shared, 0, 0, 2, 1);
  event.kind = BarrierObject::Kind::wait;
  event.place = launch.place(0, 1);
  checker.on_barrier_object(event);
  launch.one(kRead, shared, 0, 32, 3, 0);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 32, 4, 1);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 104: no barrier orders (1) and (2)"}));
}

TEST_F(GeneralRaceTest, AnAsynchronousCopyMustBeWaitedFor) {
  program.code[0].kind = InstrKind::copy;  // as in a program that copies
  start(1, 64);
  const auto copy = [&](std::uint32_t pc, std::uint32_t element) {
    Access row = launch.access(kWrite, shared, 0, 0, pc);
    row.mask = 1;
    row.offset.fill(4 * element);
    row.asynchronous = true;
    launch.emit(row);
    checker.on_copy_commit({&program, launch.place(0, 0), pc, 1});
  };
  copy(1, 0);
  copy(2, 1);
  // waits for all groups but the latest
  checker.on_copy_wait({&program, launch.place(0, 0), 3, 1, 1});
  launch.one(kRead, shared, 0, 0, 4, 0);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, shared, 0, 0, 5, 1);
  EXPECT_EQ(summary(), (Lines{"write 102 / read 105: the asynchronous copy (1) has not been "
                              "waited for before (2)"}));
  launch.barrier(0);
  // the copy has been waited for, and the barrier passes this on
  launch.one(kRead, shared, 0, 40, 6, 0);
  EXPECT_EQ(summary().size(), 1u);
  launch.one(kRead, shared, 0, 40, 7, 1);
  ASSERT_EQ(summary().size(), 2u);
  EXPECT_EQ(summary()[1],
            "write 102 / read 107: the asynchronous copy (1) was not waited for and passed on by "
            "its own thread before (2)");
}

TEST_F(GeneralRaceTest, AChainOfThousandsOfBlocksHandsItsKnowledgeOn) {
  constexpr std::uint32_t kBlocks = 4096;
  launch.start({kBlocks, 1, 1}, {32, 1, 1});
  FakeMemory large{2, ptx::Space::global, kBlocks * 8, "l"};
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    launch.start_block(block, block % 32);
    const auto flag = [&](AccessKind kind, std::uint32_t of, Order order) {
      Access row = launch.access(kind, large, block, 0, kind == kRead ? 1 : 2);
      row.mask = 1;
      row.offset.fill(4 * of);
      row.order = order;
      row.scope = Scope::gpu;
      launch.emit(row);
    };
    if (block > 0) flag(kRead, block - 1, Order::acquire);
    launch.one(kWrite, large, block, 0, 3, kBlocks + block);
    flag(kWrite, block, Order::release);
  }
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    launch.one(kRead, large, kBlocks - 1, 0, 4, kBlocks + block);
  }
  EXPECT_EQ(summary(), Lines{});
  // written by the last block, after this block
  launch.one(kRead, large, kBlocks - 2, 0, 5, 2 * kBlocks - 1);
  EXPECT_EQ(summary(), (Lines{"write 103 / read 105: nothing orders blocks of one kernel launch"}));
}

// Unordered launches race, no matter which of the two checkers handled the earlier launches.
TEST_F(GeneralRaceTest, UnorderedLaunchesRace) {
  for (const bool general : {false, true}) {
    checker.reset(WarpModel::independent);
    reporter.reset();
    program.synchronizes_threads = general;
    start(2, 32);
    launch.one(kWrite, global, 1, 7, 1, 0);
    launch.one(kRead, global, 0, 3, 2, 1);
    launch.one(kWrite, global, 1, 7, 8, 5);
    start(2, 32);  // ordered after the first launch
    launch.one(kRead, global, 0, 0, 3, 0);
    const std::array<std::uint32_t, 1> second{1};
    launch.start({2, 1, 1}, {32, 1, 1}, second);
    start_blocks(2);
    launch.one(kRead, global, 0, 0, 4, 0);
    launch.one(kWrite, global, 0, 0, 5, 1);
    EXPECT_EQ(summary(), Lines{}) << general;
    launch.one(kWrite, global, 0, 0, 6, 0);
    ASSERT_EQ(summary(), (Lines{"read 103 / write 106: nothing orders these two kernel launches: "
                                "no stream, event, edge of a graph or wait of the host leads "
                                "from one to the other"}))
        << general;
    EXPECT_EQ(reporter.findings()[0].accesses[0].thread, (Dim3{0, 0, 0}));
    const std::array<std::uint32_t, 3> all{0, 1, 2};
    launch.start({2, 1, 1}, {32, 1, 1}, all);
    start_blocks(2);
    launch.one(kRead, global, 0, 0, 7, 5);
    ASSERT_EQ(summary().size(), 2u) << general;
    EXPECT_EQ(reporter.findings()[1].accesses[0].line, 108u);
    EXPECT_EQ(reporter.findings()[1].accesses[0].block, (Dim3{1, 0, 0}));
    EXPECT_EQ(reporter.findings()[1].accesses[0].thread, (Dim3{7, 0, 0}));
  }
}

TEST_F(GeneralRaceTest, AHostThatDoesNotWaitRaces) {
  start(1, 32);
  launch.one(kRead, global, 0, 3, 1, 2);
  const std::array<std::uint32_t, 1> first{0};
  HostAccess access;
  access.allocation = &global.allocation();
  access.bytes = 16;
  checker.on_host_access(access);
  access.unordered_launches = first;
  checker.on_host_access(access);  // a read
  EXPECT_EQ(summary(), Lines{});
  access.write = true;
  checker.on_host_access(access);
  EXPECT_EQ(summary(), (Lines{"read 101 / host write 0: the host does not wait for the kernel of "
                              "(1): nothing orders their streams"}));
  EXPECT_EQ(reporter.findings()[0].object, "g[8]");
  checker.on_late_host_access(access);
  EXPECT_EQ(reporter.findings()[0].count, 2u);
}

// PTX ISA 8.9.5 (causality order): a write precedes in coherence what follows its observer; a write
// without an observer does not.  So the last write cannot represent the other ones.
TEST_F(GeneralRaceTest, AnObservedWriteDoesNotHideThoseBeforeIt) {
  start(2, 32);
  for (int i = 0; i < 16; ++i) strong(kWrite, 0, 1, 0);
  strong(kRead, 1, 2, 0);
  EXPECT_EQ(summary(), Lines{});
  strong(kRead, 1, 3, 0, Order::relaxed, Scope::cta);
  EXPECT_EQ(summary().size(), 1u);
}

TEST_F(GeneralRaceTest, AnObservedWriteComesBeforeAReadOfNarrowScope) {
  start(2, 32);
  strong(kWrite, 0, 1, 0);
  strong(kRead, 1, 2, 0);
  strong(kRead, 1, 3, 0, Order::relaxed, Scope::cta);
  EXPECT_EQ(summary(), Lines{});
}

// What a block has released remains visible to the threads that the release reaches, after the
// block has ended.
TEST_F(GeneralRaceTest, BlocksThatHaveEndedHaveReleased) {
  constexpr std::uint32_t kBlocks = 40;
  for (const bool releases : {true, false}) {
    launch.start({kBlocks + 1, 1, 1}, {32, 1, 1});
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      launch.start_block(block, 0);
      launch.one(kWrite, global, block, 0, 1, 1 + block);
      fence(block, releases ? Scope::gpu : Scope::cta);
      strong(kAtomic, block, 2, 0);
    }
    launch.start_block(kBlocks, 1);
    strong(kAtomic, kBlocks, 3, 0, Order::acquire);
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      launch.one(kRead, global, kBlocks, 0, 4, 1 + block);
    }
    if (releases) {
      EXPECT_EQ(summary(), Lines{});
    } else {
      ASSERT_EQ(reporter.findings().size(), 1u);
      EXPECT_EQ(reporter.findings()[0].count, kBlocks);
    }
  }
}

// Block 1 reads g[0] and signals block 2 through g[1]; then it reads g[0] repeatedly.
TEST_F(GeneralRaceTest, TheFirstObserverOfAWriteIsRemembered) {
  for (const bool acquires : {true, false}) {
    start(3, 32);
    strong(kWrite, 0, 1, 0);
    strong(kRead, 1, 2, 0);
    fence(1);
    strong(kWrite, 1, 3, 1);
    strong(kRead, 2, 4, 1);
    if (acquires) fence(2);
    for (std::uint32_t i = 0; i < 20; ++i) strong(kRead, 1, 10 + i, 0);
    launch.one(kRead, global, 2, 0, 5, 0);
    EXPECT_EQ(summary().size(), acquires ? 0u : 1u);
  }
}

// A direct implementation of the description of find_other in race_rows.hpp.
std::uint32_t first_other(const CellRow& row, const KnownBefore& known) {
  for (std::uint32_t at = 0; at < 2 * row.cells; ++at) {
    const Record record{row.words[at]};
    bool is_known = record.bits == 0 || record.segment() < known.first;
    for (const std::uint64_t segment : known.segments) is_known |= record.segment() == segment;
    const std::uint64_t lane = (at / 2) >> row.cells_log2;
    is_known |=
        static_cast<std::uint32_t>(record.bits) == known.own + (lane << Record::kSegmentBits);
    if (!is_known || (record.bits & Cell::kIsList) != 0) return at;
  }
  return 2 * row.cells;
}

TEST(CellRows, EveryLevelFindsTheFirstOtherWord) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t bound) { return random() % bound; };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t log2 = below(3), lane = below(8);
    std::vector<std::uint64_t> words(2 * (1 + below(24)) << log2);
    const KnownBefore known{below(3), {5, 7, 9, 11}, Record::of(4, lane, 0).bits};
    for (std::size_t at = 0; at < words.size(); ++at) {
      const auto own = lane + static_cast<unsigned>((at / 2) >> log2);
      const bool is_other = below(60) == 0;
      const std::uint32_t segment = is_other ? 1 + below(12) : below(2) == 0 ? 5 + 2 * below(4) : 4;
      words[at] = below(4) == 0 ? 0 : Record::of(segment, is_other ? below(32) : own, 3).bits;
      if (below(200) == 0) words[at] |= Cell::kIsList;
    }
    const CellRow row{words.data(), static_cast<std::uint32_t>(words.size() / 2), log2};
    const std::uint32_t expected = first_other(row, known);
    EXPECT_EQ(race_row_functions("baseline").find_other(row, known), expected);
    EXPECT_EQ(race_row_functions(simd_level()).find_other(row, known), expected);
  }
}

TEST(CellRows, ARowTakesThePlaceOfWhatWasThere) {
  for (const std::string_view level : {std::string_view("baseline"), simd_level()}) {
    std::vector<std::uint64_t> words(24, 77);
    const CellRow row{words.data(), 10, 1};
    race_row_functions(level).record_reads(row, Record::of(4, 2, 9).bits);
    race_row_functions(level).record_writes({words.data(), 4, 1}, Record::of(5, 2, 9).bits);
    for (std::size_t cell = 0; cell < 12; ++cell) {
      const auto lane = static_cast<unsigned>(2 + cell / 2);
      const std::uint64_t read = Record::of(4, lane, 9).bits, write = Record::of(5, lane, 9).bits;
      EXPECT_EQ(words[2 * cell], cell < 4 ? write : 77) << cell;
      EXPECT_EQ(words[2 * cell + 1], cell < 4 ? 0 : cell < 10 ? read : 77) << cell;
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
