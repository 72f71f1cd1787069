// The display of a running campaign: a few redrawn lines on a terminal, plain lines elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::campaign {

struct Snapshot {
  std::string directory{};
  double seconds = 0;        // since this start
  double total_seconds = 0;  // of the campaign, over all its starts
  std::int64_t trials = 0;
  double trials_per_second = 0;  // recently
  std::size_t pairs = 0;
  std::int64_t features = 0, entries = 0;
  std::size_t findings = 0, confirmed = 0, schedule_dependent = 0, unconfirmed = 0;
  std::size_t incidents = 0;
  double seconds_since_finding = -1;  // negative: there was none
  double seconds_since_feature = -1;
  std::string paused{};                // why nothing is searched; empty: it is not paused
  std::vector<std::string> workers{};  // "search scan_tree, 3 s"
};

// "1,234,567"
std::string with_commas(std::int64_t number);

// "1:02:03"
std::string clock_text(double seconds);

// The lines of the live view, each at most `columns` wide.
std::vector<std::string> view_lines(const Snapshot& snapshot, std::size_t columns);

// One line with the same information, without a terminal.
std::string progress_line(const Snapshot& snapshot);

// Prints to stdout if it is a terminal that can be redrawn, else to stderr, because the text
// depends on the clock.
class View {
 public:
  View();
  ~View();  // leaves the last display, and the cursor below it
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Redraws; without a terminal, prints a line at most every `kPlainSeconds`.
  void show(const Snapshot& snapshot);
  // Prints a line that stays.
  void say(const std::string& line);

  static constexpr double kPlainSeconds = 30;

 private:
  void erase();

  bool live_ = false;
  bool color_ = false;
  std::vector<std::string> drawn_{};
  double next_plain_seconds_ = kPlainSeconds;
};

}  // namespace warpcheck::campaign
