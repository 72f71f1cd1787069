// The picture of a finding: the steps of each thread, their order, and the missing synchronisation.
// This is data; report_svg draws it.
//
// Rows are the lanes of one warp if both sides of the finding are in it, else warps; lanes that
// always did the same share a row.  Columns are steps in the order of execution: memory accesses,
// barriers, and the decisions of the schedule.  A long history is cut to the surroundings of the
// sides and the decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

struct Interleaving {
  enum class Mark : std::uint8_t {
    none,
    read,
    write,
    atomic,
    fault,    // an access that was not performed
    event,    // a use, a wait, a trap: as the step's text says
    barrier,  // a whole-block barrier is complete
    decided,  // a decision of the schedule holds it back from here ...
    held,     // ... until its next step
    older,    // a decision of the schedule: its next access leaves out the latest writes
  };
  struct Step {
    std::string label;        // above the column: a line number, "barrier", "1" of a decision
    std::string text;         // the full text
    std::vector<Mark> marks;  // of each row
    bool decision = false;
    bool gap = false;  // represents omitted steps; no marks
  };
  struct Point {
    std::size_t row = 0, step = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };

  std::string of;                 // for rows of lanes: "block 1 warp 0"
  std::vector<std::string> rows;  // "lane 2", "lanes 3-31", "block 1 warp 0"
  std::vector<Step> steps;
  // The finding's device sides, in their order.  Empty for a side that is not among the steps.
  std::vector<std::optional<Point>> sides;
};

// The picture of each finding of the report, from one more run of the case on `engine`; empty for a
// finding without a step on the device (a mismatch, a leak), or without one in the first
// `steps_max` steps of the trial.  If accesses left out writes, a mismatch has a picture of those.
inline constexpr std::size_t kStepsRecordedMax = 200'000;
[[nodiscard]] std::vector<std::optional<Interleaving>> interleavings(
    const Report& report, Engine& engine, std::size_t steps_max = kStepsRecordedMax);

}  // namespace warpcheck
