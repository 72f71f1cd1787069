// The compensated references, and what is wrong with the published host check.
#include "reference/kahan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "reference/exact_sum.hpp"

namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

TEST(KahanSum, RemembersWhatRoundingTookAway) {
  EXPECT_EQ(reference::kahan_sum({}), 0);
  EXPECT_EQ(reference::kahan_sum({0x1p24F, 1, 1, 1, 1}), 0x1p24F + 4);
  EXPECT_EQ(reference::kahan_sum({0x1p24F, 1, 1, 1, 1}, 2), 0x1p24F + 4);
  EXPECT_EQ(reference::kahan_sum({1, 2, 3}, 7), 6);
}

// The compensation cannot reach back beyond the sum it belongs to.
TEST(KahanSum, LosesWhatALaterTermSwamps) {
  EXPECT_EQ(reference::kahan_sum({1, 0x1p60F, 1, -0x1p60F}), 0);
}

TEST(KahanSum, IsNanAfterAnInfinityUnlessItIsTheLast) {
  EXPECT_EQ(reference::kahan_sum({1, kInf}), kInf);
  EXPECT_TRUE(std::isnan(reference::kahan_sum({kInf, 1})));
  EXPECT_TRUE(std::isnan(reference::kahan_sum({kMax, kMax, -kMax})));
  EXPECT_EQ(reference::kahan_sum({kMax, kMax}), kInf);
}

TEST(KahanMatmul, MultipliesByRows) {
  EXPECT_EQ(reference::kahan_matmul({}, {}, 0), Floats{});
  EXPECT_EQ(reference::kahan_matmul({1, 2, 3, 4}, {5, 6, 7, 8}, 2), (Floats{19, 22, 43, 50}));
}

TEST(RelativeErrors, AreTheLargestAndTheAverage) {
  const auto errors = reference::relative_errors({1, 3, 0, 5}, {1, 2, 0, -5});
  EXPECT_EQ(errors.max, 2);
  EXPECT_EQ(errors.average, 2.5 / 4);
  EXPECT_EQ(reference::relative_errors({}, {}).average, 0);
  EXPECT_EQ(reference::relative_errors({7}, {0}).max, 0);
}

TEST(Flushed, KeepsSignsAndWhatIsNormal) {
  const Floats flushed = reference::flushed({-0x1p-130F, 0x1p-126F, 0x1.fffffcp-127F});
  EXPECT_EQ(flushed, (Floats{0, 0x1p-126F, 0}));
  EXPECT_TRUE(std::signbit(flushed[0]));
}

// --- the published host check --------------------------------------------------------------------

// It means to check a float kernel against double precision, but multiplies in float: what is lost
// there is lost to the check, and a kernel whose products are fused, and better, looks worse.
TEST(PublishedHostCheck, MultipliesInFloat) {
  const Floats a{1 + 0x1p-12F, -1, 0, 0};
  const Floats b{1 + 0x1p-12F, 0, 1 + 0x1p-11F, 0};
  EXPECT_EQ(reference::exact_matmul(a, b, 2)[0], 0x1p-24);
  EXPECT_EQ(reference::published_host_matmul(a, b, 2)[0], 0);
  // It divides by its own result, and leaves zeros out: the one wrong element is not counted.
  const float fused = std::fma(a[0], b[0], a[1] * b[2]);
  EXPECT_EQ(fused, 0x1p-24F);
  EXPECT_EQ(reference::relative_errors({fused}, {0}).max, 0);
}

// Its matrices are rand() / RAND_MAX + rand() / (RAND_MAX * RAND_MAX), meant to fill the low bits
// of numbers between 0 and 1.  The product of two ints overflows where RAND_MAX is 2^31 - 1, and
// wraps to 1 where that does not trap: the second term is then a number up to 2^31, which swallows
// the first.  Where RAND_MAX is 32,767 all is as it was meant.
TEST(PublishedHostCheck, OverflowsItsDivisor) {
  int divisor = 0;
  constexpr int kRandMax = 2'147'483'647;
  EXPECT_TRUE(__builtin_mul_overflow(kRandMax, kRandMax, &divisor));
  EXPECT_EQ(divisor, 1);
  EXPECT_FALSE(__builtin_mul_overflow(32'767, 32'767, &divisor));

  std::mt19937 random(1);
  const auto draw = [&] { return static_cast<float>(random() & 0x7fffffffU); };
  int between_zero_and_one = 0;
  for (int i = 0; i < 1'000; ++i) {
    const float element = draw() / static_cast<float>(kRandMax) + draw() / 1.0F;
    if (element <= 1) ++between_zero_and_one;
  }
  EXPECT_EQ(between_zero_and_one, 0);
#ifdef __GLIBC__
  EXPECT_EQ(RAND_MAX, kRandMax);
#endif
}

}  // namespace
