#include "harness/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warpcheck {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class Output>
std::string exact(const Output& out, const Output& reference) {
  const Agreement<int, Output> agreement = exactly();
  return agreement.difference(0, out, reference).value_or("agrees");
}

TEST(Exactly, ReportsTheFirstWrongElement) {
  using Ints = std::vector<int>;
  EXPECT_EQ(exact(Ints{1, 2, 3}, Ints{1, 2, 3}), "agrees");
  EXPECT_EQ(exact(Ints{1, 2, 3}, Ints{1, 1, 1}), "out[1] = 2, reference 1");
  EXPECT_EQ(exact(Ints{1}, Ints{1, 2}), "out has 1 elements, reference 2");
  EXPECT_EQ(exact(7u, 8u), "out = 7, reference 8");
}

TEST(Exactly, NansAgreeAndNothingElseThatDiffers) {
  using Floats = std::vector<float>;
  EXPECT_EQ(exact(Floats{kNan}, Floats{kNan}), "agrees");
  EXPECT_EQ(exact(Floats{0.1F}, Floats{0.2F}), "out[0] = 0.1, reference 0.2");
}

std::string bounded(std::vector<float> out, std::vector<float> reference,
                    std::vector<double> bounds) {
  const Agreement<std::vector<double>, std::vector<float>> agreement =
      within_error_bound([](const std::vector<double>& in) { return in; });
  return agreement.difference(bounds, out, reference).value_or("agrees");
}

TEST(WithinErrorBound, ReportsTheWorstElementInUlps) {
  EXPECT_EQ(bounded({1, 2}, {1.1F, 2}, {0.2, 0}), "agrees");
  EXPECT_EQ(bounded({1, 2, 4}, {1, 2.5F, 4.5F}, {0.1, 0.1, 0.2}),
            "out[1] = 2, reference 2.5 (2097152 ULPs apart; the error bound is 0.1)");
  EXPECT_EQ(bounded({-0.0F}, {0.0F}, {0}), "agrees");
}

TEST(WithinErrorBound, WhatIsNotFiniteMustBeTheSame) {
  EXPECT_EQ(bounded({kNan, kInf}, {kNan, kInf}, {0.1, 0.1}), "agrees");
  EXPECT_EQ(bounded({1}, {kNan}, {0.1}), "out[0] = 1, reference nan");
  EXPECT_EQ(bounded({kInf}, {-kInf}, {0.1}), "out[0] = inf, reference -inf");
  EXPECT_EQ(bounded({kNan}, {1}, {static_cast<double>(kInf)}), "agrees");
}

TEST(SumErrorBound, IsTwiceGammaTimesTheSumOfMagnitudes) {
  const std::vector<float> values{1, -1, 2};
  EXPECT_EQ(sum_error_bound(std::span<const float>(values.data(), 1)), 0);
  EXPECT_NEAR(sum_error_bound(values), 2 * gamma<float>(2) * 4, 1e-20);
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

}  // namespace
}  // namespace warpcheck
