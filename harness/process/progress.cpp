#include "harness/process/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "harness/process/terminal.hpp"

namespace warpcheck {
namespace {

constexpr double kSilentSeconds = 2;
constexpr double kSecondsBetween = 0.2;
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

Progress::World Progress::stderr_world() {
  return {.terminal = is_terminal(STDERR_FILENO),
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
          .columns = [] { return terminal_columns(STDERR_FILENO); }};
}

Progress::Progress(World world)
    : world_(std::move(world)), begin_(world_.terminal ? world_.seconds() : 0) {}

void Progress::show(FunctionRef<std::string()> text) {
  if (!world_.terminal) return;
  const double now = world_.seconds();
  if (now - begin_ < kSilentSeconds || (visible_ && now - shown_ < kSecondsBetween)) return;
  std::string line = fmt::format("{}   {:.0f} s", text(), now - begin_);
  // A wrapped line could not be erased.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(world_.columns() - 1, 0))));
  world_.write(std::string(kEraseLine) + line);
  shown_ = now;
  visible_ = true;
}

void Progress::clear() {
  if (visible_) world_.write(kEraseLine);
  visible_ = false;
}

}  // namespace warpcheck
