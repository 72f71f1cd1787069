#include "vgpu/machine/progress/memory_changes.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

class MemoryChangesTest : public testing::Test {
 protected:
  MemoryChangesTest() { std::memset(memory_->data, 7, memory_->bytes); }

  // A lane writes `bytes` bytes, each of them `value`.
  void write(std::uint32_t offset, std::uint32_t value, std::uint8_t bytes = 4) {
    Access access;
    access.allocation = memory_;
    access.space = ptx::Space::global;
    access.bytes = bytes;
    access.offset[0] = offset;
    const std::size_t before = changes_.count();
    changes_.add(access, 0);
    std::memset(memory_->data + offset, static_cast<int>(value), bytes);
    changes_.drop_unchanged(before);
  }

  DeviceMemory arena_;
  Allocation* memory_ = arena_.allocate(1 << 16);
  MemoryChanges changes_;
};

TEST_F(MemoryChangesTest, AreUndoneWhenTheBytesAreBack) {
  write(8, 1);
  const MemoryChanges::State one = changes_.state();
  write(12, 2);
  write(13, 3, 1);
  EXPECT_FALSE(changes_.are_undone(one));
  write(8, 7, 16);
  EXPECT_EQ(changes_.hash(), 0u);
  EXPECT_FALSE(changes_.are_undone(one));
  EXPECT_TRUE(changes_.are_undone({}));
  write(8, 1);
  EXPECT_TRUE(changes_.are_undone(one));
  EXPECT_EQ(changes_.hash(), one.hash);
}

TEST_F(MemoryChangesTest, TheHashDependsOnBytesAndNotOnTheWayThere) {
  write(3, 1, 1);
  write(4, 1, 1);
  write(9, 5, 2);
  const std::uint64_t hash = changes_.hash();
  changes_.undo(0);
  EXPECT_EQ(changes_.hash(), 0u);
  EXPECT_EQ(memory_->data[9], std::byte{7});
  write(9, 4, 8);
  write(9, 7, 8);
  write(9, 5, 2);
  write(3, 1, 2);
  EXPECT_EQ(changes_.hash(), hash);
}

TEST_F(MemoryChangesTest, UndoRestoresBytesAndHash) {
  write(0, 1, 16);
  write(4, 2);
  const MemoryChanges::State two = changes_.state();
  for (std::uint32_t i = 0; i < 100; ++i) write(4 * i, i + 10);
  changes_.undo(two.changes);
  EXPECT_EQ(changes_.hash(), two.hash);
  EXPECT_EQ(changes_.foreign(), 2u);
  EXPECT_EQ(memory_->data[4], std::byte{2});
  EXPECT_EQ(memory_->data[8], std::byte{1});
  EXPECT_EQ(memory_->data[200], std::byte{7});
}

// A change costs the words that it touches, however many changes there were before.
TEST_F(MemoryChangesTest, ChangesAreHashedOnce) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    write(4 * (i % 4'096), i % 200 + 8);
    sum += changes_.hash();
  }
  EXPECT_NE(sum, 0u);
  EXPECT_LE(changes_.words_hashed(), 10'000u);
  write(5, 1, 8);
  EXPECT_LE(changes_.words_hashed(), 10'002u);
}

}  // namespace
}  // namespace warpcheck::vgpu
