#include "reference/histogram.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using reference::histogram;

TEST(Histogram, CountsEachValue) {
  std::vector<std::uint32_t> expected(256, 0);
  EXPECT_EQ(histogram({}, 0), expected);
  expected[0] = 1;
  expected[7] = 2;
  expected[255] = 3;
  EXPECT_EQ(histogram({255, 7, 0, 255, 7, 255}, 0), expected);
}

TEST(Histogram, AddsToTheStartAndWrapsAround) {
  std::vector<std::uint32_t> expected(256, 0xffffffffU);
  expected[9] = 1;
  EXPECT_EQ(histogram({9, 9}, 0xffffffffU), expected);
}

}  // namespace
