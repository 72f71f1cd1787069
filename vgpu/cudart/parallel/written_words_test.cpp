#include "vgpu/cudart/parallel/written_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "vgpu/machine/undefined/memory_shadow.hpp"

namespace warpcheck::cudart {
namespace {

// An allocation that ends within a word of its second page.
struct WrittenWordsTest : testing::Test {
  std::vector<std::byte> data = std::vector<std::byte>(kParallelPageBytes + 10);
  vgpu::Allocation allocation;
  vgpu::Checkers checkers{vgpu::CheckerSet{}, vgpu::WarpModel::independent};

  WrittenWordsTest() {
    allocation.id = 1;
    allocation.space = ptx::Space::global;
    allocation.data = data.data();
    allocation.bytes = data.size();
    fill(1);
  }
  void fill(unsigned char first) {
    for (std::byte& one : data) one = std::byte{first++};
  }
  // Words 0, 63, 64 and 1023 of the first page, and the last one of the allocation.
  [[nodiscard]] TouchedWords touched() const {
    const TouchedWords::Bits none{};
    TouchedWords::Bits first{}, second{};
    for (const unsigned word : {0u, 63u, 64u, 1023u}) {
      first[word / 64] |= std::uint64_t{1} << word % 64;
    }
    second[0] = 4;
    TouchedWords words;
    words.add(allocation, 0, none.data(), first.data());
    words.add(allocation, 1, none.data(), second.data());
    return words;
  }
  // Returns the numbers of the words that differ.
  [[nodiscard]] std::vector<std::size_t> changed_since(const std::vector<std::byte>& before) const {
    std::vector<std::size_t> words;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (data[i] != before[i] && (words.empty() || words.back() != i / 4)) words.push_back(i / 4);
    }
    return words;
  }
};

TEST_F(WrittenWordsTest, OnlyTheWrittenWordsAreKeptAndWritten) {
  const TouchedWords words = touched();
  const std::vector<std::byte> then = data;
  WrittenWords written;
  written.keep(words, checkers);
  EXPECT_EQ(written.bytes(), 4 * 4 + 2 + 2);
  fill(100);
  const std::vector<std::byte> before = data;
  written.write(words, checkers);
  EXPECT_EQ(changed_since(before), (std::vector<std::size_t>{0, 63, 64, 1023, 1026}));
  for (const std::size_t word : {0, 63, 64, 1023}) {
    EXPECT_TRUE(std::equal(&data[4 * word], &data[4 * word] + 4, &then[4 * word])) << word;
  }
  EXPECT_EQ(data.back(), then.back());
}

TEST_F(WrittenWordsTest, TheStatesOfTheBytesAreKeptToo) {
  vgpu::MemoryShadow* const states = checkers.make_states_of(allocation);
  ASSERT_NE(states, nullptr);
  const auto bytes = static_cast<std::uint32_t>(data.size());
  const auto set_states = [&](std::uint8_t state) { states->set(0, bytes, state); };
  const TouchedWords words = touched();
  set_states(0xff);
  WrittenWords written;
  written.keep(words, checkers);
  set_states(0);
  written.write(words, checkers);
  unsigned defined = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) defined += states->raw_state_at(i) == 0xff ? 1 : 0;
  EXPECT_EQ(defined, 4 * 4 + 2u);
  EXPECT_EQ(states->raw_state_at(0), 0xff);
  EXPECT_EQ(states->raw_state_at(4), 0);
  EXPECT_EQ(states->raw_state_at(bytes - 1), 0xff);
}

}  // namespace
}  // namespace warpcheck::cudart
