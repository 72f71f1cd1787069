#include "cli/kernel/nvcc.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "cli/cli.hpp"

namespace warpcheck {

namespace fs = std::filesystem;

std::string nvcc_program() {
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const home = std::getenv(variable);
    std::error_code error;
    if (home != nullptr && fs::exists(fs::path(home) / "bin" / "nvcc", error)) {
      return (fs::path(home) / "bin" / "nvcc").string();
    }
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/nvcc").c_str(), X_OK) == 0) return folder + "/nvcc";
  }
  return "/usr/local/cuda/bin/nvcc";  // where the toolkit's installers put it
}

int run_nvcc(const std::vector<std::string>& command, const fs::path& messages) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (messages.empty()) {  // standard output is for results
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw UsageError(
        fmt::format("cannot start {}: {}; kernels are compiled with the compiler of the user: put "
                    "the CUDA Toolkit's nvcc on PATH",
                    command.front(), std::strerror(error)));
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace warpcheck
