// An input in one line that shows what differs from the most common value.
//
//   n=33, in[30]=1, rest 0; launch {grid 1, block 33}
//
// Fields of a struct within the input are named by their path (image.width=2), lists within a list
// by their index (rows[0]: n=2), and text is quoted unless it is a name.
#pragma once

#include <string>

#include "harness/input/json_values.hpp"

namespace warpcheck {

// `input`: the fields of an input, as its to_json() writes them.  Long lists are cut; the case file
// contains all elements.
std::string input_summary(const Json& input);

// The input with the fields of its structs in their place: {"image": {"width": 2}} becomes
// {"image.width": 2}.  Launches stay whole.
Json with_flat_structs(const Json& input);

}  // namespace warpcheck
