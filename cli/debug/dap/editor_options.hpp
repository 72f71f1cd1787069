// The options of `warpcheck debug` for editors: --dap, --port and --configure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/debug/session.hpp"

namespace warpcheck::dap {

class EditorOptions {
 public:
  void add_to(CLI::App& command);
  // Whether an editor is meant, and not a terminal.
  [[nodiscard]] bool are_given() const { return is_dap_ || port_ || !editor_.empty(); }
  // Serves a client, or writes a configuration.  Returns the exit status; throws UsageError.
  //   target: without a case and a program: the client says what is debugged
  [[nodiscard]] int run(const debug::Target& target) const;

 private:
  bool is_dap_ = false;
  std::optional<std::uint16_t> port_;
  std::string editor_;  // of --configure; empty: none
};

}  // namespace warpcheck::dap
