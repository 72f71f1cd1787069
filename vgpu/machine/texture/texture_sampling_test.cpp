#include "vgpu/machine/texture/texture_sampling.hpp"

#include <bit>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

Texture row_of(std::uint32_t width, bool smooth) {
  Texture texture;
  texture.shape = TextureShape::line;
  texture.levels.resize(1);
  texture.levels.front().width = width;
  texture.address.fill(TextureAddress::clamp);
  texture.smooth = smooth;
  return texture;
}

FetchPlace at(float x, float y = 0, float z = 0) {
  FetchPlace place;
  place.at = {x, y, z};
  return place;
}

std::vector<std::pair<std::uint32_t, std::int32_t>> columns_of(const Footprint& footprint) {
  std::vector<std::pair<std::uint32_t, std::int32_t>> columns;
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    columns.emplace_back(footprint.uses[i].x, footprint.uses[i].weight);
  }
  return columns;
}

using Columns = std::vector<std::pair<std::uint32_t, std::int32_t>>;

float filtered(const Texture& texture, const Footprint& footprint,
               const std::vector<float>& texels) {
  std::array<std::uint32_t, 16> bits{};
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    bits[i] = std::bit_cast<std::uint32_t>(texels[footprint.uses[i].x]);
  }
  return std::bit_cast<float>(filtered_value(texture, 0, footprint, bits));
}

TEST(TextureSampling, APointIsTheTexelBelow) {
  const Texture texture = row_of(8, false);
  EXPECT_EQ(columns_of(footprint_of(texture, at(2.9999998F))), (Columns{{2, 256}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(3))), (Columns{{3, 256}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(-1e30F))), (Columns{{0, 256}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(std::numeric_limits<float>::infinity()))),
            (Columns{{7, 256}}));
}

TEST(TextureSampling, WeightsHaveEightBitsRoundedToNearest) {
  const Texture texture = row_of(8, true);
  EXPECT_EQ(columns_of(footprint_of(texture, at(2.5F))), (Columns{{2, 256}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(2.5F + 0x1p-10F))), (Columns{{2, 256}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(2.5F + 0x1p-9F))), (Columns{{2, 255}, {3, 1}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(3.25F))), (Columns{{2, 64}, {3, 192}}));
}

TEST(TextureSampling, WeightsOfAPlaneAddUpToOne) {
  Texture texture = row_of(8, true);
  texture.shape = TextureShape::plane;
  texture.levels.front().height = 8;
  for (int step = 0; step < 256; ++step) {
    const float x = 2.5F + static_cast<float>(step) / 256;
    const Footprint footprint = footprint_of(texture, at(x, 3.5F + 77.0F / 256));
    std::int32_t sum = 0;
    for (std::uint32_t i = 0; i < footprint.count; ++i) sum += footprint.uses[i].weight;
    EXPECT_EQ(sum, kWeightOne);
  }
}

TEST(TextureSampling, NormalizedCoordinatesWrapAndMirror) {
  Texture texture = row_of(8, true);
  texture.normalized = true;
  texture.address.fill(TextureAddress::wrap);
  EXPECT_EQ(columns_of(footprint_of(texture, at(1))), (Columns{{7, 128}, {0, 128}}));
  EXPECT_EQ(columns_of(footprint_of(texture, at(-0.5F))), (Columns{{3, 128}, {4, 128}}));
  texture.address.fill(TextureAddress::mirror);
  EXPECT_EQ(columns_of(footprint_of(texture, at(1.1875F))), (Columns{{6, 256}}));
  texture.address.fill(TextureAddress::border);
  texture.layered = true;  // without it, the rows above and below are outside
  const Footprint footprint = footprint_of(texture, at(0));
  EXPECT_TRUE(footprint.uses[0].is_border);
  EXPECT_FALSE(footprint.uses[1].is_border);
}

TEST(TextureSampling, TexelsWithoutWeightDoNotCount) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Texture texture = row_of(2, true);
  const std::vector<float> texels = {1, infinity};
  EXPECT_EQ(filtered(texture, footprint_of(texture, at(0.5F)), texels), 1);
  EXPECT_EQ(filtered(texture, footprint_of(texture, at(0.75F)), texels), infinity);
  const std::vector<float> opposite = {-infinity, infinity};
  const float sum = filtered(texture, footprint_of(texture, at(1)), opposite);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), 0x7fff'ffffu);
}

TEST(TextureSampling, FloatsAreRoundedAwayFromZeroOnce) {
  const Texture texture = row_of(2, true);
  const std::vector<float> texels = {1, 1 + 0x1p-23F};
  EXPECT_EQ(filtered(texture, footprint_of(texture, at(1 - 1.0F / 256)), texels), 1);
  EXPECT_EQ(filtered(texture, footprint_of(texture, at(1)), texels), 1 + 0x1p-23F);
}

TEST(TextureSampling, BytesAreFilteredInSixteenBits) {
  Texture texture = row_of(2, true);
  texture.format = {TexelKind::unsigned_integer, 8, 1};
  texture.scaled = true;
  const Footprint footprint = footprint_of(texture, at(1));
  // (0 + 257) / 2 is rounded up.
  EXPECT_EQ(std::bit_cast<float>(filtered_value(texture, 0, footprint, {0, 1})), 129.0F / 65535);
  EXPECT_EQ(std::bit_cast<float>(point_value(texture, 0, 51)), 0.2F);
  texture.format.kind = TexelKind::signed_integer;
  EXPECT_EQ(std::bit_cast<float>(point_value(texture, 0, 0x80)), -1);
}

TEST(TextureSampling, LevelsAreRoundedOrMixed) {
  Texture texture = row_of(8, false);
  texture.levels.resize(3, texture.levels.front());
  texture.level_max = 100;
  FetchPlace place = at(0);
  place.level = 1.5F;
  EXPECT_EQ(footprint_of(texture, place).uses[0].level, 2u);
  texture.smooth_levels = true;
  place.level = 1.25F;
  const Footprint footprint = footprint_of(texture, place);
  ASSERT_EQ(footprint.count, 2u);
  EXPECT_EQ(footprint.uses[0].level, 1u);
  EXPECT_EQ(footprint.uses[0].weight, 192);
  EXPECT_EQ(footprint.uses[1].level, 2u);
  EXPECT_EQ(level_of_gradient(texture, {8, 0, 0}, {0, 0, 0}), 3);
  EXPECT_EQ(level_of_gradient(texture, {0, 0, 0}, {0.25F, 0, 0}), -2);
  // 11/16 of the sum of the gradients is greater than the length of either.
  EXPECT_NEAR(level_of_gradient(texture, {4, 0, 0}, {4, 0, 0}), 2.4594F, 1e-4F);
}

TEST(TextureSampling, ACubeHasSixFaces) {
  Texture texture = row_of(8, false);
  texture.shape = TextureShape::cube;
  texture.levels.front().height = 8;
  texture.levels.front().layers = 6;
  const std::array<FetchPlace, 6> places = {at(1, 0, 0),  at(-1, 0, 0), at(0, 1, 0),
                                            at(0, -1, 0), at(0, 0, 1),  at(0, 0, -1)};
  for (std::uint32_t face = 0; face < 6; ++face) {
    EXPECT_EQ(footprint_of(texture, places[face]).uses[0].layer, face);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
