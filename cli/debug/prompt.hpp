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
  // The words that may complete a command's beginning.
  [[nodiscard]] static std::vector<std::string> commands_with(std::string_view beginning);

 private:
  using Words = std::vector<std::string>;
  struct Command {
    std::vector<const char*> names;  // the first one is the long one
    const char* usage;
    const char* help;
    void (Prompt::*run)(const std::string& rest);
  };
  static const std::vector<Command>& commands();
  static const Command& command_of(std::string_view word);

  // prompt_run.cpp
  void run_on(const std::string& rest);
  void reverse_continue(const std::string& rest);
  void step(const std::string& rest);
  void next(const std::string& rest);
  void stepi(const std::string& rest);
  void finish(const std::string& rest);
  void reverse_step(const std::string& rest);
  void reverse_next(const std::string& rest);
  void reverse_stepi(const std::string& rest);
  void reverse_finish(const std::string& rest);
  void go(const std::string& rest);
  void finding(const std::string& rest);
  void quit(const std::string& rest);
  void help(const std::string& rest);
  void steps(const std::string& rest, StepKind kind, Direction direction);

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
  void add_break(const std::string& rest, bool is_temporary);
  void add_watch(const std::string& rest, bool reads, bool writes);
  [[nodiscard]] std::string describe(const BreakpointState& point) const;
  std::string text_of_stop(const Stop& stop);
  std::string text_of_data(const Stop& stop);

  // prompt_show.cpp
  void info(const std::string& rest);
  void focus(const std::string& rest);
  void choose_frame();
  void frame(const std::string& rest);
  void up(const std::string& rest);
  void down(const std::string& rest);
  void backtrace(const std::string& rest);
  void print(const std::string& rest);
  void lanes(const std::string& rest);
  void ptype(const std::string& rest);
  void examine(const std::string& rest);
  void list(const std::string& rest);
  void disassemble(const std::string& rest);
  void show_threads();
  void show_warps();
  void show_registers();
  void show_findings();
  void show_breakpoints();
  void show_locals();
  [[nodiscard]] Inspector::At here() const { return {session_.stop().focus, frame_}; }

  DebugSession& session_;
  Inspector inspector_;
  std::function<void(std::string_view)> write_;
  std::string last_;                       // line, for repetition
  std::size_t frame_ = 0;                  // that print and others use
  std::uint32_t listed_ = 0;               // the last line that `list` has shown
  std::map<int, std::string> conditions_;  // texts, by breakpoint
  struct Watched {
    std::string text;
    Value value;  // its type and bits; no type: bytes of a space
  };
  std::map<int, Watched> watched_;  // by breakpoint
  bool has_quit_ = false;
};

}  // namespace warpcheck::debug
