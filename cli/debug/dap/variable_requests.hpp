// What a frame holds: scopes, variables, evaluate, and where a variable is in memory
// (dataBreakpointInfo).
#pragma once

#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/dap/numbered_session.hpp"

namespace warpcheck::dap {

void add_variable_requests(Handlers& handlers, NumberedSession& debuggee);

}  // namespace warpcheck::dap
