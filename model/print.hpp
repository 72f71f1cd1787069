// An outcome as text, in the layout of the herd family of tools.
#pragma once

#include <string>
#include <string_view>

#include "model/outcome.hpp"

namespace warpcheck::model {

std::string_view name_of(Observation observation);
// "Allowed", "Forbidden", "Required": the test's question.
std::string_view kind_of(const Test& test);
// "exists (1:r0=1 /\ [x]=2)"
std::string shown_condition(const Test& test);
// "1:r0=1; [x]=2;"
std::string shown_state(const Test& test, const FinalState& state);

std::string shown_outcome(const Test& test, const Outcome& outcome);

}  // namespace warpcheck::model
