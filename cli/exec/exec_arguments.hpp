// What `warpcheck exec` was asked for: its options, and what they mean for a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/cli.hpp"
#include "cli/exec/program_causes.hpp"
#include "cli/look/profile_arguments.hpp"
#include "cli/look/trace_arguments.hpp"
#include "cli/report_options.hpp"

namespace warpcheck {

inline constexpr unsigned kExecJobsMax = 1024;

struct ExecArguments {
  std::vector<std::string> command;  // the program and its arguments
  std::vector<std::string> checks;   // empty: all
  std::string warp_model = "independent";
  std::string volatile_accesses = "strong";
  std::string init = "deciding";  // or strict
  std::string strategy = "default";
  std::uint64_t seed = 1;
  int runs = 1;
  std::uint64_t steps_max = vgpu::kNoLimit;
  double timeout_s = 0;           // of a run; 0: none
  std::string device = "newest";  // or sm_NN
  bool portable = false;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1u, kExecJobsMax);
  unsigned devices = 1;
  bool prove = false;
  bool sparse = false;
  double budget_s = 0;             // 0: none
  std::uint64_t memory_bytes = 0;  // 0: what the host can provide
  std::string fresh = "zeros";     // or pattern
  // What fills the host's heap; 0: nothing.  Not set: in some of several runs.
  std::optional<unsigned> heap;
  CompileOption compile;
  std::string edits;  // a file; empty: the device code is not changed
  // Steps of experiments that group findings, besides as many as the run has, or of a second look
  // at a run without errors; 0: neither.
  std::uint64_t causes_steps = kStepsOfPrograms;
  bool leaks = false;
  bool full_names = false;
  std::vector<std::string> ignore;  // patterns of files
  std::vector<std::string> expect;  // files
  std::string write_expect;         // a file; empty: none
  int error_exit_code = 66;
  int unsupported_exit_code = kCannot;
  std::string against;   // gpu; empty: launches are compared with no other device
  TraceArguments trace;  // without a file: nothing is traced
  ProfileArguments profile;
  ReportOptions reports;

  void add_to(CLI::App& exec);
  // What is checked, and within which limits.
  [[nodiscard]] Settings settings() const;
  // Whether the outputs of several runs are compared.
  [[nodiscard]] bool compares_outputs() const;
  // Of the device, 90 for sm_90; 0: that of the program's newest PTX.
  [[nodiscard]] unsigned compute_capability() const;
};

}  // namespace warpcheck
