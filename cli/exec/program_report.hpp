// What the runs of one program under `exec` showed, as data, as text and as the report that all
// formats are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/exec/program_run.hpp"
#include "harness/report/run_report.hpp"

namespace warpcheck {

struct ProgramReport {
  struct Found {
    vgpu::Finding finding;  // source files are relative to the current directory
    int run = 1;            // the first that showed it
  };
  std::string program;                 // as it was named
  std::vector<std::string> arguments;  // of the program
  int runs = 0;
  bool runtime_loaded = false;
  std::vector<Found> findings;  // of each class one, of all runs
  // Patterns of files (fnmatch(3), "*" matches "/" too).  A finding is ignored, however it counts
  // otherwise, when it has source lines and all of them are in such files.
  std::vector<std::string> ignore;
  std::vector<Found> ignored;  // as findings
  std::vector<std::string> refusals;
  std::uint64_t launches = 0;
  std::set<std::string> kernels;  // mangled names
  // What ran of them; "": of those for which there was no room.  Their times are no part of
  // reports.
  std::map<std::string, cudart::KernelCounts> kernel_counts;
  struct Death {
    int run = 1;
    int signal = 0;
    std::vector<std::string> was_running;  // kernels, how far
  };
  std::vector<Death> deaths;             // of runs that a signal killed
  int own_status = 0;                    // of the first run that ended with another status than 0
  bool is_complete = true;               // every run that was asked for has ended
  bool timed_out = false;                // a run was ended by --timeout
  std::vector<std::string> was_running;  // when the last run ended: kernels, how far
  std::vector<std::string> not_checked;  // what nobody has looked at, and why
  bool is_unsteady = false;              // what runs brought to the host could not be compared

  // Adds a run: classes of findings that are known count on.
  void add(const ProgramRun& run);
  void add(vgpu::Finding finding, int run);

  [[nodiscard]] std::uint64_t errors() const;  // findings of severity error
};

// Whose the exit status of `exec` is.
struct ExecStatus {
  enum class Owner : std::uint8_t { program, findings, refusals, timeout, unwritten };
  int status = 0;
  Owner owner = Owner::program;
};

// The report, each line behind "========= ", so that it stands apart from the program's output.
// schedule_of(run): how the schedule of that run is asked for, "--strategy random --seed 3".
[[nodiscard]] std::string exec_text(const ProgramReport& report,
                                    const std::function<std::string(int)>& schedule_of);
// Which kernels took the time, where that was long enough to matter; else empty.
[[nodiscard]] std::string time_text(const ProgramReport& report);
// Its last line, behind "========= " as well.
[[nodiscard]] std::string status_text(const ProgramReport& report, const ExecStatus& status);

// For the report files.  Valid while this process lives.
[[nodiscard]] RunReport run_report(const ProgramReport& report, const Settings& settings);

}  // namespace warpcheck
