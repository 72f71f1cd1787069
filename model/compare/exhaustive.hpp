// All executions by trying everything: each read from each write, each pair of fences and of writes
// in both orders, and then the axioms.  It drops nothing early, which is what it checks of the
// enumerator.
#pragma once

#include <map>
#include <optional>

#include "model/outcome.hpp"

namespace warpcheck::model {

// The states and their executions; none: there are too many candidates to try.  Of tests without
// branches, whose writes are of constants.
std::optional<std::map<FinalState, std::uint64_t>> exhaustive_states(const Test& test);

}  // namespace warpcheck::model
