#include "harness/process/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace warpcheck {
namespace {

constexpr double kSilentSeconds = 2;
constexpr double kSecondsBetween = 0.2;
constexpr std::string_view kEraseLine = "\r\x1b[K";

constexpr std::string_view kGreen = "\x1b[32m", kRed = "\x1b[1;31m", kPlain = "\x1b[0m";
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kVerdicts{
    {{"PASS ", kGreen}, {"FAIL ", kRed}, {"UNHEALTHY ", kRed}, {"CANNOT RUN ", kRed}}};

int columns_of_stderr() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_dumb_terminal() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

Progress::World Progress::stderr_world() {
  return {.terminal = ::isatty(STDERR_FILENO) != 0 && !is_dumb_terminal(),
          .seconds =
              [] {
                const std::chrono::duration<double> now =
                    std::chrono::steady_clock::now().time_since_epoch();
                return now.count();
              },
          .write =
              [](std::string_view text) {
                std::fwrite(text.data(), 1, text.size(), stderr);
                std::fflush(stderr);
              },
          .columns = columns_of_stderr};
}

Progress::Progress(World world)
    : world_(std::move(world)), begin_(world_.terminal ? world_.seconds() : 0) {}

void Progress::show(FunctionRef<std::string()> text) {
  if (!world_.terminal) return;
  const double now = world_.seconds();
  if (now - begin_ < kSilentSeconds || (visible_ && now - shown_ < kSecondsBetween)) return;
  std::string line = fmt::format("{}   {:.0f} s", text(), now - begin_);
  // A line that wraps could not be erased.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(world_.columns() - 1, 0))));
  world_.write(std::string(kEraseLine) + line);
  shown_ = now;
  visible_ = true;
}

void Progress::clear() {
  if (visible_) world_.write(kEraseLine);
  visible_ = false;
}

bool wants_color(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool forbidden = no_color != nullptr && *no_color != '\0';
  return !forbidden && ::isatty(descriptor) != 0 && !is_dumb_terminal();
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
