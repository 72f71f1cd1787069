// Looking ahead costs a tenth of what the launch executes, and time does not pass slowly while
// everybody waits for it.
#include "vgpu/machine/look_costs.hpp"

#include <memory>
#include <string>

#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(LookAccount, PaysAShareOfTheSteps) {
  LookAccount account;
  account.begin(1'000, 0, 20);
  EXPECT_FALSE(account.may_look(1'000 + 20 * LookAccount::kUnitsMin - 20));
  EXPECT_TRUE(account.may_look(1'000 + 20 * LookAccount::kUnitsMin));
  EXPECT_EQ(account.next_look(), 1'000 + 20 * LookAccount::kUnitsMin);
  LookCost complete(10'000);
  complete.count(9'000);
  EXPECT_FALSE(complete.is_used_up());
  account.spend(complete);
  EXPECT_EQ(account.left(1'000 + 180'020), 1u);
  EXPECT_EQ(account.next_look(), 1'000 + 360'000u);
  EXPECT_FALSE(account.is_overdrawn(181'000));
  EXPECT_TRUE(account.is_overdrawn(180'980));
}

TEST(LookAccount, ALookThatWasNotCompletedMayCostTwiceAsMuchLater) {
  LookAccount account;
  account.begin(0, 5'000, 20);
  LookCost cost(5'000);
  EXPECT_TRUE(cost.affords(5'000));
  cost.count(4'000);
  EXPECT_FALSE(cost.affords(1'001));
  EXPECT_TRUE(cost.is_used_up());
  account.spend(cost);
  EXPECT_EQ(account.next_look(), 20 * (4'000 + 10'000 - 5'000u));
}

class LookCosts : public SyncTest {
 protected:
  LookCosts() {
    limits_.steps_max = 100'000'000;
    limits_.look_after = 4'096;
    keeps_accesses_ = false;
  }
  // What may be spent in advance: by the launch, and by each block.
  static constexpr std::uint64_t kOfLaunch = 1u << 15, kOfBlock = 1u << 13;
  // A look ends soon after it has used up what was paid.
  static constexpr std::uint64_t kRest = 4'096;

  void expect_a_tenth(Dim3 grid, Dim3 block) {
    const Outcome outcome = run(grid, block);
    EXPECT_EQ(outcome.end, Outcome::End::completed);
    EXPECT_GT(outcome.look_units, 0u);
    EXPECT_LE(outcome.look_units,
              outcome.steps / 10 + kOfLaunch + (kOfBlock + kRest) * grid.count() + kRest);
  }
};

// Every round changes memory and meets at a barrier.
TEST_F(LookCosts, OfWritesBetweenBarriers) {
  compile(
      "mov.u32 %r2, 0;\n"
      "L: and.b32 %r3, %r2, 7; mul.wide.u32 %rd4, %r3, 256; add.u64 %rd4, %rd4, %rd2;\n"
      "st.global.u32 [%rd4], %r2; bar.sync 0; add.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p1, %r2, 20000; @%p1 bra L;");
  expect_a_tenth({1, 1, 1}, {64, 1, 1});
  expect_a_tenth({2, 1, 1}, {64, 1, 1});
}

// A value that changes beside a long computation, which many warps poll and do something else.
TEST_F(LookCosts, OfPollsThatGiveUp) {
  compile(
      "mov.u32 %r3, 0;\n"
      "S: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r3, %r3, 1;\n"
      "setp.gt.u32 %p1, %r3, 6000; @%p1 bra E; setp.eq.u32 %p2, %r2, 0; @%p2 bra S;\nE:");
  expect_a_tenth({4, 1, 1}, {256, 1, 1});
}

TEST_F(LookCosts, OfPollsBetweenWork) {
  compile(
      "mov.u32 %r3, 0;\n"
      "S: atom.global.add.u32 %r2, [%rd1], 1; add.u32 %r3, %r3, 1; mov.u32 %r4, 0;\n"
      "T: ld.volatile.global.u32 %r5, [%rd1]; add.u32 %r4, %r4, 1;\n"
      "setp.lt.u32 %p3, %r4, 300; @%p3 bra T;\n"
      "setp.lt.u32 %p1, %r3, 30; @%p1 bra S;");
  expect_a_tenth({4, 1, 1}, {256, 1, 1});
}

// A loop whose registers have periods, as the search for periods examines it.
TEST_F(LookCosts, OfAWaitForTime) {
  compile(
      "mov.u32 %r2, 0; mov.u64 %rd4, %clock64;\n"
      "S: ld.volatile.global.u32 %r5, [%rd1]; mov.u64 %rd5, %clock64; sub.s64 %rd6, %rd5, %rd4;\n"
      "setp.ne.u32 %p2, %r5, 0; @%p2 bra E; setp.lt.s64 %p1, %rd6, 1000000; @%p1 bra S;\nE:");
  expect_a_tenth({1, 1, 1}, {32, 1, 1});
}

// ---- waits for time ----

class TimeWaits : public LookCosts {
 protected:
  // A loop until so much time has passed; `more` is code in the loop.
  static std::string wait(const std::string& name, std::uint64_t time, const std::string& more) {
    return "mov.u64 %rd4, %globaltimer;\n" + name + ": " + more +
           "mov.u64 %rd5, %globaltimer; sub.s64 %rd6, %rd5, %rd4;\n"
           "setp.lt.s64 %p1, %rd6, " +
           std::to_string(time) + "; @%p1 bra " + name + ";\n";
  }
  // Waits so long for the first int, and notes in the second one that the wait was in vain.
  static std::string wait_for_flag(std::uint64_t time) {
    return wait("T", time,
                "ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p3, %r2, 0; @%p3 bra E;\n") +
           "st.global.u32 [%rd1+4], 1;\nE:";
  }
};

TEST_F(TimeWaits, TakeFewSteps) {
  for (const char* const more :
       {"", "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;\n",
        "nanosleep.u32 100;\n", "ld.volatile.global.u32 %r2, [%rd1];\n"}) {
    compile(wait("S", 250'000'000, more) + "st.global.u64 [%rd1+8], %rd6;");
    const Outcome outcome = run(1);
    EXPECT_EQ(outcome.end, Outcome::End::completed);
    EXPECT_LT(outcome.steps, 4'000'000u) << more;
    EXPECT_GE(ints(3)[2], 250'000'000u);
    EXPECT_LT(ints(3)[2], 270'000'000u) << more;
    EXPECT_EQ(run(1).steps, outcome.steps);
  }
}

TEST_F(TimeWaits, OfManyWarpsTakeFewSteps) {
  compile(wait("S", 250'000'000, ""));
  const Outcome outcome = run({8, 1, 1}, {256, 1, 1});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  EXPECT_LT(outcome.steps, 20'000'000u);
}

// Thread 0 waits and writes; the others, which wait a little longer, see it in time.
TEST_F(TimeWaits, EndInTheirOrder) {
  for (const char* const more : {"", "nanosleep.u32 100;\n"}) {
    compile("setp.ne.u32 %p2, %r1, 0; @%p2 bra W;\n" + wait("S", 50'000'000, more) +
            "st.volatile.global.u32 [%rd1], 1; bra E;\nW:\n" + wait_for_flag(60'000'000));
    EXPECT_EQ(run(96).end, Outcome::End::completed);
    EXPECT_EQ(ints(2)[0], 1u);
    EXPECT_EQ(ints(2)[1], 0u) << more;
  }
}

// The wait would be long enough for the other warp's work.
TEST_F(TimeWaits, DoNotPassFasterBesideWork) {
  const std::string work =
      "mov.u32 %r3, 0;\nL: and.b32 %r4, %r3, 127; mul.wide.u32 %rd7, %r4, 4;\n"
      "add.s64 %rd7, %rd7, %rd1; st.global.u32 [%rd7+64], %r3; add.u32 %r3, %r3, 1;\n";
  for (const char* const clock : {"", "mov.u64 %rd8, %clock64;\n"}) {
    compile("setp.ge.u32 %p2, %r1, 32; @%p2 bra W;\n" + work + clock +
            "setp.lt.u32 %p4, %r3, 100000; @%p4 bra L;\n"
            "st.volatile.global.u32 [%rd1], 1; bra E;\nW:\n" +
            wait_for_flag(5'000'000));
    EXPECT_EQ(run(64).end, Outcome::End::completed);
    EXPECT_EQ(ints(2)[1], 0u) << clock;
  }
}

// Some pauses are counted: the other warp does not give up before.
TEST_F(TimeWaits, PassSlowlyBesidePauses) {
  compile(
      "setp.ge.u32 %p2, %r1, 32; @%p2 bra W; mov.u32 %r3, 0;\n"
      "L: nanosleep.u32 1000; add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 1000; @%p4 bra L;\n"
      "st.volatile.global.u32 [%rd1], 1; bra E;\nW:\n" +
      wait_for_flag(10'000'000));
  EXPECT_EQ(run(64).end, Outcome::End::completed);
  EXPECT_EQ(ints(2)[1], 0u);
}

TEST_F(TimeWaits, TakeFewStepsUnderStrategiesThatPreempt) {
  compile(wait("S", 250'000'000, "ld.volatile.global.u32 %r2, [%rd1];\n"));
  for (const char* name : {"default", "round_robin", "pct"}) {
    const std::unique_ptr<Strategy> strategy = make_strategy(name, 3);
    const Outcome outcome = run({2, 1, 1}, {64, 1, 1}, *strategy);
    EXPECT_EQ(outcome.end, Outcome::End::completed);
    EXPECT_LT(outcome.steps, 20'000'000u) << name;
  }
}

// ---- blocks that several machines run one after the other ----

class Shares : public LookCosts {
 protected:
  class NoPages final : public ReductionPages {
   public:
    std::byte* page_of(const Allocation& /*allocation*/, std::uint32_t /*page*/,
                       std::uint32_t /*pc*/) override {
      return nullptr;
    }
  };
  // Each block writes an int of its own; all blocks but the first go on at E.
  static constexpr const char* kOnlyTheFirstGoesOn =
      "mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd4, %rd4, %rd1;\n"
      "mov.u32 %r4, 1; st.global.u32 [%rd4], %r4; setp.ne.u32 %p2, %r3, 0; @%p2 bra E;\n";
  // Runs the share of one machine, which is the whole grid.
  Outcome run_share(std::uint32_t blocks) {
    NoPages pages;
    SharedGrid grid(blocks, 1);
    BlockShare share(grid, 0, pages);
    share_ = &share;
    const Outcome outcome = run({blocks, 1, 1}, {64, 1, 1});
    share_ = nullptr;
    EXPECT_EQ(grid.is_given_up(), outcome.end == Outcome::End::given_up);
    return outcome;
  }
};

TEST_F(Shares, ABlockThatWaitsForALaterOneEndsTheAttempt) {
  for (const char* const more : {"", "membar.gl;\n", "nanosleep.u32 50;\n", "bar.warp.sync -1;\n",
                                 "add.u32 %r5, %r5, 1;\n"}) {
    compile(std::string(kOnlyTheFirstGoesOn) + "S: ld.global.u32 %r2, [%rd1+4];\n" + more +
            "setp.eq.u32 %p1, %r2, 0; @%p1 bra S;\nE: bar.sync 0;");
    const Outcome outcome = run_share(2);
    EXPECT_EQ(outcome.end, Outcome::End::given_up) << more;
    EXPECT_LT(outcome.steps, 100'000u) << more;
  }
}

// No look-ahead proves that it waits, but it accesses the same places for very long.
TEST_F(Shares, ABlockThatCountsItsAttemptsInMemoryEndsTheAttempt) {
  compile(std::string(kOnlyTheFirstGoesOn) +
          "S: ld.global.u32 %r2, [%rd1+4]; add.u32 %r5, %r5, 1; st.global.u32 [%rd1+8], %r5;\n"
          "setp.eq.u32 %p1, %r2, 0; @%p1 bra S;\nE:");
  EXPECT_EQ(run_share(2).end, Outcome::End::given_up);
}

TEST_F(Shares, BlocksThatWorkAndPollEachOtherWithinABlockAreKept) {
  compile(
      "setp.ge.u32 %p2, %r1, 32; @%p2 bra W; mov.u32 %r3, 0;\n"
      "L: and.b32 %r4, %r3, 127; mul.wide.u32 %rd7, %r4, 4; add.s64 %rd7, %rd7, %rd1;\n"
      "st.global.u32 [%rd7+64], %r3; add.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p4, %r3, 30000; @%p4 bra L; mov.u32 %r2, 1; st.volatile.shared.u32 [s], %r2;\n"
      "bra E;\nW: ld.volatile.shared.u32 %r2, [s]; setp.ne.u32 %p3, %r2, 1; @%p3 bra W;\nE:",
      ".shared .align 4 .b8 s[4];\n");
  EXPECT_EQ(run_share(3).end, Outcome::End::completed);
}

}  // namespace
}  // namespace warpcheck::vgpu
