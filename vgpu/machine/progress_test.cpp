// Everybody gets on who can, under every policy; who cannot is named.
#include "vgpu/machine/sync_testing.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

class Progress : public SyncTest {};

// A barrier of the grid: every block counts itself in, then polls until all have.
constexpr const char* kGridBarrier =
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra W; red.global.add.u32 [%rd1], 1;\n"
    "S: ld.relaxed.gpu.global.u32 %r2, [%rd1]; mov.u32 %r3, %nctaid.x;\n"
    "setp.lt.u32 %p2, %r2, %r3; @%p2 bra S;\nW: bar.sync 0; st.global.u32 [%rd2+4], 1;";

TEST_F(Progress, CooperativeLaunchesHaveAllTheirBlocksAtOnce) {
  limits_.steps_max = 2'000'000;
  limits_.resident_blocks = 4;
  cooperative_ = true;
  compile(kGridBarrier);
  EXPECT_EQ(run({48, 1, 1}, {64, 1, 1}).end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 48u);
}

TEST_F(Progress, CooperativeLaunchesHaveAWorkspaceOfZeros) {
  compile(
      "mov.u32 %r2, %envreg2; cvt.u64.u32 %rd5, %r2; mov.u32 %r3, %envreg1;\n"
      "cvt.u64.u32 %rd6, %r3; bfi.b64 %rd4, %rd6, %rd5, 32, 32; setp.eq.u64 %p1, %rd4, 0;\n"
      "@%p1 bra E; atom.global.add.u32 %r4, [%rd4+4], 1; add.u32 %r4, %r4, 1;\n"
      "st.global.u32 [%rd2], %r4;\nE:");
  run(1);
  EXPECT_EQ(ints(1)[0], 0u);
  cooperative_ = true;
  for (int launch = 0; launch < 2; ++launch) {
    run(2);
    EXPECT_EQ(ints(2), (std::vector<std::uint32_t>{1, 2}));
  }
  EXPECT_TRUE(seen_.faults.empty());
}

TEST_F(Progress, BlocksThatCannotStartAreNamed) {
  limits_.steps_max = 200'000;
  limits_.resident_blocks = 4;
  compile(kGridBarrier);
  EXPECT_EQ(run({6, 1, 1}, {64, 1, 1}).end, Outcome::End::step_limit);
  ASSERT_EQ(seen_.limits.size(), 1u);
  EXPECT_EQ(seen_.limits[0].blocks_not_started, 2u);
  // Of each resident block one thread polls; 31 of its warp and the second warp wait.
  ASSERT_EQ(seen_.waiting.size(), 12u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::barrier);
  EXPECT_EQ(seen_.waiting[0].arrived, 63u);
  EXPECT_EQ(seen_.waiting[0].expected, 64u);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
  EXPECT_EQ(seen_.waiting[1].pc, pc_of("ld.relaxed.gpu.global.u32"));
  EXPECT_EQ(seen_.waiting[1].lanes, 1u);
  EXPECT_EQ(seen_.waiting[1].allocation, out_);
  EXPECT_EQ(seen_.waiting[1].offset, 0u);
  EXPECT_EQ(seen_.waiting[1].value, 4u);
}

TEST_F(Progress, EveryStrategyLetsPollingThreadsWaitForOthers) {
  // Warp 1 of each block waits for warp 0 of the next one, the last for nobody.
  limits_.steps_max = 1'000'000;
  compile(
      "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; add.u32 %r4, %r2, 1;\n"
      "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd4, %rd1;\n"
      "setp.eq.u32 %p1, %r1, 0; @!%p1 bra A; st.volatile.global.u32 [%rd4], 1;\n"
      "A: setp.ne.u32 %p2, %r1, 32; @%p2 bra E; setp.ge.u32 %p3, %r4, %r3; @%p3 bra E;\n"
      "S: ld.volatile.global.u32 %r5, [%rd4+4]; setp.eq.u32 %p4, %r5, 0; @%p4 bra S;\nE:");
  for (const char* name : {"default", "round_robin", "random", "pct"}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::unique_ptr<Strategy> strategy = make_strategy(name, seed);
      EXPECT_EQ(run({6, 1, 1}, {64, 1, 1}, *strategy).end, Outcome::End::completed)
          << name << " " << seed;
    }
  }
}

TEST_F(Progress, EveryStrategyLetsLanesPollForOthersOfTheirWarp) {
  limits_.steps_max = 1'000'000;
  compile(
      "and.b32 %r4, %r1, 31; setp.eq.u32 %p1, %r4, 0; @!%p1 bra W; xor.b32 %r5, %r1, 32;\n"
      "S: ld.volatile.global.u32 %r2, [%rd2+4]; st.volatile.global.u32 [%rd2], %r2;\n"
      "setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\n"
      "W: st.volatile.global.u32 [%rd2], 1;\nE:");
  for (const char* name : {"default", "round_robin", "random", "pct"}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::unique_ptr<Strategy> strategy = make_strategy(name, seed);
      EXPECT_EQ(run({2, 1, 1}, {64, 1, 1}, *strategy).end, Outcome::End::completed)
          << name << " " << seed;
    }
  }
}

TEST_F(Progress, SleepingLanesLetTheOthersOfTheirWarpRun) {
  limits_.quantum = 1'000'000;
  limits_.steps_max = 10'000;
  compile(
      "setp.eq.u32 %p1, %r1, 0; @!%p1 bra W;\nS: nanosleep.u32 20;\n"
      "ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\n"
      "W: st.volatile.global.u32 [%rd1], 1;\nE:");
  EXPECT_EQ(run(2).end, Outcome::End::completed);
}

TEST_F(Progress, ALockWithinAWarpIsFreedUnderIndependentLanesAndNamedUnderLockstep) {
  limits_.steps_max = 100'000;
  compile(
      "S: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra S;\n"
      "ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1;\n"
      "st.volatile.global.u32 [%rd1+4], %r3; atom.global.exch.b32 %r2, [%rd1], 0;");
  EXPECT_EQ(run(8).end, Outcome::End::completed);
  EXPECT_EQ(ints(2)[1], 8u);
  model_ = WarpModel::lockstep;
  EXPECT_EQ(run(8).end, Outcome::End::step_limit);
  ASSERT_EQ(seen_.waiting.size(), 2u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::rejoin);
  EXPECT_EQ(seen_.waiting[0].lanes, 1u);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
  EXPECT_EQ(seen_.waiting[1].pc, pc_of("atom.global.cas.b32"));
  EXPECT_EQ(seen_.waiting[1].lanes, 0xfeu);
}

TEST_F(Progress, APollForALaneThatWaitsForThePollIsNamed) {
  limits_.steps_max = 100'000;
  compile(
      "setp.eq.u32 %p1, %r1, 0; @!%p1 bra S; bar.warp.sync 3; st.volatile.global.u32 [%rd1], 1;\n"
      "bra E;\nS: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S;\nE:");
  EXPECT_EQ(run(2).end, Outcome::End::step_limit);
  ASSERT_EQ(seen_.waiting.size(), 2u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::members);
  EXPECT_EQ(seen_.waiting[0].missing, 2u);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
}

}  // namespace
}  // namespace warpcheck::vgpu
