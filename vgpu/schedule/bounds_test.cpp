// Measures the probabilities with which strategies promise to find defects, on programs for which
// the required order is known.  The seeds are fixed, so the counts are always the same; the
// tolerance is four standard deviations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "vgpu/schedule/pct.hpp"
#include "vgpu/schedule/pos.hpp"
#include "vgpu/schedule/schedule_testing.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the share of `trials` seeds for which `is_met` holds.
template <class Make>
double rate_of(int trials, const AccessProgram& program, Make make,
               const std::function<bool(const std::string&)>& is_met) {
  int met = 0;
  for (int seed = 0; seed < trials; ++seed) {
    auto strategy = make(static_cast<std::uint64_t>(seed));
    met += is_met(order_under(strategy, program)) ? 1 : 0;
  }
  return static_cast<double>(met) / trials;
}

// A program of warps that write one word three times each.
AccessProgram of_writes(std::size_t warps) {
  return AccessProgram(warps, std::vector<TestAccess>(3, {.word = 1}));
}

double slack(double probability, int trials) {
  return 4 * std::sqrt(probability * (1 - probability) / trials);
}

// Tests whether the accesses of A and B come in this order; other warps are ignored.
auto in_order(const std::string& wanted) {
  return [wanted](std::string order) {
    std::erase_if(order, [](char warp) { return warp > 'B'; });
    return order.starts_with(wanted);
  };
}

// --- PCT: at least 1 / (n k^(d-1)), with n warps of k / n accesses
// ---------------------------------

// A program of depth d: A and B alternate, and each turn except the first needs one more
// preemption.
struct Depth {
  unsigned depth;
  std::string order;
};
const std::vector<Depth> kDepths{{1, "BBB"}, {2, "ABBBA"}, {3, "ABAABB"}, {4, "ABABBA"}};

TEST(PctBound, HoldsForProgramsOfKnownDepth) {
  constexpr int kTrials = 20'000;
  for (const std::size_t warps : {2U, 3U}) {
    const AccessProgram program = of_writes(warps);
    const double accesses = 3.0 * static_cast<double>(warps);
    for (const auto& [depth, order] : kDepths) {
      SCOPED_TRACE(order);
      const unsigned d = depth;
      const double bound = 1 / (static_cast<double>(warps) * std::pow(accesses, d - 1));
      const double rate = rate_of(
          kTrials, program, [d](std::uint64_t seed) { return Pct(seed, d, 3); }, in_order(order));
      EXPECT_GE(rate, bound - slack(bound, kTrials));
      EXPECT_GT(rate, 0);
    }
  }
}

// With one change point too few, the warp that was preempted last never returns in time.
TEST(PctBound, ADepthThatIsTooSmallFindsNothing) {
  for (const auto& [depth, order] : kDepths) {
    if (depth == 1) continue;
    SCOPED_TRACE(order);
    const unsigned d = depth - 1;
    EXPECT_EQ(rate_of(
                  5'000, of_writes(2), [d](std::uint64_t seed) { return Pct(seed, d, 3); },
                  in_order(order)),
              0);
  }
}

// --- POS -----------------------------------------------------------------------------------------

Pos pos_of(std::uint64_t seed) { return Pos(seed); }

// If all accesses race with each other, the strategy is not worse than a random walk, which selects
// each of n warps with probability 1/n at each of its steps.
TEST(PosBound, EveryOrderOfRacingAccessesIsAsLikelyAsInARandomWalk) {
  constexpr int kTrials = 20'000;
  std::map<std::string, int> orders;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    Pos pos(seed);
    ++orders[order_under(pos, of_writes(2))];
  }
  EXPECT_EQ(orders.size(), 20U);  // 6 choose 3 orders
  for (const auto& [order, count] : orders) {
    SCOPED_TRACE(order);
    // Steps with only one warp left are no choice.
    std::size_t choices = order.size();
    while (choices > 0 && order[choices - 1] == order.back()) --choices;
    const double expected = std::pow(0.5, choices);
    EXPECT_NEAR(static_cast<double>(count) / kTrials, expected, slack(expected, kTrials));
  }
}

// An access that follows m accesses without races comes before a racing access if all m + 1
// priorities are higher than the priority of that access, which is drawn once.  The probability is
// 1 / (m + 2); in a random walk it is 1 / 2^(m+1).
TEST(PosBound, WhatRacesWithNothingCostsNoMoreThanItsNumber) {
  constexpr int kTrials = 20'000;
  for (const std::size_t others : {1U, 3U, 8U}) {
    std::vector<TestAccess> late(others);
    late.push_back({.word = 1});
    const double rate = rate_of(kTrials, {late, {{.word = 1}}}, pos_of,
                                [](const std::string& order) { return order.back() == 'B'; });
    const double expected = 1.0 / static_cast<double>(others + 2);
    EXPECT_NEAR(rate, expected, slack(expected, kTrials)) << others;
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
