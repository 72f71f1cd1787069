#include "vgpu/cudart/host_watch/shared_objects.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warpcheck::cudart {
namespace {

// Device memory, and 16 bytes that host and device share.
class SharedRanges : public testing::Test {
 protected:
  SharedRanges() {
    memory.set_two_views(true);
    shared = memory.allocate_mapped(16);
  }
  void SetUp() override {
    ASSERT_NE(shared, nullptr);
    ASSERT_TRUE(shared->has_two_views());
  }
  // Returns how many ranges a kernel with this parameter may use.
  std::size_t used_by(std::uint64_t parameter) {
    KernelWork kernel;
    kernel.parameters.resize(sizeof parameter);
    std::memcpy(kernel.parameters.data(), &parameter, sizeof parameter);
    return shared_ranges(memory, kernel).size();
  }
  vgpu::Allocation* filled(std::uint64_t bytes, std::byte value) {
    vgpu::Allocation* const allocation = memory.allocate(bytes);
    std::memset(allocation->data, static_cast<int>(value), bytes);
    return allocation;
  }

  vgpu::DeviceMemory memory;
  vgpu::Allocation* shared = nullptr;
};

TEST_F(SharedRanges, AreFoundByTheirAddresses) {
  EXPECT_EQ(used_by(shared->address), 1u);
  EXPECT_EQ(used_by(shared->address + 15), 1u);
  EXPECT_EQ(used_by(shared->address + 16), 0u);
  EXPECT_EQ(used_by(shared->address - 1), 0u);
}

// Stretches of memory without addresses are passed over; an address may be any word of a stretch.
TEST_F(SharedRanges, AreFoundThroughEachWordOfAnObject) {
  for (const std::byte rest : {std::byte{0}, std::byte{0x3f}, std::byte{0xff}}) {
    vgpu::Allocation* const object = filled(600, rest);  // the last stretch is a part of one
    EXPECT_EQ(used_by(object->address), 0u);
    for (std::size_t at = 0; at < 600; at += 8) {
      std::memcpy(object->data + at, &shared->address, 8);
      EXPECT_EQ(used_by(object->address), 1u) << at;
      std::memset(object->data + at, static_cast<int>(rest), 8);
    }
  }
}

TEST_F(SharedRanges, AreFoundThroughMemoryOfEveryKind) {
  vgpu::Allocation* const heap = memory.allocate_on_heap(8);
  vgpu::Allocation* const constant = memory.allocate(8, ptx::Space::constant);
  vgpu::Allocation* const bytes = memory.allocate_unmapped(8, 0);
  vgpu::Allocation* const view = memory.map(*bytes, vgpu::kVirtualEnd - 4096);
  for (const vgpu::Allocation* const object : {heap, constant, view}) {
    std::memcpy(object->data, &shared->address, 8);
    vgpu::Allocation* const list = filled(256, std::byte{0});
    std::memcpy(list->data + 128, &object->address, 8);
    EXPECT_EQ(used_by(list->address), 1u) << object->address;
  }
}

TEST_F(SharedRanges, IncludeVariablesThatAreLive) {
  vgpu::Allocation* const variable = memory.allocate_mapped(4, "counter");
  EXPECT_EQ(variable->name, "counter");
  EXPECT_EQ(memory.mapped_variables(), std::vector<const vgpu::Allocation*>{variable});
  EXPECT_EQ(used_by(0), 1u);
  memory.free(variable);
  EXPECT_TRUE(memory.mapped_variables().empty());
  EXPECT_EQ(used_by(0), 0u);
}

TEST_F(SharedRanges, AreThoseOfLiveMemory) {
  vgpu::Allocation* const other = memory.allocate_mapped(16);
  EXPECT_EQ(memory.live_mapped_end(), other->address + 16);
  memory.free(shared);
  EXPECT_EQ(used_by(shared->address), 0u);
  EXPECT_EQ(used_by(other->address), 1u);
  memory.free(other);
  EXPECT_EQ(memory.live_mapped_end(), 0u);
  EXPECT_EQ(used_by(other->address), 0u);
  EXPECT_TRUE(memory.has_mapped());
}

}  // namespace
}  // namespace warpcheck::cudart
