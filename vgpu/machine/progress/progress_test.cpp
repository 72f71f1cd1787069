// Under every scheduling policy, every thread that can continue does continue, and threads that
// cannot are reported.
#include <cstring>
#include <vector>

#include "vgpu/machine/device_runtime.hpp"
#include "vgpu/machine/progress/concurrent_work.hpp"
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

class Progress : public SyncTest {};

// A grid barrier: every block increments a counter, then polls it until all blocks have done so.
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
  limits_.steps_max = kNoLimit;
  limits_.resident_blocks = 4;
  compile(kGridBarrier);
  EXPECT_EQ(run({6, 1, 1}, {64, 1, 1}).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.deadlocks, 1);
  EXPECT_TRUE(seen_.deadlock_of_launch);
  EXPECT_FALSE(seen_.repeats);
  EXPECT_EQ(seen_.blocks_not_started, 2u);
  // In each resident block, one thread polls; 31 threads of its warp and the second warp wait.
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
  // Warp 1 of each block waits for warp 0 of the next block; in the last block it does not wait.
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
  EXPECT_EQ(run(8).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.waiting.size(), 2u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::rejoin);
  EXPECT_EQ(seen_.waiting[0].lanes, 1u);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
  EXPECT_EQ(seen_.waiting[1].pc, pc_of("atom.global.cas.b32"));
  EXPECT_EQ(seen_.waiting[1].lanes, 0xfeu);
  EXPECT_EQ(seen_.waiting[1].written.pc, pc_of("atom.global.cas.b32"));
  EXPECT_EQ(seen_.waiting[1].written.lane, 0u);
  EXPECT_FALSE(seen_.waiting[1].written.has_exited);
}

TEST_F(Progress, APollForALaneThatWaitsForThePollIsNamed) {
  limits_.steps_max = 100'000;
  compile(
      "setp.eq.u32 %p1, %r1, 0; @!%p1 bra S; bar.warp.sync 3; st.volatile.global.u32 [%rd1], 1;\n"
      "bra E;\nS: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S;\nE:");
  EXPECT_EQ(run(2).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.waiting.size(), 2u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::members);
  EXPECT_EQ(seen_.waiting[0].missing, 2u);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
}

// ---- look-ahead: launches that never end are reported, and no others ----

class Lookahead : public SyncTest {
 protected:
  Lookahead() {
    limits_.steps_max = kNoLimit;
    limits_.look_after = 2'000;
    keeps_accesses_ = false;
  }
  // A loop that polls a word which is 0; `more` is code in the loop, `before` code in front of it.
  void compile_poll(const std::string& more, const std::string& before = "") {
    compile(before + "\nS: ld.volatile.global.u32 %r2, [%rd1];\n" + more +
            "\nsetp.eq.u32 %p8, %r2, 0; @%p8 bra S;\n");
  }
  void expect_stuck(std::uint32_t threads = 1) {
    EXPECT_EQ(run(threads).end, Outcome::End::deadlock);
    EXPECT_TRUE(seen_.deadlock_of_launch);
    EXPECT_FALSE(seen_.repeats);
    ASSERT_FALSE(seen_.waiting.empty());
    EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::reads);
    EXPECT_EQ(seen_.waiting[0].pc, pc_of("ld.volatile.global.u32"));
    EXPECT_EQ(seen_.waiting[0].allocation, out_);
  }
};

TEST_F(Lookahead, CountersOfAttemptsDecideNothing) {
  compile_poll("add.u32 %r3, %r3, 1; mul.wide.u32 %rd4, %r3, 8; xor.b64 %rd5, %rd4, %rd1;");
  expect_stuck(40);
}

TEST_F(Lookahead, PausesThatGrowDecideNothing) {
  compile_poll("nanosleep.u32 %r3; add.u32 %r3, %r3, 7;");
  expect_stuck();
  compile_poll("nanosleep.u32 %r3; shl.b32 %r3, %r3, 1; min.u32 %r3, %r3, 4096;",
               "mov.u32 %r3, 8;");
  expect_stuck();
}

TEST_F(Lookahead, PausesInALoopOfTheirOwnDecideNothing) {
  compile_poll(
      "add.u32 %r3, %r3, 1; and.b32 %r3, %r3, 255; mov.u32 %r4, %r3;\n"
      "L: sub.u32 %r4, %r4, 1; setp.gt.s32 %p1, %r4, 0; @%p1 bra L;");
  expect_stuck();
  // The delay in the loop is measured by the clock.
  compile_poll(
      "mov.u64 %rd4, %clock64;\n"
      "L: mov.u64 %rd5, %clock64; sub.s64 %rd6, %rd5, %rd4; setp.lt.s64 %p1, %rd6, 50;\n"
      "@%p1 bra L;");
  expect_stuck();
}

TEST_F(Lookahead, CountersInLocalMemoryDecideNothing) {
  compile_poll("ld.local.u32 %r3, [d]; add.u32 %r3, %r3, 1; st.local.u32 [d], %r3;",
               ".local .align 4 .b8 d[4]; mov.u32 %r3, 0; st.local.u32 [d], %r3;");
  expect_stuck();
}

// Unoptimised code keeps its variables on a stack, whose words are used again.
TEST_F(Lookahead, WordsOfAStackThatHaveHeldTheTimeDecideNothing) {
  compile_poll(
      "mov.u64 %rd4, %clock64; st.local.u64 [d], %rd4; ld.local.u64 %rd5, [d];\n"
      "st.local.u64 [d], %rd1; ld.local.u64 %rd6, [d]; ld.global.u32 %r4, [%rd6+4];",
      ".local .align 8 .b8 d[8];");
  expect_stuck();
}

// A pause that is computed in local memory, by one of two ways that the time decides.
constexpr const char* kPauseInLocalMemory =
    "mov.u64 %rd4, %clock64; and.b64 %rd5, %rd4, 64; setp.ne.u64 %p1, %rd5, 0; @%p1 bra A;\n"
    "st.local.u32 [d], 20; mov.u64 %rd7, d; bra B;\n"
    "A: st.local.u32 [d+4], 40; mov.u64 %rd7, d; add.u64 %rd7, %rd7, 4;\n"
    "B: ld.local.u32 %r4, [d]; nanosleep.u32 %r4;\n";

TEST_F(Lookahead, PausesInLocalMemoryDecideNothing) {
  const std::string before =
      ".local .align 8 .b8 d[16]; st.local.u32 [d], 1; st.local.u32 [d+4], 1;\n"
      "st.local.u32 [d+8], 0;";
  compile_poll(kPauseInLocalMemory, before);
  expect_stuck(40);
  // Its address depends on the way.
  compile_poll(std::string(kPauseInLocalMemory) + "ld.local.u32 %r5, [%rd7];", before);
  limits_.steps_max = 400'000;
  EXPECT_EQ(run(1).end, Outcome::End::step_limit);
}

// As in the pauses of libcu++, which assert that they are short.
TEST_F(Lookahead, AssertionsAboutTheTimeDecideNothing) {
  for (const char* const store : {"", "st.local.u32 [d], 1;"}) {
    compile(
        ".local .align 8 .b8 d[8];\n"
        "S: ld.volatile.global.u32 %r2, [%rd1]; mov.u64 %rd4, %clock64;\n"
        "setp.lt.s64 %p1, %rd4, 4294967295; @%p1 bra B;\n" +
            std::string(store) +
            "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
            "st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], 1;\n"
            "st.param.b64 [d], %rd1; st.param.b64 [e], 1;\n"
            "call.uni __assertfail, (a, b, c, d, e); }\n"
            "B: setp.eq.u32 %p8, %r2, 0; @%p8 bra S;",
        ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
        ".param .b64 e);\n");
    expect_stuck();
  }
}

// A way that is seldom taken writes the flag that ends the poll.
TEST_F(Lookahead, APollThatATimeInLocalMemoryEndsIsNotStuck) {
  for (const char* const address : {"d", "%rd8"}) {
    compile(
        ".local .align 8 .b8 d[8]; st.local.u32 [d], 0; mov.u64 %rd8, d; mov.u64 %rd4, %clock64;\n"
        "S: ld.volatile.global.u32 %r2, [%rd1]; mov.u64 %rd5, %clock64; sub.s64 %rd6, %rd5, %rd4;\n"
        "setp.le.s64 %p1, %rd6, 200000; @%p1 bra B; st.local.u32 [" +
        std::string(address) +
        "], 1;\n"
        "B: ld.local.u32 %r3, [d]; setp.ne.u32 %p2, %r3, 0; @%p2 bra E;\n"
        "setp.eq.u32 %p3, %r2, 0; @%p3 bra S;\nE:");
    EXPECT_EQ(run(1).end, Outcome::End::completed) << address;
  }
}

// Every lane polls in a loop of different length, so that their rounds hardly ever begin at the
// same step.
TEST_F(Lookahead, PollsOfLanesInLoopsOfTheirOwnAreFollowedByThemselves) {
  std::string loops;
  for (const int length : {101, 97, 89, 83}) {
    const std::string name = std::to_string(length);
    loops += "setp.ne.u32 %p1, %r1, " + std::to_string((length - 83) / 6) + "; @%p1 bra N" + name +
             ";\nS" + name + ": ld.volatile.global.u32 %r2, [%rd1]; mov.u32 %r3, 0;\n";
    for (int i = 0; i < length; ++i) loops += "add.u32 %r3, %r3, %r2; ";
    loops += "\nsetp.eq.u32 %p2, %r3, 0; @%p2 bra S" + name + ";\nN" + name + ":\n";
  }
  compile(loops);
  expect_stuck(4);
  EXPECT_EQ(seen_.waiting.size(), 4u);
  // One lane writes the value that the others wait for.
  compile(
      "setp.ne.u32 %p1, %r1, 31; @%p1 bra A; mov.u32 %r4, 0;\n"
      "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 60000; @%p3 bra L;\n"
      "st.volatile.global.u32 [%rd1], 1;\nA:\n" +
      loops);
  EXPECT_EQ(run(32).end, Outcome::End::completed);
}

// A list of 7 nodes, stored behind 5 others, and the sum of its nodes.
TEST_F(Lookahead, AListThatLeadsBackToItselfIsNeverAtItsEnd) {
  const auto links = [](int nodes, int last) {
    std::string text;
    for (int i = 0; i < nodes; ++i) {
      const int next = i + 1 < nodes ? i + 1 : last;
      text += "mov.u32 %r2, " + std::to_string(next) + "; st.global.u32 [%rd1+" +
              std::to_string(4 * i) + "], %r2;\n";
    }
    return text;
  };
  const std::string walk =
      "mov.u32 %r3, 0; mov.u32 %r2, 0;\n"
      "S: mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd4, %rd1; ld.global.u32 %r2, [%rd4];\n"
      "add.u32 %r3, %r3, %r2; setp.ne.u32 %p1, %r2, 9999; @%p1 bra S;\n"
      "st.global.u32 [%rd2], %r3;";
  compile(links(12, 5) + walk);
  EXPECT_EQ(run(1).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.waiting.size(), 1u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::reads);
  EXPECT_EQ(seen_.waiting[0].pc, pc_of("ld.global.u32"));
  compile(links(12, 9999) + walk);
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 66u + 9999);
}

// The loop's state has a period, but the number of rounds is limited.
TEST_F(Lookahead, ALoopWithPeriodsThatIsCountedEnds) {
  compile(
      "mov.u32 %r3, 0; mov.u32 %r2, 0;\n"
      "S: mad.lo.u32 %r2, %r2, 5, 3; and.b32 %r2, %r2, 7; mul.wide.u32 %rd4, %r2, 4;\n"
      "add.s64 %rd4, %rd4, %rd1; ld.global.u32 %r4, [%rd4+64]; add.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p1, %r3, 200000; @%p1 bra S; st.global.u32 [%rd2], %r3;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
}

TEST_F(Lookahead, APollThatGivesUpEnds) {
  compile(
      "S: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r3, %r3, 1;\n"
      "setp.gt.u32 %p1, %r3, 40000; @%p1 bra E; setp.eq.u32 %p2, %r2, 0; @%p2 bra S;\nE:");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  compile(
      "mov.u64 %rd4, %clock64;\nS: ld.volatile.global.u32 %r2, [%rd1]; mov.u64 %rd5, %clock64;\n"
      "sub.s64 %rd6, %rd5, %rd4; setp.gt.s64 %p1, %rd6, 100000; @%p1 bra E;\n"
      "setp.eq.u32 %p2, %r2, 0; @%p2 bra S;\nE:");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
}

TEST_F(Lookahead, ALoopThatOnlyComputesEnds) {
  compile(
      "mov.u32 %r3, 0;\nL: mad.lo.u32 %r4, %r4, 5, 1; add.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p1, %r3, 30000; @%p1 bra L; st.global.u32 [%rd2], %r4;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  compile(  // its value has stopped changing long before
      "mov.u32 %r3, 0;\nL: shr.u32 %r4, %r4, 1; add.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p1, %r3, 30000; @%p1 bra L; st.global.u32 [%rd2], %r4;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
}

TEST_F(Lookahead, PollsOfWhatALongComputationWritesEnd) {
  compile(
      "setp.lt.u32 %p1, %r1, 32; @%p1 bra C;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\n"
      "C: setp.ne.u32 %p3, %r1, 0; @%p3 bra E; mov.u32 %r3, 0;\n"
      "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 30000; @%p4 bra L;\n"
      "st.volatile.global.u32 [%rd1], 1;\nE:");
  EXPECT_EQ(run(256).end, Outcome::End::completed);
}

TEST_F(Lookahead, WritesOfWhatIsThereChangeNothing) {
  compile(
      "S: atom.global.exch.b32 %r2, [%rd1+8], 0; ld.volatile.global.u32 %r3, [%rd1];\n"
      "st.volatile.global.u32 [%rd1+4], %r3; atom.global.cas.b32 %r4, [%rd1], 5, 1;\n"
      "setp.eq.u32 %p1, %r3, 0; @%p1 bra S;");
  EXPECT_EQ(run(64).end, Outcome::End::deadlock);
  EXPECT_FALSE(seen_.repeats);
}

// Many threads request a place that is never released: each increments a counter and decrements it
// again.
TEST_F(Lookahead, MemoryThatComesBackIsToldLater) {
  compile(
      "S: atom.global.add.u32 %r2, [%rd1], 1; setp.gt.s32 %p1, %r2, 5000; @%p1 bra E;\n"
      "red.global.add.u32 [%rd1], -1; bra S;\nE:");
  EXPECT_EQ(run(64).end, Outcome::End::deadlock);
  EXPECT_TRUE(seen_.repeats);
}

// Two blocks pass a token to each other, without end.
TEST_F(Lookahead, ThreadsThatPassSomethingRoundForEverAreToldLater) {
  compile(
      "mov.u32 %r3, %ctaid.x;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, %r3; @%p1 bra S;\n"
      "xor.b32 %r4, %r3, 1; st.volatile.global.u32 [%rd1], %r4; bra S;");
  EXPECT_EQ(run({2, 1, 1}, {1, 1, 1}).end, Outcome::End::deadlock);
  EXPECT_TRUE(seen_.repeats);
  ASSERT_EQ(seen_.waiting.size(), 2u);
  EXPECT_EQ(seen_.waiting[0].pc, pc_of("ld.volatile.global.u32"));
}

TEST_F(Lookahead, ThreadsThatPassSomethingRoundOftenGoOn) {
  compile(
      "mov.u32 %r3, %ctaid.x; mov.u32 %r5, 0;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, %r3; @%p1 bra S;\n"
      "xor.b32 %r4, %r3, 1; st.volatile.global.u32 [%rd1], %r4; add.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %p2, %r5, 3000; @%p2 bra S;");
  EXPECT_EQ(run({2, 1, 1}, {1, 1, 1}).end, Outcome::End::completed);
}

TEST_F(Lookahead, MemoryThatChangesOtherwiseGoesOn) {
  compile("S: atom.global.add.u32 %r2, [%rd1], 1; setp.lt.u32 %p1, %r2, 40000; @%p1 bra S;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  EXPECT_EQ(ints(1)[0], 40'001u);
}

TEST_F(Lookahead, PollsBetweenBarriersAreFollowedThroughThem) {
  compile(
      "S: bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra W; ld.volatile.global.u32 %r2, [%rd1];\n"
      "st.shared.u32 [s], %r2;\nW: bar.sync 0; ld.shared.u32 %r3, [s];\n"
      "setp.eq.u32 %p2, %r3, 0; @%p2 bra S;",
      ".shared .align 4 .b8 s[4];\n");
  EXPECT_EQ(run(96).end, Outcome::End::deadlock);
  EXPECT_TRUE(seen_.deadlock_of_launch);
}

TEST_F(Lookahead, PollsByAVoteOfTheWarpAreFollowed) {
  compile_poll("setp.ne.u32 %p1, %r2, 0; vote.sync.any.pred %p2, %p1, -1; add.u32 %r3, %r3, 1;");
  expect_stuck(32);
}

TEST_F(Lookahead, BlocksThatCanStillStartAreWaitedFor) {
  // The first blocks wait for the last one.
  limits_.resident_blocks = 8;
  compile(
      "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 7; @%p1 bra W;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\n"
      "W: st.volatile.global.u32 [%rd1], 1;\nE:");
  EXPECT_EQ(run({8, 1, 1}, {32, 1, 1}).end, Outcome::End::completed);
  limits_.resident_blocks = 7;
  EXPECT_EQ(run({8, 1, 1}, {32, 1, 1}).end, Outcome::End::deadlock);
  EXPECT_EQ(seen_.blocks_not_started, 1u);
}

TEST_F(Lookahead, MemoryOfTheHostIsItsToWrite) {
  is_mapped_ = true;
  compile_poll("");
  EXPECT_EQ(run(1).end, Outcome::End::deadlock);
  EXPECT_TRUE(seen_.host_waits);
  host_runs_ = true;
  limits_.steps_max = 40'000;
  EXPECT_EQ(run(1).end, Outcome::End::step_limit);
}

// Concurrent work that writes to memory when a launch waits, a given number of times.
class WritingConcurrently final : public DeviceRuntime, public ConcurrentWork {
 public:
  explicit WritingConcurrently(int writes) : writes_(writes) {}
  DeviceAnswer answer(const DeviceCall& /*call*/) override { return {}; }
  ConcurrentWork* concurrent_work() override { return this; }
  bool wait_for_change(const std::vector<PolledBytes>& polled, bool of_host) override {
    waited.push_back(polled.size());
    is_of_host = of_host;
    if (writes_-- == 0) return false;
    std::uint32_t value = 0;
    std::memcpy(&value, polled.front().at, sizeof value);
    ++value;
    std::memcpy(const_cast<std::byte*>(polled.front().at), &value, sizeof value);
    return true;
  }
  void let_others_run() override { ++let_run; }

  std::vector<std::size_t> waited;  // number of polled places, for each wait
  bool is_of_host = false;
  int let_run = 0;

 private:
  int writes_;
};

TEST_F(Lookahead, WhatIsBesideTheLaunchMayChangeWhatItPolls) {
  const char* const three_waits =
      "mov.u32 %r3, 1;\nS: ld.volatile.global.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r2, %r3;\n"
      "@%p1 bra S; add.u32 %r3, %r3, 1; setp.le.u32 %p2, %r3, 3; @%p2 bra S;";
  compile(three_waits);
  WritingConcurrently three(3);
  device_runtime_ = &three;
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  EXPECT_EQ(three.waited, (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_FALSE(three.is_of_host);
  EXPECT_EQ(seen_.deadlocks, 0);
  WritingConcurrently two(2);
  device_runtime_ = &two;
  EXPECT_EQ(run(1).end, Outcome::End::deadlock);
  EXPECT_EQ(two.waited.size(), 3u);
  EXPECT_EQ(two.let_run, 0);
  ASSERT_EQ(seen_.waiting.size(), 1u);
  EXPECT_EQ(seen_.waiting[0].value, 2u);
}

TEST_F(Lookahead, NobodyBesideTheLaunchChangesItsSharedMemory) {
  compile(
      "mov.u32 %r3, 0; st.shared.u32 [s], %r3;\n"
      "S: ld.volatile.shared.u32 %r2, [s]; setp.eq.u32 %p1, %r2, 0;\n@%p1 bra S;",
      ".shared .align 4 .b8 s[4];\n");
  WritingConcurrently nobody(1000);
  device_runtime_ = &nobody;
  EXPECT_EQ(run(1).end, Outcome::End::deadlock);
  EXPECT_EQ(nobody.waited.size(), 0u);
}

TEST_F(Lookahead, ALaunchThatWorksAndMayBeToldSomethingLetsOthersRun) {
  WritingConcurrently nobody(0);
  device_runtime_ = &nobody;
  const std::string count = "atom.global.add.u32 %r2, [%rd1+4], 1; setp.lt.u32 %p1, %r2, 40000;\n";
  compile("S: " + count + "@%p1 bra S;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  EXPECT_EQ(nobody.let_run, 0);  // the launch reads nothing by strong loads
  compile("S: ld.volatile.global.u32 %r3, [%rd1]; " + count + "@%p1 bra S;");
  EXPECT_EQ(run(1).end, Outcome::End::completed);
  EXPECT_GT(nobody.let_run, 0);
  EXPECT_EQ(nobody.waited.size(), 0u);
}

TEST_F(Lookahead, TheLimitSaysWhoStillRuns) {
  limits_.steps_max = 20'000;
  compile(
      "setp.lt.u32 %p1, %r1, 32; @%p1 bra C;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra S; bra E;\n"
      "C: mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 30000; @%p4 bra L;\nE:");
  EXPECT_EQ(run(64).end, Outcome::End::step_limit);
  ASSERT_EQ(seen_.waiting.size(), 2u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::runs);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
}

TEST_F(Lookahead, WhoHasEndedIsListed) {
  compile(
      "setp.ge.u32 %p1, %r1, 48; @%p1 bra E; setp.ne.u32 %p2, %r1, 0; @%p2 bra W;\n"
      "atom.global.exch.b32 %r3, [%rd1], 1;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p3, %r2, 2; @%p3 bra S;\n"
      "W: bar.sync 0;\nE:");
  EXPECT_EQ(run(64).end, Outcome::End::deadlock);
  ASSERT_EQ(seen_.waiting.size(), 4u);
  EXPECT_EQ(seen_.waiting[0].kind, Waiting::Kind::barrier);
  EXPECT_EQ(seen_.waiting[0].arrived, 47u);
  EXPECT_EQ(seen_.waiting[0].expected, 48u);
  EXPECT_EQ(seen_.waiting[1].kind, Waiting::Kind::reads);
  EXPECT_EQ(seen_.waiting[1].value, 1u);
  EXPECT_EQ(seen_.waiting[1].written.pc, pc_of("atom.global.exch.b32"));
  EXPECT_EQ(seen_.waiting[2].kind, Waiting::Kind::barrier);
  EXPECT_EQ(seen_.waiting[3].kind, Waiting::Kind::exited);
  EXPECT_EQ(seen_.waiting[3].lanes, 0xffff0000u);
}

// A look-ahead restores all state: the results do not depend on when it happens.
TEST_F(Lookahead, ALookLeavesNoTrace) {
  compile(
      "mov.u32 %r3, 0; cvta.shared.u64 %rd4, s;\n"
      "L: add.u32 %r3, %r3, 1; atom.global.add.u32 %r4, [%rd1], %r3; bar.sync 0;\n"
      "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; xor.b32 %r6, %r6, %r5;\n"
      "setp.lt.u32 %p1, %r3, 500; @%p1 bra L; st.global.u32 [%rd2+4], %r6;",
      ".shared .align 4 .b8 s[4];\n");
  keeps_accesses_ = true;
  limits_.look_after = UINT32_MAX;
  EXPECT_EQ(run(96).end, Outcome::End::completed);
  const auto without = ints(97);
  const std::uint64_t accesses = seen_.accesses.size();
  limits_.look_after = 1;
  EXPECT_EQ(run(96).end, Outcome::End::completed);
  EXPECT_EQ(ints(97), without);
  EXPECT_EQ(seen_.accesses.size(), accesses);
}

}  // namespace
}  // namespace warpcheck::vgpu
