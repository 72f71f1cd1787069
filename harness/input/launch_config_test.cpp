#include "harness/input/launch_config.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace warpcheck {
namespace {

TEST(LaunchConfig, TakesNumbersAsExtents) {
  const int n = 33;
  const LaunchConfig launch{.block = n};
  EXPECT_EQ(launch.block, Dim3(33, 1, 1));
}

TEST(Covers, WantsAThreadForEachElement) {
  const LaunchConfig launch{.grid = 2, .block = 32};
  EXPECT_TRUE(covers(launch, 64));
  EXPECT_FALSE(covers(launch, 65));
  EXPECT_TRUE(covers(launch, std::size_t{64}));
  EXPECT_TRUE(covers(launch, 0));
}

TEST(Covers, RefusesEmptyLaunches) {
  EXPECT_FALSE(covers(LaunchConfig{.grid = 0, .block = 32}, 0));
  EXPECT_FALSE(covers(LaunchConfig{.grid = 1, .block = {32, 0}}, 0));
}

}  // namespace
}  // namespace warpcheck
