// Sequential consistency by executing a litmus test: one instruction of one thread at a time, in
// every order, on one memory.  It shares only the parsed test with the enumerator.
#pragma once

#include <set>

#include "model/outcome.hpp"

namespace warpcheck::model {

// Every final state; for tests without loops, with barriers that wait for all threads that use
// them.
std::set<FinalState> sequential_states(const Test& test);

}  // namespace warpcheck::model
