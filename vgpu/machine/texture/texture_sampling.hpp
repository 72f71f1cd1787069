// Which texels a fetch looks at, and what it makes of them: the arithmetic of the hardware.
//
// The CUDA C++ Programming Guide says that the linear filter has weights of 8 fraction bits.  The
// rest was found by comparing with an H200, and is replayed by tests (docs/conformance.md).
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::vgpu {

inline constexpr std::int32_t kWeightOne = 256;

// A texel that counts, and how much: weights of a fetch add up to kWeightOne.  A weight may have
// been rounded to 0: then a NaN or an infinity counts all the same.
struct TexelUse {
  std::uint32_t level = 0;
  std::uint32_t x = 0, y = 0, layer = 0;
  bool is_border = false;  // outside: the border's color
  std::int32_t weight = 0;
};

struct Footprint {
  // Texels are summed up in two groups, each aligned for itself: two layers, or two levels.
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

// The texels of tex, and of tex.level.
Footprint footprint_of(const Texture& texture, const FetchPlace& place);
// Of tex1Dfetch(): an element's number.
Footprint footprint_of_element(const Texture& texture, std::int32_t index);
// The four of tld4, in the order of its results.
Footprint footprint_of_gather(const Texture& texture, const FetchPlace& place);
// The level of detail of tex.grad.  dx, dy: the gradients of as many coordinates as there are.
float level_of_gradient(const Texture& texture, const std::array<float, 3>& dx,
                        const std::array<float, 3>& dy);

// The bits of one channel of a texel, as a fetch gives them.
std::uint32_t point_value(const Texture& texture, std::uint32_t channel, std::uint32_t texel);
// Of the texels of a footprint: texels[i] is channel `channel` of use i, as it is in memory.
std::uint32_t filtered_value(const Texture& texture, std::uint32_t channel,
                             const Footprint& footprint,
                             const std::array<std::uint32_t, 16>& texels);
// The border's color: of floats the value, else as a texel would have it.
std::uint32_t border_value(const Texture& texture, std::uint32_t channel);

}  // namespace warpcheck::vgpu
