// The results of a program's runs under `exec`, as data, as text, and as the report from which all
// formats are made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/exec/program_run.hpp"
#include "harness/expected/expected_findings.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/run_report.hpp"

namespace warpcheck {

struct ProgramReport {
  struct Found {
    vgpu::Finding finding;  // source files are relative to the current directory
    int run = 1;            // the first run that showed it; beyond `runs`: of a second look
    unsigned heap = 0;  // what must fill the host's heap for it (ExecSettings::heap); 0: nothing
    std::string class_as_recorded{};  // its class with files as the program's process named them
    // Others of its class, one for each different roles of their sides.
    std::vector<vgpu::Finding> of_other_roles{};
  };
  std::string program;                 // as the user named it
  std::vector<std::string> arguments;  // of the program
  int runs = 0;
  bool runtime_loaded = false;
  std::vector<Found> findings;            // one of each class, from all runs
  ExpectedFindings expectations;          // of --expect and --ignore
  std::vector<ExpectedFinding> expected;  // what they take away from `findings`
  std::vector<std::string> refusals;
  std::uint64_t launches = 0;
  std::set<std::string> kernels;              // mangled names
  std::map<std::string, std::string> proved;  // of kernels (KernelRecord::proved)
  // Counts of their launches; "": of kernels for which the log had no room.  Times are not part of
  // reports.
  std::map<std::string, cudart::KernelCounts> kernel_counts;
  struct Death {
    int run = 1;
    int signal = 0;
    std::vector<std::string> was_running;  // kernels and their progress
  };
  std::vector<Death> deaths;             // of runs that a signal killed
  int own_status = 0;                    // of the first run that ended with another status than 0
  bool is_complete = true;               // every requested run has ended
  bool timed_out = false;                // a run was ended by --timeout
  std::vector<std::string> was_running;  // when the last run ended: kernels and their progress
  std::vector<std::string> not_checked;  // what was not checked, and why
  bool is_unsteady = false;              // the output of runs could not be compared
  bool full_names = false;               // the text has the whole names of kernels
  bool is_profiled = false;              // what instructions do to memory is counted
  std::vector<vgpu::CountedInstr> counted;  // of all processes
  Causes causes;                            // of `findings`, by experiment

  explicit ProgramReport(ExpectedFindings expectations = ExpectedFindings(),
                         std::string program = "");

  // Adds a run: known classes of findings increase their counts.
  //   heap: what filled the host's heap in this run
  void add(const ProgramRun& run, unsigned heap = 0);
  void add(vgpu::Finding finding, int run);
  // Adds a finding of a run whose heap was filled, before those that follow from it: these get it
  // as their cause.
  //   classes: of findings that follow from it (vgpu::class_of)
  void add_first(vgpu::Finding finding, int run, unsigned heap,
                 const std::vector<std::string>& classes);
  // Classes, as recorded, of the findings that this run was the first to show.
  [[nodiscard]] std::vector<std::string> classes_first_in(int run) const;
  void add_not_checked(std::string what);
  // Findings of the class are found in that run without a filled heap, too.
  void needs_no_heap(const std::string& class_name, int run);

  // What --write-expect writes: an expectation names the roles of the sides.
  [[nodiscard]] std::vector<vgpu::Finding> findings_to_expect() const;
  [[nodiscard]] std::uint64_t errors() const;  // findings of severity error
  // At least; all lanes of a warp are counted as one.
  [[nodiscard]] std::uint64_t warp_instructions() const;
  // The expectations of files that matched nothing; of a run that came to its end.
  [[nodiscard]] std::vector<Expectation> unmatched() const;
};

// The exit status of `exec`, and what decided it.
struct ExecStatus {
  enum class Owner : std::uint8_t { program, findings, refusals, timeout, unwritten };
  int status = 0;
  Owner owner = Owner::program;
};

// The report, each line after "========= ", which distinguishes it from the program's output.
// schedule_of(run): the options for the schedule of that run, "--strategy random --seed 3".
[[nodiscard]] std::string exec_text(const ProgramReport& report,
                                    const std::function<std::string(int)>& schedule_of);
// The kernels that took the time, if it was long enough to matter; else empty.
[[nodiscard]] std::string time_text(const ProgramReport& report);
// Puts "========= " before each line, which must end with a line feed.
[[nodiscard]] std::string prefixed_lines(const std::string& text);
// The last line of the report, also after "========= ".
[[nodiscard]] std::string status_text(const ProgramReport& report, const ExecStatus& status);

// For the report files.  Valid while this process lives.
[[nodiscard]] RunReport run_report(const ProgramReport& report, const Settings& settings);

}  // namespace warpcheck
