#include "reference/exact_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(ExactSum, RoundsOnce) {
  EXPECT_EQ(reference::exact_sum({}), 0);
  EXPECT_EQ(reference::exact_sum({kMax, kSmallest, -kMax}), static_cast<double>(kSmallest));
  EXPECT_EQ(reference::exact_sum({kMax, kMax}), 2 * static_cast<double>(kMax));
  EXPECT_EQ(reference::exact_sum(Floats(1'000, 0.1F)), 1'000 * static_cast<double>(0.1F));
  EXPECT_THROW(reference::exact_sum({1, kInf}), std::invalid_argument);
}

TEST(ExactMatmul, RoundsOnceAnElement) {
  EXPECT_EQ(reference::exact_matmul({}, {}, 0), Doubles{});
  EXPECT_EQ(reference::exact_matmul({3}, {5}, 1), Doubles{15});
  EXPECT_EQ(reference::exact_matmul({1, 2, 3, 4}, {5, 6, 7, 8}, 2), (Doubles{19, 22, 43, 50}));
  // The largest and the smallest product in one element.
  EXPECT_EQ(reference::exact_matmul({kSmallest, 0, 0, 0}, {kSmallest, 0, 0, 0}, 2)[0], 0x1p-298);
  const double largest = static_cast<double>(kMax) * static_cast<double>(kMax);
  EXPECT_EQ(reference::exact_matmul({kMax, kSmallest, 0, 0}, {kMax, 0, kSmallest, 0}, 2)[0],
            largest);
  const Floats cancelling_a{kMax, kSmallest, -kMax, 0, 0, 0, 0, 0, 0};
  const Floats cancelling_b{kMax, 0, 0, kSmallest, 0, 0, kMax, 0, 0};
  EXPECT_EQ(reference::exact_matmul(cancelling_a, cancelling_b, 3)[0], 0x1p-298);
}

TEST(ExactMatmul, LeavesOpenWhatNeedsMoreThanNumbers) {
  const Doubles product = reference::exact_matmul({1, kInf, 1, 2}, {1, 1, 0, 1}, 2);
  EXPECT_TRUE(std::isnan(product[0]));
  EXPECT_TRUE(std::isnan(product[1]));
  EXPECT_EQ(product[2], 1);
  EXPECT_EQ(product[3], 3);
}

}  // namespace
