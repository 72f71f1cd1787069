// Control flow that leaves a function or depends on a register: calls, returns, jump tables (PTX
// ISA 9.0, 9.7.12).
//
// Lanes of a fragment with different targets become separate fragments, as at a branch.  Fragments
// deeper in calls run first, so that all lanes meet again after the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/machine/warp/stacks.hpp"

namespace warpcheck::vgpu {

class Calls {
 public:
  Calls(RunningLaunch& launch, Stacks& stacks) : launch_(launch), stacks_(stacks) {}

  // Moves the fragment at a call to the first instruction of `function`.
  Step enter(RunningFragment& run, std::size_t index, std::uint32_t function);
  // Each group of lanes with equal addresses calls the function at its address.
  Step enter_by_register(RunningFragment& run, std::size_t index, const Instr& instr);
  Step return_to_caller(RunningFragment& run, std::size_t index);

 private:
  RunningLaunch& launch_;
  Stacks& stacks_;
};

}  // namespace warpcheck::vgpu
