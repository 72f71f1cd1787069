// What an instruction does with values that an observer follows (Observer::follows()), beyond
// moving them and calculating with them.
//
// Followed values are marked as undefined, and flow as undefined values do (undefined.hpp).  That
// knows addresses and branches as uses.  To prove that a value decides nothing, every use counts:
// here are those that matter only then.  What nobody has argued about is told as not followed.
#pragma once

#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

// Tells the observers which operands of an instruction, about to be executed, decide what it does.
//   active: the lanes for which its guard holds
void follow_values(const RunningLaunch& launch, const RunningFragment& run, const Instr& instr,
                   std::uint32_t active);

// Tells the observers that `lanes` execute an instruction of which nobody knows what its result
// depends on.
void tell_unfollowed(const RunningLaunch& launch, const RunningFragment& run, std::uint32_t lanes);

// Marks what an instruction has given to `lanes`, as it depends on the order of threads.
void mark_results(const RunningLaunch& launch, RunningFragment& run, const Instr& instr,
                  std::uint32_t lanes);

}  // namespace warpcheck::vgpu
