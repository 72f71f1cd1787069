#include "reference/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using reference::maximum;
using reference::minimum;
using reference::sum;
using Ints = std::vector<int>;
using Floats = std::vector<float>;
constexpr int kMax = std::numeric_limits<int>::max();
constexpr int kMin = std::numeric_limits<int>::min();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Sum, AddsUp) {
  EXPECT_EQ(sum(Ints{}), 0);
  EXPECT_EQ(sum(Ints{3, -4, 5}), 4);
  EXPECT_EQ(sum(Floats{}), 0);
  EXPECT_EQ(sum(Floats{0.5F, -2, 0.25F}), -1.25F);
}

TEST(Sum, WrapsAround) { EXPECT_EQ(sum(Ints{kMax, 2}), kMin + 1); }

TEST(Sum, RoundsFloatsOnceAndSpreadsNan) {
  EXPECT_EQ(sum(Floats{16777216, 1, 1}), 16777218);
  EXPECT_TRUE(std::isnan(sum(Floats{1, kNan})));
  EXPECT_TRUE(std::isnan(sum(Floats{kInfinity, -kInfinity})));
}

TEST(Extremes, OfInts) {
  EXPECT_EQ(maximum(Ints{}), kMin);
  EXPECT_EQ(minimum(Ints{}), kMax);
  EXPECT_EQ(maximum(Ints{-3, -1, -2}), -1);
  EXPECT_EQ(minimum(Ints{-1, -3, 5}), -3);
}

TEST(Extremes, OfFloatsLeaveNanOut) {
  EXPECT_EQ(maximum(Floats{kNan, -3, kNan, -1}), -1);
  EXPECT_EQ(minimum(Floats{-1, kNan, -3}), -3);
  EXPECT_EQ(maximum(Floats{1, kInfinity}), kInfinity);
  EXPECT_TRUE(std::isnan(maximum(Floats{kNan, kNan})));
  EXPECT_TRUE(std::isnan(minimum(Floats{})));
}

TEST(Extremes, OfFloatsOrderZeros) {
  EXPECT_FALSE(std::signbit(maximum(Floats{0.0F, -0.0F})));
  EXPECT_FALSE(std::signbit(maximum(Floats{-0.0F, 0.0F})));
  EXPECT_TRUE(std::signbit(minimum(Floats{0.0F, -0.0F})));
  EXPECT_TRUE(std::signbit(minimum(Floats{-0.0F, 0.0F})));
}

}  // namespace
