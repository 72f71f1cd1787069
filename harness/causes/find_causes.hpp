// Causes by experiment: which findings of a failing case have one cause is tried, not guessed.  A
// case is deterministic and the machine runs changed code, so each change that a programmer might
// make is made in the code that the case runs, and the case runs again: findings that vanish with
// it, while no others appear, have the lack of that change as their cause (delta debugging of the
// program: Zeller, 2002; counterfactuals: Lewis, 1973).
//
// A change counts only if the findings are gone under other schedules and in some trials of the
// pair, too.  Of several that help,
// the one counts with which most findings vanish; of those the one that is preferred, which is the
// narrowest order that is near the accesses (changes.hpp).
//
// What a search for causes may cost is a number of steps, so that a report is the same on every
// machine: as many as the case itself takes, and kStepsAlways (cause_search.hpp).  A report without
// errors costs nothing.
#pragma once

#include "harness/report/causes.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

// Sets `report.causes` for a report of the virtual GPU.  The experiments run in a process of their
// own, because programs live as long as their process; if that dies, findings are grouped by rules.
//   engine: the one that found the failure, of the virtual GPU
void find_causes(Report& report, Engine& engine = virtual_gpu());

// The same in this process.
[[nodiscard]] Causes causes_of(const Case& a_case, const Verdict& verdict,
                               Engine& engine = virtual_gpu());

}  // namespace warpcheck
