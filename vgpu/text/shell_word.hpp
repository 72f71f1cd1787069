// One word of a command that people copy into a shell: 'a b' for a path with a space, and the text
// as it is where a shell would not change it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace warpcheck {

[[nodiscard]] inline std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    const bool is_letter_or_digit =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool is_beyond_ascii = static_cast<unsigned char>(c) >= 0x80;
    return is_letter_or_digit || is_beyond_ascii ||
           std::string_view("_-./+@%:,=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace warpcheck
