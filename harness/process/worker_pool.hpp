// Worker processes that tell their parent messages (messages.hpp), each started and ended on its
// own: forks of this process, or programs started afresh.
//
// The CUDA runtime's state is global, so trials cannot share a process with others at the same
// time; and a kernel's host code that crashes takes only its own worker along.
//
// What a worker has said before it died is read to the end, and how it died is told.  Ctrl-C is the
// parent's business: workers do not hear of it, and are ended by the pool.  They end with their
// parent, however that ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/process/protocol.hpp"

namespace warpcheck {

// Tells the parent a message.
using Emit = std::function<void(const Message&)>;

struct WorkerEnd {
  bool finished = false;  // it said that it was done
  std::string failure;    // else why not: "killed by signal 11 (...)", "internal error: ..."
  bool threw = false;     // an exception left its work
  bool silent = false;    // it was killed, as its time was over
  int signal = 0;         // that killed it; 0: it ended by itself
};

// Called in the parent, from within wait(); may kill workers and give them time, but start none.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  virtual void on_message(std::size_t worker, const Message& message) = 0;
  // It wrote what is no message, or half of one.
  virtual void on_unreadable(std::size_t worker, const ProtocolError& error) = 0;
  virtual void on_end(std::size_t worker, const WorkerEnd& end) = 0;
};

class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool();  // kills those that run
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // `worker`: the caller's number for it, unique among the running ones.  When `work` returns it is
  // done; an exception that leaves `work` ends the process with internal_error() of what it says.
  // Work that ends the process by itself emits DoneMessage before.
  void start(std::size_t worker, const std::function<void(const Emit&)>& work);

  // A program: the first word is its path.  It leads a process group of its own, which ends with
  // it.  It, or a process that it starts, tells its messages through the named pipe that is made at
  // `pipe` (connect_to_parent()).  What it prints goes to stderr.
  void start_program(std::size_t worker, const std::vector<std::string>& command,
                     const std::filesystem::path& pipe);

  // From now on it has so many seconds; it is killed when they are over and it was given no others.
  void give_time(std::size_t worker, double seconds);

  // Waits for news for at most `milliseconds`; may return without any.
  void wait(int milliseconds, WorkerListener& listener);

  // Kills it; its end is told by wait().
  void kill(std::size_t worker);

  // Kills all, tells what they had said before and that they ended.
  void stop_all(WorkerListener& listener);

  [[nodiscard]] std::size_t running() const { return workers_.size(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    std::size_t number = 0;
    pid_t process = 0;
    int pipe = -1;            // -1: it has closed its end
    bool is_program = false;  // in a process group of its own
    bool killed = false;      // by us
    int status = 0;           // of waitpid()
    double seconds = 0;       // that it has
    Clock::time_point time_is_over = Clock::time_point::max();
    MessageReader reader{};
    WorkerEnd end{};
  };

  void kill_the_late();
  [[nodiscard]] int patience(int milliseconds) const;
  static void kill(Worker& worker);
  static bool read_some(Worker& worker, WorkerListener& listener);
  static void tell_end(Worker& worker, WorkerListener& listener);
  static void take(Worker& worker, const Message& message, WorkerListener& listener);
  static bool reap(Worker& worker, bool wait);

  std::vector<Worker> workers_;
};

// In a program that start_program() has started: what tells its parent messages.  Throws
// std::runtime_error where nobody reads them.
Emit connect_to_parent(const std::filesystem::path& pipe);

}  // namespace warpcheck
