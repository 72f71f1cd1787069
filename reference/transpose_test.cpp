#include "reference/transpose.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Transpose, RowsBecomeColumns) {
  EXPECT_EQ(reference::transposed({1, 2, 3, 4, 5, 6}, 3), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(reference::transposed({1, 2, 3}, 1), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(reference::transposed({}, 2), std::vector<int>{});
}

}  // namespace
