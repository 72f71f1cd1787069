// Chooses the lanes of a warp to hold at an access.
//
// Most races need one lane, or one side of a boundary between lanes, to be late once.  So the sets
// that isolate one lane or cut the warp in two are as likely as an arbitrary subset.
#pragma once

#include <cstdint>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {

// Returns a non-empty subset of `active`.  It is a proper subset, or sometimes all lanes if the
// lanes `other_ready` could continue instead. 0: there is none.
std::uint32_t draw_held_lanes(Prng& prng, std::uint32_t active, std::uint32_t other_ready);

}  // namespace warpcheck::vgpu
