#include "cli/debug/dap/motions.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/debug/dap/thread_requests.hpp"

namespace warpcheck::dap {
namespace {

using debug::DebugSession;
using debug::Direction;
using debug::StepKind;

void choose_thread(NumberedSession& debuggee, const Arguments& arguments) {
  const std::int64_t number = arguments.integer("threadId");
  DebugSession& session = debuggee.stopped_session();
  if (number == kNoThread) return;
  const debug::Thread thread = debuggee.thread_of(number);
  if (!(session.stop().focus == thread)) session.set_focus(thread);
}

Motion step(StepKind kind, Direction direction) {
  return {[=](DebugSession& session) { session.step(kind, direction); }, false};
}

Motion backward() {
  return {[](DebugSession& session) { session.reverse_continue(); }, false};
}

StepKind by_granularity(const Arguments& arguments, StepKind line) {
  const std::string word = arguments.text_or("granularity", "statement");
  if (word == "instruction") return StepKind::instruction;
  if (word != "statement" && word != "line") {
    arguments.refuse("granularity", "statement, line or instruction");
  }
  return line;
}

// A side of a finding as a target of `goto`: an even number is side (1).
struct FindingSide {
  std::size_t index = 0;
  unsigned side = 1;

  [[nodiscard]] std::int64_t number() const {
    return static_cast<std::int64_t>(2 * index + side - 1);
  }
  static FindingSide of(std::int64_t number) {
    return {static_cast<std::size_t>(number / 2), static_cast<unsigned>(number % 2 + 1)};
  }
};

// The sides of findings at a line: there the debuggee can be taken without running it by hand.
Answer goto_targets(NumberedSession& debuggee, const Sources& sources, const Arguments& arguments) {
  DebugSession& session = debuggee.stopped_session();
  const std::string path = arguments.object("source").text_or("path", "");
  const std::uint32_t line = sources.from_client(arguments.integer("line"));
  Json targets = Json::array();
  for (const debug::FoundFinding& found : session.findings()) {
    const auto& sides = found.finding.accesses;
    for (unsigned side = 1; side <= sides.size() && side <= 2; ++side) {
      const vgpu::AccessSide& each = sides[side - 1];
      const bool is_there =
          each.line == line && Sources::recorded_file(path, {each.file}) == each.file;
      if (!is_there) continue;
      targets.push_back({{"id", FindingSide{found.index, side}.number()},
                         {"label", fmt::format("finding {}: ({}) {} by {}", found.index + 1, side,
                                               each.role, thread_name({each.block, each.thread}))},
                         {"line", sources.to_client(line)}});
    }
  }
  return Json{{"targets", std::move(targets)}};
}

}  // namespace

Motion forward() {
  return {[](DebugSession& session) { session.continue_forward(); }, true};
}

void add_motions(Handlers& handlers, NumberedSession& debuggee, const Sources& sources,
                 RunMotion run) {
  const auto add = [&](const char* name, auto motion_of) {
    handlers[name] = [&debuggee, run, motion_of](const Arguments& arguments) -> Answer {
      choose_thread(debuggee, arguments);
      return {nullptr, [run, motion = motion_of(arguments)] { run(motion); }};
    };
  };
  add("next", [](const Arguments& arguments) {
    return step(by_granularity(arguments, StepKind::line_over), Direction::forward);
  });
  add("stepIn", [](const Arguments& arguments) {
    return step(by_granularity(arguments, StepKind::line_into), Direction::forward);
  });
  add("stepOut", [](const Arguments&) { return step(StepKind::out, Direction::forward); });
  add("stepBack", [](const Arguments& arguments) {
    return step(by_granularity(arguments, StepKind::line_over), Direction::backward);
  });
  add("reverseContinue", [](const Arguments&) { return backward(); });
  add("goto", [](const Arguments& arguments) -> Motion {
    const std::int64_t number = arguments.integer("targetId");
    if (number < 0) arguments.refuse("targetId", "a target of `gotoTargets`");
    const FindingSide side = FindingSide::of(number);
    return {[side](DebugSession& session) { session.go_to_finding(side.index, side.side); }, false};
  });
  handlers["continue"] = [&debuggee, run](const Arguments& arguments) -> Answer {
    choose_thread(debuggee, arguments);
    return {Json{{"allThreadsContinued", true}}, [run] { run(forward()); }};
  };
  handlers["gotoTargets"] = [&](const Arguments& arguments) {
    return goto_targets(debuggee, sources, arguments);
  };
}

}  // namespace warpcheck::dap
