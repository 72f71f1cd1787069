// What the files of DebugSession share.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/debug/debuggee.hpp"
#include "cli/debug/session.hpp"
#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::debug {

using vgpu::kWarpLanes;

// "shared"
const char* name_of(Space space);

// A kernel of the debuggee; by its number, which the agent has given it.
struct KnownKernel {
  KernelText text;
  // By pc: the source locations, the innermost one first, with the places where it was inlined.
  std::vector<std::vector<CodeLocation>> chains;
  // Of all functions of its text, by their addresses; empty: not asked for.
  std::map<std::uint64_t, std::string> functions_at;
};

struct DebugSession::Impl {
  explicit Impl(Target its_target) : target(std::move(its_target)), debuggee(target) {}

  // A thread by its linear numbers.
  struct Linear {
    std::uint32_t block = 0, thread = 0;
  };
  // What is asked of a run beside its end.
  struct Run {
    std::uint64_t until = 0;  // 0: no such position
    bool has_rules = true;    // breakpoints
    bool test_here = false;   // they apply at the present position, too
    bool is_search = false;   // notes the latest place instead of stopping
    nlohmann::json follow{};  // null: no step is followed
    nlohmann::json side{};    // null: no side of a finding is looked for
  };
  // Where a search has found a place.
  struct Place {
    std::uint64_t position = 0;  // 0: nowhere
    nlohmann::json hit{};        // what is there
  };

  // The process that stands at the present position.
  [[nodiscard]] Process& here() {
    return debuggee.copy() != nullptr ? *debuggee.copy() : debuggee.original();
  }
  [[nodiscard]] bool is_in_past() { return debuggee.copy() != nullptr; }

  // session.cpp
  void start();
  const Stop& run_on(Run run);
  const Stop& step_forward(StepKind kind);
  const Stop& step_backward(StepKind kind);
  const Stop& go_to(std::uint64_t position);
  bool stops_at_entry();
  const Stop& go_to_last_of(const Place& place);
  bool arrive_at_original();
  std::optional<nlohmann::json> run(Process& process, const Run& run);
  std::uint64_t find_side(const FoundFinding& finding, std::size_t side);
  Place search(std::uint64_t from, std::uint64_t until, Run run);
  Place search_from_checkpoints(std::uint64_t from, std::uint64_t until, Run run);
  // It has ended without telling its last position, as its copies do.
  [[nodiscard]] bool has_original_crashed() { return has_ended && debuggee.original().is_gone; }
  nlohmann::json follow_of(StepKind kind);
  // Takes over where a process has stopped.
  const Stop& set_stop(const std::optional<nlohmann::json>& message);
  void note_lines(const nlohmann::json& message);

  // session_breakpoints.cpp
  [[nodiscard]] nlohmann::json rules() const;
  // Whether a stop at breakpoints is one for the user; sets Stop::breakpoints, the focus, data and
  // finding.
  //   counts: hits, and removes temporary ones
  bool accepts(const nlohmann::json& hit, bool counts);
  void describe_hit(const nlohmann::json& hit);
  void focus_on_finding();
  void verify();

  // session_queries.cpp
  KnownKernel& kernel(std::uint32_t number);
  [[nodiscard]] nlohmann::json question(const char* what, const Thread& thread);
  [[nodiscard]] Linear linear_of(const Thread& thread) const;
  [[nodiscard]] Thread thread_of(std::uint32_t of_block, std::uint32_t thread) const;
  void set_location(const nlohmann::json& place);
  // The focus is this thread again, if it is at the place where the run has stopped.
  void keep_focus(const Thread& focus);
  void found(const nlohmann::json& message);
  void send_inlined_calls(Process& process, std::uint32_t number);

  Target target;
  Debuggee debuggee;
  Stop stop;
  nlohmann::json place;                // of the stop; null: no kernel runs there
  std::uint32_t program = 0;           // the number of the kernel there
  nlohmann::json original_stop{};      // the message with which the original process has stopped
  bool has_ended = false;              // the original process
  bool copy_has_moved = false;         // by a search: it is not at the present position
  std::uint64_t end = 0;               // the position of the end, if it has
  Dim3 grid{1, 1, 1}, block{1, 1, 1};  // of the latest launch that was stopped in
  std::vector<BreakpointState> points;
  std::map<int, Linear> owners;  // by number, of data breakpoints: the thread of their place
  int next_number = 1;
  std::vector<FoundFinding> findings;
  // Beside findings, for each side: its thread and pc, if it is one of the device.
  std::vector<nlohmann::json> sides;
  std::map<std::uint32_t, KnownKernel> kernels;
  // What is inlined in a text with debug information, by its hash.
  std::map<std::size_t, nlohmann::json> inlined_calls;
};

}  // namespace warpcheck::debug
