#include "vgpu/machine/progress/poll_watch.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

using Verdict = PollWatch::Verdict;

class PollWatchTest : public testing::Test {
 protected:
  // One lane of block `block` reads the int at `index`.
  void read(std::uint32_t index, std::uint32_t block = 7) {
    Access access;
    access.allocation = memory_;
    access.place.block = block;
    access.pc = 3;
    access.mask = 1;
    access.bytes = 4;
    access.offset[0] = 4 * index;
    watch_.on_access(access);
  }

  // All lanes read `bytes` bytes from byte `begin` on: the same ones, or each lane the next ones.
  void read_row(std::uint32_t begin, Pattern pattern, std::uint8_t bytes) {
    Access access;
    access.allocation = memory_;
    access.place.block = 7;
    access.mask = ~0u;
    access.bytes = bytes;
    access.pattern = pattern;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      access.offset[lane] = begin + (pattern == Pattern::strided ? lane * bytes : 0);
    }
    watch_.on_access(access);
  }

  DeviceMemory arena_;
  Allocation* memory_ = arena_.allocate(1 << 20);
  PollWatch watch_;
};

TEST_F(PollWatchTest, TheSameAccessesWithTheSameBytesAreAPoll) {
  watch_.begin(7, 2048);
  for (int round = 0; round < 129; ++round) {
    EXPECT_EQ(watch_.verdict(), Verdict::undecided);
    read(0);
  }
  EXPECT_EQ(watch_.verdict(), Verdict::polls);
}

TEST_F(PollWatchTest, OtherAddressesAreWork) {
  watch_.begin(7, 2048);
  for (std::uint32_t i = 0; i < 2048; ++i) read(i);
  EXPECT_EQ(watch_.verdict(), Verdict::works);
}

TEST_F(PollWatchTest, OtherBytesAreWork) {
  watch_.begin(7, 2048);
  for (std::uint32_t i = 0; i < 2048; ++i) {
    std::memcpy(memory_->data, &i, sizeof i);
    read(0);
  }
  EXPECT_EQ(watch_.verdict(), Verdict::works);
}

TEST_F(PollWatchTest, RowsRepeatThemselvesOrReadOtherBytes) {
  for (const Pattern pattern : {Pattern::uniform, Pattern::strided, Pattern::scattered}) {
    const bool is_row = pattern == Pattern::strided;
    for (const std::uint8_t bytes : {1, 2, 4, 8, 16}) {
      watch_.begin(7, 2048);
      for (int round = 0; round < 129; ++round) read_row(64, pattern, bytes);
      EXPECT_EQ(watch_.verdict(), Verdict::polls);
      // Another byte of the last lane; another place.
      for (const std::uint32_t last : {64u + (is_row ? 32u : 1u) * bytes - 1u, 64u}) {
        watch_.begin(7, 2048);
        for (int value = 0; value < 128; ++value) {
          memory_->data[last] = static_cast<std::byte>(value);
          read_row(64, pattern, bytes);
        }
        for (int round = 0; round < 129; ++round) read_row(64, pattern, bytes);
        EXPECT_EQ(watch_.verdict(), Verdict::undecided);
      }
      watch_.begin(7, 2048);
      for (std::uint32_t i = 0; i < 2048; ++i) read_row(16 * i, pattern, bytes);
      EXPECT_EQ(watch_.verdict(), Verdict::works);
    }
  }
}

TEST_F(PollWatchTest, OtherBlocksAreNotWatched) {
  watch_.begin(7, 2048);
  for (std::uint32_t i = 0; i < 4096; ++i) read(0, 6);
  EXPECT_EQ(watch_.verdict(), Verdict::undecided);
}

}  // namespace
}  // namespace warpcheck::vgpu
