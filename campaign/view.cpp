#include "campaign/view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "harness/process/terminal.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::campaign {
namespace {

std::string ago(double seconds, std::string_view never) {
  return seconds < 0 ? std::string(never) : clock_text(seconds) + " ago";
}

std::string findings_text(const Snapshot& snapshot) {
  const std::size_t waiting = snapshot.findings - snapshot.confirmed - snapshot.unconfirmed;
  std::string text = fmt::format("{}: {} confirmed", snapshot.findings, snapshot.confirmed);
  if (snapshot.schedule_dependent != 0) {
    text += fmt::format(" ({} schedule-dependent)", snapshot.schedule_dependent);
  }
  if (snapshot.unconfirmed != 0) text += fmt::format(", {} not confirmed", snapshot.unconfirmed);
  if (waiting != 0) text += fmt::format(", {} to shrink", waiting);
  if (snapshot.incidents != 0) text += "; " + counted(snapshot.incidents, "incident");
  return text;
}

}  // namespace

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(seconds, 0.0));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::vector<std::string> view_lines(const Snapshot& snapshot, std::size_t columns) {
  std::vector<std::string> lines{
      fmt::format("campaign {}   {}{}", snapshot.directory, clock_text(snapshot.seconds),
                  snapshot.total_seconds > snapshot.seconds + 1
                      ? fmt::format(" ({} in all)", clock_text(snapshot.total_seconds))
                      : ""),
      fmt::format("  trials     {}, {}/s", with_commas(snapshot.trials),
                  with_commas(static_cast<std::int64_t>(snapshot.trials_per_second))),
      fmt::format("  coverage   {} features of {}, {} corpus entries",
                  with_commas(snapshot.features), counted(snapshot.pairs, "pair"),
                  with_commas(snapshot.entries)),
      "  findings   " + findings_text(snapshot),
      fmt::format("  last new   finding {}, coverage {}",
                  ago(snapshot.seconds_since_finding, "none"),
                  ago(snapshot.seconds_since_feature, "none")),
  };
  if (!snapshot.paused.empty()) lines.push_back("  paused     " + snapshot.paused);
  for (const std::string& worker : snapshot.workers) lines.push_back("  worker     " + worker);
  for (std::string& line : lines) {
    if (line.size() > columns) line.resize(columns);
  }
  return lines;
}

std::string progress_line(const Snapshot& snapshot) {
  return fmt::format(
      "{}  {} trials, {}/s; {} features; findings {}; last new: finding {}, "
      "coverage {}{}",
      clock_text(snapshot.seconds), with_commas(snapshot.trials),
      with_commas(static_cast<std::int64_t>(snapshot.trials_per_second)),
      with_commas(snapshot.features), findings_text(snapshot),
      ago(snapshot.seconds_since_finding, "none"), ago(snapshot.seconds_since_feature, "none"),
      snapshot.paused.empty() ? "" : "; paused: " + snapshot.paused);
}

View::View() {
  live_ = is_terminal(STDOUT_FILENO);
  color_ = wants_color(STDOUT_FILENO);
}

View::~View() { std::fflush(stdout); }

void View::erase() {
  if (drawn_.empty()) return;
  // Moves up to the first of our lines, and clears from there.
  std::fputs(fmt::format("\x1b[{}A\r\x1b[J", drawn_.size()).c_str(), stdout);
}

void View::show(const Snapshot& snapshot) {
  if (!live_) {
    if (snapshot.seconds < next_plain_seconds_) return;
    next_plain_seconds_ = snapshot.seconds + kPlainSeconds;
    std::fputs((progress_line(snapshot) + "\n").c_str(), stderr);
    return;
  }
  erase();
  drawn_ = view_lines(snapshot, static_cast<std::size_t>(terminal_columns(STDOUT_FILENO)) -
                                    1);  // a full line would wrap
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    const bool headline = color_ && i == 0;
    std::fputs(headline ? "\x1b[1m" : "", stdout);
    std::fputs(drawn_[i].c_str(), stdout);
    std::fputs(headline ? "\x1b[0m\n" : "\n", stdout);
  }
  std::fflush(stdout);
}

void View::say(const std::string& line) {
  if (!live_) {
    std::fputs((line + "\n").c_str(), stderr);
    return;
  }
  erase();
  std::fputs((line + "\n").c_str(), stdout);
  for (const std::string& old : drawn_) std::fputs((old + "\n").c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace warpcheck::campaign
