// `warpcheck debug --configure EDITOR`: what an editor needs to start the debug adapter.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpcheck::dap {

// What is to be debugged, if the command line says so.
struct ConfiguredDebuggee {
  std::string case_file;             // empty: not said
  std::vector<std::string> command;  // a program and its arguments; empty: not said
};

// Writes launch.json and the description of the debugger under `folder`/.vscode, and returns what
// was written and what is left to do.  Throws UsageError for a launch.json that cannot be read or
// written; then nothing is changed.
//   adapter, version: of this program
[[nodiscard]] std::string configure_vscode(const std::filesystem::path& folder,
                                           const std::filesystem::path& adapter,
                                           const std::string& version,
                                           const ConfiguredDebuggee& debuggee);

// Returns Lua for nvim-dap, and Lisp for dape, with a comment that says where it belongs.
[[nodiscard]] std::string nvim_configuration(const std::filesystem::path& adapter,
                                             const ConfiguredDebuggee& debuggee);
[[nodiscard]] std::string emacs_configuration(const std::filesystem::path& adapter,
                                              const ConfiguredDebuggee& debuggee);

}  // namespace warpcheck::dap
