#include "cli/exec/supervisor.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction, sigqueue
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exec/program_file.hpp"
#include "harness/pair/project.hpp"
#include "harness/process/children.hpp"

namespace warpcheck {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
// Signals that ask everything to end; others are passed on to the program.
constexpr std::array kEndings{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
// Ignored by a supervisor, which writes to pipes whose reader may end, and to terminals.
constexpr std::array kIgnored{SIGPIPE, SIGTTOU};

// Signals from the user's process to the supervisor; their value is the received signal.
int from_process() { return SIGRTMIN; }       // another process sent it: pass it on
int from_terminal() { return SIGRTMIN + 1; }  // the program received it from the terminal
int parent_gone() { return SIGRTMIN + 2; }

volatile pid_t supervisor = 0;  // a signal handler cannot get it otherwise

void signal_supervisor(int signal, siginfo_t* info, void*) {
  const bool is_from_process = info->si_code <= 0;
  sigval value{};
  value.sival_int = signal;
  if (supervisor > 0) {
    ::sigqueue(supervisor, is_from_process ? from_process() : from_terminal(), value);
  }
  // Then the shell sees that the job has stopped.
  if (signal == SIGTSTP) ::raise(SIGSTOP);
}

sigset_t set_of(auto&& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

sigset_t watched() {
  sigset_t set = set_of(kSignals);
  for (const int signal : {SIGCHLD, from_process(), from_terminal(), parent_gone()}) {
    sigaddset(&set, signal);
  }
  return set;
}

// The dispositions at the start of the command.
struct SignalState {
  sigset_t mask{};
  std::array<struct sigaction, kIgnored.size()> ignored{};
};

SignalState& before() {
  static SignalState state;
  return state;
}

void say(std::string_view text) {
  std::fputs(fmt::format("{}: {}\n", project().program, text).c_str(), stderr);
}

// The parent of process `id`; 0: it is gone, or not readable.
pid_t parent_of(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');  // the name may contain any characters
  if (name_end == std::string::npos || text.size() < name_end + 5) return 0;
  return static_cast<pid_t>(std::strtol(text.c_str() + name_end + 4, nullptr, 10));
}

// In the user's process: ends the program's processes when its supervisor was killed.
int wait_for_supervisor() {
  int status = 0;
  while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  Supervisor::end_all();
  say(fmt::format("the process that watches the program was killed by signal {}",
                  WTERMSIG(status)));
  return 128 + WTERMSIG(status);
}

}  // namespace

int Supervisor::run(const std::function<int(Supervisor&)>& work) {
  std::fflush(nullptr);
  const sigset_t set = watched();
  ::sigprocmask(SIG_BLOCK, &set, &before().mask);
  const pid_t user = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw ProgramError(fmt::format("cannot fork: {}", std::strerror(errno)));
  if (child == 0) {
    Supervisor self;
    int status = 2;  // cannot
    try {
      self.begin(user);
      status = work(self);
    } catch (const std::exception& error) {
      say(error.what());
    }
    std::fflush(nullptr);
    ::_exit(status);
  }
  supervisor = child;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action {};
  action.sa_sigaction = signal_supervisor;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : kSignals) {
    struct sigaction known {};
    ::sigaction(signal, nullptr, &known);
    // A signal that is ignored here (nohup) is ignored by the program as well.
    if (known.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &before().mask, nullptr);
  return wait_for_supervisor();
}

void Supervisor::begin(pid_t user) {
  user_ = user;
  self_ = ::getpid();
  user_group_ = ::getpgrp();
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (std::size_t i = 0; i < kIgnored.size(); ++i) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(kIgnored[i], &ignore, &before().ignored[i]);
  }
  const sigset_t set = watched();
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw ProgramError(fmt::format("signalfd: {}", std::strerror(errno)));
  ::prctl(PR_SET_PDEATHSIG, parent_gone());
  if (::getppid() != user_) stopped_ = abandoned_ = true;
}

void Supervisor::handle_signals(pid_t program) {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (signal == parent_gone()) {
      abandoned_ = stopped_ = true;
      continue;
    }
    const bool is_told = signal == from_process() || signal == from_terminal();
    const int meant = is_told ? info.ssi_int : signal;
    if (std::ranges::find(kEndings, meant) != kEndings.end()) stopped_ = true;
    if (signal != from_terminal() && program > 0) ::kill(program, meant);
  }
  if (!abandoned_) return;
  if (program > 0) ::kill(program, SIGKILL);  // works without /proc, too
  end_all();
}

void Supervisor::give_back() const {
  for (std::size_t i = 0; i < kIgnored.size(); ++i) {
    ::sigaction(kIgnored[i], &before().ignored[i], nullptr);
  }
  restore_children_signal();
  ::setpgid(0, user_group_);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != self_) ::_exit(1);
  ::sigprocmask(SIG_SETMASK, &before().mask, nullptr);
}

std::vector<pid_t> Supervisor::children() {
  std::vector<pid_t> found;
  std::error_code error;
  const pid_t self = ::getpid();
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string id = entry.path().filename();
    const bool is_process =
        std::ranges::all_of(id, [](unsigned char c) { return std::isdigit(c); });
    if (is_process && parent_of(id) == self) found.push_back(std::stoi(id));
  }
  return found;
}

void Supervisor::end_all() {
  for (std::vector<pid_t> left = children(); !left.empty(); left = children()) {
    for (const pid_t child : left) ::kill(child, SIGKILL);
    for (const pid_t child : left) ::waitpid(child, nullptr, 0);
  }
}

}  // namespace warpcheck
