// The processes of a debuggee: the one that runs the case or the program, its checkpoints, and
// copies that run on from a checkpoint.  Each is connected to this process by a socket of its own
// (vgpu/cudart/debug); messages are JSON.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/debug/session.hpp"
#include "cli/exec/run_directory.hpp"
#include "vgpu/cudart/device/message_link.hpp"

namespace warpcheck::debug {

// A connected process.
struct Process {
  cudart::MessageLink link{-1};
  pid_t pid = -1;
  std::uint64_t position = 0;  // of a checkpoint
  bool is_gone = false;
};

class Debuggee {
 public:
  // Starts the process of the target and waits until it is connected.  Throws DebugError if it
  // cannot be started, or ends before.
  explicit Debuggee(const Target& target);
  ~Debuggee();  // ends all processes
  Debuggee(const Debuggee&) = delete;
  Debuggee& operator=(const Debuggee&) = delete;

  // The process itself, and the copy that stands at an earlier position; null: there is none.
  [[nodiscard]] Process& original() { return original_; }
  [[nodiscard]] Process* copy() { return copy_ ? &*copy_ : nullptr; }
  void drop_copy() { copy_.reset(); }
  // Runs a copy from the latest checkpoint at or before a position; it waits for a request there.
  // It takes the place of the copy that there was.  Throws DebugError if there is no such
  // checkpoint.
  Process& wake(std::uint64_t position);
  // The positions of the checkpoints, ascending.
  [[nodiscard]] std::vector<std::uint64_t> checkpoints();
  // Drops checkpoints if there are too many, or if they take too much memory: of those far from
  // `here`, fewer are left.
  void thin(std::uint64_t here);
  [[nodiscard]] std::uint64_t checkpoint_bytes() const;

  void send(Process& process, const nlohmann::json& message);
  // Waits for the answer to a question.  Throws DebugError with the answer's error, or if the
  // process is gone.
  nlohmann::json ask(Process& process, const nlohmann::json& question);
  // Waits until the process stops; none: it is gone.  Findings of any process are passed to
  // on_finding().
  std::optional<nlohmann::json> wait_for_stop(Process& process);
  void on_finding(std::function<void(const nlohmann::json&)> call) {
    on_finding_ = std::move(call);
  }
  // A process is about to run a program with debug information, and waits to be told what is
  // inlined.
  void on_debug_info(std::function<void(Process&, const nlohmann::json&)> call) {
    on_debug_info_ = std::move(call);
  }
  // Makes the process that runs stop soon.  May be called from a signal handler.  A copy that does
  // not stop within two seconds is ended.
  void pause() noexcept;
  // Those before now have no effect.
  void forget_pauses();
  // The original process has no more to tell: lets it end by itself.
  void let_end();
  // The exit status of the original process, once it is gone: 128 + n for signal n.
  [[nodiscard]] int status() const { return status_; }
  // The last position that the original process has told.
  [[nodiscard]] std::uint64_t last_told() const { return last_told_; }

 private:
  void start_case(const Target& target);
  void start_program(const Target& target);
  void accept_one();
  // Waits until one of the processes has something to say, and handles what the others say.
  void wait(const Process& process);
  void expect_connections();
  std::optional<nlohmann::json> receive(Process& process);
  void handle(Process& process, const nlohmann::json& message);
  void pass_output(bool is_last);
  void reap();

  const Target& target_;
  RunDirectory directory_;
  std::string path_;
  int listener_ = -1;
  int wakeup_[2] = {-1, -1};  // pause() writes to it
  // When the process that runs was asked to pause.
  std::optional<std::chrono::steady_clock::time_point> paused_at_;
  int output_[2] = {-1, -1};  // read ends: the debuggee's standard output and error
  Process original_;
  bool is_connected_ = false;
  std::optional<Process> copy_, arriving_;
  std::vector<Process> checkpoints_;  // by position
  // How many checkpoints processes have announced, and how many have connected: the one comes
  // before or after the other.
  std::size_t announced_ = 0, arrived_ = 0;
  std::size_t thinned_ = 0;  // how many there were after thin()
  std::function<void(const nlohmann::json&)> on_finding_;
  std::function<void(Process&, const nlohmann::json&)> on_debug_info_;
  std::uint64_t last_told_ = 0;
  int status_ = 0;
};

}  // namespace warpcheck::debug
