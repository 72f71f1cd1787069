// Which arrivals at barriers let which waits go on (PTX ISA 9.7.13.1, 8.9.4).
#pragma once

#include <functional>
#include <vector>

#include "model/execution.hpp"

namespace warpcheck::model {

// The value of an expression of a thread's path.
using Evaluate = std::function<std::int64_t(unsigned thread, unsigned expression)>;

// Relations from arrivals to waits, one for each way in which the arrivals can complete barriers;
// none: threads that wait cannot all go on, or one that waits for ever in its path would.
//
// A barrier without a number of arrivals waits for the threads of its block that use it as often
// as it is used: the k-th use of each makes the k-th phase.
std::vector<Relation> barrier_phases(const Program& program, const Evaluate& evaluate);

}  // namespace warpcheck::model
