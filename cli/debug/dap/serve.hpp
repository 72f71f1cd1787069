// `warpcheck debug --dap`: one client, over standard input and output or over TCP.
#pragma once

#include <cstdint>

#include "cli/debug/session.hpp"

namespace warpcheck::dap {

// Both return when the client has disconnected or disappeared, and the debuggee has ended.
//   target: what the command line says is debugged; `launch` may name another one
void serve_standard_streams(debug::Target target);
// Prints where it waits for the client, to standard output.  Throws UsageError if it cannot.
//   port: 0: a free one is chosen
void serve_port(std::uint16_t port, debug::Target target);

}  // namespace warpcheck::dap
