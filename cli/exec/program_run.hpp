// Runs a program for `exec`: with our runtime library, with the files, terminal and signals of the
// user's process.  Its findings come back even if it crashes.
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

// The audit library that redirects static runtimes to the virtual GPU, in the drop-in directory.
inline constexpr const char* kRedirectLibrary = "libwarpcheck_redirect.so";

struct ProgramRun {
  int status = 0;          // its exit status; 128 + n if signal n killed it
  int signal = 0;          // 0: it ended by itself
  bool ended = true;       // false: it is still running
  bool timed_out = false;  // it reached its time limit and was killed
  std::vector<cudart::ExecRecord> records{};
  std::map<int, cudart::ExecLogContents> logs{};  // by process
  std::vector<std::string> unreadable{};  // "wrote 'LINE': REASON": lines that are no records
  std::filesystem::path records_file{};   // the logs and kept bytes are next to it
};

// The environment of a program: that of this process, our libraries, and the settings.
//   libraries: as for ProgramRunner
// The texts' pointers and a null pointer behind them, as exec() takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

std::vector<std::string> program_environment(const cudart::ExecSettings& settings,
                                             const std::string& libraries);

// Reads the records of all processes of a run so far. is_whole: all processes have ended by
// themselves; else the last line may be incomplete, because it is being written or its process was
// killed.
void read_records(ProgramRun& run, bool is_whole);
// Does the same for a run that has ended, and reads what its processes have counted, which may be
// long.
void read_records_and_counts(ProgramRun& run, bool is_whole);

// The running kernels when its processes last reported: "kernel fill, 12 of 64 blocks done" each;
// empty: no kernel was running.
std::vector<std::string> running_kernels(const ProgramRun& run);

class ProgramRunner {
 public:
  // libraries: the directory of libcudart.so.13 and the other libraries; directory: of a
  // RunDirectory.
  ProgramRunner(Supervisor& supervisor, std::string path, std::vector<std::string> arguments,
                std::string libraries, std::filesystem::path directory);
  ~ProgramRunner();  // deletes the directory
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // Called about once a second while a run has something new to report.
  void on_progress(std::function<void(const ProgramRun&)> call) { on_progress_ = std::move(call); }
  // For each run; at the limit all of it is killed.
  void set_timeout(double seconds) { timeout_ms_ = static_cast<std::int64_t>(seconds * 1000); }
  // Call if there will be several runs: each gets all of the standard input.
  void share_input();

  // settings.records is set here.  Waits for the program, and for processes that it has left
  // running and that have loaded the runtime library.
  //
  // silent_output: a file for the program's standard output; its standard error is discarded, and
  // it has no input if the input cannot be repeated.  Empty: all are the user's.
  //
  // Throws ProgramError if the program cannot be started.
  ProgramRun run(cudart::ExecSettings settings, const std::filesystem::path& silent_output = {});

  // Starts the program for experiments (program_experiments.hpp): without input, output and open
  // files, except settings.experiments.  Throws ProgramError if it cannot be started.
  pid_t start_silently(const cudart::ExecSettings& settings);

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  pid_t start(const cudart::ExecSettings& settings, const std::filesystem::path& silent_output);
  int wait_for(pid_t process, ProgramRun& run);
  void wait_for_orphans(ProgramRun& run);
  void poll_once(pid_t process, ProgramRun& run);
  [[nodiscard]] int poll_timeout_ms() const;
  void end_late(ProgramRun& run);
  void report_progress(ProgramRun& run);
  void show_progress(pid_t process, const ProgramRun& run);

  Supervisor& supervisor_;
  std::string path_;
  std::vector<std::string> words_;
  std::string libraries_;
  std::filesystem::path directory_;
  std::unique_ptr<ProgramInput> input_;
  std::function<void(const ProgramRun&)> on_progress_;
  std::uintmax_t reported_bytes_ = 0;  // of records
  std::int64_t report_next_ms_ = 0;
  std::int64_t timeout_ms_ = 0, ends_at_ms_ = 0;  // 0: there is no limit
  const bool draws_ = is_terminal(STDERR_FILENO);
  Progress progress_;
  std::uint64_t written_bytes_ = 0;  // by the program, to any file
  std::int64_t silent_since_ms_ = 0;
  int runs_ = 0;
  int only_kept_ = -1;  // the file that a program for experiments has; -1: it is none
  bool is_silent_ = false;
};

}  // namespace warpcheck
