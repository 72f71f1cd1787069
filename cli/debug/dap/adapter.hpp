// The debug adapter: performs a client's requests on a session, from `initialize` to `disconnect`.
//
// Source: the Debug Adapter Protocol, version 1.68.  The order: `initialize`; `launch`, which
// starts the debuggee and stops it before its first kernel, so that breakpoints find code; the
// event `initialized`, breakpoints, `configurationDone`, and the debuggee runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cli/debug/dap/breakpoints.hpp"
#include "cli/debug/dap/client.hpp"
#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/dap/inbox.hpp"
#include "cli/debug/dap/motions.hpp"
#include "cli/debug/dap/numbered_session.hpp"
#include "cli/debug/dap/sources.hpp"
#include "cli/debug/prompt.hpp"

namespace warpcheck::dap {

class Adapter {
 public:
  // target: what the command line says is debugged; `launch` may name another one.
  Adapter(Inbox& inbox, Client& client, debug::Target target);

  // Serves until the client disconnects, or disappears.  Then the debuggee has ended.
  void serve();

 private:
  void add_requests();
  void handle(const Arrival& arrival);
  void perform(const Request& request);
  [[nodiscard]] Answer initialize(const Arguments& arguments);
  [[nodiscard]] Answer launch(const Arguments& arguments);
  [[nodiscard]] debug::Target target_of(const Arguments& arguments) const;
  void start(debug::Target target);
  // In the editor's console, what is no expression is a command of the terminal's prompt.
  [[nodiscard]] Answer evaluate_in_console(const Arguments& arguments, const Handler& evaluate);
  [[nodiscard]] Answer execute(const std::string& command);
  void run(const Motion& motion);
  void report_stop();
  void report_findings();
  void write(std::string_view category, std::string_view text);
  void end_debuggee();

  Inbox& inbox_;
  Client& client_;
  debug::Target target_;
  NumberedSession debuggee_;
  Sources sources_;
  Breakpoints breakpoints_{debuggee_, sources_};
  std::unique_ptr<debug::Prompt> prompt_;  // of the session
  std::string printed_;                    // by it
  Handlers handlers_;
  bool is_initialized_ = false;
  bool stops_on_entry_ = false, stops_at_end_ = false;
  bool is_pause_asked_ = false;
  bool is_over_ = false;  // the client has said goodbye, or is gone
  std::size_t findings_reported_ = 0;
};

}  // namespace warpcheck::dap
