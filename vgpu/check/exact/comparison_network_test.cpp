#include "vgpu/check/exact/comparison_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {
namespace {

using Number = ComparisonNetwork::Number;
using Kind = ComparisonNetwork::Answer::Kind;
using Comparators = std::vector<std::pair<std::size_t, std::size_t>>;
constexpr NumberOrder kOrder{true, 32};

// Batcher's odd-even merges.
Comparators odd_even(std::size_t n) {
  Comparators all;
  for (std::size_t size = 1; size < n; size *= 2) {
    for (std::size_t stride = size; stride > 0; stride /= 2) {
      for (std::size_t i = stride == size ? 0 : stride; i + stride < n; ++i) {
        const std::size_t within = stride == size ? i : i - stride;
        if ((within & stride) == 0 && i / (2 * size) == (i + stride) / (2 * size))
          all.emplace_back(i, i + stride);
      }
    }
  }
  return all;
}
// Neighbours in turn.
Comparators transposition(std::size_t n) {
  Comparators all;
  for (std::size_t round = 0; round < n; ++round)
    for (std::size_t i = round % 2; i + 1 < n; i += 2) all.emplace_back(i, i + 1);
  return all;
}

// A network on n numbers, and the numbers in order.
struct Sorting {
  explicit Sorting(std::size_t n) {
    std::vector<Number> statistics;
    for (std::size_t i = 0; i < n; ++i) {
      wires.push_back(next);
      free.push_back(next++);
    }
    for (std::size_t i = 0; i < n; ++i) statistics.push_back(next++);
    sorted = statistics;
  }
  void compare(std::size_t i, std::size_t j) {
    const Number least = next++, most = next++;
    network.add_extremum(kOrder, false, least, wires[i], wires[j]);
    network.add_extremum(kOrder, true, most, wires[i], wires[j]);
    wires[i] = least;
    wires[j] = most;
  }
  ComparisonNetwork::Answer judge() {
    network.add_statistics(kOrder, free, sorted);
    std::vector<std::pair<Number, Number>> pairs;
    for (std::size_t i = 0; i < wires.size(); ++i) pairs.emplace_back(wires[i], sorted[i]);
    return network.compare(kOrder, pairs);
  }
  ComparisonNetwork network;
  std::vector<Number> wires, free, sorted;
  Number next = 0;
};

Kind judge(std::size_t n, const Comparators& comparators) {
  Sorting sorting(n);
  for (const auto& [i, j] : comparators) sorting.compare(i, j);
  return sorting.judge().kind;
}

// What all inputs of zeros and ones say.
bool sorts(std::size_t n, const Comparators& comparators) {
  for (std::uint32_t input = 0; input < 1u << n; ++input) {
    std::uint32_t bits = input;
    for (const auto& [i, j] : comparators) {
      const bool swaps = (bits >> i & 1) > (bits >> j & 1);
      if (swaps) bits ^= 1u << i | 1u << j;
    }
    for (std::size_t i = 0; i + 1 < n; ++i)
      if ((bits >> i & 1) > (bits >> (i + 1) & 1)) return false;
  }
  return true;
}

TEST(ComparisonNetwork, SortingNetworksSort) {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 7u, 16u, 33u, 128u}) {
    EXPECT_EQ(judge(n, odd_even(n)), Kind::same) << n;
  }
  EXPECT_EQ(judge(14, transposition(14)), Kind::same);
}

// Networks with one comparison less are judged as by all their inputs.
TEST(ComparisonNetwork, IsTheJudgementOfAllZerosAndOnes) {
  for (const std::size_t n : {2u, 3u, 5u, 6u, 8u, 9u, 10u}) {
    for (const Comparators& whole : {odd_even(n), transposition(n)}) {
      for (std::size_t left_out = 0; left_out < whole.size(); ++left_out) {
        Comparators some = whole;
        some.erase(some.begin() + static_cast<std::ptrdiff_t>(left_out));
        EXPECT_EQ(judge(n, some), sorts(n, some) ? Kind::same : Kind::different)
            << n << " without " << left_out;
      }
    }
  }
}

TEST(ComparisonNetwork, RandomNetworksToo) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 3 + random() % 4;
    Comparators comparators;
    for (std::size_t i = 0; i < 2 * n; ++i) {
      const std::size_t a = random() % n, b = random() % n;
      if (a != b) comparators.emplace_back(std::min(a, b), std::max(a, b));
    }
    EXPECT_EQ(judge(n, comparators), sorts(n, comparators) ? Kind::same : Kind::different);
  }
}

TEST(ComparisonNetwork, NamesAnInputThatIsNotSorted) {
  Sorting sorting(4);
  for (const auto& [i, j] : Comparators{{0, 1}, {2, 3}, {0, 2}, {1, 3}}) sorting.compare(i, j);
  const ComparisonNetwork::Answer answer = sorting.judge();
  ASSERT_EQ(answer.kind, Kind::different);
  ASSERT_EQ(answer.inputs.size(), 4u);
  std::uint32_t input = 0;
  for (const auto& [number, bit] : answer.inputs) input |= std::uint32_t{bit} << number;
  // One of each pair.
  EXPECT_EQ(__builtin_popcount(input & 0b0011), 1) << input;
  EXPECT_EQ(__builtin_popcount(input & 0b1100), 1) << input;
}

TEST(ComparisonNetwork, MinimumAndMaximumAreDistributive) {
  ComparisonNetwork network;
  constexpr Number kA = 0, kB = 1, kC = 2, kJoin = 3, kOne = 4, kTwo = 5, kMeet = 6, kOther = 7;
  network.add_extremum(kOrder, true, kJoin, kB, kC);
  network.add_extremum(kOrder, false, kMeet, kA, kJoin);  // min(a, max(b, c))
  network.add_extremum(kOrder, false, kOne, kA, kB);
  network.add_extremum(kOrder, false, kTwo, kA, kC);
  network.add_extremum(kOrder, true, kOther, kOne, kTwo);
  const auto judge = [&](Number a, Number b) {
    const std::pair<Number, Number> pair(a, b);
    return network.compare(kOrder, {&pair, 1}).kind;
  };
  EXPECT_EQ(judge(kMeet, kOther), Kind::same);
  EXPECT_EQ(judge(kMeet, kJoin), Kind::different);
  EXPECT_EQ(judge(kA, kB), Kind::different);
  EXPECT_EQ(judge(kA, kA), Kind::same);
}

// In a list a number may be there twice.
TEST(ComparisonNetwork, EqualNumbersCountAsOften) {
  ComparisonNetwork network;
  network.add_statistics(kOrder, {0, 0, 1}, {10, 11, 12});
  network.add_extremum(kOrder, false, 20, 0, 1);
  network.add_extremum(kOrder, true, 21, 0, 1);
  const std::vector<std::pair<Number, Number>> right{{10, 20}, {11, 0}, {12, 21}};
  EXPECT_EQ(network.compare(kOrder, right).kind, Kind::same);
  const std::vector<std::pair<Number, Number>> wrong{{10, 20}, {11, 1}, {12, 21}};
  const ComparisonNetwork::Answer answer = network.compare(kOrder, wrong);
  EXPECT_EQ(answer.kind, Kind::different);
  EXPECT_EQ(answer.pair, 1u);
}

// Neighbouring maxima share numbers, so that all of them together have about 2^64 states.
TEST(ComparisonNetwork, MaximaOfAMovingWindowAreComparedOneByOne) {
  constexpr Number kCount = 64, kPairs = 100, kWindows = 200, kOthers = 300;
  ComparisonNetwork network;
  std::vector<std::pair<Number, Number>> pairs;
  for (Number i = 0; i + 2 < kCount; ++i) {
    network.add_extremum(kOrder, true, kPairs + i, i, i + 1);
    network.add_extremum(kOrder, true, kWindows + i, kPairs + i, i + 2);
    // max(min(max(a, b), c), max(a, b, c))
    network.add_extremum(kOrder, false, 2 * kOthers + i, kPairs + i, i + 2);
    network.add_extremum(kOrder, true, kOthers + i, 2 * kOthers + i, kWindows + i);
    pairs.emplace_back(kWindows + i, kOthers + i);
  }
  EXPECT_EQ(network.compare(kOrder, pairs).kind, Kind::same);
  pairs[40].second = kPairs + 40;
  const ComparisonNetwork::Answer answer = network.compare(kOrder, pairs);
  EXPECT_EQ(answer.kind, Kind::different);
  EXPECT_EQ(answer.pair, 40u);
}

TEST(ComparisonNetwork, TooManyStatesAreSaid) {
  EXPECT_EQ(judge(60, transposition(60)), Kind::too_large);
}

}  // namespace
}  // namespace warpcheck::vgpu
