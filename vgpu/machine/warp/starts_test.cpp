// Which block or warp starts first: every contender must, under every strategy that promises it,
// and as often as the strategy promises.
#include <numeric>
#include <set>

#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/schedule/pct.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

// Thread 0 of each warp takes a ticket and writes its number to ints()[1 + ticket].
constexpr const char* kTickets =
    "and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0; @%p1 bra E;\n"
    "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r1;\n"
    "shr.u32 %r5, %r5, 5; atom.global.add.u32 %r6, [%rd1], 1; mul.wide.u32 %rd4, %r6, 4;\n"
    "add.s64 %rd4, %rd4, %rd1; st.global.u32 [%rd4+4], %r5;\nE:";

class Starts : public SyncTest {
 protected:
  // Returns the contenders of kTickets in the order of their tickets.
  std::vector<std::uint32_t> order(std::uint32_t blocks, std::uint32_t warps, Strategy& strategy) {
    const Outcome outcome = run({blocks, 1, 1}, {warps * 32, 1, 1}, strategy);
    EXPECT_EQ(outcome.end, Outcome::End::completed);
    decisions_ = outcome.decisions;
    std::vector<std::uint32_t> values = ints(1 + std::size_t{blocks} * warps);
    EXPECT_EQ(values.front(), blocks * warps);
    values.erase(values.begin());
    return values;
  }

  std::vector<Decision> decisions_;  // of the last run
};

// The chi-square statistic of counts that are expected to be equal.
double chi_square(const std::vector<std::uint32_t>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint32_t count : counts) {
    sum += (count - expected) * (count - expected) / expected;
  }
  return sum;
}

// with seven degrees of freedom; exceeded by chance once in a thousand
constexpr double kSevenDegrees = 24.32;

TEST_F(Starts, FirstToArriveIsUniformUnderRandomAndPct) {
  struct Shape {
    std::uint32_t blocks, warps;
  };
  for (const char* name : {"random", "pct"}) {
    for (const auto& [blocks, warps] : {Shape{8, 1}, Shape{1, 8}, Shape{4, 2}}) {
      compile(kTickets);
      std::vector<std::uint32_t> first(8), recorded(8);
      for (std::uint64_t seed = 0; seed < 800; ++seed) {
        // Neighbouring seeds alternate; these are not neighbours.
        const auto strategy = make_strategy(name, Prng(seed).next());
        ++first[order(blocks, warps, *strategy).front()];
        const Decision start = decisions_.empty() ? Decision{} : decisions_.front();
        const WarpId with = start.point == Decision::Point::start ? start.next : WarpId{};
        ++recorded[with.block * warps + with.warp];
      }
      EXPECT_LT(chi_square(first), kSevenDegrees) << name << ' ' << blocks << ' ' << warps;
      EXPECT_LT(chi_square(recorded), kSevenDegrees) << name << ' ' << blocks << ' ' << warps;
    }
  }
}

TEST_F(Starts, FirstAfterABarrierIsUniformUnderRandomAndPct) {
  compile(std::string("bar.sync 0;\n") + kTickets);
  for (const char* name : {"random", "pct"}) {
    std::vector<std::uint32_t> first(8);
    for (std::uint64_t seed = 0; seed < 800; ++seed) {
      const auto strategy = make_strategy(name, Prng(seed).next());
      ++first[order(1, 8, *strategy).front()];
    }
    EXPECT_LT(chi_square(first), kSevenDegrees) << name;
  }
}

TEST_F(Starts, FewSeedsMeetEveryFirstContender) {
  compile(kTickets);
  for (const char* name : {"random", "pct"}) {
    for (const std::uint32_t warps : {1u, 8u}) {
      for (const std::uint64_t first_seed : {1u, 77u, 4242u}) {
        std::set<std::uint32_t> first;
        for (std::uint64_t seed = first_seed; seed < first_seed + 9; ++seed) {
          const auto strategy = make_strategy(name, seed);
          first.insert(order(8 / warps, warps, *strategy).front());
        }
        EXPECT_GE(first.size(), 6u) << name << ' ' << warps << ' ' << first_seed;
      }
    }
  }
}

TEST_F(Starts, OneDecisionMovesAllThatFollow) {
  compile(kTickets);
  const Decision ascending{0, {}, Decision::Point::start, 0, 0, {2, 1}};
  Replay up({{ascending}});
  EXPECT_EQ(order(4, 2, up), (std::vector<std::uint32_t>{5, 4, 7, 6, 1, 0, 3, 2}));
  EXPECT_EQ(decisions_, std::vector{ascending});
  EXPECT_EQ(up.ignored(), 0u);
  const Decision descending{0, {}, Decision::Point::start, 1, 0, {2, 1}};
  Replay down({{descending}});
  EXPECT_EQ(order(4, 2, down), (std::vector<std::uint32_t>{5, 4, 3, 2, 1, 0, 7, 6}));
  EXPECT_EQ(decisions_, std::vector{descending});
}

TEST_F(Starts, WhoDoesNotFitDoesNotStart) {
  limits_.resident_blocks = 3;
  compile(kTickets);
  Replay outside({{{0, {}, Decision::Point::start, 0, 0, {3, 0}}}});
  EXPECT_EQ(order(4, 1, outside), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(outside.ignored(), 1u);
  // Block 3 can only start when another block has ended.
  Replay inside({{{0, {}, Decision::Point::start, 0, 0, {2, 0}}}});
  EXPECT_EQ(order(6, 1, inside), (std::vector<std::uint32_t>{2, 3, 4, 5, 0, 1}));
}

TEST_F(Starts, ABlockThatHasNotBegunMayBeginByAnyWarp) {
  compile(kTickets);
  const Decision decision{0, {0, 0}, Decision::Point::stop, 0, 0, {2, 1}};
  Replay replay({{decision}});
  EXPECT_EQ(order(3, 2, replay), (std::vector<std::uint32_t>{0, 5, 1, 4, 2, 3}));
  EXPECT_EQ(decisions_, std::vector{decision});
}

TEST_F(Starts, ADecisionAtAReleaseLetsAnotherWarpGoOn) {
  compile(std::string("bar.sync 0;\n") + kTickets);
  DefaultPolicy policy;
  EXPECT_EQ(order(1, 3, policy), (std::vector<std::uint32_t>{2, 0, 1}));
  const Decision decision{0, {0, 2}, Decision::Point::release, 0, 0, {0, 1}};
  Replay replay({{decision}});
  EXPECT_EQ(order(1, 3, replay), (std::vector<std::uint32_t>{1, 0, 2}));
  EXPECT_EQ(decisions_, std::vector{decision});
  EXPECT_EQ(replay.ignored(), 0u);
}

TEST_F(Starts, WhatWasRecordedIsReplayed) {
  compile(std::string("bar.sync 0;\n") + kTickets);
  limits_.resident_blocks = 3;
  for (const char* name : {"round_robin", "random", "pct", "pos", "reads_from"}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const auto strategy = make_strategy(name, seed);
      const auto recorded = order(5, 3, *strategy);
      const std::vector<Decision> decisions = decisions_;
      Replay replay({decisions});
      EXPECT_EQ(order(5, 3, replay), recorded) << name << ' ' << seed;
      EXPECT_EQ(decisions_, decisions);
      EXPECT_EQ(replay.ignored(), 0u);
    }
  }
}

TEST_F(Starts, LargeGridsRecordFewDecisions) {
  compile(kTickets);
  out_ = memory_.allocate(4 * 10'002);
  std::size_t most = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto strategy = make_strategy("random", seed);
    order(10'000, 1, *strategy);
    if (decisions_.size() <= 9) ++most;
  }
  EXPECT_GE(most, 5u);  // sometimes there is no limit
}

// --- the bound of pct.hpp ------------------------------------------------------------------------

class PctBound : public Starts {
 protected:
  // Returns the share of runs that leave 99 in ints(0).  accesses: the maximum number of accesses
  // of each warp.
  double share(std::uint32_t warps, unsigned depth, std::uint64_t accesses, int trials = 4'000) {
    int met = 0;
    for (int seed = 0; seed < trials; ++seed) {
      Pct strategy(Prng(static_cast<std::uint64_t>(seed)).next(), depth, accesses);
      run({1, 1, 1}, {warps * 32, 1, 1}, strategy);
      met += ints(1)[0] == 99 ? 1 : 0;
    }
    return met / static_cast<double>(trials);
  }
};

// Depth 1: the defect shows if warp 2 runs last, and reads what all others have written.
constexpr const char* kDepthOne =
    "shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; setp.ne.u32 %p1, %r3, 0; @%p1 bra E;\n"
    "setp.eq.u32 %p2, %r2, 2; @%p2 bra R; red.global.add.u32 [%rd1+4], 1; bra E;\n"
    "R: ld.volatile.global.u32 %r4, [%rd1+4]; setp.ne.u32 %p3, %r4, 3; @%p3 bra E;\n"
    "st.volatile.global.u32 [%rd1], 99;\nE:";

// Depth 2: the defect shows if warp 1 reads between the two stores of warp 0.
constexpr const char* kDepthTwo =
    "shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; setp.ne.u32 %p1, %r3, 0; @%p1 bra E;\n"
    "setp.eq.u32 %p2, %r2, 1; @%p2 bra R;\n"
    "st.volatile.global.u32 [%rd1+4], 1; st.volatile.global.u32 [%rd1+8], 1;\n"
    "ld.volatile.global.u32 %r5, [%rd1+8]; bra E;\n"
    "R: ld.volatile.global.u32 %r6, [%rd1+8]; ld.volatile.global.u32 %r4, [%rd1+4];\n"
    "setp.eq.u32 %p3, %r4, %r6; @%p3 bra E; st.volatile.global.u32 [%rd1], 99;\nE:";

// Depth 3: the defect shows if the warps take their tickets alternately.
constexpr const char* kDepthThree =
    "shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; setp.ne.u32 %p1, %r3, 0; @%p1 bra E;\n"
    "atom.global.add.u32 %r4, [%rd1+4], 1; atom.global.add.u32 %r5, [%rd1+4], 1;\n"
    "setp.ne.u32 %p2, %r4, %r2; @%p2 bra E; add.u32 %r6, %r4, 2; setp.ne.u32 %p3, %r5, %r6;\n"
    "@%p3 bra E; red.global.add.u32 [%rd1+8], 1;\n"
    "E: bar.sync 0; setp.ne.u32 %p4, %r1, 0; @%p4 bra F;\n"
    "ld.global.u32 %r7, [%rd1+8]; setp.ne.u32 %p5, %r7, 2; @%p5 bra F;\n"
    "st.global.u32 [%rd1], 99;\nF:";

TEST_F(PctBound, HoldsForDepthOne) {
  compile(kDepthOne);
  EXPECT_NEAR(share(4, 1, 4), 1.0 / 4, 0.025);
}

TEST_F(PctBound, HoldsForDepthTwoWhichDepthOneNeverMeets) {
  compile(kDepthTwo);
  EXPECT_EQ(share(2, 1, 3), 0.0);
  EXPECT_GE(share(2, 2, 3), 1.0 / (2 * 6));
}

TEST_F(PctBound, HoldsForDepthThreeWhichLessNeverMeet) {
  compile(kDepthThree);
  EXPECT_EQ(share(2, 1, 5), 0.0);
  EXPECT_EQ(share(2, 2, 5), 0.0);
  // No other schedule shows the defect, so the rate equals the bound: 1 / (2 * 10 * 10).
  EXPECT_NEAR(share(2, 3, 5, 20'000), 0.005, 0.0015);
}

}  // namespace
}  // namespace warpcheck::vgpu
