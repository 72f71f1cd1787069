// Sequential consistency by running a litmus test: one instruction of one thread at a time, in
// every order, on one memory.  It shares nothing with the enumerator but the parsed test.
#pragma once

#include <set>

#include "model/outcome.hpp"

namespace warpcheck::model {

// Every final state; of tests without loops, with barriers that wait for all who use them.
std::set<FinalState> sequential_states(const Test& test);

}  // namespace warpcheck::model
