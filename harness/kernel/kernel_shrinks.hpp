// Simpler inputs of a kernel without host code.
#pragma once

#include "harness/kernel/kernel_input.hpp"
#include "harness/shrink/shrink_traits.hpp"

namespace warpcheck {

// Offers simpler inputs, most aggressive first: smaller numbers, with the launch and the lengths of
// arrays that follow from them; simpler launches; simpler contents.  Some may be outside the
// domain.  Returns true as soon as `take` does.
bool for_each_simpler_input(const KernelDescription& kernel, const KernelInput& input,
                            Take<KernelInput> take);

}  // namespace warpcheck
