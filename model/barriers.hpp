// Which arrivals at barriers complete which waits (PTX ISA 9.7.13.1, 8.9.4).
#pragma once

#include <functional>
#include <vector>

#include "model/execution.hpp"

namespace warpcheck::model {

// The value of an expression of a thread's path.
using Evaluate = std::function<std::int64_t(unsigned thread, unsigned expression)>;

// Relations from arrivals to waits, one for each way in which the arrivals can complete barriers.
// Empty: threads that wait cannot all continue, or a thread continues that waits for ever in its
// path.
//
// A barrier without a number of arrivals waits for the threads of its block that use it: the k-th
// use by each of them is the k-th phase.
std::vector<Relation> barrier_phases(const EventStructure& structure, const Evaluate& evaluate);

}  // namespace warpcheck::model
