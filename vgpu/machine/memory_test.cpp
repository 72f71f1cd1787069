#include "vgpu/machine/memory.hpp"

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

TEST(DeviceMemory, GivesTheSameAddressesAfterAReset) {
  DeviceMemory memory;
  const std::uint64_t first = memory.allocate(100)->address;
  const std::uint64_t second = memory.allocate(4)->address;
  EXPECT_EQ(first, kGlobalBase);
  EXPECT_EQ(second % 512, 0u);
  memory.reset();
  EXPECT_EQ(memory.used_bytes(), 0u);
  EXPECT_EQ(memory.allocate(100)->address, first);
  EXPECT_EQ(memory.allocate(4)->address, second);
}

TEST(DeviceMemory, AnswersOnlyInsideLiveAllocations) {
  DeviceMemory memory;
  Allocation* allocation = memory.allocate(100);
  EXPECT_EQ(memory.find(allocation->address + 99), allocation);
  EXPECT_EQ(memory.find(allocation->address + 100), nullptr);
  EXPECT_EQ(memory.find(allocation->address - 1), nullptr);
  EXPECT_EQ(memory.nearest(allocation->address + 100), allocation);
  EXPECT_TRUE(allocation->contains(allocation->address + 96, 4));
  EXPECT_FALSE(allocation->contains(allocation->address + 97, 4));
  memory.free(allocation);
  EXPECT_EQ(memory.find(allocation->address), nullptr);
  EXPECT_EQ(memory.nearest(allocation->address), allocation);
  EXPECT_TRUE(memory.live().empty());
  EXPECT_NE(memory.allocate(100)->address, allocation->address);
}

TEST(DeviceMemory, RefusesMoreThanItHas) {
  DeviceMemory memory;
  EXPECT_EQ(memory.allocate(memory.capacity_bytes()), nullptr);
  EXPECT_EQ(memory.allocate(UINT64_MAX), nullptr);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(DeviceMemory, KeepsIdsDense) {
  DeviceMemory memory;
  Allocation* shared = memory.allocate_private(64, ptx::Space::shared);
  EXPECT_EQ(shared->id, 0u);
  EXPECT_EQ(memory.allocate(4)->id, 1u);
  memory.reset();
  EXPECT_EQ(memory.allocate(4)->id, 1u);
  memory.release_private(shared);
  EXPECT_EQ(memory.allocate(4)->id, 0u);
}

TEST(Describe, NamesTheElement) {
  Allocation allocation;
  allocation.bytes = 128;
  EXPECT_EQ(describe(allocation, 12, 4), "allocation of 128 bytes [3]");
  EXPECT_EQ(describe(allocation, 13, 4), "allocation of 128 bytes at byte 13");
  allocation.symbols = {{"a", 0, 16}, {"s", 16, 0}};
  EXPECT_EQ(describe(allocation, 12, 4), "a[3]");
  EXPECT_EQ(describe(allocation, 20, 4), "s[1]");
}

}  // namespace
}  // namespace warpcheck::vgpu
