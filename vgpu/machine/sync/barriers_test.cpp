// Barriers of a block in all their forms.
#include <bit>

#include "vgpu/machine/sync/sync_testing.hpp"

namespace warpcheck::vgpu {
namespace {

using Reason = BarrierDivergence::Reason;

class Barriers : public SyncTest {};

TEST_F(Barriers, ReductionsOfTheWholeBlock) {
  compile(
      "setp.lt.u32 %p1, %r1, 37; bar.red.popc.u32 %r2, 0, %p1; setp.lt.u32 %p2, %r1, 70;\n"
      "bar.red.and.pred %p3, 0, %p2; bar.red.or.pred %p4, 0, !%p2; selp.u32 %r3, 100, 0, %p3;\n"
      "selp.u32 %r4, 1000, 0, %p4; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;\n"
      "st.global.u32 [%rd2], %r2;");
  run(70);
  EXPECT_EQ(ints(70), std::vector<std::uint32_t>(70, 137));
  run(71);
  EXPECT_EQ(ints(71), std::vector<std::uint32_t>(71, 1037));
  EXPECT_EQ(seen_.phases, 3);
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(Barriers, APartOfTheBlockMeets) {
  // Warps 0 and 1 at barrier 1, warps 2 and 3 at barrier 2, in either order.
  compile(
      "shr.u32 %r2, %r1, 6; add.u32 %r2, %r2, 1; bar.sync %r2, 64; st.global.u32 [%rd2], %r2;\n"
      "bar.sync %r2, 64;");
  EXPECT_EQ(run(128).end, Outcome::End::completed);
  ASSERT_EQ(seen_.meetings.size(), 4u);
  EXPECT_EQ(seen_.meetings[0].arrived, (std::vector<WarpLanes>{{0, ~0u}, {1, ~0u}}));
  EXPECT_EQ(seen_.meetings[0].released, (std::vector<WarpLanes>{{0, ~0u}, {1, ~0u}}));
  EXPECT_EQ(seen_.phases, 0);
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(Barriers, ProducersArriveAndConsumersWait) {
  compile(
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra C; st.shared.u32 [s], 5; bar.arrive 3, 64; ret;\n"
      "C: bar.sync 3, 64; ld.shared.u32 %r2, [s]; st.global.u32 [%rd2], %r2;",
      ".shared .align 4 .b8 s[4];\n");
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  EXPECT_EQ(ints(64)[40], 5u);
  ASSERT_EQ(seen_.meetings.size(), 2u);
  // reported when it arrives
  EXPECT_EQ(seen_.meetings[0].arrived, (std::vector<WarpLanes>{{0, ~0u}}));
  EXPECT_TRUE(seen_.meetings[0].released.empty());
  EXPECT_EQ(seen_.meetings[1].arrived, (std::vector<WarpLanes>{{0, ~0u}, {1, ~0u}}));
  EXPECT_EQ(seen_.meetings[1].released, (std::vector<WarpLanes>{{1, ~0u}}));
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(Barriers, ANumberedBarrierOfAllThreadsIsAPhase) {
  compile("bar.sync 5; st.global.u32 [%rd2], 1; barrier.sync.aligned 6, 96;");
  EXPECT_EQ(run(70).end, Outcome::End::completed);
  EXPECT_EQ(seen_.phases, 2);
  EXPECT_TRUE(seen_.meetings.empty());
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(Barriers, LanesOfADivergedWarpArriveOneByOne) {
  // Without .aligned, each half of a warp may execute another barrier instruction.
  compile(
      "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra A; barrier.sync 1; bra B;\n"
      "A: barrier.sync 1;\nB: st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  EXPECT_EQ(ints(64), std::vector<std::uint32_t>(64, 1));
  EXPECT_EQ(seen_.phases, 1);
  EXPECT_TRUE(seen_.divergences.empty());
}

TEST_F(Barriers, AReductionOfAPart) {
  compile(
      "setp.ge.u32 %p1, %r1, 64; @%p1 bra E; setp.lt.u32 %p2, %r1, 40;\n"
      "bar.red.popc.u32 %r2, 1, 64, %p2; st.global.u32 [%rd2], %r2;\nE:");
  run(96);
  EXPECT_EQ(ints(64), std::vector<std::uint32_t>(64, 40));
  EXPECT_EQ(ints(96)[80], 0u);
}

TEST_F(Barriers, DifferentNumbersAreReportedAndTheTrialGoesOn) {
  compile("shr.u32 %r2, %r1, 5; bar.sync %r2; st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  EXPECT_EQ(ints(64), std::vector<std::uint32_t>(64, 1));
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::different_barriers);
  EXPECT_EQ(seen_.divergences[0].other_warp, 1u);
}

TEST_F(Barriers, DifferentCountsAreReportedOnce) {
  compile("add.u32 %r2, %r1, 64; and.b32 %r2, %r2, 96; bar.sync 1, %r2; st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(64).end, Outcome::End::completed);  // barriers of 64 and of 96 threads
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::different_counts);
  EXPECT_EQ(seen_.deadlocks, 0);
}

TEST_F(Barriers, MixedUsesBadCountsAndBadNumbers) {
  compile(
      "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra B;\n"
      "A: bar.red.or.pred %p2, 1, 64, 1;\nB:");
  run(64);
  ASSERT_EQ(seen_.divergences.size(), 1u);
  EXPECT_EQ(seen_.divergences[0].reason, Reason::different_uses);
  compile("bar.sync 1, 40;");
  run(64);
  ASSERT_FALSE(seen_.divergences.empty());
  EXPECT_EQ(seen_.divergences[0].reason, Reason::bad_count);
  compile("mov.u32 %r2, 16; bar.sync %r2;");
  run(64);
  ASSERT_FALSE(seen_.divergences.empty());
  EXPECT_EQ(seen_.divergences[0].reason, Reason::bad_number);
}

TEST_F(Barriers, MissingArrivalsAreADeadlockAtOnce) {
  compile("setp.lt.u32 %p1, %r1, 64; @!%p1 bra E; bar.sync 2, 96;\nE:");
  EXPECT_EQ(run(96).end, Outcome::End::deadlock);
  EXPECT_EQ(seen_.deadlocks, 1);
  EXPECT_TRUE(seen_.limits.empty());
  ASSERT_EQ(seen_.waiting.size(), 3u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::barrier);
  EXPECT_EQ(seen_.waiting[0].number, 2u);
  EXPECT_EQ(seen_.waiting[0].arrived, 64u);
  EXPECT_EQ(seen_.waiting[0].expected, 96u);
  EXPECT_EQ(seen_.waiting[1].place.warp, 1u);
  EXPECT_EQ(seen_.waiting[2].kind, Waiting::Kind::exited);
  EXPECT_EQ(seen_.waiting[2].place.warp, 2u);
}

TEST_F(Barriers, AWarpThatExitsHalfwayArrives) {
  // Half of warp 1 exits while the other half waits.
  compile(
      "setp.lt.u32 %p1, %r1, 48; @%p1 bra W; nanosleep.u32 5; nanosleep.u32 5; ret;\n"
      "W: barrier.sync 1, 64; st.global.u32 [%rd2], 1;");
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  EXPECT_EQ(ints(64)[47], 1u);
  EXPECT_TRUE(seen_.divergences.empty());
}

}  // namespace
}  // namespace warpcheck::vgpu
