#include "vgpu/machine/tensor/tensor_map.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace warpcheck::vgpu {
namespace {

TensorMap matrix() {
  TensorMap map;
  map.address = 0x0f00'0000'1000;
  map.element = TensorElement::f16;
  map.rank = 2;
  map.size = {100, 50};
  map.stride = {208};
  map.box = {32, 7};
  map.element_step = {1, 2};
  return map;
}

TEST(TensorMap, IsWhatWasPacked) {
  TensorMap map = matrix();
  map.swizzle = TensorSwizzle::bytes_64;
  map.fills_with_nan = true;
  EXPECT_EQ(unpack_tensor_map(pack(map)), map);
}

// The first example of PTX ISA 9.0, 5.5.4.1: images of 9 x 14 pixels, a filter of 3 x 3, padded
// by 1.
TEST(TensorMap, InTheModeIm2colABoxOfEachImageHoldsTheBasesOfFilters) {
  TensorMap map = matrix();
  map.is_im2col = true;
  map.rank = 4;
  map.size = {64, 9, 14, 64};
  map.stride = {128, 1152, 16128};
  map.box = {8, 64, 1, 1};
  map.element_step = {1, 1, 1, 1};
  map.lower = {-1, -1};
  map.upper = {-1, -1};
  EXPECT_EQ(unpack_tensor_map(pack(map)), map);
  EXPECT_EQ(map.rows(), 64u);
  EXPECT_EQ(map.bytes(), 1024u);
  EXPECT_EQ(map.first(1), -1);
  EXPECT_EQ(map.last(1), 7);
  EXPECT_EQ(map.last(2), 12);
}

TEST(TensorMap, IsNoneWhereAByteHasChanged) {
  const TensorMapBytes bytes = pack(matrix());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    TensorMapBytes changed = bytes;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(unpack_tensor_map(changed)) << at;
  }
}

// As a kernel makes it in shared memory, in order to set its fields by tensormap.replace.
TEST(TensorMap, ZerosAreAMapWithoutFields) {
  std::optional<TensorMap> map = unpack_tensor_map({});
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->is_empty());
  EXPECT_EQ(map->unset_field(), "global_address");
  map->unset &= ~field_bit(TensorField::address, 0);
  map->rank = 2;
  map->unset &= ~field_bit(TensorField::rank, 0) & ~field_bit(TensorField::box, 0);
  EXPECT_EQ(map->unset_field(), "box_dim 1");
  EXPECT_EQ(unpack_tensor_map(pack(*map)), map);
  map->unset = field_bit(TensorField::size, 2) | field_bit(TensorField::stride, 1) |
               field_bit(TensorField::atomicity, 0);
  EXPECT_EQ(map->unset_field(), "");
  map->rank = 3;
  EXPECT_EQ(map->unset_field(), "global_dim 2");
}

TEST(TensorMap, ABoxHasAsManyRowsAsItsStepsLeave) {
  const TensorMap map = matrix();
  EXPECT_EQ(map.row_bytes(), 64u);
  EXPECT_EQ(map.rows(), 4u);
  EXPECT_EQ(map.bytes(), 256u);
  EXPECT_EQ(map.row_pitch(), 64u);
}

TEST(TensorMap, SwizzlingMovesChunksWithinTheirSpan) {
  TensorMap map = matrix();
  EXPECT_EQ(map.swizzled(0x12b0), 0x12b0u);
  map.swizzle = TensorSwizzle::bytes_32;
  EXPECT_EQ(map.swizzled(0x12b0), 0x12a0u);
  map.swizzle = TensorSwizzle::bytes_64;
  EXPECT_EQ(map.swizzled(0x13b0), 0x1380u);
  map.swizzle = TensorSwizzle::bytes_128;
  EXPECT_EQ(map.swizzled(0x13b0), 0x13c0u);
  EXPECT_EQ(map.row_pitch(), 128u);
}

TEST(TensorMap, ShortRowsOfInterleavedMapsStayAsTheyAre) {
  TensorMap map = matrix();
  map.interleave = TensorInterleave::slices_16;
  map.swizzle = TensorSwizzle::bytes_128;
  map.rank = 3;
  map.element_step = {1, 1, 1};
  const auto answers = [&](std::uint16_t pixels) {
    map.box = {pixels, 7, 1};
    return std::pair(map.has_known_layout(), map.swizzled(0x13b0) != 0x13b0);
  };
  EXPECT_EQ(answers(1), std::pair(true, false));
  EXPECT_EQ(answers(2), std::pair(true, false));
  EXPECT_FALSE(answers(3).first);
  EXPECT_EQ(answers(8), std::pair(true, true));
  map.interleave = TensorInterleave::slices_32;
  EXPECT_FALSE(answers(1).first);
}

TEST(TensorMap, WordsOfTf32AreRoundedAndSubnormalsStay) {
  TensorMap map = matrix();
  const auto converted = [&](float value) {
    return std::bit_cast<float>(map.converted(std::bit_cast<std::uint32_t>(value)));
  };
  map.element = TensorElement::f32;
  EXPECT_EQ(converted(1e-40f), 1e-40f);
  map.element = TensorElement::f32_ftz;
  EXPECT_EQ(converted(1e-40f), 1e-40f);
  map.element = TensorElement::tf32;
  EXPECT_EQ(converted(1.0f + 0x1.8p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(converted(1.0f + 0x1p-11f), 1.0f);
  EXPECT_EQ(map.converted(0xffc1'2345), 0x7fff'e000u);
  EXPECT_EQ(map.converted(0xff80'0000), 0xff80'0000u);
}

}  // namespace
}  // namespace warpcheck::vgpu
