#include "harness/input/launch_config.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace warpcheck {
namespace {

// Shaped like CUDA's types, which this test does without.
struct CudaUint3 {
  unsigned x, y, z;
};
struct CudaDim3 {
  unsigned x, y, z;
  constexpr CudaDim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr CudaDim3(CudaUint3 v) : x(v.x), y(v.y), z(v.z) {}
};

TEST(Dim3, DefaultsToOne) {
  EXPECT_EQ(Dim3(), Dim3(1, 1, 1));
  EXPECT_EQ(Dim3(7), Dim3(7, 1, 1));
}

TEST(Dim3, TakesAnyIntegerType) {
  const int n = 33;
  const LaunchConfig launch{.block = n};
  EXPECT_EQ(launch.block.x, 33U);
  EXPECT_EQ(Dim3(2LL, short{3}, 4U), Dim3(2, 3, 4));
}

TEST(Dim3, CountsIn64Bits) {
  EXPECT_EQ(Dim3(0xffffffffU, 0xffffU, 2).count(), 0xffffffffULL * 0xffffULL * 2);
}

TEST(Dim3, ConvertsToCudasType) {
  const Dim3 extents(4, 5, 6);
  const CudaDim3 copied = extents;
  const CudaDim3 constructed(extents);
  EXPECT_EQ(copied.x, 4U);
  EXPECT_EQ(copied.y, 5U);
  EXPECT_EQ(constructed.z, 6U);
  static_assert(!std::is_convertible_v<Dim3, CudaUint3>);
  static_assert(!std::is_convertible_v<Dim3, unsigned>);
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
