#include "vgpu/cudart/exec/experiments.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "vgpu/cudart/api/calls/mishaps.hpp"
#include "vgpu/ptx/forms.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::cudart {
namespace {

// landlock(7).  The header of the system may be older than its kernel.
struct Ruleset {
  std::uint64_t files = 0, net = 0, scoped = 0;
};
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;
constexpr std::uint64_t kWrites =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM | kTruncate;
constexpr std::uint64_t kWritesOfFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr std::uint64_t kBindAndConnect = 3, kAbstractSocketsAndSignals = 3;
constexpr int kVersionOfTruncate = 3, kVersionOfNet = 4, kVersionOfScopes = 6;
constexpr rlim_t kSecondsMax = 30;  // of a copy that no longer ends by itself

bool allow(int ruleset, const char* path, std::uint64_t access) {
  const int place = ::open(path, O_PATH | O_CLOEXEC);
  if (place < 0) return false;
  const landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = place};
  const long added =
      ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(place);
  return added == 0;
}

// From now on this process and its children write to nothing but files in the directory.
bool write_only_to(const std::string& directory) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < kVersionOfTruncate) return false;
  Ruleset wanted{.files = kWrites};
  std::size_t bytes = sizeof wanted.files;
  if (version >= kVersionOfNet) {
    wanted.net = kBindAndConnect;
    bytes += sizeof wanted.net;
  }
  if (version >= kVersionOfScopes) {
    wanted.scoped = kAbstractSocketsAndSignals;
    bytes += sizeof wanted.scoped;
  }
  const int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &wanted, bytes, 0));
  if (ruleset < 0) return false;
  const bool is_made = allow(ruleset, directory.c_str(), kWrites) &&
                       allow(ruleset, "/dev/null", kWritesOfFile) &&
                       ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                       ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return is_made;
}

void send_line(int socket, std::string text) {
  text += '\n';
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(socket, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) ::_exit(0);  // the command has ended
    at += static_cast<std::size_t>(count);
  }
}

std::optional<std::string> receive_line(int socket) {
  std::string text;
  std::array<char, 4096> bytes{};
  while (!text.ends_with('\n')) {  // one line is sent, then an answer is awaited
    const ssize_t count = ::read(socket, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// What a parser learns of the instructions of a program, all later copies know: it takes longer
// than the rest of a small program.
void learn_code(const std::string& records) {
  const std::filesystem::path of(records);
  const std::string begin = of.filename().string() + '.';
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(of.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(".ptx")) continue;
    try {
      static_cast<void>(ptx::parse(text_of_file(entry.path()), name));
    } catch (const std::exception&) {
      // Each copy says so itself.
    }
  }
}

// The same of the statements that edits add.
void learn_statements(const ptx::Edits& edits) {
  for (const ptx::ProgramEdit& edit : edits) {
    std::istringstream words(edit.text);
    for (std::string word; words >> word;) static_cast<void>(ptx::has_form(word));
  }
}

// Symbols and lines of host code: what takes longest at the start of a program.
void learn_host_lines() {
  static_cast<void>(
      Mishaps::place_of_call(reinterpret_cast<const void*>(::getauxval(AT_ENTRY) + 1)));
}

std::int64_t microseconds(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
}

// Of a copy: nothing of this room is left in it, and it ends with its parent.
void begin_copy(int socket, const ExecSettings& settings) {
  ::close(socket);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit seconds{kSecondsMax, kSecondsMax};
  ::setrlimit(RLIMIT_CPU, &seconds);
  ::setenv(kExecVariable, to_text(settings).c_str(), 1);
}

}  // namespace

ExecSettings next_experiment(const ExecSettings& settings) {
  const int socket = settings.experiments;
  if (!write_only_to(std::filesystem::path(settings.records).parent_path())) {
    send_line(socket, kNoExperiments);
    ::_exit(0);
  }
  bool knows_host_lines = false;
  // The copies are waited for, also if the program has been started with this signal ignored.
  auto* const of_children = std::signal(SIGCHLD, SIG_DFL);
  send_line(socket, "ready");
  while (const std::optional<std::string> line = receive_line(socket)) {
    std::optional<ExecSettings> next = parse_exec_settings(*line);
    if (!next) ::_exit(2);
    if (next->host_lines && !std::exchange(knows_host_lines, true)) learn_host_lines();
    learn_statements(next->edits);
    const pid_t copy = ::fork();
    if (copy == 0) {
      std::signal(SIGCHLD, of_children);
      begin_copy(socket, *next);
      return *std::move(next);
    }
    int status = SIGKILL;
    rusage used{};
    if (copy > 0) {
      while (::wait4(copy, &status, 0, &used) < 0 && errno == EINTR) {
      }
    }
    const std::int64_t busy = microseconds(used.ru_utime) + microseconds(used.ru_stime);
    send_line(socket, std::to_string(status) + ' ' + std::to_string(busy));
    if (next->code) learn_code(next->records);
  }
  ::_exit(0);
}

}  // namespace warpcheck::cudart
