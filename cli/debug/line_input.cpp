#include "cli/debug/line_input.hpp"

#include <editline/readline.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>
#include <vector>

#include "cli/debug/prompt.hpp"

namespace warpcheck::debug {
namespace {

constexpr const char* kPrompt = "(warpcheck) ";

// The words that begin as `text`, one at a call; the first call has state 0.
char* next_word(const char* text, int state) {
  static std::vector<std::string> words;
  static std::size_t next = 0;
  if (state == 0) {
    const std::string_view line(rl_line_buffer);
    const std::size_t end = std::min(static_cast<std::size_t>(rl_point), line.size());
    words = Prompt::completions(line.substr(0, end - std::min(std::strlen(text), end)), text);
    next = 0;
  }
  return next < words.size() ? ::strdup(words[next++].c_str()) : nullptr;
}

}  // namespace

LineInput::LineInput() : is_terminal_(::isatty(STDIN_FILENO) == 1) {
  if (!is_terminal_) return;
  rl_catch_signals = 0;  // they are for the session
  rl_completion_entry_function = next_word;
  ::using_history();
}

bool LineInput::read(std::string& line) {
  if (!is_terminal_) return static_cast<bool>(std::getline(std::cin, line));
  // Ctrl-C pauses what runs, and nothing runs now: the line would end as the input does.
  const auto before = std::signal(SIGINT, SIG_IGN);
  char* const typed = ::readline(kPrompt);
  std::signal(SIGINT, before);
  if (typed == nullptr) return false;
  line = typed;
  if (!line.empty()) ::add_history(typed);
  std::free(typed);
  return true;
}

}  // namespace warpcheck::debug
