// Runs operations while the program makes no calls.
//
// Operations run when the host waits for them by a call.  A program may also wait by other means:
// for a condition variable that a callback sets, or in a loop until a kernel has written a flag in
// page-locked memory.  A GPU continues meanwhile, and so does the device of a plain program once
// its process has slept or computed for a while without a call (Idleness).  In trials this does not
// happen.
//
// The time at which this happens depends on the machine; the order in which operations run does
// not.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "vgpu/cudart/host_watch/signal_mask.hpp"

namespace warpcheck::cudart {

// Decides whether the host is idle from what a thread sees that looks at it repeatedly.  A host
// that lacks a processor, because the machine has other work, does not count as sleeping.
class Idleness {
 public:
  struct Look {
    std::chrono::nanoseconds now{0};
    std::chrono::nanoseconds used{0};  // processor time of the process
    std::uint64_t calls = 0;           // of the API, so far
    bool polls = false;                // the host polls what a kernel will write
  };
  // After so much time, by the clock and on processors, a host that computes or polls is idle.
  static constexpr std::chrono::nanoseconds kSilence = std::chrono::seconds(1);
  // A host that was awake for less than this between two looks has slept.
  static constexpr std::chrono::nanoseconds kAwake = std::chrono::milliseconds(5);

  // Returns the time for which threads of the process, together, have waited for a processor so
  // far; nullopt: one could run at the moment.
  using Lacked = std::function<std::optional<std::chrono::nanoseconds>()>;

  //   lacked: called only where it decides
  explicit Idleness(Lacked lacked) : lacked_(std::move(lacked)) {}
  bool is_idle(const Look& look);
  // What was pending has run since the last look.
  void begin_again(std::chrono::nanoseconds now, std::chrono::nanoseconds used);

 private:
  bool has_slept(const Look& look);

  Lacked lacked_;
  std::uint64_t calls_ = 0;
  std::chrono::nanoseconds used_{0};                       // at the last look
  std::optional<std::chrono::nanoseconds> lacked_before_;  // at the last look; nullopt: not known
  std::chrono::nanoseconds silent_since_{0}, used_when_silent_{0};
};

class IdleProgress {
 public:
  // run: called by a separate thread when the process has been idle, without any lock. host_polls:
  // returns whether the program has begun to wait in a loop for what a kernel will write; called by
  // the same thread.  Null: not known. resume: called like run for suspended kernels, repeatedly,
  // whatever the host does.
  explicit IdleProgress(std::function<void()> run, bool (*host_polls)() = nullptr,
                        std::function<void()> resume = nullptr)
      : run_(std::move(run)), host_polls_(host_polls), resume_(std::move(resume)) {}
  IdleProgress(const IdleProgress&) = delete;
  IdleProgress& operator=(const IdleProgress&) = delete;

  // Counts a call of the API.  Calls enter one after the other.
  void count_call() {
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Ensures that pending operations will run, and that the process ends when no thread of the
  // program is left; from then on, this object must live as long as the process.  Cheap after the
  // first call.
  void watch();
  // Sets whether a kernel is suspended.
  void look_soon(bool soon) { looks_soon_.store(soon, std::memory_order_relaxed); }

 private:
  [[noreturn]] void look_after() const;

  std::function<void()> run_;
  bool (*host_polls_)();
  std::function<void()> resume_;
  std::atomic<bool> looks_soon_{false};
  std::atomic<std::uint64_t> calls_{0};
  pid_t watched_ = 0;  // the process whose thread watches; a child of fork() has no such thread
};

// Starts a thread that does not receive the program's signals and is not one of its threads.
// False: the system cannot create a thread.
bool start_own_thread(std::function<void()> run);
bool is_own_thread(pid_t thread);

// While a function of the program runs on a thread that start_own_thread() started, this thread
// receives the signals that the starting thread of the program received, as do threads that the
// function starts.
[[nodiscard]] SignalMask signals_of_program();

// Returns how many threads the process has besides those.  If that is not known, it returns a large
// number.
std::size_t threads_of_program();
// Returns whether the program has more than one thread.
inline bool other_threads_may_run() { return threads_of_program() > 1; }

}  // namespace warpcheck::cudart
