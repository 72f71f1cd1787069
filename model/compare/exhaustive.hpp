// All executions by brute force: each read from each write, each pair of fences and of writes in
// both orders, and then the axioms.  It drops nothing early, so it checks that the enumerator drops
// nothing wrong.
#pragma once

#include <map>
#include <optional>

#include "model/outcome.hpp"

namespace warpcheck::model {

// The states and the numbers of their executions; empty: there are too many candidates.  For tests
// without branches, whose writes are of constants.
std::optional<std::map<FinalState, std::uint64_t>> exhaustive_states(const Test& test);

}  // namespace warpcheck::model
