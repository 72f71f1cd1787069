// A case as a CUDA program of its own, for a real GPU and its vendor's tools.
//
// The runtime calls that the pair makes are recorded on the virtual GPU while it runs the case, and
// the program makes the same calls: allocations, copies with their bytes, launches with their
// arguments.  The kernels' source files are written into it, with their own headers.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/case/case_file.hpp"
#include "harness/pair/plain_output.hpp"
#include "vgpu/cudart/api/call_log.hpp"

namespace warpcheck {

// A case that cannot be made a program.  what() is one line.
class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a run should bring back: the output of the reference, element for element that of the
// downloads first .. last.
struct ExpectedDownloads {
  std::size_t first = 0, last = 0;  // numbers of DownloadCalls
  PlainOutput reference;
  std::string downloaded;  // the element's type in the downloads: float where the pair widened it
  PlainRule rule;
};

// Everything that the program says.
struct ExportedCase {
  std::string title;               // of the pair
  std::string file;                // of the case, for the first comment
  std::string summary;             // of the input
  std::vector<std::string> kinds;  // recorded
  std::string options;             // of nvcc
  std::string sources;             // text of the kernels' files
  std::vector<cudart::Call> calls;
  std::optional<ExpectedDownloads> expected;
  std::string not_compared;  // why there is no `expected`
};

// Runs the case once, under the default schedule.  Throws ExportError, SourceError.
[[nodiscard]] ExportedCase record_for_export(const CaseRecord& record, std::string file);

// The program's text.  `name`: of the file that it will be, for #line.  Throws ExportError.
[[nodiscard]] std::string program_text(const ExportedCase& exported, const std::string& name);

// The parts of it that are the same in every program (export_program.cpp).
[[nodiscard]] std::string_view program_helpers();
[[nodiscard]] std::string_view program_main();
// What compares an element of an output with its reference's under a rule.
[[nodiscard]] std::string_view program_comparison(Comparison comparison);

}  // namespace warpcheck
