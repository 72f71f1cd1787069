// "1 byte", "2 bytes", "3 launches", "4 entries": a number and what it counts, as every message
// shows them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace warpcheck {

// The noun alone, for numbers that are shown in another way.
[[nodiscard]] inline std::string noun_of(std::uint64_t number, std::string_view noun) {
  if (number == 1) return std::string(noun);
  const auto ends_with = [noun](std::string_view end) { return noun.ends_with(end); };
  if (ends_with("s") || ends_with("ch") || ends_with("x")) return fmt::format("{}es", noun);
  if (ends_with("ry")) return fmt::format("{}ies", noun.substr(0, noun.size() - 1));
  return fmt::format("{}s", noun);
}

[[nodiscard]] inline std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}", number, noun_of(number, noun));
}

}  // namespace warpcheck
