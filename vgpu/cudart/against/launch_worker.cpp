#include "vgpu/cudart/against/launch_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/against/launch_messages.hpp"

namespace warpcheck::cudart {
namespace {

constexpr double kSecondsToStart = 60;
constexpr double kSecondsOfLaunch = 60;
constexpr int kSocketOfWorker = 3;

// The environment without what `exec` has put first to lead the program to the virtual device.
std::vector<std::string> environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "WARPCHECK_EXEC") continue;
    const bool is_list = name == "LD_AUDIT" || name == "LD_LIBRARY_PATH";
    if (!is_list) {
      kept.emplace_back(text);
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
      kept.push_back(fmt::format("{}={}", name, text.substr(colon + 1)));
    }
  }
  return kept;
}

}  // namespace

LaunchWorker::LaunchWorker(std::string program) : program_(std::move(program)) { start(); }

LaunchWorker::~LaunchWorker() { stop(); }

void LaunchWorker::start() {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw LaunchWorkerError(fmt::format("socketpair: {}", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // What device code prints has been printed already.
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], kSocketOfWorker);
  std::string command = "launch-worker", socket = std::to_string(kSocketOfWorker);
  std::array<char*, 4> arguments{program_.data(), command.data(), socket.data(), nullptr};
  std::vector<std::string> variables = environment();
  std::vector<char*> pointers;
  for (std::string& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  const int error = ::posix_spawn(&process_, program_.c_str(), &actions, nullptr, arguments.data(),
                                  pointers.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  link_ = MessageLink(sockets[0]);
  if (error != 0) {
    process_ = -1;
    stop();
    throw LaunchWorkerError(fmt::format("cannot start {}: {}", program_, std::strerror(error)));
  }
  Greeting greeting;
  try {
    greeting = receive_greeting(link_, kSecondsToStart);
  } catch (const LaunchMessageError& failed) {
    stop();
    throw LaunchWorkerError(fmt::format("{} launch-worker: {}", program_, failed.what()));
  }
  if (!greeting.problem.empty()) {
    stop();
    throw LaunchWorkerError(greeting.problem);
  }
  device_ = greeting.device;
}

void LaunchWorker::stop() {
  link_.close();
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(std::exchange(process_, -1), nullptr, 0);
}

LaunchResult LaunchWorker::run(const LaunchImage& image, unsigned optimization) {
  if (process_ < 0) {
    try {
      start();
    } catch (const LaunchWorkerError& error) {
      return {.problem = error.what(), .memory = {}};
    }
  }
  try {
    send(link_, LaunchRequest{image, optimization});
    LaunchResult result = receive_result(link_, kSecondsOfLaunch);
    if (!result.problem.empty()) stop();
    return result;
  } catch (const LaunchMessageError& error) {
    stop();
    return {.problem = fmt::format("on {}: {}", device_, error.what()), .memory = {}};
  }
}

}  // namespace warpcheck::cudart
