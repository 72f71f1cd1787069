#include "vgpu/cudart/against/difference.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace warpcheck::cudart {
namespace {

constexpr Element kFloatElement{ptx::Type::f32, 4}, kWordElement{ptx::Type::none, 4},
    kHalfElement{ptx::Type::f16, 2};

template <typename Value>
std::vector<MemoryImage> images(const std::vector<Value>& values) {
  MemoryImage image{.variable = {}, .address = 512, .bytes = {}};
  image.bytes.resize(values.size() * sizeof(Value));
  std::memcpy(image.bytes.data(), values.data(), image.bytes.size());
  return {image};
}

TEST(Difference, EqualBytesHaveNone) {
  EXPECT_FALSE(find_difference(images<int>({1, 2}), images<int>({1, 2}), kWordElement));
}

TEST(Difference, TheFirstElementAndTheCountAreFound) {
  const auto found =
      find_difference(images<int>({1, 2, 3, 4}), images<int>({1, 5, 3, 6}), kWordElement);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 4u);
  EXPECT_EQ(found->count, 2u);
  EXPECT_FALSE(found->ulps) << "no floating-point numbers";
}

TEST(Difference, FloatsHaveADistance) {
  const float next = std::nextafter(1.0F, 2.0F);
  const auto found =
      find_difference(images<float>({1, -0.0F}), images<float>({next, 0x1p-149F}), kFloatElement);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 2u);
  EXPECT_EQ(found->ulps, 1u) << "zero and the smallest subnormal are neighbours";
}

TEST(Difference, NaNsAreEqualToEachOtherOnly) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float other = std::bit_cast<float>(0xffc0'0001u);
  EXPECT_FALSE(find_difference(images<float>({nan}), images<float>({other}), kFloatElement));
  const auto found = find_difference(images<float>({nan, 1}), images<float>({2, 2}), kFloatElement);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->ulps) << "a NaN has no distance";
}

TEST(Difference, ValuesAreReadable) {
  EXPECT_EQ(value_text(images<float>({1.5F})[0], 0, kFloatElement), "1.5 (0x3fc00000)");
  EXPECT_EQ(value_text(images<int>({42})[0], 0, kWordElement), "0x0000002a");
  const MemoryImage halves = images<std::uint16_t>({0xc100, 0xfe01, 0x0001, 0xfc00})[0];
  EXPECT_EQ(value_text(halves, 0, kHalfElement), "-2.5 (0xc100)");
  EXPECT_EQ(value_text(halves, 2, kHalfElement), "-nan (0xfe01)");
  EXPECT_EQ(value_text(halves, 4, kHalfElement), "5.9604645e-08 (0x0001)");
  EXPECT_EQ(value_text(halves, 6, kHalfElement), "-inf (0xfc00)");
  EXPECT_EQ(value_text(images<float>({std::bit_cast<float>(0x7fc0'0001u)})[0], 0, kFloatElement),
            "nan (0x7fc00001)");
}

}  // namespace
}  // namespace warpcheck::cudart
