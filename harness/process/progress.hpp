// A progress line on stderr.
//
// It appears if stderr is a terminal and two seconds have passed.  It is rewritten in place at most
// five times a second, and erased before anything else is printed and at the end.  Programs that
// read stderr never see it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/input/function_ref.hpp"

namespace warpcheck {

class Progress {
 public:
  // The clock and terminal of a progress line; tests substitute their own.
  struct World {
    bool terminal = false;
    std::function<double()> seconds;              // of a monotonic clock
    std::function<void(std::string_view)> write;  // writes to the terminal
    std::function<int()> columns;                 // the terminal's width
  };
  static World stderr_world();

  explicit Progress(World world = stderr_world());
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Calls `text` only when a line is due; the elapsed time is appended.
  void show(FunctionRef<std::string()> text);
  // Call before printing anything else.
  void clear();

 private:
  World world_;
  double begin_;
  double shown_ = 0;  // time of the last line
  bool visible_ = false;
};

}  // namespace warpcheck
