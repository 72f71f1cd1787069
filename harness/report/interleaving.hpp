// The picture of how a finding came about: who did what, in which order, and what did not order
// it.  Data; report_svg draws it.
//
// Rows are the lanes of one warp when both sides of the finding are in it, else warps; lanes that
// did the same throughout share a row.  Columns are steps in the order of execution: memory
// accesses, barriers, and the decisions of the schedule.  A long history is cut to what surrounds
// the sides and the decisions.
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
    fault,    // an access that no memory answers
    event,    // a use, a wait, a trap: what the step's text says
    barrier,  // a whole-block barrier is complete
    decided,  // a decision of the schedule holds it back from here ...
    held,     // ... until it does something again
    older,    // a decision of the schedule: its next access leaves out the latest writes
  };
  struct Step {
    std::string label;        // above the column: a line number, "barrier", "1" of a decision
    std::string text;         // in full
    std::vector<Mark> marks;  // of each row
    bool decision = false;
    bool gap = false;  // stands for steps that are left out; no marks
  };
  struct Point {
    std::size_t row = 0, step = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };

  std::string of;                 // what rows of lanes are of: "block 1 warp 0"
  std::vector<std::string> rows;  // "lane 2", "lanes 3-31", "block 1 warp 0"
  std::vector<Step> steps;
  // Of the finding's device sides, in their order.  A side that the steps do not show is missing.
  std::vector<std::optional<Point>> sides;
};

// For each finding of the report its picture, from one more run of the case on `engine`; nothing
// for a finding that no step of the device shows (a mismatch, a leak), or none of the first
// `steps_max` of the trial.  Where accesses left out writes, a mismatch has the picture of those.
inline constexpr std::size_t kStepsRecordedMax = 200'000;
[[nodiscard]] std::vector<std::optional<Interleaving>> interleavings(
    const Report& report, Engine& engine, std::size_t steps_max = kStepsRecordedMax);

}  // namespace warpcheck
