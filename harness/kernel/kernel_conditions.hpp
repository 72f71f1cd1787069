// Drawn integers that conditions settle.
#pragma once

#include "harness/kernel/kernel_description.hpp"
#include "harness/kernel/kernel_input.hpp"

namespace warpcheck {

// Gives integers the values that false conditions name: `n == 2 * blockDim.x` that of the right
// side, `n % 16 == 0` the next smaller multiple, `(n & (n - 1)) == 0` the next smaller power of
// two. Drawing alone meets such a condition seldom, and two of them hardly ever.
void settle_integers(const KernelDescription& kernel, KernelInput& input);

}  // namespace warpcheck
