// Causes by experiment (harness/causes) of what a program's run has shown: copies of the program
// run with changed device code, or with something supposed of its host code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exec/program_report.hpp"
#include "cli/exec/program_run.hpp"
#include "cli/exec/supervisor.hpp"
#include "harness/report/causes.hpp"

namespace warpcheck {

// What the experiments with a program may always cost, besides as much as its run has: warp
// instructions, and kStepsOfCopy for each run.
inline constexpr std::uint64_t kStepsOfPrograms = 4'000'000, kStepsOfCopy = 100'000;

struct ExplainedRun {
  const ProgramRun* run = nullptr;
  cudart::ExecSettings settings;        // of that run
  std::vector<vgpu::Finding> findings;  // to explain: as in the report
  double seconds = 0, cpu_seconds = 0;  // that it took
  std::uint64_t steps_max = kStepsOfPrograms;
};

// The processor time of processes that were started here and have ended.
[[nodiscard]] double cpu_seconds_of_children();

// Why copies of the program cannot run; empty: they can.
[[nodiscard]] std::string obstacle_of(const ExplainedRun& explained);

// Indices in the result are those of ExplainedRun::findings.
//   runner: with which the run was made
[[nodiscard]] Causes causes_of_program(const ExplainedRun& explained, Supervisor& supervisor,
                                       ProgramRunner& runner);

struct TimedRun {
  int number = 1;
  ProgramRun run;
  double seconds = 0, cpu_seconds = 0;  // that it took
};
// Sets `report.causes` of the findings that this run was the first to show.
//   settings: of that run
void explain(ProgramReport& report, const TimedRun& failing, cudart::ExecSettings settings,
             std::uint64_t steps_max, Supervisor& supervisor, ProgramRunner& runner);

}  // namespace warpcheck
