#include "vgpu/machine/memory/memory.hpp"

#include <gtest/gtest.h>

#include <array>

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

TEST(DeviceMemory, TellsWhoseBytesAreCloserToAnAddressBetweenTwoAllocations) {
  DeviceMemory memory;
  const Allocation* const first = memory.allocate(100);
  const Allocation* const second = memory.allocate(100);
  const std::uint64_t gap = second->address - first->address - 100;
  EXPECT_EQ(memory.closest(first->address + 99), first);
  EXPECT_EQ(memory.closest(first->address + 100), first);
  EXPECT_EQ(memory.closest(first->address + 100 + gap / 2), first);
  EXPECT_EQ(memory.closest(first->address + 100 + gap / 2 + 1), second);
  EXPECT_EQ(memory.closest(second->address - 1), second);
  EXPECT_EQ(memory.closest(second->address + 100 + gap), second);
}

TEST(DeviceMemory, AnAddressBeforeTheFirstAllocationIsClosestToIt) {
  DeviceMemory memory;
  const Allocation* const constant = memory.allocate(4, ptx::Space::constant);
  const Allocation* const global = memory.allocate(4);
  const Allocation* const heap = memory.allocate_on_heap(4);
  EXPECT_EQ(memory.closest(constant->address - 4), constant);
  EXPECT_EQ(memory.closest(global->address - 4), global);
  EXPECT_EQ(memory.closest(heap->address - 4), heap);
}

TEST(DeviceMemory, RefusesMoreThanItHas) {
  DeviceMemory memory;
  EXPECT_EQ(memory.allocate(memory.capacity_bytes()), nullptr);
  EXPECT_EQ(memory.allocate(UINT64_MAX), nullptr);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(DeviceMemory, KnowsWhetherAnythingIsLeft) {
  DeviceMemory memory;
  memory.set_devices(2);
  EXPECT_FALSE(memory.has_live());
  const std::array<Allocation*, 3> all{memory.allocate(0, ptx::Space::global, {}, 1),
                                       memory.allocate_on_heap(8), memory.allocate_mapped(4)};
  for (Allocation* const one : all) {
    EXPECT_TRUE(memory.has_live());
    memory.free(one);
  }
  EXPECT_FALSE(memory.has_live());
  Allocation* const unmapped = memory.allocate_unmapped(4096, 0);
  EXPECT_TRUE(memory.has_live());
  memory.free_unmapped(*unmapped);
  EXPECT_FALSE(memory.has_live());
  memory.allocate(4);
  memory.reset();
  EXPECT_FALSE(memory.has_live());
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

TEST(DeviceMemory, GivesLargeAllocationsPartsSideBySide) {
  DeviceMemory memory;
  memory.set_part_bytes(4096);
  EXPECT_TRUE(memory.allocate(4096)->parts.empty());
  Allocation* const whole = memory.allocate(10'000);
  ASSERT_EQ(whole->parts.size(), 3u);
  EXPECT_EQ(whole->part_at(4095), &whole->parts[0]);
  const Allocation& part = whole->parts[2];
  EXPECT_EQ(whole->part_at(8192), &part);
  EXPECT_EQ(part.bytes, 1808u);
  EXPECT_EQ(part.address, whole->address + 8192);
  EXPECT_EQ(part.data, whole->data + 8192);
  EXPECT_EQ(&part.object(), whole);
  EXPECT_NE(part.id, whole->id);
  EXPECT_EQ(whole->place_at(9000).offset, 808u);
  EXPECT_EQ(describe(part, 8, 4), "allocation of 10000 bytes [2050]");
  EXPECT_EQ(memory.find(whole->address + 9999), whole);
  memory.free(whole);
  EXPECT_FALSE(part.live);
}

// A program that allocates and frees in a loop must not accumulate freed memory.
TEST(DeviceMemory, GivesOutMoreThanTheHostHasAsLongAsNobodyTouchesIt) {
  DeviceMemory memory;
  memory.set_capacity(std::uint64_t{64} << 30);
  for (int i = 0; i < 3; ++i) {
    Allocation* const allocation = memory.allocate(std::uint64_t{60} << 30);
    ASSERT_NE(allocation, nullptr) << i;
    EXPECT_EQ(allocation->data[allocation->bytes - 1], std::byte{0xa5});
    memory.free(allocation);
  }
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

TEST(DeviceHeap, KeepsItsAllocationsApart) {
  DeviceMemory memory;
  Allocation* const first = memory.allocate_on_heap(20);
  Allocation* const second = memory.allocate_on_heap(20);
  EXPECT_TRUE(first->on_heap());
  EXPECT_EQ(first->address % kHeapAlignment, 0u);
  EXPECT_EQ(memory.find(first->address + 19), first);
  EXPECT_EQ(memory.find(first->address + 20), nullptr);
  EXPECT_EQ(memory.find(second->address), second);
  EXPECT_EQ(memory.nearest(second->address - 1), first);
  EXPECT_EQ(memory.nearest(kHeapBase - 1), nullptr);
  EXPECT_EQ(memory.live().size(), 2u);
  EXPECT_EQ(memory.used_bytes(), 0u) << "the heap is not what cudaMalloc has";
}

TEST(DeviceHeap, RemembersWhatWasFreedLast) {
  DeviceMemory memory;
  const std::uint64_t oldest = memory.allocate_on_heap(16)->address;
  std::uint64_t newest = oldest;
  memory.free(memory.find(oldest));
  EXPECT_EQ(memory.nearest(oldest)->live, false);
  for (int i = 1; i < 1 << 16; ++i) {
    Allocation* const next = memory.allocate_on_heap(16);
    EXPECT_GT(next->address, newest);
    EXPECT_EQ(next->id, 0u) << "ids are given out again";
    newest = next->address;
    memory.free(next);
  }
  EXPECT_EQ(memory.nearest(oldest), nullptr) << "forgotten";
  EXPECT_EQ(memory.nearest(newest)->address, newest);
  EXPECT_EQ(memory.find(newest), nullptr);
  memory.reset();
  EXPECT_EQ(memory.allocate_on_heap(16)->address, oldest);
}

}  // namespace
}  // namespace warpcheck::vgpu
