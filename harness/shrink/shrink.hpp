// The one shrinker: from any failing case to the smallest that fails in the same way.
//
// It works on a case's typed input, launch and schedule, so the source of the case does not matter.
// The budget counts trials, their steps and the elements of candidates.  The class of the failure
// is kept (verdict.hpp: keeps()). Size comes first: fewer elements, then fewer threads, then fewer
// and simpler decisions, then simpler values (case.hpp: CaseSize).
//
// A smaller input often fails only under another schedule.  So if an input with fewer elements or
// threads shows a part of the failure, schedules are searched again: first the strategies, then
// every single decision, simplest first.
//
// Checkers that are off by default, and that show nothing of the failure, are off until the
// smallest case has been found.
//
// Where several fields must change at once, no single step leads further.  Then equal integers
// become lower together (equal_integers.hpp), and small inputs are drawn afresh.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/trial/schedule_search.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

struct ShrinkOptions {
  std::uint64_t trials_max = 30'000;
  // Warp instructions of all trials together, so that large inputs do not take too long.
  std::uint64_t steps_max = 300'000'000;
  // Elements of all candidates together: an input of a million elements has as many candidates, and
  // each takes milliseconds, whatever its trial takes.
  std::uint64_t elements_max = 1'000'000'000;
  ScheduleLimits schedules;  // tried on one input before it is rejected
  // After this many consecutive trials of unsuccessful schedule searches, inputs are tried under
  // the current schedule alone: the rest of the budget simplifies values.
  std::uint64_t fruitless_trials_max = 5'000;
  // The class to keep; absent: that of the case.
  std::optional<FailureClass> target;
  // Places of that class (verdict.hpp), ascending, that every kept case must show, to explain one
  // of several findings.
  std::vector<std::string> places = {};
  // Called after each trial, for progress.
  std::function<void(std::uint64_t trials, std::uint64_t shrinks)> on_trial = {};
};

struct ShrunkCase {
  Case a_case;  // its schedule is a recorded one
  Verdict verdict;
  std::uint64_t trials = 0;
  std::uint64_t shrinks = 0;  // smaller cases that were accepted
  bool kept = false;          // false: the case does not fail with the wanted class
  bool complete = false;      // no smaller candidate fails; false: the budget was used up
};

ShrunkCase shrink(const Case& a_case, TrialRunner& runner, const ShrinkOptions& options = {});

}  // namespace warpcheck
