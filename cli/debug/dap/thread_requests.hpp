// Threads and their stacks: threads, stackTrace, and the focus.
#pragma once

#include <cstdint>
#include <string>

#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/dap/numbered_session.hpp"
#include "cli/debug/dap/sources.hpp"

namespace warpcheck::dap {

// The number of the run itself, where no thread stands: while it runs, and at its end.
inline constexpr std::int64_t kNoThread = 1'000'000'000;

// "block (0,0,0) thread (3,0,0)"
[[nodiscard]] std::string thread_name(const debug::Thread& thread);

// A grid has more threads than a client can list, so those of the stopped warp are listed, and
// those of findings and of stops before.
void add_thread_requests(Handlers& handlers, NumberedSession& debuggee, Sources& sources);

}  // namespace warpcheck::dap
