// A second look at a program whose run has shown no error: copies of it run silently under other
// schedules (program_experiments.hpp).  The default schedule runs a block until it waits, and
// hides what shows only between two steps of one block: locks that are taken in two orders, a
// reader amid a writer, two threads that both find the other's flag unset.
#pragma once

#include <optional>

#include "cli/exec/program_causes.hpp"
#include "cli/exec/program_report.hpp"
#include "cli/exec/program_run.hpp"
#include "cli/exec/supervisor.hpp"
#include "harness/case/case.hpp"

namespace warpcheck {

// The schedule of the second look's run `number`, from 1: the strategies that have
// StrategyRow::looks_again in turn, each time with the next seed.
[[nodiscard]] StrategyChoice other_schedule(int number);

// Adds the errors of the first such run that shows any, as of a run after those of the
// report, and returns that run.  Nothing runs if no kernel can observe the order of threads
// (KernelRecord::sees_order), or if experiments are not possible or would cost too much.
//   seen: the run without errors, and its settings; steps_max: what all runs may cost together
std::optional<TimedRun> look_again(ProgramReport& report, const ExplainedRun& seen,
                                   Supervisor& supervisor, ProgramRunner& runner);

}  // namespace warpcheck
