#include "harness/shrink/shrinks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/tape.hpp"

namespace sample {

struct OneBlock {
  std::vector<int> values;
  warpcheck::LaunchConfig launch;
};
FIELDS(OneBlock, values, launch);

struct Search {
  std::vector<int> keys;
  std::vector<float> weights;
  int n = 0;
  int target = 0;
};
FIELDS(Search, keys, weights, n, target);

struct Matrix {
  int rows = 0;
  int columns = 0;
  std::vector<int> elements;
  warpcheck::LaunchConfig launch;
};
FIELDS(Matrix, rows, columns, elements, launch);

// Square matrices, both n x n.
struct Squares {
  int n = 0;
  std::vector<int> a;
  std::vector<float> b;
};
FIELDS(Squares, n, a, b);

struct Nested {
  OneBlock inner;
  std::vector<std::vector<int>> rows;
};
FIELDS(Nested, inner, rows);

}  // namespace sample

namespace warpcheck {
namespace {

using sample::OneBlock;

template <class T>
std::vector<T> all_shrinks(const T& value) {
  std::vector<T> shrinks;
  for_each_shrink<T>(value, [&](T&& candidate) {
    shrinks.push_back(candidate);
    return false;
  });
  return shrinks;
}

// The complete shrink of `value`, in at most tries_max tries.
template <class T, class Fails, class Domain = decltype(kAnything)>
T shrunk(const T& value, Fails fails, std::size_t tries_max, Domain in_domain = kAnything) {
  EXPECT_TRUE(fails(value) && in_domain(value));
  const Shrunk<T> result = shrink_value<T>(value, fails, tries_max, in_domain);
  EXPECT_TRUE(result.complete) << "in " << result.tries << " tries";
  EXPECT_TRUE(fails(result.value));
  return result.value;
}

TEST(IntegerShrinks, GoToZeroByEverSmallerSteps) {
  EXPECT_EQ(all_shrinks(100), (std::vector<int>{0, 50, 75, 88, 94, 97, 99}));
  EXPECT_EQ(all_shrinks(-3), (std::vector<int>{0, 3, -2}));
  EXPECT_EQ(all_shrinks(1U), (std::vector<unsigned>{0}));
  EXPECT_EQ(all_shrinks(0), std::vector<int>{});
  EXPECT_EQ(all_shrinks(true), std::vector<bool>{false});
  EXPECT_EQ(all_shrinks(std::int8_t{-128}),
            (std::vector<std::int8_t>{0, -64, -96, -112, -120, -124, -126, -127}));
}

TEST(IntegerShrinks, FindTheSmallestFailure) {
  EXPECT_EQ(shrunk(
                1'000'000'000, [](int x) { return x > 100; }, 100),
            101);
  EXPECT_EQ(shrunk(
                INT32_MIN, [](int x) { return x < -100; }, 100),
            -101);
  EXPECT_EQ(shrunk(
                INT32_MIN, [](int x) { return x < -100 || x > 70; }, 100),
            71);
  EXPECT_EQ(shrunk(
                UINT64_MAX, [](std::uint64_t x) { return x >= 33; }, 200),
            33U);
}

TEST(FloatShrinks, PreferZeroThenIntegersThenFewDigits) {
  using Limits = std::numeric_limits<float>;
  const auto shrink = [](float x, auto fails) { return shrunk(x, fails, 300); };
  EXPECT_EQ(shrink(123.456F, [](float) { return true; }), 0);
  EXPECT_EQ(shrink(123.456F, [](float x) { return x > 100; }), 101);
  EXPECT_EQ(shrink(-123.456F, [](float x) { return std::abs(x) > 100; }), 101);
  EXPECT_EQ(shrink(0.123456F, [](float x) { return x > 0 && x < 1; }), 0.1F);
  EXPECT_EQ(shrink(1.23456e30F, [](float x) { return x > 1e25F; }), 1e26F);
  EXPECT_EQ(shrink(Limits::max(), [](float x) { return std::isinf(x * 2); }), 2e38F);
  EXPECT_TRUE(identical(shrink(-0.0F, [](float x) { return std::signbit(x); }), -0.0F));
  EXPECT_EQ(shrink(Limits::denorm_min(), [](float x) { return x > 0 && x < 1e-40F; }), 1e-41F);
  EXPECT_EQ(shrink(-Limits::infinity(), [](float x) { return std::isinf(x); }), Limits::infinity());
  const float payload = std::bit_cast<float>(0xffc01234U);
  EXPECT_TRUE(
      identical(shrink(payload, [](float x) { return std::isnan(x); }), Limits::quiet_NaN()));
  EXPECT_EQ(shrink(payload, [](float x) { return !std::isfinite(x); }), Limits::infinity());
}

TEST(FloatShrinks, AreSimplerInAWellFoundedOrder) {
  Tape tape = Tape::of_seed(4);
  Draw draw(tape);
  for (int i = 0; i < 2'000; ++i) {
    const float value = draw(floats<float>());
    EXPECT_FALSE(simpler(value, value));
    for (const float candidate : all_shrinks(value)) {
      EXPECT_TRUE(simpler(candidate, value)) << candidate << " of " << value;
      EXPECT_FALSE(simpler(value, candidate));
    }
  }
}

TEST(VectorShrinks, OfFloatsReachTwoMagnitudesTogether) {
  using Floats = std::vector<float>;
  EXPECT_EQ(of_two_magnitudes(Floats{3e14F, -1e7F, 0, 3e7F, -2e14F}),
            (Floats{0x1p24F, -1, 0, 1, -0x1p24F}));
  EXPECT_EQ(of_two_magnitudes(Floats{0x1p24F, 3}), (Floats{0x1p24F, 3}));  // no simpler
  EXPECT_EQ(of_two_magnitudes(std::vector<double>{1e40, 1}), (std::vector<double>{0x1p53, 1}));
  const auto loses = [](const Floats& x) {
    return x.size() == 2 && x[1] != 0 && x[0] + x[1] == x[0];
  };
  EXPECT_EQ(shrunk(Floats{3.3e12F, 1234.5F}, loses, 1'000), (Floats{0x1p24F, 1}));
}

TEST(VectorShrinks, DropAllThenHalvesThenSingleElements) {
  const std::vector<std::vector<int>> expected{{},     {1},       {1, 2},    {1, 2, 3},
                                               {3, 4}, {2, 3, 4}, {1, 2, 4}, {1, 3, 4}};
  auto shrinks = all_shrinks(std::vector<int>{1, 2, 3, 4});
  shrinks.resize(expected.size());
  EXPECT_EQ(shrinks, expected);
}

TEST(VectorShrinks, NeverRepeatTheVectorItself) {
  Tape tape = Tape::of_seed(4);
  Draw draw(tape);
  for (int i = 0; i < 200; ++i) {
    const auto values = draw(vectors(sizes({.max = 20}), integers<int>()));
    for (const auto& candidate : all_shrinks(values)) EXPECT_NE(candidate, values);
  }
}

// Exact results: three elements over 100, found in vectors of every shape.
TEST(VectorShrinks, FindThreeElementsOver100) {
  const auto fails = [](const std::vector<int>& values) {
    return std::count_if(values.begin(), values.end(), [](int x) { return x > 100; }) >= 3;
  };
  Tape tape = Tape::of_seed(11);
  Draw draw(tape);
  int shrinks = 0;
  while (shrinks < 200) {
    const auto values = draw(vectors(sizes({.max = 100}), integers<int>()));
    if (!fails(values)) continue;
    ++shrinks;
    EXPECT_EQ(shrunk(values, fails, 500), (std::vector<int>{101, 101, 101}));
  }
}

TEST(VectorShrinks, FindTheSmallestLengthOfALongVector) {
  const std::vector<int> values(10'000, 7);
  const auto fails = [](const std::vector<int>& v) { return v.size() > 512; };
  EXPECT_EQ(shrunk(values, fails, 2'500), std::vector<int>(513));
}

TEST(VectorShrinks, KeepEqualElementsEqual) {
  const auto fails = [](const std::vector<int>& v) {
    return v.size() >= 2 && std::adjacent_find(v.begin(), v.end()) != v.end() && v[0] > 5;
  };
  EXPECT_EQ(shrunk(std::vector<int>{9, 80, 80, 3}, fails, 200), (std::vector<int>{6, 6}));
}

TEST(VectorShrinks, MakeRuns) {
  const auto fails = [](const std::vector<int>& v) {
    return v.size() == 4 && std::all_of(v.begin(), v.end(), [](int x) { return x % 10 == 7; });
  };
  EXPECT_EQ(shrunk(std::vector<int>{107, 37, 997, 27}, fails, 200),
            (std::vector<int>{27, 27, 27, 27}));
}

TEST(VectorShrinks, ReachIntoElements) {
  using Rows = std::vector<std::vector<int>>;
  const auto fails = [](const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) {
      return std::accumulate(row.begin(), row.end(), 0) >= 10;
    });
  };
  EXPECT_EQ(shrunk(Rows{{1, 2}, {3, 4, 5}, {6}}, fails, 200), (Rows{{2, 3, 5}}));
}

TEST(TextShrinks, DropAndSimplifyCharacters) {
  const auto fails = [](const std::string& text) { return text.find('x') != std::string::npos; };
  EXPECT_EQ(shrunk(std::string("some text"), fails, 100), "x");
  EXPECT_EQ(
      shrunk(
          std::string("some text"), [](const std::string& text) { return text.size() >= 3; }, 100),
      "aaa");
}

TEST(LaunchShrinks, PreferFewerBlocksThenFewerThreads) {
  const auto shrink = [](const LaunchConfig& launch, auto fails) {
    return shrunk(launch, fails, 300);
  };
  EXPECT_EQ(shrink({.grid = {4, 3, 2}, .block = {8, 8, 4}, .shared_bytes = 1000},
                   [](const LaunchConfig&) { return true; }),
            LaunchConfig{});
  EXPECT_EQ(shrink({.grid = 11, .block = 3}, [](const LaunchConfig& l) { return covers(l, 33); }),
            (LaunchConfig{.grid = 1, .block = 33}));
  EXPECT_EQ(shrink({.grid = 40, .block = 96},
                   [](const LaunchConfig& l) { return covers(l, 33) && l.blocks() > 1; }),
            (LaunchConfig{.grid = 2, .block = 17}));
  EXPECT_EQ(shrink({.grid = 4, .block = {16, 16, 2}},
                   [](const LaunchConfig& l) { return l.block.count() > 40; }),
            (LaunchConfig{.grid = 1, .block = 41}));
  EXPECT_EQ(shrink({.grid = 4, .block = {16, 16, 2}},
                   [](const LaunchConfig& l) { return l.block.y >= 5; }),
            (LaunchConfig{.grid = 1, .block = {1, 5}}));
}

TEST(LaunchShrinks, KeepSharedMemoryInProportion) {
  const auto fails = [](const LaunchConfig& l) {
    return l.shared_bytes == 4 * l.block.x && l.block.x >= 6;
  };
  EXPECT_EQ(shrunk(LaunchConfig{.grid = 3, .block = 100, .shared_bytes = 400}, fails, 100),
            (LaunchConfig{.grid = 1, .block = 6, .shared_bytes = 24}));
}

TEST(Follow, RecognisesHowALaunchWasMade) {
  const auto follow_block = [](std::uint32_t block, std::uint64_t from, std::uint64_t to) {
    return follow({.block = block}, from, to).block.x;
  };
  EXPECT_EQ(follow_block(33, 33, 10), 10U);
  EXPECT_EQ(follow_block(17, 33, 11), 6U);     // (n + 1) / 2
  EXPECT_EQ(follow_block(16, 33, 11), 5U);     // n / 2
  EXPECT_EQ(follow_block(64, 33, 11), 16U);    // next power of two
  EXPECT_EQ(follow_block(96, 70, 33), 64U);    // whole warps
  EXPECT_EQ(follow_block(100, 33, 10), 100U);  // none of these
  EXPECT_EQ(follow_block(1, 1, 0), 1U);
  EXPECT_EQ(follow({.grid = 5, .block = 256}, 1200, 500), (LaunchConfig{.grid = 2, .block = 256}));
  EXPECT_EQ(follow({.grid = 3, .block = 256}, 1200, 500), (LaunchConfig{.grid = 1, .block = 256}));
  EXPECT_EQ(follow({.grid = 9, .block = 64}, 9, 4), (LaunchConfig{.grid = 4, .block = 64}));
  EXPECT_EQ(follow({.block = 33, .shared_bytes = 132}, 33, 3),
            (LaunchConfig{.block = 3, .shared_bytes = 12}));
  EXPECT_EQ(follow({.block = 512, .shared_bytes = 132}, 33, 3),
            (LaunchConfig{.block = 512, .shared_bytes = 12}));
}

// --- structs whose domain couples their fields --------------------------------------------------

OneBlock one_block_of(int n, std::uint32_t block) {
  OneBlock input{.values = std::vector<int>(static_cast<std::size_t>(n)),
                 .launch = {.block = block}};
  std::iota(input.values.begin(), input.values.end(), 1);
  return input;
}

bool is_one_block(const OneBlock& in) { return in.launch.blocks() == 1; }
bool is_one_thread_each(const OneBlock& in) {
  return is_one_block(in) && in.launch.block.x == in.values.size();
}
bool is_one_block_covering(const OneBlock& in) {
  return is_one_block(in) && covers(in.launch, in.values.size());
}
bool is_two_elements_a_thread(const OneBlock& in) {
  return is_one_block(in) && in.launch.block.x == (in.values.size() + 1) / 2;
}

TEST(StructShrinks, KeepTheBlockEqualToTheNumberOfValues) {
  const auto fails = [](const OneBlock& in) { return in.values.size() >= 3; };
  EXPECT_EQ(shrunk(one_block_of(1000, 1000), fails, 30, is_one_thread_each),
            (OneBlock{.values = {0, 0, 0}, .launch = {.block = 3}}));
}

// The smallest failures of the published scans.
TEST(StructShrinks, FindTwoWarps) {
  const auto fails = [](const OneBlock& in) {
    return in.values.size() >= 33 && in.values[30] != 0;
  };
  OneBlock expected{.values = std::vector<int>(33), .launch = {.block = 33}};
  expected.values[30] = 1;
  EXPECT_EQ(shrunk(one_block_of(1000, 1024), fails, 600, is_one_block_covering), expected);
}

TEST(StructShrinks, FindAnOddNumberOfValues) {
  const auto fails = [](const OneBlock& in) { return in.values.size() % 2 == 1; };
  EXPECT_EQ(shrunk(one_block_of(999, 1000), fails, 10, is_one_block_covering),
            (OneBlock{.values = {0}, .launch = {.block = 1}}));
  EXPECT_EQ(shrunk(one_block_of(199, 100), fails, 10, is_two_elements_a_thread),
            (OneBlock{.values = {0}, .launch = {.block = 1}}));
}

TEST(StructShrinks, FindABlockOf3AndTwiceAsManyValues) {
  const auto fails = [](const OneBlock& in) {
    return in.values.size() % 2 == 0 && !std::has_single_bit(in.launch.block.x) &&
           in.values[0] != 0;
  };
  EXPECT_EQ(shrunk(one_block_of(200, 100), fails, 200, is_two_elements_a_thread),
            (OneBlock{.values = {1, 0, 0, 0, 0, 0}, .launch = {.block = 3}}));
}

// Wrong for blocks of 3, 6-7, 12-15, 20-31 ...
TEST(StructShrinks, FindABlockOf3) {
  const auto fails = [](const OneBlock& in) {
    const std::uint32_t block = in.launch.block.x;
    const std::uint32_t power = std::bit_floor(block);
    return block >= 3 && block - power >= power / 2 && block != power && in.values.size() >= 3 &&
           in.values[2] != 0;
  };
  for (const auto& [n, block] : {std::pair{20, 30}, {30, 30}, {25, 31}, {3, 15}, {700, 800}}) {
    EXPECT_EQ(shrunk(one_block_of(n, static_cast<std::uint32_t>(block)), fails, 60,
                     is_one_block_covering),
              (OneBlock{.values = {0, 0, 1}, .launch = {.block = 3}}));
  }
}

// Nothing can be dropped from the five elements, and the four are not a part of them.
TEST(StructShrinks, MakeShortVectorsAnew) {
  const auto fails = [](const OneBlock& in) {
    return in.launch.block.x == 4 &&
           (in.values == std::vector{0, 0, 0, 0, 1} || in.values == std::vector{0, 0, 1, 0});
  };
  const OneBlock start{{0, 0, 0, 0, 1}, {.block = 4}};
  const auto result = shrink_value<OneBlock>(start, fails, 1'000);
  EXPECT_EQ(result.value.values, (std::vector{0, 0, 1, 0}));
  EXPECT_TRUE(result.complete);
}

TEST(StructShrinks, KeepTheGridCoveringTheValues) {
  const auto domain = [](const OneBlock& in) {
    return in.launch.block.x == 64 && in.launch.grid.x == (in.values.size() + 63) / 64;
  };
  const auto fails = [](const OneBlock& in) { return in.values.size() > 64; };
  OneBlock input = one_block_of(1000, 64);
  input.launch.grid = 16;
  EXPECT_EQ(shrunk(input, fails, 250, domain),
            (OneBlock{.values = std::vector<int>(65), .launch = {.grid = 2, .block = 64}}));
}

TEST(StructShrinks, DropTheSamePositionsOfVectorsOfOneLength) {
  using sample::Search;
  Search input{
      .keys = std::vector<int>(50), .weights = std::vector<float>(50), .n = 50, .target = 37};
  std::iota(input.keys.begin(), input.keys.end(), 0);
  for (std::size_t i = 0; i < 50; ++i) input.weights[i] = static_cast<float>(i) / 2;
  const auto domain = [](const Search& in) {
    return in.keys.size() == in.weights.size() && in.n == static_cast<int>(in.keys.size());
  };
  const auto fails = [](const Search& in) {
    for (std::size_t i = 0; i < in.keys.size(); ++i) {
      if (in.keys[i] == 37 && in.weights[i] == 18.5F && in.target == 37) return true;
    }
    return false;
  };
  EXPECT_EQ(shrunk(input, fails, 200, domain),
            (Search{.keys = {37}, .weights = {18.5F}, .n = 1, .target = 37}));
}

TEST(StructShrinks, TakeRowsAndColumnsFromMatrices) {
  using sample::Matrix;
  const Matrix input{.rows = 40,
                     .columns = 30,
                     .elements = std::vector<int>(1200, 5),
                     .launch = {.grid = {2, 3}, .block = {16, 16}}};
  const auto domain = [](const Matrix& in) {
    const Dim3& grid = in.launch.grid;
    const Dim3& block = in.launch.block;
    return static_cast<std::size_t>(in.rows) * static_cast<std::size_t>(in.columns) ==
               in.elements.size() &&
           grid.x * block.x >= static_cast<unsigned>(in.columns) &&
           grid.y * block.y >= static_cast<unsigned>(in.rows);
  };
  const auto fails = [](const Matrix& in) { return in.rows > 2 && in.columns > 3; };
  EXPECT_EQ(shrunk(input, fails, 100, domain),
            (Matrix{.rows = 3,
                    .columns = 4,
                    .elements = std::vector<int>(12),
                    .launch = {.grid = {1, 1}, .block = {4, 3}}}));
}

TEST(StructShrinks, TakeTheSameRowsAndColumnsFromSquareMatrices) {
  using sample::Squares;
  Squares input{.n = 33, .a = std::vector<int>(33 * 33, 5), .b = std::vector<float>(33 * 33, 5)};
  input.a[7 * 33 + 21] = 8;
  const auto domain = [](const Squares& in) {
    const auto elements = static_cast<std::size_t>(in.n) * static_cast<std::size_t>(in.n);
    return in.n >= 0 && in.a.size() == elements && in.b.size() == elements;
  };
  // An element off the diagonal: its row and its column must stay.
  const auto fails = [](const Squares& in) {
    for (int i = 0; i < in.n * in.n; ++i) {
      if (i / in.n != i % in.n && in.a[static_cast<std::size_t>(i)] == 8) return true;
    }
    return false;
  };
  EXPECT_EQ(shrunk(input, fails, 400, domain),
            (Squares{.n = 2, .a = {0, 8, 0, 0}, .b = {0, 0, 0, 0}}));
  EXPECT_EQ(shrunk(
                input, [](const Squares&) { return true; }, 100, domain),
            Squares{});
}

TEST(StructShrinks, ReachIntoNestedStructs) {
  using sample::Nested;
  const Nested input{.inner = one_block_of(20, 20), .rows = {{1, 2}, {3}}};
  const auto fails = [](const Nested& in) {
    return in.inner.values.size() == in.inner.launch.block.x && in.inner.values.size() > 1 &&
           !in.rows.empty() && in.rows.back().size() == 1;
  };
  EXPECT_EQ(shrunk(input, fails, 200),
            (Nested{.inner = {.values = {0, 0}, .launch = {.block = 2}}, .rows = {{0}}}));
}

// --- the loop -----------------------------------------------------------------------------------

TEST(ShrinkValue, KeepsToItsBudget) {
  std::size_t calls = 0;
  const auto fails = [&](const std::vector<int>& v) {
    ++calls;
    return v.size() > 100;
  };
  const auto result = shrink_value<std::vector<int>>(std::vector<int>(10'000, 7), fails, 20);
  EXPECT_EQ(calls, 20U);
  EXPECT_EQ(result.tries, 20U);
  EXPECT_FALSE(result.complete);
  EXPECT_LT(result.value.size(), 400U);
}

TEST(ShrinkValue, EndsWithALocalMinimum) {
  Tape tape = Tape::of_seed(21);
  Draw draw(tape);
  for (int i = 0; i < 50; ++i) {
    const auto values = draw(vectors(sizes({.max = 30}), floats<float>()));
    const auto fails = [](const std::vector<float>& v) {
      return std::any_of(v.begin(), v.end(), [](float x) { return !(x * x < 1e6F); });
    };
    if (!fails(values)) continue;
    const auto result = shrink_value<std::vector<float>>(values, fails, 10'000);
    ASSERT_TRUE(result.complete);
    EXPECT_FALSE(for_each_shrink<std::vector<float>>(
        result.value, [&](std::vector<float>&& candidate) { return fails(candidate); }));
  }
}

TEST(ForEachShrink, MakesOnlyCandidatesThatAreLookedAt) {
  int seen = 0;
  const auto number = for_each_shrink_from<int>(3, 100, [&](int&& candidate) {
    ++seen;
    return candidate == 94;
  });
  EXPECT_EQ(number, 4U);
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace warpcheck
