// Whether the results of a kernel that has no defect may depend on who comes first.
//
// Threads learn from each other who came first by atomic operations that return what they found
// (tickets, queues, locks), by values that are swapped, and by sums of floating-point numbers,
// which round in the order of arrival; and they learn where and when they run from clocks, from the
// multiprocessor's number and from the set of lanes that happen to be active.  A kernel without any
// of these gives the same result under every schedule, unless it has a defect.
#pragma once

#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

bool order_shows_in_results_of(const vgpu::Program& kernel);

}  // namespace warpcheck::cudart
