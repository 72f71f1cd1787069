#include "vgpu/schedule/prng.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "vgpu/schedule/held_lanes.hpp"

namespace warpcheck::vgpu {
namespace {

TEST(Prng, GivesTheValuesPublishedForSplitmix64) {
  Prng prng(1234567);
  EXPECT_EQ(prng.next(), 6457827717110365317u);
  EXPECT_EQ(prng.next(), 3203168211198807973u);
  EXPECT_EQ(prng.next(), 9817491932198370423u);
}

TEST(Prng, AnyNumberOfTheSeed0CanBeAskedFor) {
  Prng prng(0);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(Prng::at(i), prng.next());
}

TEST(Prng, BelowStaysBelowAndReachesEveryNumber) {
  Prng prng(1);
  std::uint32_t seen = 0;
  for (int i = 0; i < 1000; ++i) seen |= 1u << prng.below(7);
  EXPECT_EQ(seen, 0x7fu);
  EXPECT_EQ(prng.below(1), 0u);
  EXPECT_EQ(prng.below(0), 0u);
}

TEST(Prng, MagnitudeStaysInRangeAndReachesBothEnds) {
  Prng prng(2);
  bool lowest = false, highest = false;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t drawn = prng.magnitude(100);
    ASSERT_GE(drawn, 1u);
    ASSERT_LE(drawn, 100u);
    lowest |= drawn == 1;
    highest |= drawn == 100;
  }
  EXPECT_TRUE(lowest);
  EXPECT_TRUE(highest);
}

TEST(Prng, GeometricHasItsMeanAndItsShape) {
  constexpr std::uint64_t kDraws = 100'000, kMean = 1000;
  Prng prng(3);
  std::uint64_t sum = 0, below_mean = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = prng.geometric(kMean);
    sum += drawn;
    below_mean += drawn < kMean;
  }
  EXPECT_NEAR(static_cast<double>(sum) / kDraws, kMean, 15.0);
  EXPECT_NEAR(static_cast<double>(below_mean) / kDraws, 0.632, 0.01);  // 1 - 1/e
  EXPECT_EQ(prng.geometric(0), 0u);
}

TEST(Lanes, AreANonEmptyProperSubset) {
  Prng prng(4);
  for (const std::uint32_t active : {0x3u, 0x7u, 0x80000001u, 0xffffffffu, 0x00f0f000u}) {
    for (int i = 0; i < 1000; ++i) {
      const std::uint32_t held = draw_held_lanes(prng, active, 0);
      ASSERT_NE(held, 0u);
      ASSERT_EQ(held & ~active, 0u);
      ASSERT_NE(held, active);
    }
  }
  EXPECT_EQ(draw_held_lanes(prng, 0x10, 0), 0u);
  EXPECT_EQ(draw_held_lanes(prng, 0, 0), 0u);
}

TEST(Lanes, AreSometimesAllWhereOthersCouldGoOn) {
  Prng prng(6);
  int all = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::uint32_t held = draw_held_lanes(prng, 0x7, 0x8);
    ASSERT_NE(held, 0u);
    ASSERT_EQ(held & ~0x7u, 0u);
    all += held == 0x7u ? 1 : 0;
  }
  EXPECT_NEAR(all, 1000, 100);
  EXPECT_EQ(draw_held_lanes(prng, 0x10, 0x1), 0x10u);
}

TEST(Lanes, IsolateEveryLaneBothWays) {
  Prng prng(5);
  std::uint32_t alone = 0, left_alone = 0;
  bool lower_half = false, upper_half = false;
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t held = draw_held_lanes(prng, 0xffffffffu, 0);
    if (std::has_single_bit(held)) alone |= held;
    if (std::has_single_bit(~held)) left_alone |= ~held;
    lower_half |= held == 0x0000ffffu;
    upper_half |= held == 0xffff0000u;
  }
  EXPECT_EQ(alone, 0xffffffffu);
  EXPECT_EQ(left_alone, 0xffffffffu);
  EXPECT_TRUE(lower_half);
  EXPECT_TRUE(upper_half);
}

}  // namespace
}  // namespace warpcheck::vgpu
