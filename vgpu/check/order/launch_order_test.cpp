#include "vgpu/check/order/launch_order.hpp"

#include <gtest/gtest.h>

#include <array>

namespace warpcheck::vgpu {
namespace {

TEST(LaunchOrder, KnowsTheLaunchesThatAreNotOrderedWhateverTheirSequence) {
  LaunchOrder order;
  order.reset();
  for (int i = 0; i < 8; ++i) order.begin({}, {}, ptx::kNone);
  const std::array<std::uint32_t, 3> unordered{6, 2, 5};
  order.begin({}, unordered, ptx::kNone);
  EXPECT_EQ(order.first_unordered(), 2u);
  for (std::uint32_t launch = 0; launch < 8; ++launch) {
    const bool is_listed = launch == 2 || launch == 5 || launch == 6;
    EXPECT_EQ(order.is_ordered(launch), !is_listed) << launch;
  }
  EXPECT_FALSE(order.is_ordered(8));  // itself
}

TEST(LaunchOrder, HasNoUnorderedLaunchUnlessItIsTold) {
  LaunchOrder order;
  order.reset();
  order.begin({}, {}, ptx::kNone);
  order.begin({}, {}, ptx::kNone);
  EXPECT_EQ(order.first_unordered(), 1u);
  EXPECT_TRUE(order.is_ordered(0));
}

}  // namespace
}  // namespace warpcheck::vgpu
