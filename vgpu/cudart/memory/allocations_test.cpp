#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/machine/observer.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "vgpu/cudart/testing/device_parts.hpp"

namespace warpcheck::cudart {
namespace {

using Events = std::vector<std::string>;

const void* at(const vgpu::Allocation& allocation, std::uint64_t offset) {
  return reinterpret_cast<const void*>(allocation.address + offset);
}

class OfDevice : public testing::Test, protected DeviceParts {};

TEST_F(OfDevice, AllocationsAreToldRecordedAndFound) {
  CallLog log;
  recording.set_log(&log);
  vgpu::Allocation* const one = allocations.allocate(16);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(events.events, (Events{"allocate 16"}));
  ASSERT_EQ(log.calls().size(), 1u);
  EXPECT_EQ(std::get<AllocateCall>(log.calls()[0]).bytes, 16u);
  EXPECT_EQ(allocations.find(at(*one, 15)), one);
  EXPECT_EQ(allocations.find(at(*one, 16)), nullptr);
  allocations.free(*one);
  EXPECT_EQ(events.events, (Events{"allocate 16", "free 16"}));
  EXPECT_EQ(allocations.find(at(*one, 0)), nullptr);
}

TEST_F(OfDevice, AllocationsAreToldToObserversOfMemoryOnly) {
  class Other final : public vgpu::Observer {
   public:
    [[nodiscard]] vgpu::Watched watches() const override {
      return {.memory = false, .trial_end = true};
    }
    void on_allocate(const vgpu::Allocation&) override { ++told; }
    void on_host_access(const vgpu::HostAccess&) override { ++told; }
    void on_trial_end(std::span<const vgpu::Allocation* const> left) override {
      told += static_cast<int>(left.size());
    }
    int told = 0;
  };
  Other other;
  observers.add(other);
  allocations.fill_from_host(*allocations.allocate(16));
  EXPECT_EQ(events.events, (std::vector<std::string>{"allocate 16", "host write 0+16"}));
  EXPECT_EQ(other.told, 0);
  allocations.report_what_is_left();
  EXPECT_EQ(other.told, 1);
}

TEST_F(OfDevice, BytesThatTheHostHasWrittenAreToldAsSuch) {
  allocations.fill_from_host(*allocations.allocate(8));
  EXPECT_EQ(events.events, (Events{"allocate 8", "host write 0+8"}));
}

TEST_F(OfDevice, LargeAllocationsAreToldPartByPart) {
  memory.set_part_bytes(4096);
  vgpu::Allocation* const one = allocations.allocate(10'000);
  EXPECT_EQ(events.events, (Events{"allocate 4096", "allocate 4096", "allocate 1808"}));
  EXPECT_EQ(one->bytes, 10'000u);
  EXPECT_EQ(allocations.find(at(*one, 9999)), one);
  EXPECT_EQ(allocations.find(at(*one, 10'000)), nullptr);
  EXPECT_TRUE(allocations.range_at("cudaMemcpy", at(*one, 4000), 6000, true));
  events.events.clear();
  allocations.fill_from_host(*one);
  EXPECT_EQ(events.events, (Events{"host write 0+4096", "host write 0+4096", "host write 0+1808"}));
  events.events.clear();
  allocations.free(*one);
  EXPECT_EQ(events.events, (Events{"free 4096", "free 4096", "free 1808"}));
}

TEST_F(OfDevice, WhatIsLeftOfLargeAllocationsIsOneThing) {
  memory.set_part_bytes(4096);
  allocations.allocate(10'000);
  events.events.clear();
  allocations.report_what_is_left();
  EXPECT_EQ(events.events, (Events{"left 10000"}));
}

// An address shortly after an allocation belongs to the device, a distant one to the host.
TEST_F(OfDevice, AddressesNearAnAllocationAreOwned) {
  int on_host = 0;
  EXPECT_FALSE(allocations.owns(&on_host));
  const vgpu::Allocation* const one = allocations.allocate(16);
  EXPECT_TRUE(allocations.owns(at(*one, 16 + kOverrunBytesMax)));
  EXPECT_FALSE(allocations.owns(at(*one, 17 + kOverrunBytesMax)));
  EXPECT_EQ(allocations.nearest(at(*one, 20)), one);
  EXPECT_FALSE(allocations.owns(&on_host));
}

TEST_F(OfDevice, RangesOutsideAnAllocationAreFindings) {
  vgpu::Allocation* const one = allocations.allocate(16);
  const auto range = allocations.range_at("cudaMemcpy", at(*one, 4), 12, true);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->allocation, one);
  EXPECT_EQ(range->offset, 4u);
  EXPECT_EQ(range->data(), one->data + 4);
  EXPECT_TRUE(found().empty());

  EXPECT_FALSE(allocations.range_at("cudaMemcpy", at(*one, 4), 13, true));
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(found()[0].message, "cudaMemcpy of 13 bytes is not inside one allocation");

  allocations.free(*one);
  EXPECT_FALSE(allocations.range_at("cudaMemset", at(*one, 4), 4, true));
  ASSERT_EQ(found().size(), 2u);
  EXPECT_EQ(found()[1].kind, vgpu::FindingKind::use_after_free);
  EXPECT_EQ(found()[1].message, "cudaMemset of 4 bytes uses memory that has been freed");

  int on_host = 0;
  EXPECT_FALSE(allocations.range_at("cudaMemcpy", &on_host, 4, false));
  EXPECT_EQ(found().size(), 2u);
}

// Memory of a graph keeps its address, and is undefined at first.
TEST_F(OfDevice, MemoryOfAGraphIsKept) {
  vgpu::Allocation* const one = allocations.allocate(16);
  GraphMemory& of_graphs = allocations.of_graphs();
  EXPECT_FALSE(of_graphs.is_unused(*one));
  of_graphs.add(*one);
  EXPECT_TRUE(of_graphs.is_unused(*one));
  EXPECT_EQ(of_graphs.used_bytes(), 0u);
  of_graphs.take(*one);
  allocations.renew(*one);
  EXPECT_FALSE(of_graphs.is_unused(*one));
  EXPECT_EQ(of_graphs.used_bytes(), 16u);
  EXPECT_TRUE(allocations.range_at("cudaMemset", at(*one, 4), 4, true));
  allocations.free(*one);
  EXPECT_TRUE(of_graphs.is_unused(*one));
  EXPECT_EQ(of_graphs.reserved_bytes(), 16u);
  EXPECT_EQ(allocations.find(at(*one, 0)), one) << "for a call that builds a graph";
  EXPECT_FALSE(allocations.range_at("cudaMemset", at(*one, 4), 4, true));
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].kind, vgpu::FindingKind::use_after_free);
  of_graphs.take(*one);
  EXPECT_TRUE(allocations.range_at("cudaMemset", at(*one, 4), 4, true));
  EXPECT_EQ(events.events, (Events{"allocate 16", "allocate 16", "allocate 16"}));
}

TEST_F(OfDevice, OnlyWhatTheProgramHasAllocatedIsLeft) {
  allocations.allocate(8);
  allocations.allocate(16, ptx::Space::global, "variable");
  allocations.allocate(32)->page_locked = true;
  vgpu::Allocation* const unused = allocations.allocate(64);
  allocations.of_graphs().add(*unused);
  events.events.clear();
  allocations.report_what_is_left();
  EXPECT_EQ(events.events, (Events{"left 8"}));
}

TEST_F(OfDevice, AGenerationHasANumberOfItsOwn) {
  const std::uint64_t generation = allocations.generation();
  allocations.begin_generation();
  EXPECT_NE(allocations.generation(), generation);
}

TEST_F(OfDevice, AllOfItIsFreedAtOnceButVariablesOfAllDevices) {
  vgpu::Allocation* const variable = allocations.allocate_mapped(4, "shared_by_all");
  variable->managed = true;
  const vgpu::Allocation* const own = allocations.allocate(16);
  memory.set_devices(2);
  Allocations other(memory, observers, findings, recording, of_all, 1);
  const vgpu::Allocation* const of_other = other.allocate(16);
  allocations.free_all();
  EXPECT_FALSE(own->live);
  EXPECT_TRUE(variable->live);
  EXPECT_TRUE(of_other->live);
}

}  // namespace
}  // namespace warpcheck::cudart
