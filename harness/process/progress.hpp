// A line on stderr for a person who waits.
//
// It appears where stderr is a terminal and two seconds have gone by, is rewritten in place at most
// five times a second, and is gone before anything else is printed and at the end.  Programs that
// read stderr never see it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/input/function_ref.hpp"

namespace warpcheck {

class Progress {
 public:
  // What it needs of the world; a test gives its own.
  struct World {
    bool terminal = false;
    std::function<double()> seconds;              // of a clock that never goes back
    std::function<void(std::string_view)> write;  // to the terminal
    std::function<int()> columns;                 // how wide it is
  };
  static World stderr_world();

  explicit Progress(World world = stderr_world());
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `text` is asked for only when a line is due; how long it has taken so far is added.
  void show(FunctionRef<std::string()> text);
  // Before printing anything else.
  void clear();

 private:
  World world_;
  double begin_;
  double shown_ = 0;  // when
  bool visible_ = false;
};

}  // namespace warpcheck
