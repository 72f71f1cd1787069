// Which lanes of a warp to hold behind at an access.
//
// Most races need one lane, or one side of a boundary, to be late once.  So the shapes that isolate
// a lane or cut the warp in two are as likely as an arbitrary subset.
#pragma once

#include <cstdint>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {

// A non-empty subset of `active`: a proper one, or, where the lanes `other_ready` could go on
// instead, sometimes all.  0 when there is none.
std::uint32_t draw_held_lanes(Prng& prng, std::uint32_t active, std::uint32_t other_ready);

}  // namespace warpcheck::vgpu
