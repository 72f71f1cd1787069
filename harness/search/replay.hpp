// Running a recorded case again.
#pragma once

#include <string>

#include "harness/case/case_file.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

struct ReplayOutcome {
  Report report;
  // One line about a difference from the record: the device code has changed, another failure was
  // found, or none.  Empty if there is no difference.
  std::string remark;
  bool as_recorded = false;  // exactly the expected kinds were found
};

// If the device code differs from that of the record, the recorded schedule may no longer apply.
// Then, if it does not show the expected kinds, other schedules are tried within a budget.
ReplayOutcome replay(const CaseRecord& record, TrialRunner& runner);

}  // namespace warpcheck
