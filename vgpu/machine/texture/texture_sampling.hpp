// Texture sampling: which texels a fetch reads and how it combines them, with the arithmetic of the
// hardware.
//
// The CUDA C++ Programming Guide specifies that the linear filter has weights with 8 fraction bits.
// Everything else was determined by comparison with an H200; tests replay that comparison
// (docs/develop/conformance.md).
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::vgpu {

inline constexpr std::int32_t kWeightOne = 256;

// A texel that a fetch uses, with its weight; the weights of a fetch add up to kWeightOne.  A
// weight may be rounded to 0; a NaN or an infinity in that texel counts nevertheless.
struct TexelUse {
  std::uint32_t level, x, y, layer;
  bool is_border;  // outside the texture: the border color
  std::int32_t weight;
};

struct Footprint {
  // Texels are added in two groups, each aligned separately: two layers, or two levels.  Only the
  // first `count` are set, because a fetch mostly uses one or four.
  std::array<TexelUse, 16> uses;
  std::uint32_t count = 0;
  std::array<std::uint32_t, 4> group_end{};
  std::uint32_t groups = 0;
};

struct FetchPlace {
  std::array<float, 3> at{};
  std::uint32_t layer = 0;
  float level = 0;
};

// Returns whether every tex of this texture, with or without a level, reads one texel or the
// border.
bool reads_one_texel(const Texture& texture);
// Finds the texels of such fetches along one side.  Returns the lanes that are not at the border.
//   at: the lanes' coordinates; texels: written for `lanes`
std::uint32_t nearest_texels(const Texture& texture, std::size_t side, std::uint32_t size,
                             const float* at, std::uint32_t lanes, std::uint32_t* texels);
// Returns the texels of tex and tex.level.
Footprint footprint_of(const Texture& texture, const FetchPlace& place);
// Returns the four texels of tld4, in the order of its results.
Footprint footprint_of_gather(const Texture& texture, const FetchPlace& place);
// Returns the level of detail for tex.grad. dx, dy: the gradients, one per coordinate.
float level_of_gradient(const Texture& texture, const std::array<float, 3>& dx,
                        const std::array<float, 3>& dy);

// Returns the bits of one channel of a texel, in the form that a fetch returns.
std::uint32_t point_value(const Texture& texture, std::uint32_t channel, std::uint32_t texel);
// Returns the filtered value of a footprint; texels[i] is channel `channel` of use i, as stored in
// memory.
std::uint32_t filtered_value(const Texture& texture, std::uint32_t channel,
                             const Footprint& footprint,
                             const std::array<std::uint32_t, 16>& texels);
// Returns the border color: for floats its value, otherwise its encoding as a texel.
std::uint32_t border_value(const Texture& texture, std::uint32_t channel);

}  // namespace warpcheck::vgpu
