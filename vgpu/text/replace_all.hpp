// A text with another one in place of each occurrence of some text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpcheck {

inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace warpcheck
