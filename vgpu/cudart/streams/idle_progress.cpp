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

#include "vgpu/cudart/device/device.hpp"

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

void run_what_waits(Device& device) {
  const std::unique_lock lock(device.mutex(), std::try_to_lock);
  if (!lock.owns_lock() || !device.trial().in_ambient()) return;  // a call is being answered
  try {
    device.run_all_for_nobody();
  } catch (const vgpu::Refusal& refusal) {
    device.errors().refuse(refusal.what());
    device.errors().record(cudaErrorNotSupported);
  }
}

pid_t watched = 0;  // a child of fork() has none of its parent's threads

[[noreturn]] void look_after(Device& device) {
  std::uint64_t calls = 0;
  std::chrono::nanoseconds spent{0};
  auto silent_since = std::chrono::steady_clock::now();
  while (true) {
    std::this_thread::sleep_for(kLook);
    const auto now = std::chrono::steady_clock::now();
    const auto spent_now = process_time();
    const bool sleeps = spent_now - spent < kAwake;
    spent = spent_now;
    if (const std::uint64_t calls_now = device.calls(); calls_now != calls) {
      calls = calls_now;
      silent_since = now;
      continue;
    }
    if (!sleeps && now - silent_since < kSilence) continue;
    run_what_waits(device);
    silent_since = now;
    spent = process_time();
  }
}

}  // namespace

bool other_threads_may_run() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  if (error) return true;
  return std::distance(begin(threads), end(threads)) > (watched == ::getpid() ? 2 : 1);
}

void watch_for_idle_host(Device& device) {
  if (watched == ::getpid()) return;
  watched = ::getpid();
  // The program's own threads handle its signals.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    std::thread(look_after, std::ref(device)).detach();
  } catch (const std::system_error&) {
    // Without the thread, only the host's waiting calls run operations.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace warpcheck::cudart
