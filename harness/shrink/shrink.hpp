// The one shrinker: from any failing case to the smallest that fails in the same way.
//
// Works on a case's typed input, launch and schedule, so it does not matter where the case came
// from.  Budgeted in trials; keeps the class of the failure (verdict.hpp: keeps()); size first:
// fewer elements, then fewer threads, then fewer and simpler decisions, then simpler values
// (case.hpp: CaseSize).
//
// A smaller input often fails only under another schedule.  So where an input with fewer elements
// or threads shows a part of the failure, schedules are searched anew: the policies first, then
// every single decision, simplest first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/search/schedule_search.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck {

struct ShrinkOptions {
  std::uint64_t trials_max = 30'000;
  // Warp instructions of all trials together, so that large inputs do not take for ever.
  std::uint64_t steps_max = 300'000'000;
  ScheduleLimits schedules;  // tried on one input before it is given up
  // Trials of searches for a schedule that found none, one after the other, after which inputs are
  // tried under the schedule at hand alone: what is left of the budget simplifies values.
  std::uint64_t fruitless_trials_max = 5'000;
  // The class to keep; not given: that of the case.
  std::optional<FailureClass> target;
  // Places of that class (verdict.hpp), ascending, that every kept case has to show: where one of
  // several findings is to be explained.
  std::vector<std::string> places = {};
  // Called after each trial: for progress.
  std::function<void(std::uint64_t trials, std::uint64_t shrinks)> on_trial = {};
};

struct ShrunkCase {
  Case a_case;  // its schedule is a recorded one
  Verdict verdict;
  std::uint64_t trials = 0;
  std::uint64_t shrinks = 0;  // smaller cases that were kept
  bool kept = false;          // false: the case does not fail with the class that is wanted
  bool complete = false;      // no smaller candidate fails; else the budget was used up
};

ShrunkCase shrink(const Case& a_case, TrialRunner& runner, const ShrinkOptions& options = {});

}  // namespace warpcheck
