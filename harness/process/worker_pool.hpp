// Forked processes that tell their parent lines of text, each started and ended on its own.
//
// The CUDA runtime's state is global, so trials cannot share a process with others at the same
// time; and a kernel's host code that crashes takes only its own worker along.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// Emits one line (without a line break) to the parent.
using Emit = std::function<void(std::string_view)>;

struct WorkerEnd {
  bool finished = false;  // its work returned
  std::string failure;    // else why not: "killed by signal 11 (...)", "internal error: ..."
  bool threw = false;     // an exception left its work
};

// "internal error: WHAT": how an error is told that nobody foresaw.
std::string internal_error(std::string_view what);

// Called in the parent, from within wait().
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  virtual void on_line(std::size_t worker, std::string line) = 0;
  virtual void on_end(std::size_t worker, const WorkerEnd& end) = 0;
};

class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool();  // kills those that run
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // `worker`: the caller's number for it, unique among the running ones.  An exception that leaves
  // `work` ends the process with internal_error() of what it says.
  void start(std::size_t worker, const std::function<void(const Emit&)>& work);

  // Waits for news for at most `milliseconds`.
  void wait(int milliseconds, WorkerListener& listener);

  // Kills it; its end is told by wait().
  void kill(std::size_t worker);

  // Kills all, tells what they had said before and that they ended.
  void stop_all(WorkerListener& listener);

  [[nodiscard]] std::size_t running() const { return workers_.size(); }

 private:
  struct Worker {
    std::size_t number = 0;
    pid_t process = 0;
    int pipe = -1;
    std::string buffer;
    WorkerEnd end;
  };

  static bool read_some(Worker& worker, WorkerListener& listener);
  static void reap(Worker& worker);

  std::vector<Worker> workers_;
};

}  // namespace warpcheck
