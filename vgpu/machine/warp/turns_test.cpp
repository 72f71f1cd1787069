// Every block gets its turn, no matter which instruction the other blocks wait with; blocks that
// compute are not interrupted.
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kLongerThanTheWatch = 64 * 64 * 3;  // with a quantum of 64

class Turns : public SyncTest {
 protected:
  void expect_end_under_every_strategy(std::uint32_t blocks, std::uint32_t threads) {
    limits_.steps_max = 20'000'000;
    for (const StrategyRow& row : strategies()) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::unique_ptr<Strategy> strategy = row.make(seed);
        EXPECT_EQ(run({blocks, 1, 1}, {threads, 1, 1}, *strategy).end, Outcome::End::completed)
            << row.name << ' ' << seed;
      }
    }
  }
};

// Each block waits for the next one, except the last; `poll` reads the flag to %r5.
std::string chain(const std::string& poll) {
  return "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; add.u32 %r4, %r2, 1;\n"
         "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd4, %rd1;\n"
         "setp.ge.u32 %p1, %r4, %r3; @%p1 bra E;\nS: " +
         poll +
         " setp.eq.u32 %p2, %r5, 0; @%p2 bra S;\n"
         "E: bar.sync 0; st.volatile.global.u32 [%rd4], 1;";
}

TEST_F(Turns, OfBlocksThatPollAcrossBarriers) {
  compile(
      chain("ld.volatile.global.u32 %r6, [%rd4+4]; setp.ne.u32 %p3, %r6, 0;\n"
            "bar.red.popc.u32 %r5, 0, %p3;"));
  expect_end_under_every_strategy(4, 64);
}

TEST_F(Turns, OfBlocksThatPollByOneThread) {
  compile(chain("setp.ne.u32 %p4, %r1, 0; @%p4 bra W; ld.volatile.global.u32 %r6, [%rd4+4];\n"
                "st.shared.u32 [s], %r6;\nW: bar.sync 0; ld.shared.u32 %r5, [s]; bar.sync 0;"),
          ".shared .align 4 .b8 s[4];\n");
  expect_end_under_every_strategy(4, 64);
}

TEST_F(Turns, OfBlocksThatCountTheirPolls) {
  limits_.quantum = 64;
  compile(chain("red.shared.add.u32 [s], 1; ld.volatile.global.u32 %r6, [%rd4+4];\n"
                "setp.ne.u32 %p3, %r6, 0; bar.red.popc.u32 %r5, 0, %p3;"),
          ".shared .align 4 .b8 s[4];\n");
  expect_end_under_every_strategy(3, 64);
}

TEST_F(Turns, OfBlocksThatPollAcrossNamedBarriers) {
  compile(
      chain("ld.volatile.global.u32 %r6, [%rd4+4]; setp.ne.u32 %p3, %r6, 0;\n"
            "barrier.red.popc.u32 %r5, 1, 64, %p3;"));
  expect_end_under_every_strategy(3, 64);
}

TEST_F(Turns, OfClustersThatPollAcrossTheirBarriers) {
  cluster_ = {2, 1, 1};
  compile(
      "mov.u32 %r2, %clusterid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra E;\n"
      "S: barrier.cluster.arrive; barrier.cluster.wait; ld.volatile.global.u32 %r5, [%rd1];\n"
      "barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p2, %r5, 0; @%p2 bra S;\n"
      "E: st.volatile.global.u32 [%rd1], 1;");
  expect_end_under_every_strategy(4, 32);
}

TEST_F(Turns, AreNotTakenFromBlocksThatWork) {
  // Each block takes a ticket at its beginning and at its end; between them it works long, between
  // barriers.
  limits_.quantum = 64;
  compile(
      "setp.ne.u32 %p1, %r1, 0; mov.u32 %r9, 0;\n"
      "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd4, %r2, 8; add.s64 %rd4, %rd4, %rd1;\n"
      "@!%p1 atom.global.add.u32 %r3, [%rd1], 1; @!%p1 st.global.u32 [%rd4+4], %r3;\n"
      "S: ld.shared.u32 %r5, [s]; bar.sync 0; @!%p1 st.shared.u32 [s], %r9; bar.sync 0;\n"
      "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 1000; @%p2 bra S;\n"
      "@!%p1 atom.global.add.u32 %r3, [%rd1], 1; @!%p1 st.global.u32 [%rd4+8], %r3;",
      ".shared .align 4 .b8 s[4];\n");
  const Outcome outcome = run({3, 1, 1}, {64, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_GT(outcome.steps, 3 * kLongerThanTheWatch);
  EXPECT_EQ(ints(7), (std::vector<std::uint32_t>{6, 0, 1, 2, 3, 4, 5}));
}

// Warp 0 computes for 50 quanta and sets the flag; the other warps read it to %r5 with `poll`.
std::string long_work_beside(const std::string& poll) {
  return "mov.u32 %r9, 0; setp.ge.u32 %p1, %r1, 32; @%p1 bra S;\n"
         "W: add.u32 %r9, %r9, 1; xor.b32 %r8, %r8, %r9; setp.lt.u32 %p2, %r9, 50000; @%p2 bra W;\n"
         "st.volatile.global.u32 [%rd1], 1; bra E;\nS: " +
         poll + " setp.eq.u32 %p2, %r5, 0; @%p2 bra S;\nE: bar.sync 0;";
}
constexpr std::uint64_t kLongWork = 4 * 50'000;

class TurnsOfPolls : public Turns, public testing::WithParamInterface<std::string> {};

TEST_P(TurnsOfPolls, BesideLongWorkAreShort) {
  compile(long_work_beside(GetParam()));
  const Outcome outcome = run(1024);
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_LT(outcome.steps, kLongWork + 31 * (4'096 + 2 * 256));
}

TEST_P(TurnsOfPolls, OfAChainAreShort) {
  cooperative_ = true;
  compile(chain("ld.volatile.global.u32 %r5, [%rd4+4]; add.u32 %r9, %r9, 1;"));
  const Outcome outcome = run({256, 1, 1}, {32, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_LT(outcome.steps, 256 * (4'096 + 2 * 256));
}

INSTANTIATE_TEST_SUITE_P(
    Poll, TurnsOfPolls,
    testing::Values("ld.volatile.global.u32 %r5, [%rd1];", "atom.global.add.u32 %r5, [%rd1], 0;",
                    "add.u32 %r7, %r7, 1; ld.acquire.gpu.global.u32 %r5, [%rd1];",
                    "mov.u64 %rd9, %clock64; ld.volatile.global.u32 %r5, [%rd1];"));

TEST_F(Turns, OfAGridBarrierAreShortWhileOthersArrive) {
  cooperative_ = true;
  compile(
      "mov.u32 %r3, %nctaid.x; mov.u32 %r9, 0; mov.u32 %r8, 0;\n"
      "R: add.u32 %r8, %r8, %r3; atom.global.add.u32 %r4, [%rd1], 1;\n"
      "S: ld.acquire.gpu.global.u32 %r5, [%rd1]; setp.lt.u32 %p1, %r5, %r8; @%p1 bra S;\n"
      "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 20; @%p2 bra R;");
  const Outcome outcome = run({64, 1, 1}, {1, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 20u * 64);
  EXPECT_LT(outcome.steps, 64u * (4'096 + 20 * 3 * 256));
  limits_.resident_blocks = 8;
  expect_end_under_every_strategy(8, 1);
}

TEST_F(Turns, OfOneLaneAtAGridBarrierAreShortWhileTheOthersWaitForIt) {
  // Lane 0 polls for its block, as grid_group::sync() does; the other lanes are at a barrier of the
  // block, which the lane's first polls keep them from.
  cooperative_ = true;
  compile(
      "mov.u32 %r3, %nctaid.x; mov.u32 %r9, 0; mov.u32 %r8, 0; setp.ne.u32 %p3, %r1, 0;\n"
      "R: add.u32 %r8, %r8, %r3; bar.sync 0; @%p3 bra W; atom.global.add.u32 %r4, [%rd1], 1;\n"
      "S: ld.acquire.gpu.global.u32 %r5, [%rd1]; setp.lt.u32 %p1, %r5, %r8; @%p1 bra S;\n"
      "W: bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 20; @%p2 bra R;");
  const Outcome outcome = run({16, 1, 1}, {64, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 20u * 16);
  EXPECT_LT(outcome.steps, 16u * (4'096 + 20 * 3 * 64));
  limits_.resident_blocks = 8;
  expect_end_under_every_strategy(8, 64);
}

TEST_F(Turns, OfWarpsThatWaitForTheirOwnLanesGoToThoseLanes) {
  // Lane 0 sets the flag for the other lanes of its warp after long work.
  compile(
      "mov.u32 %r9, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra S;\n"
      "W: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 20000; @%p2 bra W;\n"
      "st.volatile.global.u32 [%rd1], 1; bra E;\n"
      "S: ld.volatile.global.u32 %r5, [%rd1]; setp.eq.u32 %p2, %r5, 0; @%p2 bra S;\n"
      "E: bar.sync 0;");
  expect_end_under_every_strategy(2, 64);
}

TEST_F(Turns, AreWholeWhereTheSameIsReadForWork) {
  // Each of two warps takes a ticket after three and a half quanta; neither observes the other
  // one's progress.
  compile(
      "mov.u32 %r9, 0; shr.u32 %r2, %r1, 5; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd4, %rd1;\n"
      "W: ld.volatile.global.u32 %r5, [%rd1]; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 3584;\n"
      "@%p2 bra W;\n"
      "setp.eq.u32 %p1, %r1, 0; setp.eq.or.u32 %p1, %r1, 32, %p1;\n"
      "@%p1 atom.global.add.u32 %r3, [%rd1+64], 1; @%p1 st.global.u32 [%rd4+68], %r3;");
  const Outcome outcome = run(64);
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_EQ(outcome.steps, 2u * (4 + 4 + 4 * 3584 + 5));
  EXPECT_EQ(ints(19)[17], 0u);
  EXPECT_EQ(ints(19)[18], 1u);
}

}  // namespace
}  // namespace warpcheck::vgpu
