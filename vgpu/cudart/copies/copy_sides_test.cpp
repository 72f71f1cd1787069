#include "vgpu/cudart/copies/copy_sides.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/cudart/testing/device_parts.hpp"

namespace warpcheck::cudart {
namespace {

class SidesOfCopies : public testing::Test, protected DeviceParts {
 protected:
  SidesOfCopies() {
    managed_->managed = true;
    host_blocks_.add({.start = reinterpret_cast<std::uintptr_t>(locked_.data()), .bytes = 8});
  }
  static void* at(const vgpu::Allocation& allocation, std::uint64_t offset = 0) {
    return reinterpret_cast<void*>(allocation.address + offset);
  }
  std::optional<CopySide> side(void* pointer, Where where, const Box& box) {
    return sides_.at("cudaMemcpy", {pointer, 8, 16}, where, box, true);
  }

  vgpu::Allocation* device_ = allocations.allocate(32);
  vgpu::Allocation* managed_ = allocations.allocate(32);
  std::array<std::byte, 16> locked_{}, pageable_{};
  HostBlocks host_blocks_;
  CopySides sides_{allocations, host_blocks_, findings};
};

TEST_F(SidesOfCopies, AreWhereTheKindSays) {
  const auto direction = [&](int kind) {
    const auto found = sides_.direction_of(at(*device_), pageable_.data(), kind);
    return std::pair(found->target, found->source);
  };
  EXPECT_EQ(direction(cudaMemcpyHostToDevice), std::pair(Where::device, Where::host));
  EXPECT_EQ(direction(cudaMemcpyDeviceToHost), std::pair(Where::host, Where::device));
  EXPECT_EQ(direction(cudaMemcpyDeviceToDevice), std::pair(Where::device, Where::device));
  EXPECT_EQ(direction(cudaMemcpyDefault), std::pair(Where::device, Where::host));
  EXPECT_FALSE(sides_.direction_of(at(*device_), pageable_.data(), 5));
}

TEST_F(SidesOfCopies, AreFoundByTheirPointers) {
  const auto found = sides_.direction_of(at(*managed_), locked_.data(), cudaMemcpyDefault);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->target, Where::device);
  EXPECT_EQ(found->source, Where::host);
  EXPECT_TRUE(sides_.is_managed(at(*managed_, 31)));
  EXPECT_FALSE(sides_.is_managed(at(*device_)));
  EXPECT_TRUE(sides_.is_page_locked(locked_.data() + 7));
  EXPECT_FALSE(sides_.is_page_locked(locked_.data() + 8));
  EXPECT_TRUE(sides_.is_pageable(Where::host, pageable_.data()));
  EXPECT_FALSE(sides_.is_pageable(Where::device, pageable_.data()));
  EXPECT_FALSE(sides_.is_pageable(Where::host, locked_.data()));
  EXPECT_FALSE(sides_.is_pageable(Where::host, at(*managed_)));
}

// Two slices, 16 bytes apart; each has two rows of 4 bytes, 8 bytes apart: 28 bytes in all.
TEST_F(SidesOfCopies, HoldTheWholeBox) {
  const Box box{4, 2, 2};
  const auto found = side(at(*device_, 4), Where::device, box);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->on_device);
  EXPECT_EQ(found->row(1, 1), device_->data + 4 + 16 + 8);
  EXPECT_EQ(found->rows(box), (Rows{device_, 4, 8, 16, box}));
  EXPECT_TRUE(this->found().empty());
  EXPECT_FALSE(side(at(*device_, 5), Where::device, box));
  EXPECT_EQ(this->found().size(), 1u);
}

TEST_F(SidesOfCopies, OnTheHostAreNotOnTheDevice) {
  const auto found = side(pageable_.data(), Where::host, {4});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->on_device);
  EXPECT_EQ(found->row(0, 1), pageable_.data() + 8);
  EXPECT_FALSE(side(at(*device_), Where::host, {4}));
  EXPECT_TRUE(side(at(*managed_), Where::host, {4})->on_device);
  EXPECT_FALSE(side(nullptr, Where::host, {4}));
}

TEST_F(SidesOfCopies, InPageLockedMemoryEndWithIt) {
  EXPECT_TRUE(side(locked_.data() + 4, Where::host, {4}));
  EXPECT_FALSE(side(locked_.data() + 4, Where::host, {5}));
}

TEST_F(SidesOfCopies, ThatNoMemoryCanHoldAreNone) {
  EXPECT_FALSE(
      sides_.at("cudaMemcpy2D", {pageable_.data(), SIZE_MAX, 0}, Where::host, {1, 3}, false));
  EXPECT_FALSE(
      sides_.at("cudaMemcpy3D", {pageable_.data(), 1, SIZE_MAX}, Where::host, {1, 2, 2}, false));
}

}  // namespace
}  // namespace warpcheck::cudart
