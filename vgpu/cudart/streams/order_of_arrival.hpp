// Finds out whether the results of a correct kernel may depend on the order in which threads
// arrive.
//
// Threads learn their order of arrival from atomic operations that return the old value (tickets,
// queues, locks), from swapped values, and from floating-point sums, which round in the order of
// arrival.  They learn where and when they run from clocks, from the multiprocessor's number and
// from the set of active lanes.  A kernel without any of these gives the same result under every
// schedule, unless it has a defect.
#pragma once

#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

bool order_shows_in_results_of(const vgpu::Program& kernel);

}  // namespace warpcheck::cudart
