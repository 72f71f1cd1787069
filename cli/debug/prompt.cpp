#include "cli/debug/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/debug/other_debuggers.hpp"
#include "cli/debug/prompt_words.hpp"
#include "cli/debug/session_thread.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/text/nearest_word.hpp"

namespace warpcheck::debug {
namespace {

std::string_view what_of(StopReason reason) {
  switch (reason) {
    case StopReason::entry: return "the run begins";
    case StopReason::step:
    case StopReason::position: return "";
    case StopReason::breakpoint: return "breakpoint";
    case StopReason::data_breakpoint: return "watchpoint";
    case StopReason::finding: return "finding";
    case StopReason::pause: return "paused";
    case StopReason::end: return "the run has ended";
  }
  return "";
}

std::string value_of(const std::vector<std::byte>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = std::min<std::size_t>(bytes.size(), 8); i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value < 1u << 16 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string text_of_finding(const FoundFinding& found) {
  std::string text = fmt::format("finding {}: {}{}\n", found.index + 1,
                                 found.finding.severity == vgpu::Severity::note ? "note: " : "",
                                 vgpu::headline_of(found.finding));
  for (std::size_t i = 0; i < found.finding.accesses.size(); ++i) {
    const vgpu::AccessSide& side = found.finding.accesses[i];
    if (side.ptx.empty()) {
      text += fmt::format("  ({}) {}\n", i + 1, side.role);
      continue;
    }
    text += fmt::format("  ({}) {} by block {} thread {} at {}:{} (go there: finding {} {})\n",
                        i + 1, side.role, triple(side.block), triple(side.thread),
                        file_name(side.file), side.line, found.index + 1, i + 1);
  }
  return text + fmt::format("  {}\n", found.finding.message);
}

}  // namespace

// "thread (1,0,0) writes share[1]: 0 -> 1"
std::string Prompt::text_of_data(const Stop& stop) {
  const DataAccess& data = *stop.data;
  if (data.kind == "the host writes") return fmt::format("the host writes it ({})\n", data.object);
  const auto found =
      std::ranges::find_if(stop.breakpoints, [&](int number) { return watched_.contains(number); });
  const Watched* const watched = found == stop.breakpoints.end() ? nullptr : &watched_.at(*found);
  const bool is_typed = watched != nullptr && watched->value.type != nullptr;
  std::string text = fmt::format("thread {} {} {}", triple(data.thread.thread), data.kind,
                                 is_typed ? watched->text : data.object);
  const auto add = [&](std::string_view separator, const std::vector<std::byte>& bytes,
                       const std::vector<std::uint8_t>& unwritten) {
    text += separator;
    if (is_typed) {
      text += inspector_.text_of_bytes(watched->value, bytes, unwritten, {data.thread, 0});
    } else if (std::ranges::any_of(unwritten, [](std::uint8_t bits) { return bits != 0; })) {
      text += "<not written>";
    } else {
      text += value_of(bytes);
    }
  };
  if (!data.before.empty()) add(": ", data.before, data.unwritten);
  if (data.after) add(" -> ", *data.after, std::vector<std::uint8_t>(data.after->size()));
  return text + "\n";
}

// One stop as text: where, what is about to be executed, and why the debuggee stops.
std::string Prompt::text_of_stop(const Stop& stop) {
  std::string text;
  for (const int number : stop.breakpoints) {
    if (!stop.finding) text += fmt::format("{} {}\n", what_of(stop.reason), number);
  }
  if (stop.breakpoints.empty() && !what_of(stop.reason).empty()) {
    text += fmt::format("{}\n", what_of(stop.reason));
  }
  if (stop.is_at_beginning && stop.reason != StopReason::entry) text += "the run begins\n";
  if (stop.finding) text += text_of_finding(*stop.finding);
  if (stop.data) text += text_of_data(stop);
  if (!stop.note.empty()) text += stop.note + "\n";
  if (stop.reason == StopReason::breakpoint) {
    const std::string note = inspector_.note_of_condition();
    if (!note.empty()) text += note + "\n";
  }
  if (!stop.has_location) {
    if (stop.reason == StopReason::end && stop.exit_status != 0) {
      text += fmt::format("its exit status is {}\n", stop.exit_status);
    }
    return text + fmt::format("position {} of {}\n", stop.position, stop.position_max);
  }
  text += fmt::format("position {} of {}: {} block {} thread {}, warp {} lanes {}", stop.position,
                      stop.position_max, stop.kernel, triple(stop.focus.block),
                      triple(stop.focus.thread), stop.warp, lanes_text(stop.together));
  if (stop.active != stop.together) text += fmt::format(", active {}", lanes_text(stop.active));
  return text + fmt::format("\n{}:{}  {}\n    => {}  {}\n", file_name(stop.at.file), stop.at.line,
                            trimmed_line(stop.at.file, stop.at.line), stop.at.pc,
                            stop.at.instruction);
}

Prompt::Prompt(DebugSession& session, std::function<void(std::string_view)> write)
    : session_(session), inspector_(session), write_(std::move(write)) {}

void Prompt::show_stop() {
  choose_frame();
  write_(text_of_stop(session_.stop()));
  if (session_.stop().has_location && !displays_.empty()) show_displays("");
}

const Stop& Prompt::running() const {
  if (!session_.stop().has_location) throw DebugError("no kernel is running");
  return session_.stop();
}

// The frame of the user's line, which is shown, so that its variables are in scope.
void Prompt::choose_frame() {
  listed_ = {};
  const Stop& stop = session_.stop();
  frame_ = stop.has_location ? user_frame(session_, stop.focus) : 0;
}

const std::vector<Prompt::Command>& Prompt::commands() {
  static const std::vector<Command> all{
      {{"continue", "c"}, "continue", "Run to the next stop", &Prompt::run_on},
      {{"reverse-continue", "rc"},
       "reverse-continue",
       "Run back to the latest stop before",
       &Prompt::reverse_continue},
      {{"step", "s"}, "step [N]", "To another line, also in a called function", &Prompt::step},
      {{"next", "n"}, "next [N]", "To another line of this function", &Prompt::next},
      {{"stepi", "si"}, "stepi [N]", "To the thread's next instruction", &Prompt::stepi},
      {{"nexti", "ni"},
       "nexti [N]",
       "As stepi, past the functions that are called",
       &Prompt::nexti},
      {{"until", "u"},
       "until [PLACE]",
       "As next, but not back in a loop; or as advance",
       &Prompt::until},
      {{"advance"}, "advance PLACE", "To a place, as for break", &Prompt::advance},
      {{"run", "r"}, "run", "From the beginning to the first stop", &Prompt::run_again},
      {{"finish", "fin"}, "finish", "To the caller of this function", &Prompt::finish},
      {{"reverse-step", "rs"}, "reverse-step [N]", "As step, backwards", &Prompt::reverse_step},
      {{"reverse-next", "rn"}, "reverse-next [N]", "As next, backwards", &Prompt::reverse_next},
      {{"reverse-stepi", "rsi"},
       "reverse-stepi [N]",
       "As stepi, backwards",
       &Prompt::reverse_stepi},
      {{"reverse-nexti", "rni"},
       "reverse-nexti [N]",
       "As nexti, backwards",
       &Prompt::reverse_nexti},
      {{"reverse-finish"},
       "reverse-finish",
       "To the call of this function",
       &Prompt::reverse_finish},
      {{"goto", "g"}, "goto POSITION|start|end", "To a position of the run", &Prompt::go},
      {{"finding"},
       "finding [N [SIDE]]",
       "To a side of a finding; alone: list them",
       &Prompt::finding},
      {{"break", "b", "hbreak"},
       "break FILE:LINE|LINE|FUNCTION|*INSTRUCTION [if EXPR]",
       "Stop there",
       &Prompt::break_at},
      {{"tbreak", "tb", "thbreak"},
       "tbreak FILE:LINE|FUNCTION [if EXPR]",
       "Stop there once",
       &Prompt::tbreak},
      {{"watch"}, "watch EXPR", "Stop at writes of EXPR", &Prompt::watch},
      {{"rwatch"}, "rwatch EXPR", "Stop at reads of EXPR", &Prompt::rwatch},
      {{"awatch"}, "awatch EXPR", "Stop at reads and writes of EXPR", &Prompt::awatch},
      {{"catch"}, "catch finding", "Stop where a finding is made", &Prompt::catch_findings},
      {{"condition"},
       "condition N [EXPR]",
       "Stop at breakpoint N only if EXPR",
       &Prompt::condition},
      {{"ignore"}, "ignore N COUNT", "Pass so many hits of breakpoint N by", &Prompt::ignore},
      {{"delete", "d"}, "delete [N...]", "Remove breakpoints N, or all", &Prompt::remove},
      {{"clear"}, "clear PLACE", "Remove the breakpoints at a place", &Prompt::clear},
      {{"enable"}, "enable [N...]", "Enable breakpoints", &Prompt::enable},
      {{"disable", "dis"}, "disable [N...]", "Disable breakpoints", &Prompt::disable},
      {{"info", "i"},
       "info SUBJECT",
       "threads, warps, lanes, blocks, kernels, registers, locals ...; info alone lists all",
       &Prompt::info},
      {{"focus", "block", "thread", "warp", "lane", "kernel", "cuda"},
       "block B, thread T, lane L",
       "Choose the thread; also: block B thread T; without numbers: show it",
       &Prompt::focus},
      {{"backtrace", "bt", "where"}, "backtrace", "The thread's stack", &Prompt::backtrace},
      {{"frame", "f"}, "frame [N]", "Choose a frame of the stack", &Prompt::frame},
      {{"up"}, "up", "Choose the caller's frame", &Prompt::up},
      {{"down"}, "down", "Choose the called frame", &Prompt::down},
      {{"print", "p", "output", "inspect"},
       "print[/d|x|f|t] EXPR",
       "The value of EXPR, or of %r1",
       &Prompt::print},
      {{"display"}, "display[/d|x|f|t] EXPR", "Print EXPR at each stop", &Prompt::display},
      {{"undisplay"}, "undisplay [N...]", "No longer, or nothing any more", &Prompt::undisplay},
      {{"lanes"}, "lanes EXPR", "What each lane of the warp holds of EXPR", &Prompt::lanes},
      {{"ptype", "whatis"}, "ptype EXPR|TYPE", "The type", &Prompt::ptype},
      {{"x"},
       "x/[COUNT][x|d|u|f][b|h|w|g] PLACE",
       "Memory: shared 16, global 0x.., EXPR; x/3i: instructions",
       &Prompt::examine},
      {{"list", "l"},
       "list [LINE|FIRST,LAST|FILE:LINE|FUNCTION]",
       "The source; - is what stands before",
       &Prompt::list},
      {{"disassemble"}, "disassemble", "The instructions around", &Prompt::disassemble},
      {{"help", "h"}, "help [COMMAND]", "This", &Prompt::help},
      {{"quit", "q", "exit"}, "quit", "End the debuggee", &Prompt::quit}};
  return all;
}

// A unique beginning is enough.
const Prompt::Command& Prompt::command_of(std::string_view word) {
  std::vector<const Command*> begun;
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    for (const char* const name : command.names) {
      if (name == word) return command;
    }
    names.emplace_back(command.names.front());
    const bool begins = std::ranges::any_of(
        command.names, [&](const char* name) { return std::string_view(name).starts_with(word); });
    if (begins) begun.push_back(&command);
  }
  if (begun.size() == 1) return *begun.front();
  if (begun.size() > 1) {
    std::string all;
    for (const Command* const each : begun) {
      all += (all.empty() ? "" : ", ") + std::string(each->names.front());
    }
    throw DebugError(fmt::format("'{}' may be: {}", word, all));
  }
  if (const std::string answer = instead_of(word); !answer.empty()) {
    throw DebugError(fmt::format("there is no '{}': {}", word, answer));
  }
  throw DebugError(
      fmt::format("unknown command '{}'{}; all are listed by: help", word, is_it(word, names)));
}

std::vector<std::string> Prompt::completions(std::string_view before, std::string_view word) {
  std::vector<std::string> words;
  const auto add = [&](const std::vector<const char*>& names) {
    for (const char* const name : names) {
      if (std::string_view(name).starts_with(word)) words.emplace_back(name);
    }
  };
  const std::vector<std::string> typed = words_of(before);
  if (typed.empty() || typed.front() == "help") {
    for (const Command& command : commands()) add(command.names);
  } else if (typed.front() == "info" || typed.front() == "i") {
    for (const Subject& subject : subjects()) add(subject.names);
  }
  return words;
}

bool Prompt::execute(std::string_view line) {
  const std::string whole = first_word(line).word.empty() ? last_ : std::string(line);
  auto [word, rest] = first_word(whole);
  if (word.empty() || word.starts_with("#")) return true;
  last_ = whole;
  try {
    const std::size_t slash = word.find('/');  // print/x
    if (slash != std::string::npos) {
      rest = word.substr(slash) + (rest.empty() ? "" : " " + rest);
      word.resize(slash);
    }
    const Command& command = command_of(word);
    if (command.run != &Prompt::focus) {
      (this->*command.run)(rest);
    } else {  // its name is the first word that it reads: block 3
      const auto name =
          std::ranges::find_if(command.names, [begun = std::string_view(word)](const char* each) {
            return std::string_view(each).starts_with(begun);
          });
      focus(fmt::format("{} {}", *name, rest));
    }
  } catch (const DebugError& error) {
    write_(fmt::format("error: {}\n", error.what()));
  }
  return !has_quit_;
}

}  // namespace warpcheck::debug
