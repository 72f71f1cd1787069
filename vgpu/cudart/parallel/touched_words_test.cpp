#include "vgpu/cudart/parallel/touched_words.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpcheck::cudart {
namespace {

using Bits = TouchedWords::Bits;

Bits words(std::uint32_t first, std::uint32_t count) {
  Bits bits{};
  for (std::uint32_t i = first; i < first + count; ++i) bits[i / 64] |= std::uint64_t{1} << i % 64;
  return bits;
}

struct WordsTest : testing::Test {
  vgpu::Allocation one, other, shared;
  Bits none{};

  WordsTest() {
    one.id = 3;
    other.id = 4;
    shared.id = 5;
    one.bytes = other.bytes = shared.bytes = 3 * kParallelPageBytes;
    shared.page_locked = true;
  }
  static TouchedWords touched(const vgpu::Allocation& allocation, std::uint32_t page,
                              const Bits& read, const Bits& written) {
    TouchedWords all;
    all.add(allocation, page, read.data(), written.data());
    return all;
  }
  static std::vector<WordsOfGroup::Pair> met(const WordsOfGroup& group) {
    std::vector<WordsOfGroup::Pair> pairs;
    group.find_met([&](const WordsOfGroup::Pair& pair) {
      pairs.push_back(pair);
      return false;
    });
    return pairs;
  }
};

TEST_F(WordsTest, AWriteMeetsWhatOthersReadAndWrite) {
  const TouchedWords writes = touched(one, 1, none, words(63, 2));
  const TouchedWords reads = touched(one, 1, words(64, 1), none);
  const TouchedWords beside = touched(one, 1, words(65, 3), words(60, 3));
  const TouchedWords next_page = touched(one, 2, none, words(63, 2));
  const TouchedWords elsewhere = touched(other, 1, none, words(63, 2));
  const WordsOfGroup group(
      {{&writes, 0}, {&reads, 1}, {&beside, 2}, {&next_page, 3}, {&elsewhere, 4}});
  EXPECT_EQ(met(group), (std::vector<WordsOfGroup::Pair>{{0, 1}}));
}

TEST_F(WordsTest, ReadsDoNotMeet) {
  const TouchedWords reads = touched(one, 0, words(0, 1024), none);
  EXPECT_TRUE(met(WordsOfGroup({{&reads, 0}, {&reads, 1}})).empty());
}

TEST_F(WordsTest, MembersOfOneChainAreOrdered) {
  const TouchedWords writes = touched(one, 0, words(5, 1), words(5, 1));
  EXPECT_TRUE(met(WordsOfGroup({{&writes, 7}, {&writes, 7}})).empty());
  EXPECT_EQ(met(WordsOfGroup({{&writes, 7}, {&writes, 7}, {&writes, 8}})).size(), 2u);
}

TEST_F(WordsTest, BytesOfOtherOperations) {
  const TouchedWords reads = touched(one, 1, words(10, 2), none);
  const TouchedWords writes = touched(one, 1, none, words(20, 1));
  const WordsOfGroup group({{&reads, 0}, {&writes, 1}});
  const auto touching = [&](std::uint64_t begin, std::uint64_t end, bool is_write) {
    std::vector<std::uint32_t> found;
    group.find_touching(one, kParallelPageBytes + begin, kParallelPageBytes + end, is_write,
                        [&](std::uint32_t member) {
                          found.push_back(member);
                          return false;
                        });
    return found;
  };
  using Members = std::vector<std::uint32_t>;
  EXPECT_EQ(touching(0, 40, true), Members{});
  EXPECT_EQ(touching(0, 41, true), Members{0});
  EXPECT_EQ(touching(0, 41, false), Members{});
  EXPECT_EQ(touching(47, 83, true), (Members{0, 1}));
  EXPECT_EQ(touching(48, 80, true), Members{});
  EXPECT_EQ(touching(83, 4096, false), Members{1});
  EXPECT_EQ(touching(84, 4097, true), Members{});
  EXPECT_EQ(touching(40, 40, true), Members{});
}

TEST_F(WordsTest, MemoryOfTheHost) {
  const TouchedWords own = touched(one, 0, none, words(0, 1));
  const TouchedWords of_host = touched(shared, 0, words(0, 1), none);
  const auto any = [](std::uint32_t) { return true; };
  EXPECT_FALSE(WordsOfGroup({{&own, 0}}).find_sharing(any));
  EXPECT_TRUE(WordsOfGroup({{&own, 0}, {&of_host, 1}}).find_sharing(any));
}

}  // namespace
}  // namespace warpcheck::cudart
