#include "cli/debug/debuggee.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/debug/debugged_case.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/program_run.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::debug {
namespace {

using nlohmann::json;

// At most so many checkpoints, which together take at most so much memory.
constexpr std::size_t kCheckpointsMax = 16;
constexpr std::uint64_t kBytesMax = std::uint64_t{2} << 30;

[[noreturn]] void fail(std::string_view what) {
  throw DebugError(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Of a new process of the debuggee: Ctrl-C is for the debugger alone, and so is the input.
void leave_terminal(const std::array<int, 2>& output) {
  ::setpgid(0, 0);
  if (const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC); input >= 0) {
    ::dup2(input, STDIN_FILENO);
  }
  if (output[0] >= 0) ::dup2(output[0], STDOUT_FILENO);
  if (output[1] >= 0) ::dup2(output[1], STDERR_FILENO);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
}

// The memory that only this process uses, and its share of what it shares; 0: not known.
std::uint64_t memory_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
  std::string word;
  std::uint64_t kilobytes = 0;
  while (file >> word) {
    if (word == "Pss:" && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

}  // namespace

Debuggee::Debuggee(const Target& target) : target_(target) {
  path_ = directory_.path() / "debugger";
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) {
    throw DebugError(
        fmt::format("{}: too long for a socket; set TMPDIR to a shorter directory", path_));
  }
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (listener_ < 0 ||
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 128) != 0) {
    fail(path_);
  }
  if (::pipe2(wakeup_, O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe");
  // Copies are children of children that have exited; they become this process's own.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (target.case_file.empty()) {
    start_program(target);
  } else {
    start_case(target);
  }
  while (!is_connected_ && !original_.is_gone) wait(original_);
  if (is_connected_) return;
  pass_output(true);
  throw DebugError(fmt::format("{} ended with status {} before it used CUDA",
                               target.case_file.empty() ? target.program.front() : target.case_file,
                               status_));
}

void Debuggee::let_end() {
  constexpr int kEndMs = 2'000, kLookMs = 20;
  send(original_, {{"do", "free"}});
  for (int waited = 0; !original_.is_gone && waited < kEndMs; waited += kLookMs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
    pass_output(false);
    reap();
  }
}

Debuggee::~Debuggee() {
  copy_.reset();
  arriving_.reset();
  checkpoints_.clear();
  if (original_.pid > 0 && !original_.is_gone) {
    ::kill(original_.pid, SIGKILL);
    ::waitpid(original_.pid, nullptr, 0);
  }
  original_.link.close();
  for (const int file : {listener_, wakeup_[0], wakeup_[1], output_[0], output_[1]}) {
    if (file >= 0) ::close(file);
  }
  reap();
}

namespace {

// A pipe for each stream, if somebody receives the output.
std::array<int, 2> make_pipes(bool are_wanted, int (&ends)[2]) {
  std::array<int, 2> write_ends{-1, -1};
  if (!are_wanted) return write_ends;
  for (int i = 0; i < 2; ++i) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) fail("pipe");
    ends[i] = pipe[0];
    ::fcntl(ends[i], F_SETFL, O_NONBLOCK);
    write_ends[static_cast<std::size_t>(i)] = pipe[1];
  }
  return write_ends;
}

void close_all(const std::array<int, 2>& files) {
  for (const int file : files) {
    if (file >= 0) ::close(file);
  }
}

}  // namespace

void Debuggee::start_case(const Target& target) {
  const DebuggedCase debugged(target.case_file, target.build);
  const std::array<int, 2> output = make_pipes(target.output != nullptr, output_);
  original_.pid = ::fork();
  if (original_.pid < 0) fail("fork");
  if (original_.pid == 0) {
    leave_terminal(output);
    ::close(listener_);
    ::_exit(debugged.run(path_));
  }
  close_all(output);
}

void Debuggee::start_program(const Target& target) {
  std::vector<std::string> words = target.program, environment;
  std::string path;
  try {
    static_cast<void>(vgpu::make_strategy(target.strategy, target.seed));
    const ProgramFile file = find_program(words.front());
    require_our_runtime(file);
    path = file.path;
    const cudart::ExecSettings settings{.records = directory_.path() / "records",
                                        .strategy = target.strategy,
                                        .seed = target.seed,
                                        .memory_bytes = cudart::device_memory_of_host(),
                                        .debugger = path_};
    reserve_room(settings.records);
    environment = program_environment(settings, drop_in_directory());
  } catch (const ProgramError& error) {
    throw DebugError(error.what());
  } catch (const std::invalid_argument& error) {
    throw DebugError(error.what());
  }
  const std::vector<char*> arguments = pointers_to(words), variables = pointers_to(environment);
  const std::array<int, 2> output = make_pipes(target.output != nullptr, output_);
  original_.pid = ::fork();
  if (original_.pid < 0) fail("fork");
  if (original_.pid == 0) {
    leave_terminal(output);
    ::execve(path.c_str(), arguments.data(), variables.data());
    ::_exit(127);
  }
  close_all(output);
}

void Debuggee::pause() noexcept {
  const char one = 1;
  static_cast<void>(!::write(wakeup_[1], &one, 1));
}

void Debuggee::forget_pauses() {
  std::array<char, 16> pauses;
  while (::read(wakeup_[0], pauses.data(), pauses.size()) > 0) {
  }
}

void Debuggee::accept_one() {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return;
  Process process{.link = cudart::MessageLink(socket)};
  const std::optional<std::string> line = process.link.receive();
  if (!line) return;
  const json hello = json::parse(*line);
  process.pid = hello.at("pid");
  process.position = hello.at("position");
  const std::string role = hello.at("role");
  if (role == "checkpoint") {
    ++arrived_;
    const auto at =
        std::ranges::upper_bound(checkpoints_, process.position, {}, &Process::position);
    checkpoints_.insert(at, std::move(process));
  } else if (role == "copy") {
    arriving_ = std::move(process);
  } else if (!is_connected_) {
    // Its number is that of the process that was started, or of one that has replaced or followed
    // it, as when a script starts the program.
    is_connected_ = true;
    original_.link = std::move(process.link);
  } else {
    send(process, {{"do", "free"}});  // another process of the program
  }
}

void Debuggee::wait(const Process& process) {
  if (process.link.has_line(0)) return pass_output(false);
  const auto entry = [](int file) { return pollfd{file, POLLIN, 0}; };
  std::vector<pollfd> wanted{entry(listener_), entry(wakeup_[0])};
  if (process.link.socket() >= 0) wanted.push_back(entry(process.link.socket()));
  // What the process does, also while a copy runs, may be written.
  for (const int file : output_) {
    if (file >= 0) wanted.push_back(entry(file));
  }
  constexpr int kLookForEndMs = 100;
  const bool waits_long = is_connected_ && !paused_at_;
  ::poll(wanted.data(), wanted.size(), waits_long ? -1 : kLookForEndMs);
  if (wanted[0].revents != 0) accept_one();
  pass_output(false);
  if (!is_connected_) reap();
}

void Debuggee::pass_output(bool is_last) {
  for (int i = 0; i < 2; ++i) {
    int& file = output_[i];
    std::array<char, 4096> part;
    for (ssize_t count = 1; file >= 0 && count > 0;) {
      count = ::read(file, part.data(), part.size());
      if (count > 0) {
        target_.output(i == 0 ? "stdout" : "stderr",
                       std::string_view(part.data(), static_cast<std::size_t>(count)));
      } else if (count == 0 || (is_last && errno == EAGAIN)) {
        ::close(file);
        file = -1;
      }
    }
  }
}

// Takes note of children that have ended: also copies and checkpoints, which have become children.
void Debuggee::reap() {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != original_.pid) continue;
    original_.is_gone = true;
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

void Debuggee::send(Process& process, const json& message) {
  static_cast<void>(process.link.send(message.dump()));
}

void Debuggee::handle(Process& process, const json& message) {
  const std::string event = message.at("event");
  if (event == "checkpoint") {
    if (message.at("made").get<bool>()) ++announced_;
  } else if (event == "finding" && on_finding_) {
    on_finding_(message);
  } else if (event == "debug_info" && on_debug_info_) {
    on_debug_info_(process, message);
  }
  if (message.contains("position")) {
    last_told_ = std::max(last_told_, message["position"].get<std::uint64_t>());
  }
}

// The next message that is no event of its own; none: the process is gone.
std::optional<json> Debuggee::receive(Process& process) {
  constexpr std::chrono::seconds kPauseWithin{2};
  paused_at_.reset();
  while (true) {
    wait(process);
    if (!process.link.has_line(0)) {
      std::array<char, 16> pauses;
      if (::read(wakeup_[0], pauses.data(), pauses.size()) > 0) {
        send(process, {{"do", "pause"}});
        paused_at_ = std::chrono::steady_clock::now();
      }
      const bool hangs = paused_at_ && &process != &original_ &&
                         std::chrono::steady_clock::now() - *paused_at_ > kPauseWithin;
      if (!hangs) continue;
      ::kill(process.pid, SIGKILL);
      return std::nullopt;
    }
    const std::optional<std::string> line = process.link.receive();
    if (!line) return std::nullopt;
    json message = json::parse(*line);
    const std::string event = message.value("event", "");
    if (event.empty() || event == "stop") return message;
    handle(process, message);
  }
}

json Debuggee::ask(Process& process, const json& question) {
  send(process, question);
  const std::optional<json> message = receive(process);
  if (!message) throw DebugError("the process has ended");
  if (message->contains("error")) throw DebugError((*message)["error"].get<std::string>());
  return message->at("answer");
}

std::optional<json> Debuggee::wait_for_stop(Process& process) {
  std::optional<json> message = receive(process);
  if (message) {
    handle(process, *message);
    pass_output(false);
    return message;
  }
  if (&process != &original_) return message;
  process.link.close();
  int status = 0;
  if (!process.is_gone && ::waitpid(process.pid, &status, 0) == process.pid) {
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  process.is_gone = true;
  pass_output(true);
  return message;
}

void Debuggee::expect_connections() {
  constexpr int kArriveMs = 2'000;
  while (arrived_ < announced_) {
    pollfd wanted{listener_, POLLIN, 0};
    if (::poll(&wanted, 1, kArriveMs) <= 0) break;
    accept_one();
  }
  announced_ = arrived_;
}

std::vector<std::uint64_t> Debuggee::checkpoints() {
  expect_connections();
  std::vector<std::uint64_t> positions;
  for (const Process& each : checkpoints_) positions.push_back(each.position);
  return positions;
}

Process& Debuggee::wake(std::uint64_t position) {
  reap();
  expect_connections();
  constexpr int kArriveMs = 10'000;
  while (true) {
    const auto after = std::ranges::upper_bound(checkpoints_, position, {}, &Process::position);
    if (after == checkpoints_.begin()) {
      throw DebugError(fmt::format("no checkpoint is left before position {}", position));
    }
    const auto checkpoint = std::prev(after);
    arriving_.reset();
    send(*checkpoint, {{"do", "wake"}});
    for (pollfd wanted{listener_, POLLIN, 0}; !arriving_ && ::poll(&wanted, 1, kArriveMs) > 0;) {
      accept_one();
    }
    if (arriving_) break;
    checkpoints_.erase(checkpoint);  // it is gone, or there is no room for a copy
  }
  copy_ = std::move(arriving_);
  arriving_.reset();
  return *copy_;
}

std::uint64_t Debuggee::checkpoint_bytes() const {
  std::uint64_t bytes = 0;
  for (const Process& each : checkpoints_) bytes += memory_of(each.pid);
  return bytes;
}

// The first checkpoint stays.  Of the others, the one goes that is least missed: the gap that it
// leaves is small beside its distance.
void Debuggee::thin(std::uint64_t here) {
  expect_connections();
  if (checkpoints_.size() == thinned_) return;
  const auto drop_one = [&] {
    std::size_t least = 0;
    double least_missed = 0;
    for (std::size_t i = 1; i < checkpoints_.size(); ++i) {
      const std::uint64_t at = checkpoints_[i].position;
      const std::uint64_t next =
          i + 1 < checkpoints_.size() ? checkpoints_[i + 1].position : std::max(here, at + 1);
      const double gap = static_cast<double>(next - checkpoints_[i - 1].position);
      const double missed = gap / (1 + static_cast<double>(here > at ? here - at : at - here));
      if (least != 0 && missed >= least_missed) continue;
      least = i;
      least_missed = missed;
    }
    if (least == 0) return false;
    checkpoints_.erase(checkpoints_.begin() + static_cast<std::ptrdiff_t>(least));
    return true;
  };
  while (checkpoints_.size() > kCheckpointsMax && drop_one()) {
  }
  while (checkpoints_.size() > 1 && checkpoint_bytes() > kBytesMax && drop_one()) {
  }
  thinned_ = checkpoints_.size();
}

}  // namespace warpcheck::debug
