// Bounds hold, and where they can be reached they are not larger than necessary.
#include "harness/pair/error_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace warpcheck {
namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kUnitRoundoff = 0x1p-24;

TEST(SumErrorBound, IsTwiceGammaTimesTheSumOfMagnitudes) {
  const std::vector<float> values{1, -1, 2};
  EXPECT_EQ(sum_error_bound(std::span<const float>(values.data(), 1)), 0);
  EXPECT_NEAR(sum_error_bound(values), 2 * gamma<float>(2) * 4, 1e-20);
  EXPECT_EQ(sum_error_bound(values, Subnormals::flushed),
            sum_error_bound(values) + 6.0 * static_cast<double>(values.size()) * 0x1p-126);
  const auto prefixes = prefix_sum_error_bounds(values);
  EXPECT_EQ(prefixes[0], 0);
  EXPECT_NEAR(prefixes[1], 2 * gamma<float>(1) * 2, 1e-20);
  EXPECT_EQ(prefixes[2], sum_error_bound(values));
}

TEST(SumErrorBound, IsInfiniteWhereOneOrderMayOverflow) {
  const float max = std::numeric_limits<float>::max();
  EXPECT_EQ(sum_error_bound(std::vector<float>{max, max, -max}), HUGE_VAL);
  EXPECT_LT(sum_error_bound(std::vector<float>{kInf, 1}), 1);
}

TEST(SumErrorBound, HoldsForEveryOrderOfCancellingSums) {
  const std::vector<float> values{1e8F, 1, -1e8F, 3e-5F, 7};
  float forwards = 0, backwards = 0;
  for (const float value : values) forwards += value;
  for (auto it = values.rbegin(); it != values.rend(); ++it) backwards += *it;
  EXPECT_NE(forwards, backwards);
  EXPECT_LE(std::fabs(static_cast<double>(forwards) - backwards), sum_error_bound(values));
}

float compensated(const Floats& values) {
  float sum = 0, lost = 0;
  for (const float value : values) {
    const float term = value - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}

// Few terms of the same sign: exact in long double.
double error_in_shares(const Floats& values) {
  long double exact = 0, magnitudes = 0;
  for (const float value : values) {
    exact += value;
    magnitudes += std::fabs(value);
  }
  return static_cast<double>(std::fabs(compensated(values) - exact) / magnitudes);
}

// Found by hill climbing over sequences whose terms grow faster than their sum.
TEST(KahanErrorShare, TwoUnitRoundoffsAreNotEnough) {
  const Floats values{0x1.000014p-1F, 0x1.00000ep+1F,  0x1.000006p+0F, 0x1.000006p+3F,
                      0x1.000006p+4F, 0x1.000006p+5F,  0x1.000006p+6F, 0x1.00000ep+7F,
                      0x1.00000ap+8F, -0x1.ffff02p+0F, 0x1.000002p+9F, 0x1.000008p+2F,
                      0x1.fffff2p+1F};
  const double error = error_in_shares(values);
  EXPECT_NEAR(error / kUnitRoundoff, 2.236, 0.001);
  EXPECT_GT(error, 2 * kUnitRoundoff + 100 * kUnitRoundoff * kUnitRoundoff * values.size());
  EXPECT_LT(error, kahan_error_share(values.size()));
}

TEST(KahanErrorShare, IsThreeRoundingsHoweverManyTerms) {
  EXPECT_EQ(kahan_error_share(0), 0);
  EXPECT_EQ(kahan_error_share(1), 0);
  EXPECT_EQ(kahan_error_share(2), kUnitRoundoff + 16 * kUnitRoundoff * kUnitRoundoff);
  EXPECT_NEAR(kahan_error_share(3), 3 * kUnitRoundoff, 1e-13);
  EXPECT_LT(kahan_error_share(100'000), 3.05 * kUnitRoundoff);
  EXPECT_THROW(kahan_error_share(300'000), std::invalid_argument);
}

// Terms that double, with a few low bits, are the worst known ones.
TEST(KahanErrorShare, HoldsForTermsThatOutgrowTheirSum) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    Floats values(3 + random() % 14);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float low_bits = 1 + static_cast<float>(random() % 8) * 0x1p-23F;
      values[i] = std::ldexp(low_bits, static_cast<int>(i));
      if (random() % 8 == 0) values[i] = -values[i];
    }
    ASSERT_LT(error_in_shares(values), kahan_error_share(values.size()));
  }
}

TEST(KahanSumErrorBound, IsAShareOfTheMagnitudes) {
  EXPECT_EQ(kahan_sum_error_bound(Floats{7}), 0);
  EXPECT_NEAR(kahan_sum_error_bound(Floats{1, -3, 4}), 24 * kUnitRoundoff, 1e-11);
  EXPECT_LT(kahan_sum_error_bound(Floats{kInf, 1, 1}), 1e-6);
  const float max = std::numeric_limits<float>::max();
  EXPECT_EQ(kahan_sum_error_bound(Floats{max, max, -max}), HUGE_VAL);
  EXPECT_NEAR(kahan_sum_error_bound(Floats{0, 0}, Subnormals::flushed), 18 * 0x1p-126, 1e-44);
}

TEST(KahanDotErrorBound, CountsTheRoundingOfEachProductOnce) {
  // (1 + 2^-12)^2 needs one bit more than a float has: 2^-24 is rounded away.
  const Floats inexact{1 + 0x1p-12F};
  EXPECT_DOUBLE_EQ(kahan_dot_error_bound(inexact, inexact), 0x1p-24);
  EXPECT_EQ(kahan_dot_error_bound(Floats{3}, Floats{5}), 0);
  // Below the normal range the product is lost completely.
  EXPECT_DOUBLE_EQ(kahan_dot_error_bound(Floats{0x1p-100F}, Floats{0x1p-100F}), 0x1p-200);
  EXPECT_EQ(kahan_dot_error_bound(Floats{0x1p100F}, Floats{0x1p100F}), HUGE_VAL);
  EXPECT_EQ(kahan_dot_error_bound(Floats{kInf}, Floats{0}), 0);
  EXPECT_THROW(kahan_dot_error_bound(Floats{1}, Floats{}), std::invalid_argument);
}

TEST(KahanStridedSumErrorBound, AddsTheSharesOfBothLevels) {
  const Floats ones(12, 1);
  EXPECT_EQ(kahan_strided_sum_error_bound(ones, 1), kahan_sum_error_bound(ones));
  EXPECT_NEAR(kahan_strided_sum_error_bound(ones, 4), 12 * 6 * kUnitRoundoff, 1e-10);
  EXPECT_NEAR(kahan_strided_sum_error_bound(ones, 12), 12 * 3 * kUnitRoundoff, 1e-10);
}

}  // namespace
}  // namespace warpcheck
