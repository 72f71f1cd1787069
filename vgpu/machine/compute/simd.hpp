// The instruction set of the host that the machine uses.
#pragma once

#include <string_view>

namespace warpcheck::vgpu {

// Returns "avx512", "avx2" or "baseline": the instruction set that is used on this host.
// WARPCHECK_SIMD in the environment can lower it, so that tests can test every level on one
// machine.
std::string_view simd_level();

}  // namespace warpcheck::vgpu
