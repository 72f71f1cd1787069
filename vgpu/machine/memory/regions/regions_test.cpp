#include "vgpu/machine/memory/regions/regions.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace warpcheck::vgpu {
namespace {

using Use = Regions::Use;

class RegionsOfAPool : public testing::Test {
 protected:
  RegionsOfAPool() : regions_(*memory_.allocate(1024)) {}
  std::shared_ptr<Allocation> view(std::uint64_t begin, std::uint64_t end,
                                   const Allocation* pool = nullptr) {
    auto view = std::make_shared<Allocation>();
    view->address = kGlobalBase + begin;
    view->bytes = end - begin;
    view->pool = pool;
    view->is_region = true;
    return view;
  }
  std::shared_ptr<Allocation> hand_out(std::uint64_t begin, std::uint64_t end) {
    auto region = view(begin, end, pool_.get());
    regions_.set(begin, end, Use::region, region);
    return region;
  }
  void expect_window(std::uint64_t offset, std::uint64_t begin, std::uint64_t end, Use use) {
    const Regions::Window window = regions_.at(offset);
    EXPECT_EQ(window.begin, begin) << offset;
    EXPECT_EQ(window.end, end) << offset;
    EXPECT_EQ(window.use, use) << offset;
  }

  DeviceMemory memory_;
  Regions regions_;
  std::shared_ptr<Allocation> pool_ = view(0, 1024);
};

TEST_F(RegionsOfAPool, AnAllocationThatNothingIsSaidOfIsOneObject) {
  expect_window(1023, 0, 1024, Use::plain);
  EXPECT_TRUE(regions_.has(0, 1024));
  EXPECT_EQ(regions_.closest(0), nullptr);
}

TEST_F(RegionsOfAPool, OnlyRegionsMayBeUsedAndEachByItself) {
  regions_.set(0, 1024, Use::unused, pool_);
  const auto first = hand_out(128, 256), second = hand_out(256, 300);
  expect_window(127, 0, 128, Use::unused);
  expect_window(128, 128, 256, Use::region);
  expect_window(256, 256, 300, Use::region);
  expect_window(300, 300, 1024, Use::unused);
  EXPECT_TRUE(regions_.has(128, 128));
  EXPECT_FALSE(regions_.has(128, 129));
  EXPECT_FALSE(regions_.has(100, 4));
  EXPECT_EQ(regions_.closest(10), first.get());
  EXPECT_EQ(regions_.closest(1000), second.get());
}

TEST_F(RegionsOfAPool, ARegionThatHasEndedIsKnownUntilItsBytesAreHandedOutAgain) {
  regions_.set(0, 1024, Use::unused, pool_);
  const auto old = hand_out(0, 512);
  regions_.replace(*old, Use::gone, old);
  expect_window(511, 0, 512, Use::gone);
  hand_out(128, 256);
  expect_window(127, 0, 128, Use::gone);
  expect_window(200, 128, 256, Use::region);
  EXPECT_EQ(regions_.at(256).object, old.get());
}

TEST_F(RegionsOfAPool, WhatIsInsideARegionEndsWithIt) {
  regions_.set(0, 1024, Use::unused, pool_);
  const auto outer = hand_out(0, 512);
  const auto nested = view(0, 512, outer.get()), inner = view(64, 128, nested.get());
  regions_.set(0, 512, Use::unused, nested);
  regions_.set(64, 128, Use::region, inner);
  const auto beside = hand_out(512, 600);
  regions_.replace(*outer, Use::gone, outer);
  expect_window(100, 0, 512, Use::gone);
  expect_window(512, 512, 600, Use::region);
}

TEST_F(RegionsOfAPool, NeighboursThatAreNoPoolAreOneObject) {
  regions_.set(0, 100, Use::plain, view(0, 100));
  regions_.set(512, 1024, Use::unused, pool_);
  expect_window(0, 0, 512, Use::plain);
  expect_window(200, 0, 512, Use::plain);
  EXPECT_TRUE(regions_.has(50, 462));
  EXPECT_FALSE(regions_.has(50, 463));
}

}  // namespace
}  // namespace warpcheck::vgpu
