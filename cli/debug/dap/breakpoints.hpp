// The client's breakpoints, and those of the session that they became.
//
// A client sends the whole list of a kind, or of a file, whenever one of them changes.  Those that
// did not change keep their number and their count of hits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/dap/client.hpp"
#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/dap/numbered_session.hpp"
#include "cli/debug/dap/sources.hpp"

namespace warpcheck::dap {

// Returns how many hits are passed by: "3" and ">= 3": two, "> 3": three.  Throws RequestError.
[[nodiscard]] std::uint64_t ignored_hits(std::string_view condition);

// For `initialize`: the kinds of findings, at each of which the client can stop.
[[nodiscard]] Json finding_filters();

class Breakpoints {
 public:
  Breakpoints(NumberedSession& debuggee, const Sources& sources)
      : debuggee_(debuggee), sources_(sources) {}

  void add_requests(Handlers& handlers);
  // Reports to the client which of them have code now: kernels may be loaded late.
  void report_changes(Client& client);
  // The reason of a stop at these, as `stopped` names it.
  [[nodiscard]] std::string_view reason_of(const std::vector<int>& numbers) const;
  // What the first of these watches that has a type; nullptr: none of them does.
  [[nodiscard]] const NumberedSession::Watched* watched_of(const std::vector<int>& numbers) const;

 private:
  using Kind = debug::Breakpoint::Kind;
  struct Entry {
    Json asked;      // by the client
    int number = 0;  // in the session; 0: it could not be set
    Json answer;     // to the client
    bool is_verified = false;
  };
  using Entries = std::vector<Entry>;

  // Sets those that `asked` has and removes the others; returns the response's body.
  Answer replace(Entries& entries, const std::vector<Arguments>& asked, const Json& documents,
                 const std::function<debug::Breakpoint(const Arguments&)>& make);
  void set(Entry& entry, const Arguments& asked,
           const std::function<debug::Breakpoint(const Arguments&)>& make);
  // Adds what the state of the session's breakpoint says to the answer.
  void describe(Entry& entry, const debug::BreakpointState& state) const;
  [[nodiscard]] Answer set_lines(const Arguments& arguments);
  [[nodiscard]] Answer set_functions(const Arguments& arguments);
  [[nodiscard]] Answer set_instructions(const Arguments& arguments);
  [[nodiscard]] Answer set_data(const Arguments& arguments);
  [[nodiscard]] Answer set_findings(const Arguments& arguments);

  NumberedSession& debuggee_;
  const Sources& sources_;
  std::map<std::string, Entries> lines_;  // by the client's path
  Entries functions_, instructions_, data_;
  int findings_ = 0;  // the number of that of all findings; 0: none
  std::map<int, Kind> kinds_;
};

}  // namespace warpcheck::dap
