// Requests that make the debuggee run: forwards, backwards, by steps, and to a finding.
#pragma once

#include <functional>

#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/dap/numbered_session.hpp"
#include "cli/debug/dap/sources.hpp"

namespace warpcheck::dap {

struct Motion {
  std::function<void(debug::DebugSession&)> perform;
  // Whether performing it again, after an interruption, goes on as if there had been none.
  bool can_be_resumed = false;
};
// Runs the debuggee and reports its stop.
using RunMotion = std::function<void(const Motion&)>;

[[nodiscard]] Motion forward();

void add_motions(Handlers& handlers, NumberedSession& debuggee, const Sources& sources,
                 RunMotion run);

}  // namespace warpcheck::dap
