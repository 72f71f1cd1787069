#include "reference/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace {

using Words = std::vector<std::uint32_t>;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();

// Random bits; where `mask` leaves few of them, few distinct words.
Words random_words(std::size_t n, std::uint32_t mask) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(n));
  Words words(n);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random()) & mask;
  return words;
}

template <class To>
std::vector<To> bits_as(const Words& words) {
  std::vector<To> values;
  for (const std::uint32_t word : words) values.push_back(std::bit_cast<To>(word));
  return values;
}

template <class From>
Words bits_of(const std::vector<From>& values) {
  Words words;
  for (const From value : values) words.push_back(std::bit_cast<std::uint32_t>(value));
  return words;
}

TEST(RadixSort, SortsWhatIsEasilySeen) {
  EXPECT_EQ(reference::radix_sort(Words{}), Words{});
  EXPECT_EQ(reference::radix_sort(Words{7}), Words{7});
  EXPECT_EQ(reference::radix_sort(Words{3, kMax, 0, 3, 0x80000000, 1}),
            (Words{0, 1, 3, 3, 0x80000000, kMax}));
  EXPECT_EQ(reference::radix_sort(Ints{0, -1, 1, std::numeric_limits<int>::min()}),
            (Ints{std::numeric_limits<int>::min(), -1, 0, 1}));
}

TEST(RadixSort, AgreesWithStableSort) {
  for (const std::uint32_t mask : {kMax, 3U, 0x80000001U}) {
    for (const std::size_t n : {2U, 3U, 31U, 64U, 257U, 1000U}) {
      const Words words = random_words(n, mask);
      Words sorted = words;
      std::stable_sort(sorted.begin(), sorted.end());
      EXPECT_EQ(reference::radix_sort(words), sorted);

      auto integers = bits_as<std::int32_t>(words);
      const Ints sorted_integers = reference::radix_sort(integers);
      std::stable_sort(integers.begin(), integers.end());
      EXPECT_EQ(sorted_integers, integers);

      auto floats = bits_as<float>(words);
      const Words sorted_floats = bits_of(reference::radix_sort(floats));
      std::stable_sort(floats.begin(), floats.end(),
                       [](float a, float b) { return std::strong_order(a, b) < 0; });
      EXPECT_EQ(sorted_floats, bits_of(floats));
    }
  }
}

TEST(RadixSort, PutsFloatsInTotalOrder) {
  const Words ascending{
      0xffffffff, 0xff800001,              // negative NaNs, the larger payload first
      0xff800000, 0xff7fffff, 0x80000001,  // -infinity, the lowest, a subnormal
      0x80000000, 0x00000000,              // -0, +0
      0x00000001, 0x7f7fffff, 0x7f800000,  // a subnormal, the largest, infinity
      0x7f800001, 0x7fffffff,              // NaNs
  };
  Words shuffled = ascending;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  EXPECT_EQ(bits_of(reference::radix_sort(bits_as<float>(shuffled))), ascending);
}

TEST(RadixSortByKey, KeepsValuesOfEqualKeysInTheirOrder) {
  EXPECT_EQ(reference::radix_sort_by_key({{2, 1, 2, kMax, 1}, {0, 1, 2, 3, 4}}),
            (reference::KeysAndValues{{1, 1, 2, 2, kMax}, {1, 4, 0, 2, 3}}));
  const Words keys = random_words(500, 7);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  reference::KeysAndValues input{keys, {}};
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    pairs.emplace_back(keys[i], i);
    input.values.push_back(i);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const reference::KeysAndValues sorted = reference::radix_sort_by_key(input);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(sorted.keys[i], pairs[i].first);
    EXPECT_EQ(sorted.values[i], pairs[i].second);
  }
}

TEST(RadixSortLists, SortsEveryListWhereItStands) {
  EXPECT_EQ(reference::radix_sort_lists({}, 3), Words{});
  EXPECT_EQ(reference::radix_sort_lists({3, 2, 1}, 1), (Words{1, 2, 3}));
  EXPECT_EQ(reference::radix_sort_lists({3, 2, 1}, 3), (Words{3, 2, 1}));
  EXPECT_EQ(reference::radix_sort_lists({3, 2, 1}, 5), (Words{3, 2, 1}));
  EXPECT_EQ(reference::radix_sort_lists({9, 5, 1, 6, 0, 4, 3}, 2), (Words{0, 4, 1, 5, 3, 6, 9}));
}

}  // namespace
