// The commands of the prompt for breakpoints.
#include <fmt/format.h>

#include <algorithm>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::debug {
namespace {

// "PLACE if EXPR"
struct PlaceAndCondition {
  std::string place, condition;
};
PlaceAndCondition split(const std::string& rest) {
  const auto [word, after] = first_word(rest);
  const auto [keyword, condition] = first_word(after);
  if (after.empty()) return {word, ""};
  if (keyword != "if" || condition.empty()) {
    throw DebugError(fmt::format("expected 'if EXPR' after {}, not '{}'", word, after));
  }
  return {word, condition};
}

}  // namespace

// "14", "scan.cu:14", "*27", a function; nothing: the line of the stop.
Breakpoint Prompt::breakpoint_at(const std::string& place) {
  Breakpoint point;
  const std::size_t colon = place.rfind(':');
  const bool has_line = colon != std::string::npos && is_number(place.substr(colon + 1));
  if (is_number(place) || place.empty()) {
    if (!session_.stop().has_location) throw DebugError("no kernel is running: name FILE:LINE");
    point.file = session_.stop().at.file;
    point.line = place.empty() ? session_.stop().at.line
                               : static_cast<std::uint32_t>(number_of(place, "a line"));
  } else if (place.starts_with('*')) {
    if (!session_.stop().has_location) throw DebugError("no kernel is running: name FILE:LINE");
    const KernelText& text = session_.kernel_text();
    const std::uint64_t pc = number_of(place.substr(1), "the number of an instruction");
    if (pc >= text.instructions.size()) {
      throw DebugError(
          fmt::format("the kernel has instructions 0 to {}; they are listed by: "
                      "disassemble",
                      text.instructions.size() - 1));
    }
    point.kind = Breakpoint::Kind::instruction;
    point.kernel = text.name;
    point.pc = static_cast<std::uint32_t>(pc);
  } else if (has_line) {
    point.file = place.substr(0, colon);
    point.line = static_cast<std::uint32_t>(number_of(place.substr(colon + 1), "a line"));
  } else {
    point.kind = Breakpoint::Kind::function;
    point.kernel = place;
  }
  return point;
}

int Prompt::add_break(const std::string& rest, bool is_temporary) {
  const auto [place, condition] = split(rest);
  Breakpoint point = breakpoint_at(place);
  point.is_temporary = is_temporary;
  if (!condition.empty()) point.condition = inspector_.condition(condition);
  const int number = session_.add_breakpoint(std::move(point));
  if (!condition.empty()) conditions_[number] = condition;
  for (const BreakpointState& each : session_.breakpoints()) {
    if (each.number == number) write_(describe(each));
  }
  return number;
}

void Prompt::break_at(const std::string& rest) { add_break(rest, false); }
void Prompt::tbreak(const std::string& rest) { add_break(rest, true); }

// A place of memory by name, or as "shared 16 4": a space, an offset, and a number of bytes.
void Prompt::add_watch(const std::string& rest, bool reads, bool writes) {
  if (rest.empty())
    throw DebugError("what shall be watched? watch share[5], or: watch shared 20 4");
  Breakpoint point{.kind = Breakpoint::Kind::data};
  point.reads = reads;
  point.writes = writes;
  const std::vector<std::string> words = words_of(rest);
  Watched watched{.text = rest, .value = {}};
  const bool is_raw =
      words.size() >= 2 && (words[0] == "shared" || words[0] == "global" || words[0] == "local");
  if (is_raw) {
    point.place.space = words[0] == "shared"   ? Space::shared
                        : words[0] == "global" ? Space::global
                                               : Space::local;
    point.place.offset = number_of(words[1], "the place");
    point.place.thread = session_.stop().focus;
    point.bytes =
        words.size() < 3 ? 4 : static_cast<std::uint32_t>(number_of(words[2], "the size"));
  } else {
    Inspector::Range range = inspector_.range_of(rest, here());
    watched.value = std::move(range.value);
    point.place = range.place;
    point.bytes = static_cast<std::uint32_t>(range.bytes);
  }
  const int number = session_.add_breakpoint(std::move(point));
  watched_[number] = std::move(watched);
  for (const BreakpointState& each : session_.breakpoints()) {
    if (each.number == number) write_(describe(each));
  }
}

void Prompt::watch(const std::string& rest) { add_watch(rest, false, true); }
void Prompt::rwatch(const std::string& rest) { add_watch(rest, true, false); }
void Prompt::awatch(const std::string& rest) { add_watch(rest, true, true); }

void Prompt::catch_findings(const std::string& rest) {
  if (rest != "finding" && rest != "findings") throw DebugError("only findings: catch finding");
  const int number = session_.add_breakpoint({.kind = Breakpoint::Kind::finding});
  write_(fmt::format("catchpoint {}: findings\n", number));
}

void Prompt::condition(const std::string& rest) {
  const auto [word, expression] = first_word(rest);
  const int number = static_cast<int>(number_of(word, "a breakpoint"));
  if (expression.empty()) {
    session_.set_condition(number, {});
    conditions_.erase(number);
    return write_(fmt::format("breakpoint {} stops always\n", number));
  }
  session_.set_condition(number, inspector_.condition(expression));
  conditions_[number] = expression;
}

void Prompt::ignore(const std::string& rest) {
  const auto [word, count] = first_word(rest);
  session_.set_ignore(static_cast<int>(number_of(word, "a breakpoint")),
                      number_of(count, "the number of hits"));
}

// The breakpoints that a command names; all of them if it names none.
std::vector<int> Prompt::numbers_of(const std::string& rest) {
  std::vector<int> numbers;
  for (const std::string& word : words_of(rest)) {
    numbers.push_back(static_cast<int>(number_of(word, "a breakpoint")));
  }
  if (!numbers.empty()) return numbers;
  for (const BreakpointState& each : session_.breakpoints()) numbers.push_back(each.number);
  return numbers;
}

void Prompt::remove(const std::string& rest) {
  for (const int number : numbers_of(rest)) session_.remove_breakpoint(number);
}
void Prompt::enable(const std::string& rest) {
  for (const int number : numbers_of(rest)) session_.enable_breakpoint(number, true);
}
void Prompt::disable(const std::string& rest) {
  for (const int number : numbers_of(rest)) session_.enable_breakpoint(number, false);
}

// Removes the breakpoints at a place.
void Prompt::clear(const std::string& rest) {
  const Breakpoint wanted = breakpoint_at(rest);
  std::string removed;
  for (const BreakpointState& each : session_.breakpoints()) {
    const Breakpoint& one = each.breakpoint;
    const bool is_there = one.kind == wanted.kind && one.line == wanted.line &&
                          one.kernel == wanted.kernel && one.pc == wanted.pc &&
                          file_name(one.file) == file_name(wanted.file);
    if (!is_there) continue;
    session_.remove_breakpoint(each.number);
    removed += fmt::format("{}{}", removed.empty() ? "" : ", ", each.number);
  }
  if (removed.empty()) throw DebugError("no breakpoint is there; see: info breakpoints");
  write_(fmt::format("removed breakpoint {}\n", removed));
}

std::string Prompt::describe(const BreakpointState& point) const {
  const Breakpoint& one = point.breakpoint;
  std::string text = fmt::format(
      "{} {}: ", one.is_temporary ? "temporary breakpoint" : "breakpoint", point.number);
  switch (one.kind) {
    case Breakpoint::Kind::finding:
      text = fmt::format("catchpoint {}: findings", point.number);
      break;
    case Breakpoint::Kind::data: {
      const auto watched = watched_.find(point.number);
      text = fmt::format("watchpoint {}: {} of {}", point.number,
                         one.reads && one.writes ? "reads and writes"
                         : one.reads             ? "reads"
                                                 : "writes",
                         watched == watched_.end() ? "memory" : watched->second.text);
      break;
    }
    case Breakpoint::Kind::function: text += one.kernel; break;
    case Breakpoint::Kind::instruction:
      text += fmt::format("instruction {} of {}", one.pc, vgpu::kernel_name(one.kernel));
      break;
    case Breakpoint::Kind::line:
      text += fmt::format("{}:{}", file_name(one.file), one.line);
      if (point.is_verified && point.actual_line != one.line) {
        text += fmt::format(", where there is no code: at line {}", point.actual_line);
      }
      break;
  }
  if (!point.is_verified) text += ", not in the kernels so far";
  if (const auto condition = conditions_.find(point.number); condition != conditions_.end()) {
    text += " if " + condition->second;
  }
  if (!one.is_enabled) text += ", disabled";
  if (point.hits != 0) text += ", hit " + counted(point.hits, "time");
  return text + "\n";
}

void Prompt::show_breakpoints(const std::string&) {
  const std::vector<BreakpointState> all = session_.breakpoints();
  if (all.empty()) write_("no breakpoints\n");
  for (const BreakpointState& each : all) write_(describe(each));
}

}  // namespace warpcheck::debug
