#include "vgpu/cudart/memory/permissions.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace warpcheck::cudart {
namespace {

constexpr std::uint8_t kRead = vgpu::AccessRights::kRead, kWrite = vgpu::AccessRights::kWrite,
                       kAtomic = vgpu::AccessRights::kAtomic, kAll = vgpu::AccessRights::kAll;

class PermissionsTest : public testing::Test {
 protected:
  std::uint8_t of(const vgpu::Allocation& object, unsigned device = 0,
                  const void* stream = nullptr) {
    const auto rights = permissions_.of_launch(device, stream);
    return rights == nullptr ? kAll : rights->of(&object, object);
  }

  Permissions permissions_;
  vgpu::Allocation one_, other_;
  int first_stream_ = 0, second_stream_ = 0;
};

TEST_F(PermissionsTest, WithoutAnyNothingIsRestricted) {
  EXPECT_EQ(permissions_.of_launch(0, nullptr), nullptr);
}

TEST_F(PermissionsTest, ThoseOfTheDeviceComeBeforeThoseOfAll) {
  permissions_.assign(Permissions::kAllDevices, one_, kRead);
  permissions_.assign(Permissions::of_device(1), one_, kRead | kWrite);
  EXPECT_EQ(of(one_), kRead);
  EXPECT_EQ(of(one_, 1), kRead | kWrite);
  EXPECT_EQ(of(other_), kAll);
  permissions_.assign(Permissions::kProcessWide, one_, Permissions::kReset);
  EXPECT_EQ(of(one_), kAll);
}

TEST_F(PermissionsTest, AnObjectIsBoundAsItIsToTheStreamOfTheNextLaunch) {
  const auto own = permissions_.create(0);
  permissions_.assign(own, one_, kRead);
  EXPECT_EQ(of(one_, 0, &first_stream_), kAll);
  ASSERT_TRUE(permissions_.bind(own, 0));
  permissions_.assign(own, other_, kRead);
  EXPECT_EQ(of(one_, 0, &first_stream_), kRead);
  EXPECT_EQ(of(one_, 0, &second_stream_), kAll);
  EXPECT_EQ(of(other_, 0, &first_stream_), kAll);
  std::thread([&] { EXPECT_EQ(of(one_, 0, &first_stream_), kAll); }).join();
  permissions_.unbind();
  EXPECT_EQ(of(one_, 0, &first_stream_), kAll);
}

TEST_F(PermissionsTest, ExcludedRightsAreThoseOfTheBoundObjectAlone) {
  permissions_.assign(Permissions::kAllDevices, other_, kRead | kWrite);
  const auto own = permissions_.create(kWrite);
  permissions_.assign(own, one_, kWrite);
  permissions_.bind(own, kAtomic);
  EXPECT_EQ(of(one_, 0, &first_stream_), kWrite);
  EXPECT_EQ(of(other_, 0, &first_stream_), kRead);
  permissions_.destroy(own);
  EXPECT_EQ(of(other_, 0, &first_stream_), kRead | kWrite);
}

TEST_F(PermissionsTest, TheRightsOfADevicesMemoryAreThoseOfWhatHasNone) {
  one_.device = 1;
  permissions_.assign_device(Permissions::of_device(0), {}, kRead);
  permissions_.assign_device(Permissions::of_device(0), 0, kAll);
  EXPECT_EQ(of(one_), kRead);
  EXPECT_EQ(of(other_), kAll);
  EXPECT_EQ(of(one_, 1), kAll);
  permissions_.assign(Permissions::kAllDevices, one_, kWrite);
  EXPECT_EQ(of(one_), kWrite);
  permissions_.reset(Permissions::of_device(0));
  permissions_.forget(one_);
  EXPECT_EQ(of(one_), kAll);
}

TEST_F(PermissionsTest, RegionsHaveTheRightsOfTheirAllocationUnlessTheyHaveTheirOwn) {
  vgpu::Allocation region;
  permissions_.assign(Permissions::kAllDevices, one_, kRead);
  EXPECT_EQ(permissions_.of_launch(0, nullptr)->of(&region, one_), kRead);
  permissions_.assign(Permissions::kAllDevices, region, kWrite);
  EXPECT_EQ(permissions_.of_launch(0, nullptr)->of(&region, one_), kWrite);
}

TEST_F(PermissionsTest, UnknownObjectsAreRefused) {
  EXPECT_FALSE(permissions_.assign(Permissions::kFirstCreated, one_, kRead));
  EXPECT_FALSE(permissions_.bind(Permissions::kAllDevices, 0));
  EXPECT_FALSE(permissions_.destroy(Permissions::kAllDevices));
}

}  // namespace
}  // namespace warpcheck::cudart
