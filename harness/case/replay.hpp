// Running a recorded case again.
#pragma once

#include <string>

#include "harness/case/case_file.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

struct ReplayOutcome {
  Report report;
  // What is not as recorded, in one line: the device code has changed, another failure was found,
  // none was.  Empty: all is.
  std::string remark;
  bool as_recorded = false;  // the expected kinds were found, and no other
};

// Where the device code is not that of the record, its schedule may mean something else: then,
// when it does not show the expected kinds, schedules are searched within a budget.
ReplayOutcome replay(const CaseRecord& record, TrialRunner& runner);

}  // namespace warpcheck
