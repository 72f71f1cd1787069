#include "fuzz/input_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace warpcheck::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes to_bytes(std::span<const std::uint8_t> view) { return {view.begin(), view.end()}; }

TEST(InputLayout, ReadsTheTrailerFromTheBack) {
  Bytes bytes(2 + 2 * kDecisionBytes);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  bytes.insert(bytes.end(), {2, 7, 0b0011});
  const InputLayout input = split_input(bytes);
  EXPECT_EQ(to_bytes(input.data), (Bytes{1, 2}));
  ASSERT_EQ(input.decision_count(), 2u);
  EXPECT_EQ(to_bytes(input.decision(0)), (Bytes{11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(to_bytes(input.decision(1)), (Bytes{3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(input.tail, 7);
  EXPECT_TRUE(input.unoptimized());
  EXPECT_FALSE(input.lockstep());
  EXPECT_EQ(join_input(input), bytes);
}

TEST(InputLayout, BytesInTheDataDoNotShiftTheSchedule) {
  Bytes bytes(1 + kDecisionBytes, 5);
  bytes.insert(bytes.end(), {1, 0, 0});
  Bytes longer = bytes;
  longer.insert(longer.begin(), 100, 9);
  const InputLayout a = split_input(bytes), b = split_input(longer);
  EXPECT_EQ(to_bytes(a.decisions), to_bytes(b.decisions));
  EXPECT_EQ(b.data.size(), a.data.size() + 100);
}

TEST(InputLayout, AQuarterOfTheModesTryClaimsAndAllAreReachedInEverySetting) {
  std::map<std::size_t, int> tried;
  std::set<std::tuple<std::size_t, bool, bool>> seen;
  for (int mode = 0; mode < 256; ++mode) {
    for (const int tail : {0, 3, 200}) {
      const InputLayout input{.tail = static_cast<std::uint8_t>(tail),
                              .mode = static_cast<std::uint8_t>(mode)};
      EXPECT_EQ(input.claim(0), std::nullopt);
      const auto claim = input.claim(6);
      if (!claim) continue;
      ++tried[*claim];
      seen.insert({*claim, input.unoptimized(), input.lockstep()});
    }
  }
  int all = 0;
  for (const auto& [claim, count] : tried) all += count;
  EXPECT_EQ(all, 3 * 256 / 4);
  EXPECT_EQ(seen.size(), 6u * 4);
}

TEST(InputLayout, MissingBytesAreZero) {
  for (std::size_t size = 0; size < kTrailerBytes; ++size) {
    const InputLayout input = split_input(Bytes(size, 0xff));
    EXPECT_TRUE(input.data.empty());
    EXPECT_EQ(input.decision_count(), 0u);
    EXPECT_EQ(input.tail, size > 1 ? 0xff : 0);
    EXPECT_EQ(input.mode, size > 0 ? 0xff : 0);
  }
}

TEST(InputLayout, HasAsManyDecisionsAsThereAreBytesFor) {
  Bytes bytes(kDecisionBytes + 3, 1);
  bytes.insert(bytes.end(), {200, 0, 0});
  const InputLayout input = split_input(bytes);
  EXPECT_EQ(input.decision_count(), 1u);
  EXPECT_EQ(input.data.size(), 3u);
  Bytes many(300 * kDecisionBytes, 1);
  many.insert(many.end(), {255, 0, 0});
  EXPECT_EQ(split_input(many).decision_count(), kDecisionsMax);
}

TEST(InputLayout, TheTailGoesOnAfterTheData) {
  const Bytes data{1, 2, 3};
  EXPECT_EQ(tape_bytes({.data = data}), data);
  const Bytes seven = tape_bytes({.data = data, .tail = 7});
  const Bytes eight = tape_bytes({.data = data, .tail = 8});
  ASSERT_EQ(seven.size(), kTailBytes);
  EXPECT_EQ(Bytes(seven.begin(), seven.begin() + 3), data);
  EXPECT_EQ(seven, tape_bytes({.data = data, .tail = 7}));
  EXPECT_NE(seven, eight);
  // More data replaces bytes of the tail, and shifts none.
  const Bytes more{1, 2, 3, 4};
  const Bytes longer = tape_bytes({.data = more, .tail = 7});
  EXPECT_EQ(Bytes(longer.begin() + 4, longer.end()), Bytes(seven.begin() + 4, seven.end()));
}

}  // namespace
}  // namespace warpcheck::fuzz
