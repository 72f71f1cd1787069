// An input in one line that shows what differs from the most common value.
//
//   n=33, in[30]=1, rest 0; launch {grid 1, block 33}
#pragma once

#include <string>

#include "harness/input/json_values.hpp"

namespace warpcheck {

// `input`: the fields of an input, as its to_json() writes them.  Long lists are cut; the case file
// contains all elements.
std::string input_summary(const Json& input);

}  // namespace warpcheck
