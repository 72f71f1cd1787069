#include "cli/debug/other_debuggers.hpp"

#include <algorithm>
#include <vector>

namespace warpcheck::debug {
namespace {

struct Row {
  std::vector<std::string_view> commands;
  const char* answer;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {{"set", "call", "return", "jump", "signal", "queue-signal", "compile"},
       "the run cannot be changed, so that it can go backwards; to see another run, change the "
       "case or the program. There are no settings"},
      {{"start", "starti"}, "the beginning is a position, too: goto start"},
      {{"show"}, "there are no settings; the state is shown by: info"},
      {{"checkpoint", "restart"},
       "checkpoints are made by themselves; every stop says its position: goto POSITION"},
      {{"record", "target"}, "every run can go backwards: reverse-step, reverse-continue"},
      {{"layout", "tui", "refresh", "winheight"},
       "the source is shown by: list; windows are an editor's: warpcheck debug --configure "
       "vscode CASE"},
      {{"shell", "make", "edit", "pipe", "cd", "pwd"},
       "the prompt starts no other programs: Ctrl-Z leaves it, `fg` comes back"},
      {{"source", "define", "document", "python", "commands", "save", "if", "while"},
       "there are no scripts; commands can come from a file: warpcheck debug CASE < FILE"},
      {{"kill", "detach", "attach", "file", "exec-file", "symbol-file", "core-file", "load",
        "inferior", "add-symbol-file", "sharedlibrary"},
       "a session has one case, or one program: quit, then warpcheck debug CASE, or warpcheck "
       "debug -- PROGRAM ARG..."},
      {{"skip"},
       "steps pass code of the toolkit's libraries over; another function is left by: finish"},
      {{"handle"}, "signals go to the program as without a debugger"},
      {{"printf", "echo", "dprintf", "explore"},
       "values are shown by: print EXPR, and at each stop by: display EXPR"},
      {{"dump", "find", "restore"}, "memory is shown by: x/16xw EXPR"},
      {{"apropos"}, "all commands are listed by: help"},
      {{"autostep", "unset"}, "every instruction is a step: stepi"},
  };
  return all;
}

}  // namespace

std::string instead_of(std::string_view command) {
  if (command.starts_with('!')) command = "shell";
  for (const Row& row : rows()) {
    if (std::ranges::find(row.commands, command) != row.commands.end()) return row.answer;
  }
  return "";
}

}  // namespace warpcheck::debug
