#include "harness/process/worker_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace warpcheck {
namespace {

// The first byte of a line on the pipe: what it is.
constexpr char kEmitted = '+';
constexpr char kFinished = '.';
constexpr char kThrew = '!';

void write_all(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(pipe, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ::_exit(1);  // the parent is gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_line(int pipe, char tag, std::string_view text) {
  std::string line;
  line.reserve(text.size() + 2);
  line += tag;
  for (const char c : text) line += c == '\n' ? ' ' : c;
  line += '\n';
  write_all(pipe, line);
}

[[noreturn]] void run_child(int pipe, const std::function<void(const Emit&)>& work) {
  std::signal(SIGINT, SIG_DFL);
  try {
    work([pipe](std::string_view line) { write_line(pipe, kEmitted, line); });
    write_line(pipe, kFinished, "");
  } catch (const std::exception& error) {
    write_line(pipe, kThrew, internal_error(error.what()));
  } catch (...) {
    write_line(pipe, kThrew, internal_error("an exception that says nothing"));
  }
  ::_exit(0);  // no static destructors: they belong to the parent
}

}  // namespace

std::string internal_error(std::string_view what) {
  return fmt::format("internal error: {}", what);
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) {
    ::kill(worker.process, SIGKILL);
    reap(worker);
  }
}

void WorkerPool::start(std::size_t number, const std::function<void(const Emit&)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(reason)));
  }
  if (process == 0) {
    ::close(ends[0]);
    run_child(ends[1], work);
  }
  ::close(ends[1]);
  workers_.push_back({number, process, ends[0], {}, {}});
}

void WorkerPool::wait(int milliseconds, WorkerListener& listener) {
  std::vector<pollfd> polls;
  for (const Worker& worker : workers_) polls.push_back({worker.pipe, POLLIN, 0});
  if (::poll(polls.data(), polls.size(), milliseconds) <= 0) return;
  for (std::size_t i = polls.size(); i-- > 0;) {
    if (polls[i].revents == 0 || read_some(workers_[i], listener)) continue;
    Worker worker = std::move(workers_[i]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    reap(worker);
    listener.on_end(worker.number, worker.end);
  }
}

void WorkerPool::kill(std::size_t number) {
  for (const Worker& worker : workers_) {
    if (worker.number == number) ::kill(worker.process, SIGKILL);
  }
}

void WorkerPool::stop_all(WorkerListener& listener) {
  for (const Worker& worker : workers_) ::kill(worker.process, SIGKILL);
  for (Worker& worker : workers_) {
    while (read_some(worker, listener)) {
    }
    reap(worker);
    listener.on_end(worker.number, worker.end);
  }
  workers_.clear();
}

// False at the end of what it has to say.
bool WorkerPool::read_some(Worker& worker, WorkerListener& listener) {
  char bytes[65536];
  const ssize_t count = ::read(worker.pipe, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR;
  if (count == 0) return false;
  worker.buffer.append(bytes, static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (std::size_t end; (end = worker.buffer.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::string line = worker.buffer.substr(begin + 1, end - begin - 1);
    switch (worker.buffer[begin]) {
      case kEmitted: listener.on_line(worker.number, std::move(line)); break;
      case kFinished: worker.end.finished = true; break;
      case kThrew:
        worker.end.failure = std::move(line);
        worker.end.threw = true;
        break;
      default:
        worker.end.failure = internal_error(
            fmt::format("a worker wrote '{}'", worker.buffer.substr(begin, end - begin)));
    }
  }
  worker.buffer.erase(0, begin);
  return true;
}

void WorkerPool::reap(Worker& worker) {
  ::close(worker.pipe);
  int status = 0;
  while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!worker.end.failure.empty()) worker.end.finished = false;
  if (worker.end.finished || !worker.end.failure.empty()) return;
  worker.end.failure =
      WIFSIGNALED(status)
          ? fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
          : fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace warpcheck
