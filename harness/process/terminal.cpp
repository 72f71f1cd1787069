#include "harness/process/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace warpcheck {
namespace {

constexpr std::string_view kGreen = "\x1b[32m", kRed = "\x1b[1;31m", kPlain = "\x1b[0m";
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kVerdicts{
    {{"PASS ", kGreen}, {"FAIL ", kRed}, {"UNHEALTHY ", kRed}, {"CANNOT RUN ", kRed}}};

}  // namespace

bool is_terminal(int descriptor) {
  const char* const term = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

int terminal_columns(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool wants_color(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool forbidden = no_color != nullptr && *no_color != '\0';
  return !forbidden && is_terminal(descriptor);
}

std::string colored_verdicts(std::string_view text) {
  std::string colored;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    for (const auto& [word, color] : kVerdicts) {
      if (!line.starts_with(word)) continue;
      const std::string_view shown = word.substr(0, word.size() - 1);
      colored += fmt::format("{}{}{}", color, shown, kPlain);
      line.remove_prefix(shown.size());
      break;
    }
    colored += line;
  }
  return colored;
}

}  // namespace warpcheck
