#include "vgpu/cudart/memory/host_blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace warpcheck::cudart {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(HostBlocks, FindsTheBlockThatHoldsAnAddress) {
  HostBlocks blocks;
  EXPECT_EQ(blocks.find(at(0x1000)), nullptr);
  blocks.add({.start = 0x1000, .bytes = 16, .flags = 2});
  blocks.add({.start = 0x2000, .bytes = 1, .flags = 4});
  EXPECT_EQ(blocks.find(at(0xfff)), nullptr);
  ASSERT_NE(blocks.find(at(0x1000)), nullptr);
  ASSERT_NE(blocks.find(at(0x100f)), nullptr);
  EXPECT_EQ(blocks.find(at(0x100f))->start, 0x1000u);
  EXPECT_EQ(blocks.find(at(0x100f))->flags, 2u);
  EXPECT_EQ(blocks.find(at(0x100f))->offset_of(at(0x100f)), 15u);
  EXPECT_EQ(blocks.find(at(0x1010)), nullptr);
  ASSERT_NE(blocks.find(at(0x2000)), nullptr);
  EXPECT_EQ(blocks.find(at(0x2000))->flags, 4u);
  EXPECT_EQ(blocks.find(at(0x2001)), nullptr);
}

TEST(HostBlocks, FindsOfBlocksThatOverlapTheOneThatBeginsLast) {
  HostBlocks blocks;
  blocks.add({.start = 0x1000, .bytes = 64});
  blocks.add({.start = 0x1010, .bytes = 8});
  ASSERT_NE(blocks.find(at(0x1017)), nullptr);
  EXPECT_EQ(blocks.find(at(0x1017))->start, 0x1010u);
  ASSERT_NE(blocks.find(at(0x100f)), nullptr);
  EXPECT_EQ(blocks.find(at(0x100f))->start, 0x1000u);
}

TEST(HostBlocks, ForgetsWhatIsRemoved) {
  HostBlocks blocks;
  blocks.add({.start = 0x1000, .bytes = 16});
  blocks.add({.start = 0x2000, .bytes = 16});
  blocks.remove(*blocks.find(at(0x1000)));
  EXPECT_EQ(blocks.find(at(0x1000)), nullptr);
  EXPECT_NE(blocks.find(at(0x2000)), nullptr);
  blocks.clear();
  EXPECT_EQ(blocks.find(at(0x2000)), nullptr);
}

// Kernels access a copy of registered memory, and of no other host memory.
TEST(HostBlocks, CopiesRegisteredMemoryToTheDeviceAndBack) {
  std::array<std::byte, 4> own{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  std::array<std::byte, 4> of_device{};
  std::array<std::byte, 4> made{std::byte{9}}, same{};
  vgpu::Allocation copy, mapped;
  copy.data = of_device.data();
  mapped.data = same.data();
  HostBlocks blocks;
  blocks.add({.start = reinterpret_cast<std::uintptr_t>(own.data()),
              .bytes = 3,
              .registered = true,
              .allocation = &copy});
  blocks.add({.start = reinterpret_cast<std::uintptr_t>(made.data()),
              .bytes = 4,
              .registered = false,
              .allocation = &mapped});
  blocks.copy_registered_to_device();
  EXPECT_EQ(of_device, (std::array{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0}}));
  of_device[1] = std::byte{7};
  blocks.copy_registered_to_host();
  EXPECT_EQ(own, (std::array{std::byte{1}, std::byte{7}, std::byte{3}, std::byte{4}}));
  EXPECT_EQ(same[0], std::byte{0});
}

TEST(HostBlocks, BringsEachSideWhatTheOtherHasChanged) {
  std::array<std::byte, 4> own{}, of_device{};
  vgpu::Allocation copy;
  copy.data = of_device.data();
  HostBlocks blocks;
  blocks.add({.start = reinterpret_cast<std::uintptr_t>(own.data()),
              .bytes = 4,
              .registered = true,
              .allocation = &copy});
  blocks.copy_registered_to_device();
  own[0] = std::byte{1};  // while a kernel is running
  of_device[3] = std::byte{2};
  blocks.copy_registered_to_host();
  blocks.copy_registered_to_device();
  const std::array both{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{2}};
  EXPECT_EQ(own, both);
  EXPECT_EQ(of_device, both);
  EXPECT_EQ(blocks.host_bytes_of(of_device.data() + 2), own.data() + 2);
  EXPECT_EQ(blocks.host_bytes_of(own.data()), nullptr);
}

}  // namespace
}  // namespace warpcheck::cudart
