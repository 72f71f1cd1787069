// Line coverage as an lcov tracefile (geninfo(1), "FILES"): for each source file the lines with
// code (DA), their number (LF) and the number of executed ones (LH).
#include <fmt/format.h>

#include "harness/report/run_report.hpp"

namespace warpcheck {

std::string report_lcov(const LineCoverage& coverage) {
  std::string text;
  for (const auto& [file, lines] : coverage.files) {
    text += fmt::format("TN:\nSF:{}\n", file);
    for (const auto& [line, count] : lines) text += fmt::format("DA:{},{}\n", line, count);
    text += fmt::format("LF:{}\nLH:{}\nend_of_record\n", lines.size(), lines_hit(lines));
  }
  return text;
}

}  // namespace warpcheck
