#include "reference/scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using reference::inclusive_scan;
using Ints = std::vector<int>;
using Floats = std::vector<float>;

TEST(InclusiveScan, SumsEveryPrefix) {
  EXPECT_EQ(inclusive_scan(Ints{}), Ints{});
  EXPECT_EQ(inclusive_scan(Ints{7}), Ints{7});
  EXPECT_EQ(inclusive_scan(Ints{3, 1, -4, 1, 5}), (Ints{3, 4, 0, 1, 6}));
  EXPECT_EQ(inclusive_scan(Floats{0.5F, 0.25F, -1}), (Floats{0.5F, 0.75F, -0.25F}));
}

TEST(InclusiveScan, WrapsAround) {
  constexpr int kMax = std::numeric_limits<int>::max();
  constexpr int kMin = std::numeric_limits<int>::min();
  EXPECT_EQ(inclusive_scan(Ints{kMax, 1, kMin}), (Ints{kMax, kMin, 0}));
}

TEST(InclusiveScan, RoundsFloatsOnce) {
  // In float, adding 1 to 2^24 is lost each time.
  EXPECT_EQ(inclusive_scan(Floats{16777216, 1, 1}), (Floats{16777216, 16777216, 16777218}));
}

TEST(InclusiveScan, KeepsWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Floats out = inclusive_scan(Floats{1, kInfinity, 2, -kInfinity, 3});
  EXPECT_EQ(out[2], kInfinity);
  EXPECT_TRUE(std::isnan(out[3]));
  EXPECT_TRUE(std::isnan(out[4]));
}

}  // namespace
