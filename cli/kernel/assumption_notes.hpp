// What was assumed, as sentences.
#pragma once

#include <set>
#include <string>

#include "cli/kernel/assumptions.hpp"

namespace warpcheck {

// Fills in scalars, launch, lengths and notes, of the kernel as it was assumed.
//   free: integers whose range nobody has said
void report_assumptions(Assumptions& made, const Given& given, const std::set<std::string>& free);

}  // namespace warpcheck
