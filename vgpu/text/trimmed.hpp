// Text without the white space around it, and the parts of a text that a separator parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace warpcheck {

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// The parts as they are; the text behind the last separator is none if it is empty.
//   Part: std::string, where the parts are to outlive the text
template <typename Part = std::string_view>
[[nodiscard]] std::vector<Part> split(std::string_view text, char separator) {
  std::vector<Part> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// The trimmed parts, also empty ones; one more than there are separators.
template <typename Part = std::string_view>
[[nodiscard]] std::vector<Part> split_trimmed(std::string_view text, std::string_view separator) {
  std::vector<Part> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

}  // namespace warpcheck
