// Runs a program as `exec` does: its runtime library is ours, its files, terminal and signals are
// those of the user's process, and what it finds comes back even when it crashes.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/exec/program_input.hpp"
#include "cli/exec/supervisor.hpp"
#include "harness/process/progress.hpp"
#include "harness/process/terminal.hpp"
#include "vgpu/cudart/exec/exec_log.hpp"
#include "vgpu/cudart/exec/exec_records.hpp"

namespace warpcheck {

// The audit library that leads static runtimes to the virtual GPU, in the drop-in directory.
inline constexpr const char* kRedirectLibrary = "libwarpcheck_redirect.so";

struct ProgramRun {
  int status = 0;          // its exit status; 128 + n when signal n killed it
  int signal = 0;          // 0: it ended by itself
  bool ended = true;       // false: it is still running
  bool timed_out = false;  // it had used up its time, and was killed
  std::vector<cudart::ExecRecord> records{};
  std::map<int, cudart::ExecLogContents> logs{};  // by process
  std::vector<std::string> unreadable{};          // "wrote 'LINE': REASON": what is no record
  std::filesystem::path records_file{};           // beside which the logs and kept bytes are
};

// Reads what all processes of a run have recorded so far into it.
//   is_whole: all have ended by themselves; else half a line at the end is being written, or its
//             process was killed.
void read_records(ProgramRun& run, bool is_whole);

// What its processes were doing when they were last heard of: "kernel fill, 12 of 64 blocks done"
// each; empty: no kernel was running.
std::vector<std::string> running_kernels(const ProgramRun& run);

class ProgramRunner {
 public:
  // libraries: the directory of libcudart.so.13 and its relatives.
  ProgramRunner(Supervisor& supervisor, std::string path, std::vector<std::string> arguments,
                std::string libraries);
  ~ProgramRunner();  // what the runs have left in files is gone
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // Called about once a second while a run has something new to tell.
  void on_progress(std::function<void(const ProgramRun&)> call) { on_progress_ = std::move(call); }
  // Of each run; then all of it is killed.
  void set_timeout(double seconds) { timeout_ms_ = static_cast<std::int64_t>(seconds * 1000); }
  // More runs than one are to come: each gets all of the standard input.
  void share_input();

  // settings.records is set here.  Waits for the program, and for processes that it has left
  // running and that have loaded the runtime library.
  //
  // silent_output: a file for the program's standard output; its standard error goes nowhere, and
  // where its input cannot be repeated it has none.  Empty: all are the user's.
  //
  // Throws ProgramError when the program cannot be started.
  ProgramRun run(cudart::ExecSettings settings, const std::filesystem::path& silent_output = {});

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  pid_t start(const cudart::ExecSettings& settings, const std::filesystem::path& silent_output);
  int wait_for(pid_t process, ProgramRun& run);
  void wait_for_orphans(ProgramRun& run);
  void poll_once(pid_t process, ProgramRun& run);
  [[nodiscard]] int poll_timeout_ms() const;
  void end_late(ProgramRun& run);
  void tell_progress(ProgramRun& run);
  void show_progress(pid_t process, const ProgramRun& run);

  Supervisor& supervisor_;
  std::string path_;
  std::vector<std::string> words_;
  std::string libraries_;
  std::filesystem::path directory_;
  std::unique_ptr<ProgramInput> input_;
  std::function<void(const ProgramRun&)> on_progress_;
  std::uintmax_t told_bytes_ = 0;  // of records
  std::int64_t tell_next_ms_ = 0;
  std::int64_t timeout_ms_ = 0, ends_at_ms_ = 0;  // 0: there is no limit
  const bool draws_ = is_terminal(STDERR_FILENO);
  Progress progress_;
  std::uint64_t written_bytes_ = 0;  // by the program, to wherever
  std::int64_t silent_since_ms_ = 0;
  int runs_ = 0;
  bool is_silent_ = false;
};

}  // namespace warpcheck
