// Runs that fill the host's heap (host_heap.hpp): which of several they are, how long they may
// take, and what is left of their difference to the others when they are repeated without a
// filling.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "cli/exec/host_heap.hpp"
#include "cli/exec/output_comparison.hpp"
#include "cli/exec/program_report.hpp"
#include "cli/exec/program_run.hpp"
#include "cli/exec/supervisor.hpp"

namespace warpcheck {

class FilledRuns {
 public:
  struct Options {
    int runs = 1;
    // What fills the heap in all runs; 0: nothing.  Not set: some of several runs are filled.
    std::optional<unsigned> heap{};
    double timeout_s = 0;        // the user's limit for a run; 0: none
    bool finds_decided = false;  // outputs are compared, and unwritten values are reported
  };
  // runner: not owned
  FilledRuns(const Options& options, ProgramRunner& runner, HostHeap::Repeat repeat)
      : options_(options), runner_(runner), heap_(runner.directory(), std::move(repeat)) {}

  // Returns what fills the heap in a run, from 1 (ExecSettings::heap).
  [[nodiscard]] unsigned heap_of(int run) const;
  // Sets the time limit of a run whose heap is filled with `heap`.  Unless the user sets a limit,
  // such a run has one: what fills the heap may be how often a loop runs.
  void limit_time(unsigned heap);
  // Takes note of a run that has ended.  Returns false if it was ended at the limit set here; then
  // its findings are kept, and it counts as having ended well.
  bool add(int run, ProgramRun& result, double took_s, ProgramReport& report);
  // Tells filled runs from other schedules.  In the comparison, they become unfilled ones, or are
  // left out.
  void examine(OutputComparison& comparison, ProgramReport& report, const Supervisor& supervisor);

 private:
  static void add_not_ended(unsigned heap, ProgramReport& report);

  Options options_;
  ProgramRunner& runner_;
  HostHeap heap_;
  std::vector<int> filled_;  // runs that filled the heap
  double slowest_s_ = 0;     // of all runs that ended
};

}  // namespace warpcheck
