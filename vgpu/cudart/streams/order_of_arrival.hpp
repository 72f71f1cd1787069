// Finds out whether the results of a correct kernel may depend on the order in which threads
// arrive.
//
// Threads learn their order of arrival from atomic operations that return the old value (tickets,
// queues, locks), from swapped values, and from floating-point sums, which round in the order of
// arrival.  They observe it by atomic and volatile loads of what other threads write: polls, and
// relaxations that are repeated until nothing changes.  Atomic stores of different values leave the
// last one.  Threads learn where and when they run from clocks, from the multiprocessor's number
// and from the set of active lanes.  A kernel without any of these gives the same result under
// every schedule, unless it has a defect.
//
// A volatile store is none of these: `volatile` asks that the store happens, and not that several
// threads may do it.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// Returns the first such instruction; nothing: there is none.
std::optional<std::uint32_t> sees_order_of_arrival(const vgpu::Program& kernel);

}  // namespace warpcheck::cudart
