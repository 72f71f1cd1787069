// Worker processes that send messages (messages.hpp) to their parent.  Each is started and ended
// separately; it is a fork of this process or a freshly started program.
//
// The CUDA runtime's state is global, so parallel trials need separate processes; and a crash of a
// kernel's host code ends only its own worker.
//
// All that a worker wrote before it died is read, and its end is reported.  Forks ignore Ctrl-C
// and SIGTERM; the parent handles both, and the pool ends them.  They end with their parent,
// however that ends.
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

// Sends a message to the parent.
using Emit = std::function<void(const Message&)>;

struct WorkerEnd {
  bool finished = false;  // it sent its DoneMessage
  std::string failure;    // else the reason: "killed by signal 11 (...)", "internal error: ..."
  bool threw = false;     // an exception left its work
  bool silent = false;    // it was killed because its time was over
  int signal = 0;         // the signal that killed it; 0: none
};

// Called in the parent, from wait(); may kill workers and give them time, but start none.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  virtual void on_message(std::size_t worker, const Message& message) = 0;
  // The worker wrote a line that is no message, or half a line.
  virtual void on_unreadable(std::size_t worker, const ProtocolError& error) = 0;
  virtual void on_end(std::size_t worker, const WorkerEnd& end) = 0;
};

class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool();  // kills running workers
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // `worker`: the caller's number for it, unique among the running ones.  The worker is done when
  // `work` returns; an exception that leaves `work` ends the process with internal_error() of its
  // text. Work that ends the process itself must emit DoneMessage before.
  void start(std::size_t worker, const std::function<void(const Emit&)>& work);

  // Starts a program: the first word is its path.  It leads a process group of its own, which ends
  // with it.  The program, or a process that it starts, sends its messages through the named pipe
  // that is created at `pipe` (connect_to_parent()).  Its output goes to stderr.
  void start_program(std::size_t worker, const std::vector<std::string>& command,
                     const std::filesystem::path& pipe);

  // Sets the worker's time limit from now on; it is killed at the limit unless a new one is set.
  void give_time(std::size_t worker, double seconds);

  // Waits for messages for at most `milliseconds`; may return without any.
  void wait(int milliseconds, WorkerListener& listener);

  // Kills a worker; wait() reports its end.
  void kill(std::size_t worker);

  // Kills all workers, and reports their last messages and their ends.
  void stop_all(WorkerListener& listener);

  [[nodiscard]] std::size_t running() const { return workers_.size(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    std::size_t number = 0;
    pid_t process = 0;
    int pipe = -1;            // -1: the worker has closed its end
    bool is_program = false;  // in a process group of its own
    bool killed = false;      // by the pool
    int status = 0;           // from waitpid()
    double seconds = 0;       // its time limit
    Clock::time_point time_is_over = Clock::time_point::max();
    MessageReader reader{};
    WorkerEnd end{};
  };

  void kill_the_late();
  [[nodiscard]] int patience(int milliseconds) const;
  static void kill(Worker& worker);
  static bool read_some(Worker& worker, WorkerListener& listener);
  static void report_end(Worker& worker, WorkerListener& listener);
  static void take(Worker& worker, const Message& message, WorkerListener& listener);
  static bool reap(Worker& worker, bool wait);

  std::vector<Worker> workers_;
};

// For a program that start_program() has started: the function that sends messages to the parent.
// Throws std::runtime_error if no process reads the pipe.
Emit connect_to_parent(const std::filesystem::path& pipe);

}  // namespace warpcheck
