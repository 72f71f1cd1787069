#include "harness/workers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

[[noreturn]] void run_child(int pipe, std::size_t task,
                            const std::function<void(std::size_t, const Emit&)>& work) {
  std::signal(SIGINT, SIG_DFL);
  try {
    work(task, [pipe](std::string_view line) { write_line(pipe, kEmitted, line); });
    write_line(pipe, kFinished, "");
  } catch (const std::exception& error) {
    write_line(pipe, kThrew, error.what());
  }
  ::_exit(0);  // no static destructors: they belong to the parent
}

struct Worker {
  std::size_t task = 0;
  pid_t process = 0;
  int pipe = -1;
  std::string buffer;
};

class Pool {
 public:
  Pool(std::size_t count, const std::function<void(std::size_t, const Emit&)>& work)
      : results_(count), work_(work) {}

  void start(std::size_t task) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    std::fflush(nullptr);
    const pid_t process = ::fork();
    if (process < 0) {
      throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
    }
    if (process == 0) {
      ::close(ends[0]);
      run_child(ends[1], task, work_);
    }
    ::close(ends[1]);
    workers_.push_back({task, process, ends[0], {}});
  }

  // Waits for news for at most 200 ms; returns the tasks that ended.
  std::vector<std::size_t> wait() {
    std::vector<pollfd> polls;
    for (const Worker& worker : workers_) polls.push_back({worker.pipe, POLLIN, 0});
    std::vector<std::size_t> ended;
    if (::poll(polls.data(), polls.size(), 200) <= 0) return ended;
    for (std::size_t i = polls.size(); i-- > 0;) {
      if (polls[i].revents == 0 || read_some(workers_[i])) continue;
      ended.push_back(workers_[i].task);
      reap(workers_[i]);
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return ended;
  }

  void stop_all() {
    for (const Worker& worker : workers_) ::kill(worker.process, SIGKILL);
    for (Worker& worker : workers_) {
      while (read_some(worker)) {
      }
      reap(worker);
      results_[worker.task].failure = "interrupted";
    }
    workers_.clear();
  }

  [[nodiscard]] std::size_t running() const { return workers_.size(); }
  std::vector<TaskResult>& results() { return results_; }

 private:
  // False at the end of what it has to say.
  bool read_some(Worker& worker) {
    char bytes[65536];
    const ssize_t count = ::read(worker.pipe, bytes, sizeof bytes);
    if (count < 0) return errno == EINTR;
    if (count == 0) return false;
    worker.buffer.append(bytes, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = worker.buffer.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      take_line(results_[worker.task], worker.buffer.substr(begin, end - begin));
    }
    worker.buffer.erase(0, begin);
    return true;
  }

  static void take_line(TaskResult& result, std::string line) {
    const char tag = line.front();
    line.erase(0, 1);
    if (tag == kEmitted) result.lines.push_back(std::move(line));
    if (tag == kFinished) result.finished = true;
    if (tag == kThrew) result.failure = std::move(line);
  }

  void reap(const Worker& worker) {
    ::close(worker.pipe);
    int status = 0;
    while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    TaskResult& result = results_[worker.task];
    if (result.finished || !result.failure.empty()) return;
    result.failure = WIFSIGNALED(status) ? fmt::format("killed by signal {} ({})", WTERMSIG(status),
                                                       ::strsignal(WTERMSIG(status)))
                                         : fmt::format("ended with status {}", WEXITSTATUS(status));
  }

  std::vector<TaskResult> results_;
  const std::function<void(std::size_t, const Emit&)>& work_;
  std::vector<Worker> workers_;
};

}  // namespace

std::vector<TaskResult> run_tasks(std::size_t count, unsigned jobs,
                                  const std::function<void(std::size_t, const Emit&)>& work,
                                  const volatile std::sig_atomic_t* stop,
                                  const std::function<void(std::size_t)>& on_finished,
                                  const std::function<void()>& on_wait) {
  Pool pool(count, work);
  std::size_t next = 0;
  while (next < count || pool.running() > 0) {
    if (stop != nullptr && *stop != 0) {
      pool.stop_all();
      break;
    }
    while (next < count && pool.running() < std::max(jobs, 1u)) pool.start(next++);
    for (const std::size_t task : pool.wait()) {
      if (on_finished) on_finished(task);
    }
    if (on_wait) on_wait();
  }
  return std::move(pool.results());
}

}  // namespace warpcheck
