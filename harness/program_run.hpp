// Runs a program as `exec` does: its runtime library is ours, its files, terminal and signals are
// those of this process, and what it finds comes back even when it crashes.
#pragma once

#include <string>
#include <vector>

#include "vgpu/cudart/exec_records.hpp"

namespace warpcheck {

struct ProgramRun {
  int status = 0;  // its exit status; 128 + n when signal n killed it
  int signal = 0;  // 0: it ended by itself
  std::vector<cudart::ExecRecord> records;
};

// settings.records is set here.  libraries: the directory of libcudart.so.13 and its relatives.
// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 that another process sends are passed on;
// what the terminal sends, the program gets itself.
//
// Throws ProgramError when the program cannot be started.
[[nodiscard]] ProgramRun run_program(const std::string& path,
                                     const std::vector<std::string>& arguments,
                                     cudart::ExecSettings settings, const std::string& libraries);

}  // namespace warpcheck
