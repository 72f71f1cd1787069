#include "cli/exec/filled_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace warpcheck {
namespace {

// What fills the heap in turn: a great negative number of any type, and small positive integers.
constexpr std::array kFillings{254u, 1u};
constexpr int kExaminedMax = 2;  // filled runs that are compared with unfilled ones

}  // namespace

// Every second run from the third on fills the heap, and the last of two.
unsigned FilledRuns::heap_of(int run) const {
  if (options_.heap) return *options_.heap;
  if (!options_.finds_decided || !may_fill_heap() || run > options_.runs) return 0;
  const bool fills = options_.runs == 2 ? run == 2 : run > 2 && run % 2 == 1;
  return fills ? kFillings.at(static_cast<std::size_t>(run / 2 + 1) % 2) : 0;
}

void FilledRuns::limit_time(unsigned heap) {
  constexpr double kLeast = 60, kTimesSlowest = 10;
  const bool is_guarded = options_.timeout_s == 0 && !options_.heap && heap != 0;
  runner_.set_timeout(is_guarded ? std::max(kLeast, kTimesSlowest * slowest_s_)
                                 : options_.timeout_s);
}

bool FilledRuns::add(int run, ProgramRun& result, double took_s, ProgramReport& report) {
  const unsigned heap = heap_of(run);
  if (result.timed_out && !options_.heap && heap != 0 && options_.timeout_s == 0) {
    add_not_ended(heap, report);
    result.timed_out = false;
    result.signal = 0;
    result.status = 0;
    return false;
  }
  slowest_s_ = std::max(slowest_s_, took_s);
  if (heap != 0) filled_.push_back(run);
  return true;
}

void FilledRuns::examine(OutputComparison& comparison, ProgramReport& report,
                         const Supervisor& supervisor) {
  if (options_.heap) return;
  int examined = 0;
  for (const int run : filled_) {
    const std::vector<std::string> classes = report.classes_first_in(run);
    const bool is_like_the_first = differences(comparison.at(1), comparison.at(run)).empty();
    if (is_like_the_first && classes.empty()) continue;
    if (examined == kExaminedMax || supervisor.is_stopped()) {
      comparison.leave_out(run);
      continue;
    }
    ++examined;
    const unsigned heap = heap_of(run);
    HostHeap::Examined result = heap_.examine(run, heap, comparison.at(run));
    if (result.timed_out) {
      add_not_ended(heap, report);
      comparison.leave_out(run);
      continue;
    }
    const std::vector<std::string> unfilled = classes_of(result.unfilled);
    for (const std::string& name : unfilled) report.needs_no_heap(name, run);
    if (result.finding) {
      report.add_first(std::move(*result.finding), run, heap, result.consequences);
      examined = kExaminedMax;
    }
    if (result.is_unsteady) examined = kExaminedMax;
    comparison.replace(run, std::move(result.unfilled));
  }
}

void FilledRuns::add_not_ended(unsigned heap, ProgramReport& report) {
  report.add_not_checked(fmt::format(
      "a run with the host's heap filled (--heap {}), which did not end after ten times the time "
      "of the others",
      heap));
}

}  // namespace warpcheck
