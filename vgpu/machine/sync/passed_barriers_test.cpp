// Threads that pass a barrier by, interpreted and in machine code.
#include <string>

#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

using Reason = BarrierDivergence::Reason;

class PassedBarriersTest : public SyncTest {
 protected:
  // Returns what is reported: "reason: waits at, other at (lane of warp)" of each divergence.
  std::string reported(const std::string& body, std::uint32_t threads,
                       const std::string& functions = "") {
    std::string both;
    for (const Compile compile_when : {Compile::never, Compile::at_once}) {
      limits_.compile = compile_when;
      compile(body, functions);
      EXPECT_EQ(run(threads).end, Outcome::End::completed);
      std::string found;
      for (const BarrierDivergence& one : seen_.divergences) {
        if (one.reason == Reason::exited) continue;
        found += one.reason == Reason::passed_by ? "passed by" : "otherwise";
        found += ": " + one.program->source_of(one.pc).text + ", " +
                 one.program->source_of(one.other_pc).text + " by " +
                 std::to_string(one.other_warp * kWarpLanes + one.other_lane) + "; ";
      }
      if (compile_when == Compile::never) {
        both = found;
      } else {
        EXPECT_EQ(found, both) << "in machine code";
      }
    }
    return both;
  }
  // Returns the reason of the only divergence.
  Reason only_reason(const std::string& body, std::uint32_t threads) {
    compile(body);
    run(threads);
    EXPECT_EQ(seen_.divergences.size(), 1u);
    return seen_.divergences.empty() ? Reason::exited : seen_.divergences[0].reason;
  }
};

// Threads 40 and above pass the barrier by.
const std::string kPasses = "setp.ge.u32 %p1, %r1, 40; @%p1 bra L; bar.sync 0;\nL: ";

TEST_F(PassedBarriersTest, AreReportedWithWhatIsDoneBehind) {
  EXPECT_EQ(reported(kPasses + "st.global.u32 [%rd2], 1;", 96),
            "passed by: bar.sync, st.global.u32 by 40; ");
}

TEST_F(PassedBarriersTest, AreNotReportedOfThreadsThatLeave) {
  EXPECT_EQ(
      reported("setp.ge.u32 %p1, %r1, 40; @%p1 bra L; bar.sync 0; st.global.u32 [%rd2], 1;\nL:",
               96),
      "");
}

// Who has something to do comes before who has not.
TEST_F(PassedBarriersTest, PreferThreadsThatDoSomething) {
  EXPECT_EQ(
      reported(kPasses + "setp.ne.u32 %p2, %r1, 70; @%p2 bra E; st.global.u32 [%rd2], 1;\nE:", 96),
      "passed by: bar.sync, st.global.u32 by 70; ");
  EXPECT_EQ(
      reported(kPasses + "setp.ne.u32 %p2, %r1, 7; @%p2 bra E; st.global.u32 [%rd2], 1;\nE:", 96),
      "passed by: bar.sync, bra by 40; ");
}

// Iteration 0 has no barrier; lanes 5 and above return at the end of an iteration.
constexpr const char* kLoop =
    "mov.u32 %r2, 0;\nL: setp.lt.u32 %p1, %r2, 1; setp.ge.u32 %p2, %r1, 5;\n"
    "@%p1 bra N; bar.sync 0;\nN: st.global.u32 [%rd2], %r2; add.u32 %r2, %r2, 1;\n";

TEST_F(PassedBarriersTest, AreCountedInALoop) {
  EXPECT_EQ(
      reported(std::string(kLoop) + "@%p2 bra E; setp.lt.u32 %p1, %r2, 3; @%p1 bra L;\nE:", 40),
      "");
  EXPECT_EQ(reported("mov.u32 %r2, 0;\nL: setp.lt.u32 %p1, %r2, 1; setp.ge.u32 %p2, %r1, 5;\n"
                     "or.pred %p1, %p1, %p2; @%p1 bra N; bar.sync 0;\n"
                     "N: st.global.u32 [%rd2], %r2; add.u32 %r2, %r2, 1;\n"
                     "setp.lt.u32 %p1, %r2, 3; @%p1 bra L;",
                     40),
            "passed by: bar.sync, st.global.u32 by 5; ");
}

TEST_F(PassedBarriersTest, OfAWarpAreThoseThatAreNamed) {
  const auto body = [](const std::string& mask) {
    return "setp.ge.u32 %p1, %r1, 20; @%p1 bra L; bar.warp.sync " + mask +
           ";\nL: st.global.u32 [%rd2], 1;";
  };
  EXPECT_EQ(reported(body("0xfffff"), 32), "");
  EXPECT_EQ(reported(body("0x1fffff"), 32), "passed by: bar.warp.sync, st.global.u32 by 20; ");
}

TEST_F(PassedBarriersTest, ByTheGuardOfTheBarrier) {
  EXPECT_EQ(reported("setp.lt.u32 %p1, %r1, 20; @%p1 bar.sync 0; st.global.u32 [%rd2], 1;", 40),
            "passed by: bar.sync, st.global.u32 by 20; ");
}

TEST_F(PassedBarriersTest, WholeWarpsMayMeetByRole) {
  const auto body = [](int first) {
    return "setp.ge.u32 %p1, %r1, " + std::to_string(first) +
           "; @%p1 bra L; bar.sync 0; bra E;\nL: bar.sync 0; st.global.u32 [%rd2], 1;\nE:";
  };
  EXPECT_EQ(only_reason(body(32), 64), Reason::by_role);
  EXPECT_EQ(only_reason(body(40), 64), Reason::different_barriers);
}

TEST_F(PassedBarriersTest, LanesMeetInOneIteration) {
  EXPECT_EQ(only_reason("and.b32 %r3, %r1, 1; mov.u32 %r2, 0;\n"
                        "L: setp.ne.u32 %p1, %r2, %r3; @%p1 bra N;\n"
                        "bar.sync 0;\nN: st.global.u32 [%rd2], 1; add.u32 %r2, %r2, 1;\n"
                        "setp.lt.u32 %p2, %r2, 2; @%p2 bra L;",
                        32),
            Reason::different_iterations);
}

}  // namespace
}  // namespace warpcheck::vgpu
