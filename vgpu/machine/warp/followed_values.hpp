// Reports uses of values that an observer follows (Watched::followed_values), beyond moving and
// computing.
//
// Followed values are marked as undefined, and propagate as undefined values do (undefined.hpp).
// That already reports addresses and branches.  To prove that a value decides nothing, every use
// counts; this file reports the uses that matter only then.  An instruction whose values have not
// been analysed is reported as not followed.
#pragma once

#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

// Reports which operands of an instruction that is about to be executed decide what it does.
//   active: the lanes for which its guard is true
void follow_values(const RunningLaunch& launch, const RunningFragment& run, const Instr& instr,
                   std::uint32_t active);

// Reports that `lanes` execute an instruction whose result may depend on unknown values.
void report_unfollowed(const RunningLaunch& launch, const RunningFragment& run,
                       std::uint32_t lanes);

// Marks the results that an instruction has given to `lanes` as depending on the order of threads.
void mark_results(const RunningLaunch& launch, RunningFragment& run, const Instr& instr,
                  std::uint32_t lanes);

}  // namespace warpcheck::vgpu
