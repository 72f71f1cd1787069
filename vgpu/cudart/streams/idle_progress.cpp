#include "vgpu/cudart/streams/idle_progress.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "vgpu/cudart/device/this_process.hpp"

namespace warpcheck::cudart {
namespace {

using namespace std::chrono_literals;

constexpr const char* kThreads = "/proc/self/task";
// The interval between looks.
constexpr auto kLook = 20ms;
// The interval while a suspended kernel waits.
constexpr auto kSoon = 100us;

std::chrono::nanoseconds process_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Returns whether a thread has a processor, or waits for one: the field behind the name of its
// program in /proc/self/task/T/stat.
bool can_run(const std::filesystem::path& thread) {
  std::string text;
  std::getline(std::ifstream(thread / "stat"), text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0;
}

// Returns how long the threads of this process, without the calling one, have waited for a
// processor: the second number of /proc/self/task/T/schedstat, which does not contain a wait that
// has not ended.  nullopt: one of them can run.
std::optional<std::chrono::nanoseconds> time_without_processor() {
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator(kThreads, error)) {
    if (std::atoi(thread.path().filename().c_str()) == ::gettid()) continue;
    if (can_run(thread.path())) return std::nullopt;
    std::uint64_t used = 0, waited = 0;
    if (std::ifstream(thread.path() / "schedstat") >> used >> waited) total += waited;
  }
  return std::chrono::nanoseconds(total);
}

// Whether the process goes on without any thread of the program: its first one has ended by
// pthread_exit() and stays as a zombie, and the others have ended.  The C library would end the
// process with its last thread, but this library's own threads are some more.
bool are_threads_of_program_gone() {
  if (threads_of_program() != 1) return false;
  std::string text;
  std::getline(std::ifstream("/proc/self/stat"), text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") Z") == 0;
}

// This library's own threads in a process; a child of fork() has none of its parent's threads.
struct OwnThreads {
  std::mutex mutex;
  pid_t process = 0;
  std::vector<pid_t> threads;

  void add(pid_t thread) {
    const std::lock_guard lock(mutex);
    if (process != this_process()) threads.clear();
    process = this_process();
    threads.push_back(thread);
  }
  void remove(pid_t thread) {
    const std::lock_guard lock(mutex);
    std::erase(threads, thread);
  }
  std::vector<pid_t> all() {
    const std::lock_guard lock(mutex);
    return process == this_process() ? threads : std::vector<pid_t>();
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return process == this_process() ? threads.size() : 0;
  }
};

OwnThreads& own_threads() {
  static auto* const all = new OwnThreads;  // threads may run until the process ends
  return *all;
}

// Both return the number of threads of this process, or SIZE_MAX if it is not known.
std::size_t count_listed_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator threads(kThreads, error);
  return error ? SIZE_MAX : static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}
// Each thread is a directory, and so a link to the one that contains it, which has two of its own.
std::size_t count_linked_threads() {
  struct stat of {};
  return ::stat(kThreads, &of) == 0 && of.st_nlink > 2 ? of.st_nlink - 2 : SIZE_MAX;
}

// Set in an own thread: the signals that were blocked in the program's thread which started it.
thread_local std::optional<sigset_t> blocked_by_program;

}  // namespace

// ---- Idleness ----

bool Idleness::is_idle(const Look& look) {
  const bool slept = has_slept(look);
  if (look.calls != calls_) {
    calls_ = look.calls;
    silent_since_ = look.now;
    used_when_silent_ = look.used;
    return false;
  }
  if (slept || look.polls) return true;
  return look.now - silent_since_ >= kSilence && look.used - used_when_silent_ >= kSilence;
}

// The process has used little time of processors, and wanted little more.
bool Idleness::has_slept(const Look& look) {
  const auto used = look.used - std::exchange(used_, look.used);
  if (used >= kAwake) {
    lacked_before_.reset();
    return false;
  }
  const std::optional<std::chrono::nanoseconds> lacked = lacked_();
  const std::optional<std::chrono::nanoseconds> before = std::exchange(lacked_before_, lacked);
  return lacked && before && used + (*lacked - *before) < kAwake;
}

void Idleness::begin_again(std::chrono::nanoseconds now, std::chrono::nanoseconds used) {
  silent_since_ = now;
  used_ = used_when_silent_ = used;
  lacked_before_ = lacked_();
}

// ---- IdleProgress ----

void IdleProgress::look_after() const {
  const auto clock = [] { return std::chrono::steady_clock::now(); };
  Idleness idleness(&time_without_processor);
  auto next_look = clock() + kLook;
  idleness.begin_again(clock().time_since_epoch(), process_time());
  while (true) {
    const bool soon = looks_soon_.load(std::memory_order_relaxed);
    if (soon) {
      std::this_thread::sleep_for(kSoon);
      resume_();
    } else {
      std::this_thread::sleep_until(next_look);
    }
    const auto now = clock();
    if (soon && now < next_look) continue;
    next_look = now + kLook;
    if (are_threads_of_program_gone()) std::exit(EXIT_SUCCESS);
    const bool polls = host_polls_ != nullptr && host_polls_();
    const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
    if (!idleness.is_idle({now.time_since_epoch(), process_time(), calls, polls})) continue;
    run_();
    idleness.begin_again(clock().time_since_epoch(), process_time());
  }
}

void IdleProgress::watch() {
  if (watched_ == this_process()) return;
  watched_ = this_process();
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
  // Where the links of the directory are counted, reading it takes ten times as long.
  static const bool are_linked = count_linked_threads() == count_listed_threads();
  const std::size_t all = are_linked ? count_linked_threads() : count_listed_threads();
  return all == SIZE_MAX ? all : all - std::min(own_threads().count(), all);
}

}  // namespace warpcheck::cudart
