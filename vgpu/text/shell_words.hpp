// Words of a command line, as a shell splits it: quotes keep blanks together, a backslash the next
// character.  The inverse of shell_word().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpcheck {

[[nodiscard]] inline std::vector<std::string> shell_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  bool is_word = false;
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char c = command[at];
    if (quote != '\'' && c == '\\' && at + 1 < command.size()) {
      word += command[++at];
      is_word = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      is_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_word) words.push_back(std::move(word));
      word.clear();
      is_word = false;
    } else {
      word += c;
      is_word = true;
    }
  }
  if (is_word) words.push_back(std::move(word));
  return words;
}

}  // namespace warpcheck
