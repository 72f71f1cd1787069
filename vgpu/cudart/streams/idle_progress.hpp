// Operations run although the program calls nothing.
//
// They run when the host waits for them by a call.  A program may also wait by other means: for a
// condition variable that a callback sets, or in a loop until a kernel has written a flag in
// page-locked memory.  A GPU goes on meanwhile; so does the device of a plain program, once its
// process has slept or called nothing for a while.  In trials nothing of that happens.
//
// When that is depends on the machine, in which order operations run does not.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace warpcheck::cudart {

class IdleProgress {
 public:
  // run: called by a thread of its own when the process has been idle, without any lock.
  // host_polls: whether the program has begun to wait in a loop for what a kernel will write; by
  // the same thread.  Null: nobody knows.
  // resume: the same for suspended kernels, again and again, whatever the host does.
  explicit IdleProgress(std::function<void()> run, bool (*host_polls)() = nullptr,
                        std::function<void()> resume = nullptr)
      : run_(std::move(run)), host_polls_(host_polls), resume_(std::move(resume)) {}
  IdleProgress(const IdleProgress&) = delete;
  IdleProgress& operator=(const IdleProgress&) = delete;

  // The program has called the API.
  void count_call() { calls_.fetch_add(1, std::memory_order_relaxed); }
  // Makes sure that operations which wait will run; from then on, this object lives as long as the
  // process.  Cheap after the first time.
  void watch();
  // Whether a kernel is suspended.
  void look_soon(bool soon) { looks_soon_.store(soon, std::memory_order_relaxed); }

 private:
  [[noreturn]] void look_after() const;

  std::function<void()> run_;
  bool (*host_polls_)();
  std::function<void()> resume_;
  std::atomic<bool> looks_soon_{false};
  std::atomic<std::uint64_t> calls_{0};
  pid_t watched_ = 0;  // the process whose thread watches: a child of fork() has no such thread
};

// Starts a thread that takes no signals of the program's and is none of its threads.  False: the
// system has no thread left.
bool start_own_thread(std::function<void()> run);
bool is_own_thread(pid_t thread);

// While a function of the program runs on a thread that start_own_thread() has started: it takes
// the signals that the program's thread took which started it, as do threads that the function
// starts.
class SignalsOfProgram {
 public:
  SignalsOfProgram();
  ~SignalsOfProgram();
  SignalsOfProgram(const SignalsOfProgram&) = delete;
  SignalsOfProgram& operator=(const SignalsOfProgram&) = delete;

 private:
  sigset_t before_{};
};

// How many threads the process has besides those.  What is not known counts as many.
std::size_t threads_of_program();
// Whether the program has others than one.
inline bool other_threads_may_run() { return threads_of_program() > 1; }

}  // namespace warpcheck::cudart
