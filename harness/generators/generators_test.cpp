#include "harness/generators/generators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "harness/input/tape.hpp"
#include "harness/testing/generators_testing.hpp"

namespace warpcheck {
namespace {

TEST(Sizes, VisitAllTheirClasses) {
  const std::set<std::string> all{"zero",
                                  "one",
                                  "odd",
                                  "prime",
                                  "power of two",
                                  "power of two +-1",
                                  "warp edge",
                                  "block edge",
                                  "multiple of 32",
                                  "not a multiple of 32",
                                  "largest"};
  EXPECT_EQ(declared_by(sizes({.max = 10'000, .block = 256})), all);
  for (const SizeOptions options :
       {SizeOptions{}, SizeOptions{.max = 10'000, .block = 256}, SizeOptions{.max = 1 << 20},
        SizeOptions{.max = std::numeric_limits<int>::max()}, SizeOptions{.min = 1, .max = 1024},
        SizeOptions{.min = 100, .max = 200}, SizeOptions{.min = 24, .max = 28},
        SizeOptions{.max = 0}, SizeOptions{.max = 1}, SizeOptions{.min = 64, .max = 64},
        SizeOptions{.min = 1'000'000, .max = 2'000'000'000, .block = 1000}}) {
    SCOPED_TRACE(testing::Message() << options.min << " to " << options.max);
    expect_all_classes(sizes(options));
  }
}

TEST(Sizes, DeclareOnlyWhatTheirRangeAdmits) {
  EXPECT_EQ(declared_by(sizes({.min = 24, .max = 28})),
            (std::set<std::string>{"odd", "not a multiple of 32", "largest"}));
  EXPECT_EQ(declared_by(sizes({.min = 64, .max = 64})),
            (std::set<std::string>{"power of two", "warp edge", "multiple of 32", "largest"}));
}

TEST(Sizes, GrowWithTheSizeOfTheDraw) {
  const Gen<int> generator = sizes({.min = 3, .max = 10'000});
  for (const auto& [size, max] : {std::pair{0, 3}, {10, 6}, {50, 130}, {90, 8194}, {100, 10'000}}) {
    Tape tape = Tape::of_seed(1);
    Draw draw(tape, size);
    int largest = 0;
    for (int i = 0; i < kDraws; ++i) largest = std::max(largest, draw(generator));
    EXPECT_EQ(largest, max) << "size " << size;
  }
}

TEST(Sizes, RefuseAnEmptyRange) {
  EXPECT_THROW(sizes({.min = 2, .max = 1}), std::invalid_argument);
  EXPECT_THROW(sizes({.min = -1, .max = 1}), std::invalid_argument);
}

TEST(Blocks, VisitAllTheirClassesAtEverySize) {
  expect_all_classes(blocks());
  expect_all_classes(blocks(96));
  expect_all_classes(blocks(1));
  Tape tape = Tape::of_seed(1);
  Draw draw(tape, 0);
  std::uint32_t largest = 0;
  for (int i = 0; i < kDraws; ++i) largest = std::max(largest, draw(blocks(512)));
  EXPECT_EQ(largest, 512U);
}

TEST(Integers, VisitAllTheirClasses) {
  expect_all_classes(integers<std::int8_t>());
  expect_all_classes(integers<std::uint8_t>());
  expect_all_classes(integers<std::int32_t>());
  expect_all_classes(integers<std::uint32_t>());
  expect_all_classes(integers<std::int64_t>());
  expect_all_classes(integers<std::uint64_t>());
  expect_all_classes(integers<int>(-1000, 1000));
  expect_all_classes(integers<int>(5, 5));
  expect_all_classes(integers<int>(1'000'000'000, 2'000'000'000));
  expect_all_classes(integers<std::int64_t>(INT64_MIN, -5));
  EXPECT_EQ(declared_by(integers<std::int32_t>()),
            (std::set<std::string>{"lowest", "highest", "zero", "one", "minus one", "negative",
                                   "power of two", "power of two +-1"}));
  EXPECT_THROW(integers<int>(2, 1), std::invalid_argument);
}

TEST(Integers, ReachEveryValueOfASmallRange) {
  Tape tape = Tape::of_seed(3);
  Draw draw(tape);
  std::set<int> seen;
  for (int i = 0; i < kDraws; ++i) seen.insert(draw(integers<int>(-20, 19)));
  EXPECT_EQ(seen.size(), 40U);
}

TEST(Floats, VisitAllTheirClasses) {
  expect_all_classes(floats<float>());
  expect_all_classes(floats<double>());
  EXPECT_EQ(declared_by(floats<float>()),
            (std::set<std::string>{"zero", "negative zero", "integer", "fraction", "negative",
                                   "power of two", "smallest normal", "subnormal",
                                   "smallest subnormal", "largest", "infinity", "negative infinity",
                                   "NaN", "NaN with payload"}));
}

TEST(Floats, LeaveOutWhatIsExcluded) {
  const FloatOptions finite{.nan = false, .infinities = false};
  const FloatOptions tame{.nan = false,
                          .infinities = false,
                          .subnormals = false,
                          .negative_zero = false,
                          .magnitude_max = 1e6};
  expect_all_classes(floats<float>(finite));
  expect_all_classes(floats<double>(tame));
  expect_all_classes(floats<float>(tame));
  EXPECT_EQ(declared_by(floats<float>(tame)),
            (std::set<std::string>{"zero", "integer", "fraction", "negative", "power of two",
                                   "smallest normal", "largest"}));
  expect_all_classes(floats<float>({.nan = false, .infinities = false, .magnitude_max = 0}));
  expect_all_classes(floats<float>({.magnitude_max = 0.1}));
  EXPECT_THROW(floats<float>({.magnitude_max = -1}), std::invalid_argument);
  EXPECT_THROW(floats<float>({.magnitude_max = std::nan("")}), std::invalid_argument);
}

TEST(Floats, OrderTotally) {
  using Limits = std::numeric_limits<float>;
  const float ascending[] = {-Limits::quiet_NaN(),
                             -Limits::infinity(),
                             -1,
                             -Limits::denorm_min(),
                             -0.0F,
                             0,
                             Limits::denorm_min(),
                             1,
                             Limits::infinity(),
                             Limits::quiet_NaN()};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(total_less(ascending[i], ascending[j]), i < j);
    }
  }
}

TEST(Vectors, VisitAllTheirClasses) {
  expect_all_classes(vectors(4, integers<int>()));
  expect_all_classes(vectors(100, integers<int>()));
  expect_all_classes(vectors(50, integers<std::uint8_t>()));
  expect_all_classes(vectors(20, floats<float>()));
  expect_all_classes(vectors(sizes({.max = 64}), integers<int>()));
  EXPECT_EQ(declared_by(vectors(100, integers<int>())),
            (std::set<std::string>{"constant", "few distinct", "runs", "single other", "sorted",
                                   "reversed", "organ pipe", "nearly sorted"}));
}

TEST(Vectors, HaveTheLengthAskedFor) {
  Tape tape = Tape::of_seed(5);
  Draw draw(tape);
  for (int i = 0; i < kDraws; ++i) {
    const int n = draw(sizes({.max = 40}));
    ASSERT_EQ(draw(vectors(n, floats<double>())).size(), static_cast<std::size_t>(n));
  }
  EXPECT_THROW(vectors(-1, integers<int>()), std::invalid_argument);
}

TEST(Vectors, OfFloatsHavePairsThatCancel) {
  Tape tape = Tape::of_seed(5);
  Draw draw(tape);
  int cancelling = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto values = draw(vectors(10, floats<float>({.nan = false, .infinities = false})));
    bool cancels = true;
    for (std::size_t k = 0; k < 10; k += 2) cancels = cancels && values[k] == -values[k + 1];
    cancelling += cancels ? 1 : 0;
  }
  EXPECT_GE(cancelling, 40);
}

TEST(Vectors, OfAnythingThatCanBeDrawn) {
  Tape tape = Tape::of_seed(5);
  Draw draw(tape);
  const auto names = draw(vectors(5, elements_of({std::string("a"), std::string("b")})));
  EXPECT_EQ(names.size(), 5U);
  const auto nested = draw(vectors(3, vectors(sizes({.min = 1, .max = 4}), integers<int>())));
  for (const auto& inner : nested) EXPECT_FALSE(inner.empty());
}

TEST(Launches, VisitAllTheirClasses) {
  for (const int n : {0, 1, 31, 33, 1000, 1024, 1025, 10'000}) {
    SCOPED_TRACE(n);
    expect_all_classes(launches_covering(n));
    expect_all_classes(launches_covering(n, {.block_max = 96, .dims_max = 2}));
    expect_all_classes(launches_covering(n, {.block_max = 256, .dims_max = 3}));
  }
  expect_all_classes(launches_covering(100, {.block_max = 1, .blocks_max = 1}));
  EXPECT_EQ(
      declared_by(launches_covering(33, {.dims_max = 3})),
      (std::set<std::string>{"one block", "several blocks", "as many threads as elements",
                             "idle threads", "idle blocks", "block of one thread", "largest block",
                             "block not a multiple of 32", "two dimensions", "three dimensions"}));
}

TEST(Launches, StayWithinTheirLimits) {
  Tape tape = Tape::of_seed(9);
  Draw draw(tape);
  for (int i = 0; i < kDraws; ++i) {
    const LaunchConfig launch = draw(launches_covering(1000, {.block_max = 128, .blocks_max = 50}));
    ASSERT_TRUE(covers(launch, 1000));
    ASSERT_LE(launch.block.count(), 128U);
    ASSERT_LE(launch.blocks(), 50U + 3);  // up to three idle ones
    ASSERT_EQ(launch.block.y * launch.block.z * launch.grid.y * launch.grid.z, 1U);
    ASSERT_EQ(launch.shared_bytes, 0U);
  }
  EXPECT_THROW(launches_covering(1, {.dims_max = 4}), std::invalid_argument);
  EXPECT_THROW(launches_covering(1, {.block_max = 0}), std::invalid_argument);
}

TEST(Combinators, ChooseAndMap) {
  Tape tape = Tape::of_seed(2);
  Draw draw(tape);
  const Gen<int> choice = one_of(integers<int>(0, 9), integers<int>(100, 109),
                                 map(integers<int>(0, 1), [](int x) { return x - 1000; }));
  std::set<int> seen;
  for (int i = 0; i < kDraws; ++i) seen.insert(draw(choice));
  EXPECT_EQ(seen.size(), 22U);
  EXPECT_FALSE(choice.has_domain());
  const Gen<int> bounded = one_of(integers<int>(0, 9), integers<int>(100, 109));
  EXPECT_TRUE(bounded.contains(5));
  EXPECT_TRUE(bounded.contains(105));
  EXPECT_FALSE(bounded.contains(50));
  EXPECT_EQ(draw(just(std::string("same"))), "same");
  EXPECT_THROW(elements_of(std::vector<int>{}), std::invalid_argument);
  EXPECT_THROW(one_of(std::vector<Gen<int>>{}), std::invalid_argument);
}

}  // namespace
}  // namespace warpcheck
