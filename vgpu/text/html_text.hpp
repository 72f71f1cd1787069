// Text as an HTML page shows it: &lt; for <, also in attributes between double quotes.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck {

[[nodiscard]] inline std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

}  // namespace warpcheck
