#include "vgpu/cudart/streams/idle_progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace warpcheck::cudart {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;
// The interval while a suspended kernel waits.
constexpr auto kSoon = 100us;
// The interval between looks, while all threads sleep; and the time after which a host that
// computes or polls counts as idle.
constexpr auto kAwake = 5ms;
constexpr auto kSilence = 1s;

std::chrono::nanoseconds process_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// This library's own threads in a process; a child of fork() has none of its parent's threads.
struct OwnThreads {
  std::mutex mutex;
  pid_t process = 0;
  std::vector<pid_t> threads;

  void add(pid_t thread) {
    const std::lock_guard lock(mutex);
    if (process != ::getpid()) threads.clear();
    process = ::getpid();
    threads.push_back(thread);
  }
  void remove(pid_t thread) {
    const std::lock_guard lock(mutex);
    std::erase(threads, thread);
  }
  std::vector<pid_t> all() {
    const std::lock_guard lock(mutex);
    return process == ::getpid() ? threads : std::vector<pid_t>();
  }
};

OwnThreads& own_threads() {
  static auto* const all = new OwnThreads;  // threads may run until the process ends
  return *all;
}

// Set in an own thread: the signals that were blocked in the program's thread which started it.
thread_local std::optional<sigset_t> blocked_by_program;

}  // namespace

void IdleProgress::look_after() const {
  std::uint64_t calls = 0;
  std::chrono::nanoseconds spent{0};
  auto silent_since = std::chrono::steady_clock::now();
  auto next_look = silent_since + kLook;
  while (true) {
    const bool soon = looks_soon_.load(std::memory_order_relaxed);
    if (soon) {
      std::this_thread::sleep_for(kSoon);
      resume_();
    } else {
      std::this_thread::sleep_until(next_look);
    }
    const auto now = std::chrono::steady_clock::now();
    if (soon && now < next_look) continue;
    next_look = now + kLook;
    const auto spent_now = process_time();
    const bool sleeps = spent_now - spent < kAwake;
    spent = spent_now;
    const bool polls = host_polls_ != nullptr && host_polls_();
    if (const std::uint64_t calls_now = calls_.load(std::memory_order_relaxed);
        calls_now != calls) {
      calls = calls_now;
      silent_since = now;
      continue;
    }
    if (!sleeps && !polls && now - silent_since < kSilence) continue;
    run_();
    silent_since = now;
    spent = process_time();
  }
}

void IdleProgress::watch() {
  if (watched_ == ::getpid()) return;
  watched_ = ::getpid();
  // If the thread cannot be started, only waiting calls of the host run operations.
  start_own_thread([this] { look_after(); });
}

bool start_own_thread(std::function<void()> run) {
  // The program's own threads handle its signals.
  sigset_t all;
  sigfillset(&all);
  const SignalMask blocked(SIG_BLOCK, all);
  try {
    std::promise<void> is_known;
    std::future<void> known = is_known.get_future();
    std::thread([is_known = std::move(is_known), run = std::move(run),
                 before = blocked.before()]() mutable {
      own_threads().add(::gettid());
      blocked_by_program = before;
      is_known.set_value();
      run();
      own_threads().remove(::gettid());
    }).detach();
    known.wait();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

bool is_own_thread(pid_t thread) {
  const std::vector<pid_t> all = own_threads().all();
  return std::ranges::find(all, thread) != all.end();
}

SignalMask signals_of_program() {
  if (blocked_by_program) return {SIG_SETMASK, *blocked_by_program};
  sigset_t none;
  sigemptyset(&none);
  return {SIG_BLOCK, none};
}

std::size_t threads_of_program() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  if (error) return SIZE_MAX;
  const auto all = std::distance(begin(threads), end(threads));
  return static_cast<std::size_t>(all - std::min(std::ssize(own_threads().all()), all));
}

}  // namespace warpcheck::cudart
