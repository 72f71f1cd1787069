#include "harness/process/worker_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace warpcheck {
namespace {

// How often to check whether a process has ended that holds no pipe.
constexpr int kLookMilliseconds = 5;

[[noreturn]] void throw_errno(std::string_view what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

void send_all(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(pipe, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ::_exit(1);  // the parent has ended
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Emit emit_to(int pipe) {
  Emit emit = [pipe](const Message& message) { send_all(pipe, line_of(message)); };
  emit(HelloMessage{kProtocolVersion});
  return emit;
}

// A fork that ends with this process; returns 0 in the fork.  Closes `ends` if it fails.
pid_t start_process(const std::vector<int>& ends) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) {
    const int reason = errno;
    for (const int end : ends) ::close(end);
    errno = reason;
    throw_errno("cannot start a process");
  }
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent ended before
  }
  return process;
}

[[noreturn]] void run_child(int pipe, const std::function<void(const Emit&)>& work) {
  const Emit emit = emit_to(pipe);
  try {
    work(emit);
    emit(DoneMessage{});
  } catch (const std::exception& error) {
    emit(ThrewMessage{error.what()});
  } catch (...) {
    emit(ThrewMessage{"an exception that says nothing"});
  }
  ::_exit(0);  // no static destructors: they belong to the parent
}

// Makes only the parent's end of a pipe non-blocking: workers wait when it is full.
void never_wait(int pipe) { ::fcntl(pipe, F_SETFL, ::fcntl(pipe, F_GETFL) | O_NONBLOCK); }

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("ended with status {}", WEXITSTATUS(status));
  return fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

}  // namespace

// --- starting and ending ------------------------------------------------------------------------

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) {
    kill(worker);
    reap(worker, true);
    if (worker.pipe >= 0) ::close(worker.pipe);
  }
}

void WorkerPool::start(std::size_t number, const std::function<void(const Emit&)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  const pid_t process = start_process({ends[0], ends[1]});
  if (process == 0) {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_IGN);
    ::close(ends[0]);
    run_child(ends[1], work);
  }
  ::close(ends[1]);
  never_wait(ends[0]);
  workers_.push_back({.number = number, .process = process, .pipe = ends[0]});
}

void WorkerPool::start_program(std::size_t number, const std::vector<std::string>& command,
                               const std::filesystem::path& pipe) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (::mkfifo(pipe.c_str(), 0600) != 0) throw_errno("cannot make " + pipe.string());
  // Also for writing: then the program's opening succeeds at once, and the pipe never ends.
  const int end = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (end < 0) throw_errno("cannot open " + pipe.string());
  const pid_t process = start_process({end});
  if (process == 0) {
    ::setpgid(0, 0);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  ::setpgid(process, process);  // before another process signals the group
  workers_.push_back({.number = number, .process = process, .pipe = end, .is_program = true});
}

Emit connect_to_parent(const std::filesystem::path& pipe) {
  const int end = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (end < 0) throw_errno("cannot open " + pipe.string());
  ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) & ~O_NONBLOCK);
  return emit_to(end);
}

void WorkerPool::kill(Worker& worker) {
  worker.killed = true;
  ::kill(worker.is_program ? -worker.process : worker.process, SIGKILL);
}

void WorkerPool::kill(std::size_t number) {
  for (Worker& worker : workers_) {
    if (worker.number == number) kill(worker);
  }
}

void WorkerPool::give_time(std::size_t number, double seconds) {
  for (Worker& worker : workers_) {
    if (worker.number != number) continue;
    worker.seconds = seconds;
    worker.time_is_over = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(seconds));
  }
}

// Call before waiting for messages, never right after: while this process was stopped, workers may
// have written messages that give them time.
void WorkerPool::kill_the_late() {
  const Clock::time_point now = Clock::now();
  for (Worker& worker : workers_) {
    if (worker.killed || now < worker.time_is_over) continue;
    worker.end.silent = true;
    kill(worker);
  }
}

// Whether the worker has ended and was waited for.
bool WorkerPool::reap(Worker& worker, bool wait) {
  siginfo_t ended{};
  const int options = WEXITED | WNOWAIT | (wait ? 0 : WNOHANG);
  while (::waitid(P_PID, static_cast<id_t>(worker.process), &ended, options) < 0) {
    if (errno != EINTR) return true;
  }
  if (ended.si_pid == 0) return false;
  // Processes that it has started end with it; its number stays reserved until it is waited for.
  if (worker.is_program) ::kill(-worker.process, SIGKILL);
  while (::waitpid(worker.process, &worker.status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

// --- receiving ----------------------------------------------------------------------------------

int WorkerPool::patience(int milliseconds) const {
  auto wake = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (const Worker& worker : workers_) {
    if (!worker.killed) wake = std::min(wake, worker.time_is_over);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()).count();
  const bool is_untold = std::ranges::any_of(
      workers_, [](const Worker& worker) { return worker.is_program || worker.pipe < 0; });
  return std::clamp(static_cast<int>(left), 0, is_untold ? kLookMilliseconds : milliseconds);
}

void WorkerPool::wait(int milliseconds, WorkerListener& listener) {
  kill_the_late();
  std::vector<pollfd> polls;
  for (const Worker& worker : workers_) polls.push_back({worker.pipe, POLLIN, 0});
  ::poll(polls.data(), polls.size(), patience(milliseconds));
  for (std::size_t i = polls.size(); i-- > 0;) {
    Worker& worker = workers_[i];
    if (polls[i].revents != 0 && !read_some(worker, listener) && !worker.is_program) {
      ::close(std::exchange(worker.pipe, -1));
    }
    if (!reap(worker, false)) continue;
    Worker ended = std::move(worker);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    report_end(ended, listener);
  }
}

void WorkerPool::stop_all(WorkerListener& listener) {
  for (Worker& worker : workers_) kill(worker);
  while (!workers_.empty()) {
    Worker ended = std::move(workers_.front());
    workers_.erase(workers_.begin());
    reap(ended, true);
    report_end(ended, listener);
  }
}

// False if there is nothing more to read, now or ever.
bool WorkerPool::read_some(Worker& worker, WorkerListener& listener) {
  char bytes[65536];
  const ssize_t count = ::read(worker.pipe, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  worker.reader.add({bytes, static_cast<std::size_t>(count)});
  while (true) {
    try {
      const std::optional<Message> message = worker.reader.next();
      if (!message) break;
      take(worker, *message, listener);
    } catch (const ProtocolError& error) {
      listener.on_unreadable(worker.number, error);
      if (worker.reader.is_foreign()) kill(worker);
    }
  }
  return true;
}

// For a worker that has ended: reports its unread messages, and how it ended.
void WorkerPool::report_end(Worker& worker, WorkerListener& listener) {
  while (worker.pipe >= 0 && read_some(worker, listener)) {
  }
  if (worker.pipe >= 0) ::close(worker.pipe);
  try {
    if (!worker.killed) worker.reader.end();  // a killed one may have been writing
  } catch (const ProtocolError& error) {
    listener.on_unreadable(worker.number, error);
  }
  WorkerEnd& end = worker.end;
  end.signal = WIFSIGNALED(worker.status) ? WTERMSIG(worker.status) : 0;
  if (end.silent) {
    end.failure = fmt::format("no sign of life for {} s", worker.seconds);
  } else if (!end.finished && !end.threw) {
    end.failure = how_it_ended(worker.status);
  }
  listener.on_end(worker.number, end);
}

void WorkerPool::take(Worker& worker, const Message& message, WorkerListener& listener) {
  if (std::holds_alternative<HelloMessage>(message)) return;
  if (std::holds_alternative<DoneMessage>(message)) {
    worker.end.finished = true;
  } else if (const auto* const threw = std::get_if<ThrewMessage>(&message)) {
    worker.end.threw = true;
    worker.end.failure = internal_error(threw->what);
  } else {
    listener.on_message(worker.number, message);
  }
}

}  // namespace warpcheck
