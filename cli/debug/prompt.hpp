// The debugger's prompt: commands in the words of gdb and cuda-gdb (docs/use/debugger.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/inspector.hpp"
#include "cli/debug/session.hpp"

namespace warpcheck::debug {

class Prompt {
 public:
  //   write: receives what the commands print
  Prompt(DebugSession& session, std::function<void(std::string_view)> write);

  // Executes a line; an empty one repeats the last one.  False: the session is to end.
  bool execute(std::string_view line);
  // Tells where the debuggee stands.
  void show_stop();
  // What may complete the last word of a line.
  //   before: the line up to that word
  [[nodiscard]] static std::vector<std::string> completions(std::string_view before,
                                                            std::string_view word);

 private:
  using Words = std::vector<std::string>;
  struct Command {
    std::vector<const char*> names;  // the first one is the long one
    const char* usage;
    const char* help;
    void (Prompt::*run)(const std::string& rest);
  };
  static const std::vector<Command>& commands();
  struct Subject {  // of `info`
    std::vector<const char*> names;
    void (Prompt::*show)(const std::string& rest);
  };
  static const std::vector<Subject>& subjects();
  static const Command& command_of(std::string_view word);

  // prompt_run.cpp
  void run_on(const std::string& rest);
  void reverse_continue(const std::string& rest);
  void step(const std::string& rest);
  void next(const std::string& rest);
  void stepi(const std::string& rest);
  void nexti(const std::string& rest);
  void finish(const std::string& rest);
  void leave_frame(Direction direction);
  void run_again(const std::string& rest);
  void advance(const std::string& rest);
  void until(const std::string& rest);
  void reverse_step(const std::string& rest);
  void reverse_next(const std::string& rest);
  void reverse_stepi(const std::string& rest);
  void reverse_nexti(const std::string& rest);
  void reverse_finish(const std::string& rest);
  void go(const std::string& rest);
  void finding(const std::string& rest);
  void quit(const std::string& rest);
  void help(const std::string& rest);
  void steps(const std::string& rest, StepKind kind, Direction direction);
  void instructions_over(const std::string& rest, Direction direction);

  // prompt_breakpoints.cpp
  void break_at(const std::string& rest);
  void tbreak(const std::string& rest);
  void watch(const std::string& rest);
  void rwatch(const std::string& rest);
  void awatch(const std::string& rest);
  void catch_findings(const std::string& rest);
  void condition(const std::string& rest);
  void ignore(const std::string& rest);
  void remove(const std::string& rest);
  void enable(const std::string& rest);
  void disable(const std::string& rest);
  void clear(const std::string& rest);
  void show_breakpoints(const std::string& rest);
  Breakpoint breakpoint_at(const std::string& place);
  int add_break(const std::string& rest, bool is_temporary);  // returns its number
  std::vector<int> numbers_of(const std::string& rest);
  void add_watch(const std::string& rest, bool reads, bool writes);
  [[nodiscard]] std::string describe(const BreakpointState& point) const;
  std::string text_of_stop(const Stop& stop);
  std::string text_of_data(const Stop& stop);

  // prompt_focus.cpp
  void focus(const std::string& rest);
  void show_focus();

  // prompt_show.cpp
  void choose_frame();
  void frame(const std::string& rest);
  void up(const std::string& rest);
  void down(const std::string& rest);
  void backtrace(const std::string& rest);
  void print(const std::string& rest);
  void display(const std::string& rest);
  void undisplay(const std::string& rest);
  void show_displays(const std::string& rest);
  void lanes(const std::string& rest);
  void ptype(const std::string& rest);
  void examine(const std::string& rest);
  std::string text_of_print(const std::string& rest);
  std::string text_of_display(int number);
  Place place_to_examine(const std::string& text);

  // prompt_code.cpp
  struct Lines {
    std::string file;
    std::uint32_t first = 0, last = 0;
  };
  void list(const std::string& rest);
  void disassemble(const std::string& rest);
  void list_instructions(const std::string& place, std::uint64_t count);
  void show_instructions(std::uint32_t first, std::uint32_t last);
  Lines lines_to_list(const std::string& rest, const CodeLocation& at);
  std::string source_named(std::string_view name);

  // prompt_info.cpp
  void info(const std::string& rest);
  void show_threads(const std::string& rest);
  void show_warps(const std::string& rest);
  void show_lanes(const std::string& rest);
  void show_blocks(const std::string& rest);
  void show_kernel(const std::string& rest);
  void show_registers(const std::string& names);
  void show_findings(const std::string& rest);
  void show_locals(const std::string& rest);
  void show_globals(const std::string& rest);
  void show_functions(const std::string& rest);
  void show_sources(const std::string& rest);
  void show_checkpoints(const std::string& rest);

  [[nodiscard]] const Stop& running() const;  // the stop; throws if no kernel is running
  [[nodiscard]] Inspector::At here() const { return {session_.stop().focus, frame_}; }

  DebugSession& session_;
  Inspector inspector_;
  std::function<void(std::string_view)> write_;
  std::string last_;                       // line, for repetition
  std::size_t frame_ = 0;                  // that print and others use
  Lines listed_;                           // that `list` has shown; none: 0
  std::map<int, std::string> displays_;    // what `print` shows at each stop, by number
  std::map<int, std::string> conditions_;  // texts, by breakpoint
  struct Watched {
    std::string text;
    Value value;  // its type and bits; no type: bytes of a space
  };
  std::map<int, Watched> watched_;  // by breakpoint
  bool has_quit_ = false;
};

}  // namespace warpcheck::debug
