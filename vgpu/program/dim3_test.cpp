#include "vgpu/program/dim3.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace warpcheck {
namespace {

// Has the same members as CUDA's type, which this test does not include.
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
  EXPECT_EQ(Dim3(n).x, 33U);
  EXPECT_EQ(Dim3(2LL, short{3}, 4U), Dim3(2, 3, 4));
}

TEST(Dim3, CountsIn64Bits) {
  EXPECT_EQ(Dim3(0xffffffffU, 0xffffU, 2).count(), 0xffffffffULL * 0xffffULL * 2);
}

TEST(Dim3, NumbersWhatLiesInItXFirst) {
  const Dim3 extents(4, 3, 2);
  EXPECT_EQ(extents.position_of(0), Dim3(0, 0, 0));
  EXPECT_EQ(extents.position_of(5), Dim3(1, 1, 0));
  EXPECT_EQ(extents.position_of(23), Dim3(3, 2, 1));
  for (std::uint32_t number = 0; number < extents.count(); ++number) {
    EXPECT_EQ(extents.linear(extents.position_of(number)), number);
  }
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

}  // namespace
}  // namespace warpcheck
