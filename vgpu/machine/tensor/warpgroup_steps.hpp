// Instructions that all warps of a warpgroup must execute alike: setmaxnreg (PTX ISA 9.0, 9.7.19.5:
// "If a setmaxnreg instruction is not executed by all warps in the warpgroup, then the behavior is
// undefined"), wgmma.commit_group and wgmma.wait_group (9.7.15.7: `.aligned`).
//
// When a block ends, the threads of a warpgroup are compared by how often they have executed each
// of them, wherever they stand.  That only their forms differ (.inc and .dec) is another reason.
#pragma once

#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kGroupWarps = 4;

void note_warpgroup_step(const RunningFragment& run, std::uint32_t lanes);
// Reports the first difference within each warpgroup of a block all of whose threads have exited.
void compare_warpgroups(const RunningLaunch& launch, const Slot& slot);

}  // namespace warpcheck::vgpu
