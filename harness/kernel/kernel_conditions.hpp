// Drawn integers that conditions settle.
#pragma once

#include <string_view>

#include "harness/kernel/kernel_description.hpp"
#include "harness/kernel/kernel_input.hpp"

namespace warpcheck {

// Gives integers the values that false conditions name: `n == 2 * blockDim.x` that of the right
// side (or a free extent of the grid, if another equation gave n already), `n % 16 == 0` the next
// smaller multiple, `(n & (n - 1)) == 0` the next smaller power of two. Drawing alone meets such a
// condition seldom, and two of them hardly ever.
void settle_integers(const KernelDescription& kernel, KernelInput& input);

// Whether a condition is an equation that gives the integer of that name: its value then follows
// from what is drawn, and may be beyond the range that others are drawn from.
[[nodiscard]] bool is_given_by_equation(const KernelDescription& kernel, std::string_view name);

}  // namespace warpcheck
