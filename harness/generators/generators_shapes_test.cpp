// Generators for special purposes: edges of sizes, 16-bit floats, cancelling sums, byte streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/tape.hpp"
#include "harness/testing/generators_testing.hpp"

namespace warpcheck {
namespace {

using Names = std::set<std::string>;

TEST(EdgeSizes, VisitTheNeighboursOfEveryPowerOfTwoAndOfEveryBlock) {
  EXPECT_EQ(declared_by(edge_sizes({.max = 100, .block = 48})),
            (Names{"around 1", "around 2", "around 4", "around 8", "around 16", "around 32",
                   "around 64", "around 1 block", "around 2 blocks"}));
  expect_all_classes(edge_sizes());
  expect_all_classes(edge_sizes({.max = 100, .block = 48}));
  expect_all_classes(edge_sizes({.max = 8'000, .block = 256}));
  expect_all_classes(edge_sizes({.max = std::numeric_limits<int>::max(), .block = 1024}));
  Tape tape = Tape::of_seed(1);
  Draw draw(tape, 0);
  std::set<int> seen;
  for (int i = 0; i < kDraws; ++i) seen.insert(draw(edge_sizes({.max = 70, .block = 24})));
  EXPECT_EQ(seen, (std::set<int>{0,  1,  2,  3,  4,  5,  7,  8,  9,  15, 16, 17,
                                 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65}));
}

TEST(EdgeSizes, RefuseARangeWithoutAnEdge) {
  EXPECT_EQ(declared_by(edge_sizes({.min = 24, .max = 31})), Names{"around 32"});
  EXPECT_THROW(edge_sizes({.min = 24, .max = 28}), std::invalid_argument);
  EXPECT_THROW(edge_sizes({.min = 2, .max = 1}), std::invalid_argument);
}

TEST(Halves, AreWhatTheirBitsSay) {
  EXPECT_EQ(float_of_half(0x3c00), 1.0F);
  EXPECT_EQ(float_of_half(0xc000), -2.0F);
  EXPECT_EQ(float_of_half(0x7bff), 65504.0F);
  EXPECT_EQ(float_of_half(0x0400), 0x1p-14F);
  EXPECT_EQ(float_of_half(0x0001), 0x1p-24F);
  EXPECT_EQ(float_of_half(0x3555), 0x1.554p-2F);
  EXPECT_EQ(float_of_half(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::signbit(float_of_half(0x8000)));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(float_of_half(0xfe01)), 0xffc02000U);
  EXPECT_EQ(float_of_bfloat16(0x3f80), 1.0F);
  EXPECT_EQ(float_of_bfloat16(0x7f7f), 0x1.fep127F);
  EXPECT_EQ(float_of_bfloat16(0x0001), 0x1p-133F);
}

TEST(Halves, VisitAllTheirClasses) {
  const Names all{
      "zero",      "negative zero", "integer",           "fraction",        "negative",
      "subnormal", "power of two",  "smallest normal",   "largest",         "smallest subnormal",
      "infinity",  "NaN",           "negative infinity", "NaN with payload"};
  EXPECT_EQ(declared_by(halves()), all);
  EXPECT_EQ(declared_by(bfloats()), all);
  expect_all_classes(halves());
  expect_all_classes(bfloats());
}

TEST(Halves, LeaveOutWhatIsExcluded) {
  const FloatOptions tame{.nan = false,
                          .infinities = false,
                          .subnormals = false,
                          .negative_zero = false,
                          .magnitude_max = 1000.3};
  expect_all_classes(halves(tame));
  expect_all_classes(bfloats(tame));
  expect_all_classes(halves({.magnitude_max = 0}));
  Tape tape = Tape::of_seed(1);
  Draw draw(tape);
  float largest = 0;
  for (int i = 0; i < kDraws; ++i) {
    largest = std::max(largest, std::fabs(float_of_half(draw(halves(tame)))));
  }
  EXPECT_EQ(largest, 1000.0F);  // neighbours are half a unit apart
  EXPECT_THROW(halves({.magnitude_max = -1}), std::invalid_argument);
}

// Every pattern can be drawn, and represents itself: a fuzzer writes numbers.
TEST(Halves, TakeAPatternLiterally) {
  for (std::uint32_t bits = 0; bits < 0x10000; bits += 7) {
    const std::uint8_t bytes[] = {static_cast<std::uint8_t>(bits),
                                  static_cast<std::uint8_t>(bits >> 8)};
    Tape tape = Tape::of_bytes(bytes);
    Draw draw(tape);
    ASSERT_EQ(draw(halves()), bits);
  }
}

TEST(CancellingSums, VisitAllTheirClasses) {
  EXPECT_EQ(declared_by(cancelling_sums<float>(10)),
            (Names{"pairs cancel", "huge beside tiny", "ill-conditioned"}));
  for (const int n : {0, 1, 3, 4, 5, 64}) {
    SCOPED_TRACE(n);
    expect_all_classes(cancelling_sums<float>(n));
    expect_all_classes(cancelling_sums<double>(n));
  }
  EXPECT_THROW(cancelling_sums<float>(-1), std::invalid_argument);
}

TEST(CancellingSums, LoseTheirSumWhenAddedUpInTheOrderGiven) {
  Tape tape = Tape::of_seed(1);
  Draw draw(tape);
  int lost = 0;
  for (int i = 0; i < kDraws; ++i) {
    float sum = 0;
    long double exact = 0;
    for (const float x : draw(cancelling_sums<float>(9))) {
      sum += x;
      exact += static_cast<long double>(x);
    }
    if (std::fabs(static_cast<long double>(sum) - exact) > std::fabs(exact) / 2) ++lost;
  }
  EXPECT_GT(lost, kDraws / 2);
}

TEST(ByteStreams, VisitAllTheirClasses) {
  EXPECT_EQ(
      declared_by(byte_streams(1000)),
      (Names{"constant", "few distinct", "runs", "single other", "sorted", "reversed", "organ pipe",
             "nearly sorted", "text", "counting", "many values", "all values"}));
  for (const int n : {0, 3, 4, 63, 64, 256, 1000}) {
    SCOPED_TRACE(n);
    expect_all_classes(byte_streams(n));
  }
  EXPECT_THROW(byte_streams(-1), std::invalid_argument);
}

TEST(Vectors, VisitAdversarialOrders) {
  Tape tape = Tape::of_seed(1);
  Draw draw(tape);
  int organ_pipes = 0, nearly_sorted = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto values = draw(vectors(40, integers<int>()));
    organ_pipes += vectors_detail::is_organ_pipe(values) ? 1 : 0;
    nearly_sorted += vectors_detail::is_nearly_sorted(values) ? 1 : 0;
  }
  EXPECT_GT(organ_pipes, 30);
  EXPECT_GT(nearly_sorted, 30);
}

TEST(DataClasses, AreTold) {
  using Ints = std::vector<int>;
  using namespace vectors_detail;  // NOLINT(google-build-using-namespace)
  EXPECT_TRUE(is_organ_pipe(Ints{1, 3, 5, 5, 4, 2}));
  EXPECT_FALSE(is_organ_pipe(Ints{1, 3, 5, 4, 4, 5}));
  EXPECT_FALSE(is_organ_pipe(Ints{1, 2, 3}));
  EXPECT_FALSE(is_organ_pipe(Ints{3, 2, 1}));
  EXPECT_FALSE(is_organ_pipe(Ints{}));
  EXPECT_TRUE(is_nearly_sorted(Ints{1, 3, 2, 4}));
  EXPECT_FALSE(is_nearly_sorted(Ints{1, 2, 3, 4}));
  EXPECT_FALSE(is_nearly_sorted(Ints{4, 3, 2, 1}));
  EXPECT_FALSE(is_nearly_sorted(Ints{2, 1, 4, 3}));
}

}  // namespace
}  // namespace warpcheck
