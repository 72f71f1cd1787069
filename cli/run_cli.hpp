// The whole command line, for a program's main().
#pragma once

namespace warpcheck {

// Parses and runs the arguments; every error becomes one line on stderr and status 2.
int run_cli(int argc, const char* const* argv);

}  // namespace warpcheck
