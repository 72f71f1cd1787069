#include "harness/program_run.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "harness/program_file.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace warpcheck {
namespace {

// A directory of its own for the records, gone when this is.
class RecordsFile {
 public:
  RecordsFile() {
    std::string name = (std::filesystem::temp_directory_path() / "warpcheck-exec-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw ProgramError(fmt::format("{}: {}", name, std::strerror(errno)));
    }
    directory_ = name;
    const std::ofstream made{path()};
  }
  ~RecordsFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  RecordsFile(const RecordsFile&) = delete;
  RecordsFile& operator=(const RecordsFile&) = delete;

  [[nodiscard]] std::string path() const { return directory_ / "records"; }

  [[nodiscard]] std::vector<cudart::ExecRecord> read() const {
    std::vector<cudart::ExecRecord> records;
    std::ifstream file(path());
    for (std::string line; std::getline(file, line);) {
      if (auto record = cudart::parse_exec_record(line)) records.push_back(std::move(*record));
    }
    return records;
  }

 private:
  std::filesystem::path directory_;
};

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile pid_t child = 0;  // a signal handler has no other way to know it

void pass_on(int signal, siginfo_t* info, void*) {
  const bool from_a_process = info->si_code <= 0;
  if (from_a_process && child > 0) ::kill(child, signal);
}

sigset_t signal_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  return set;
}

// While this lives, signals are passed on; they wait until the child is known.
class PassedOnSignals {
 public:
  PassedOnSignals() {
    const sigset_t set = signal_set();
    ::sigprocmask(SIG_BLOCK, &set, &mask_);
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      // What is ignored here (nohup) is ignored by the child as well.
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~PassedOnSignals() {
    child = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  PassedOnSignals(const PassedOnSignals&) = delete;
  PassedOnSignals& operator=(const PassedOnSignals&) = delete;

  [[nodiscard]] const sigset_t& mask() const { return mask_; }
  void begin(pid_t process) {
    child = process;
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_{};
  std::array<struct sigaction, kSignals.size()> before_{};
};

std::vector<std::string> child_environment(const cudart::ExecSettings& settings,
                                           const std::string& libraries) {
  constexpr std::string_view kPath = "LD_LIBRARY_PATH=";
  const std::string variable = std::string(cudart::kExecVariable) + "=";
  std::vector<std::string> environment;
  std::string path = libraries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(kPath)) {
      if (text.size() > kPath.size()) path += fmt::format(":{}", text.substr(kPath.size()));
    } else if (!text.starts_with(variable)) {
      environment.emplace_back(text);
    }
  }
  environment.push_back(std::string(kPath) + path);
  environment.push_back(variable + to_text(settings));
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const std::string& path, std::vector<std::string> arguments,
            std::vector<std::string> environment, const sigset_t& mask) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t process = 0;
  const int error = ::posix_spawn(&process, path.c_str(), nullptr, &attributes,
                                  pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw ProgramError(fmt::format("{}: {}", path, std::strerror(error)));
  return process;
}

}  // namespace

ProgramRun run_program(const std::string& path, const std::vector<std::string>& arguments,
                       cudart::ExecSettings settings, const std::string& libraries) {
  const RecordsFile records;
  settings.records = records.path();
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  int status = 0;
  {
    PassedOnSignals signals;
    const pid_t process =
        spawn(path, std::move(words), child_environment(settings, libraries), signals.mask());
    signals.begin(process);
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ProgramRun run;
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  run.status = run.signal != 0 ? 128 + run.signal : WEXITSTATUS(status);
  run.records = records.read();
  return run;
}

}  // namespace warpcheck
