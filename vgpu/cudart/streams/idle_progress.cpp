#include "vgpu/cudart/streams/idle_progress.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>

namespace warpcheck::cudart {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;
// Of a look, while all threads sleep, and of a host that computes or polls.
constexpr auto kAwake = 5ms;
constexpr auto kSilence = 1s;

std::chrono::nanoseconds process_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Threads that watch, in a process; a child of fork() has none of its parent's.
struct Watchers {
  std::mutex mutex;
  pid_t process = 0;
  int threads = 0;

  void add() {
    const std::lock_guard lock(mutex);
    threads = (process == ::getpid() ? threads : 0) + 1;
    process = ::getpid();
  }
  int count() {
    const std::lock_guard lock(mutex);
    return process == ::getpid() ? threads : 0;
  }
};

Watchers& watchers() {
  static auto* const all = new Watchers;  // threads go on until the process has ended
  return *all;
}

}  // namespace

void IdleProgress::look_after() const {
  std::uint64_t calls = 0;
  std::chrono::nanoseconds spent{0};
  auto silent_since = std::chrono::steady_clock::now();
  while (true) {
    std::this_thread::sleep_for(kLook);
    const auto now = std::chrono::steady_clock::now();
    const auto spent_now = process_time();
    const bool sleeps = spent_now - spent < kAwake;
    spent = spent_now;
    if (const std::uint64_t calls_now = calls_.load(std::memory_order_relaxed);
        calls_now != calls) {
      calls = calls_now;
      silent_since = now;
      continue;
    }
    if (!sleeps && now - silent_since < kSilence) continue;
    run_();
    silent_since = now;
    spent = process_time();
  }
}

void IdleProgress::watch() {
  if (watched_ == ::getpid()) return;
  watched_ = ::getpid();
  // The program's own threads handle its signals.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    std::thread(&IdleProgress::look_after, this).detach();
    watchers().add();
  } catch (const std::system_error&) {
    // Without the thread, only the host's waiting calls run operations.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool other_threads_may_run() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  if (error) return true;
  return std::distance(begin(threads), end(threads)) > 1 + watchers().count();
}

}  // namespace warpcheck::cudart
