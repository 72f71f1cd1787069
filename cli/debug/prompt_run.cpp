// The commands of the prompt that run the debuggee.
#include <fmt/format.h>

#include <algorithm>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"

namespace warpcheck::debug {

void Prompt::run_on(const std::string& rest) {
  if (!rest.empty()) throw DebugError("continue takes nothing; to pass hits by: ignore N COUNT");
  session_.continue_forward();
  show_stop();
}

void Prompt::reverse_continue(const std::string& rest) {
  if (!rest.empty()) throw DebugError("reverse-continue takes nothing");
  session_.reverse_continue();
  show_stop();
}

void Prompt::steps(const std::string& rest, StepKind kind, Direction direction) {
  std::uint64_t count = rest.empty() ? 1 : number_of(rest, "the number of steps");
  while (count-- != 0) {
    const Stop& stop = session_.step(kind, direction);
    if (stop.reason != StopReason::step) break;
  }
  show_stop();
}

void Prompt::step(const std::string& rest) { steps(rest, StepKind::line_into, Direction::forward); }
void Prompt::next(const std::string& rest) { steps(rest, StepKind::line_over, Direction::forward); }
void Prompt::stepi(const std::string& rest) {
  steps(rest, StepKind::instruction, Direction::forward);
}
void Prompt::finish(const std::string& rest) {
  if (!rest.empty()) throw DebugError("finish takes nothing; an outer function is chosen by: up");
  leave_frame(Direction::forward);
}

// From the beginning to the first stop.
void Prompt::run_again(const std::string& rest) {
  if (!rest.empty()) {
    throw DebugError("run takes nothing: the arguments are those that the session began with");
  }
  session_.go_to(1);
  session_.continue_forward();
  show_stop();
}

// To a place, or to any stop before.
void Prompt::advance(const std::string& rest) {
  if (rest.empty()) throw DebugError("advance where? LINE, FILE:LINE or FUNCTION");
  const int number = add_break(rest, true);
  session_.continue_forward();
  for (const BreakpointState& each : session_.breakpoints()) {
    if (each.number == number) session_.remove_breakpoint(number);
  }
  show_stop();
}

// As next, but not back to where a loop begins; with a place, as advance.
void Prompt::until(const std::string& rest) {
  if (!rest.empty()) return advance(rest);
  const CodeLocation begin = running().at;
  const std::size_t depth = session_.frames(session_.stop().focus).size();
  while (true) {
    const Stop& stop = session_.step(StepKind::line_over, Direction::forward);
    const bool is_behind = stop.at.file != begin.file || stop.at.line > begin.line;
    if (stop.reason != StopReason::step || !stop.has_location || is_behind) break;
    if (session_.frames(stop.focus).size() < depth) break;
  }
  show_stop();
}

// Instructions of this function: those of a function that it calls are passed over.
void Prompt::nexti(const std::string& rest) { instructions_over(rest, Direction::forward); }
void Prompt::reverse_nexti(const std::string& rest) {
  instructions_over(rest, Direction::backward);
}

void Prompt::instructions_over(const std::string& rest, Direction direction) {
  const auto depth = [&] { return session_.frames(session_.stop().focus).back().physical; };
  std::uint64_t count = rest.empty() ? 1 : number_of(rest, "the number of steps");
  while (count-- != 0) {
    // At the end of the run there is none, and the step back leads to what ended it.
    const std::uint32_t before = session_.stop().has_location ? depth() : ~std::uint32_t{0};
    const Stop* stop = &session_.step(StepKind::instruction, direction);
    while (stop->reason == StopReason::step && stop->has_location && depth() > before) {
      stop = &session_.step(StepKind::out, direction);
    }
    if (stop->reason != StopReason::step) break;
  }
  show_stop();
}
void Prompt::reverse_step(const std::string& rest) {
  steps(rest, StepKind::line_into, Direction::backward);
}
void Prompt::reverse_next(const std::string& rest) {
  steps(rest, StepKind::line_over, Direction::backward);
}
void Prompt::reverse_stepi(const std::string& rest) {
  steps(rest, StepKind::instruction, Direction::backward);
}
void Prompt::reverse_finish(const std::string& rest) {
  if (!rest.empty()) throw DebugError("reverse-finish takes nothing");
  if (session_.frames(running().focus).size() <= frame_ + 1) {
    throw DebugError(
        "this is the kernel, which no function calls; to its begin: goto start, or "
        "break KERNEL and reverse-continue");
  }
  leave_frame(Direction::backward);
}

// Out of the chosen frame, and of those inside of it.
void Prompt::leave_frame(Direction direction) {
  std::size_t depth = session_.frames(running().focus).size();
  const std::size_t outer = depth - std::min(frame_ + 1, depth);
  while (true) {
    const Stop& stop = session_.step(StepKind::out, direction);
    const bool has_left = depth <= outer + 1;
    if (stop.reason != StopReason::step || !stop.has_location || has_left) break;
    depth = session_.frames(stop.focus).size();
    if (depth <= outer) break;
  }
  show_stop();
}

void Prompt::go(const std::string& rest) {
  const std::uint64_t position = rest == "end"
                                     ? session_.stop().position_max
                                     : number_of(rest == "start" ? "1" : rest, "a position");
  session_.go_to(position);
  show_stop();
}

void Prompt::finding(const std::string& rest) {
  const std::vector<std::string> words = words_of(rest);
  if (words.empty()) return show_findings("");
  const std::uint64_t number = number_of(words[0], "a finding");
  const std::uint64_t side = words.size() < 2 ? 1 : number_of(words[1], "a side");
  if (number == 0) throw DebugError("findings are numbered from 1; see: info findings");
  session_.go_to_finding(number - 1, static_cast<unsigned>(side));
  show_stop();
}

void Prompt::quit(const std::string&) { has_quit_ = true; }

void Prompt::help(const std::string& rest) {
  if (!rest.empty()) {
    const Command& command = command_of(rest);
    return write_(fmt::format("{}\n    {}\n", command.usage, command.help));
  }
  for (const Command& command : commands()) {
    write_(fmt::format("{:<34} {}\n", command.usage, command.help));
  }
}

}  // namespace warpcheck::debug
