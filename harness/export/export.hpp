// A case as a self-contained CUDA program, for a real GPU and its vendor's tools.
//
// The pair's runtime calls are recorded on the virtual GPU while it runs the case, and the program
// makes the same calls: allocations, copies with their bytes, launches with their arguments.  It
// contains the kernels' source files, with their own headers.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/case/case_file.hpp"
#include "harness/pair/plain_output.hpp"
#include "vgpu/cudart/api/calls/call_log.hpp"

namespace warpcheck {

// A case cannot be exported.  what() is one line.
class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The expected output: the elements of the reference's output, compared with those of downloads
// first .. last.
struct ExpectedDownloads {
  std::size_t first = 0, last = 0;  // numbers of DownloadCalls
  PlainOutput reference;
  std::string downloaded;  // the element's type in the downloads: float if the pair widened it
  PlainRule rule;
};

// The contents of the program.
struct ExportedCase {
  std::string title;               // of the pair
  std::string file;                // of the case, for the first comment
  std::string summary;             // of the input
  std::vector<std::string> kinds;  // recorded
  std::string options;             // of nvcc
  std::string sources;             // text of the kernels' files
  std::vector<cudart::Call> calls;
  std::optional<ExpectedDownloads> expected;
  std::string not_compared;  // the reason if there is no `expected`
};

// Runs the case once, under the default schedule.  Throws ExportError, SourceError.
[[nodiscard]] ExportedCase record_for_export(const CaseRecord& record, std::string file);

// The program's text.  `name`: its file name, for #line.  Throws ExportError.
[[nodiscard]] std::string program_text(const ExportedCase& exported, const std::string& name);

// The parts that all programs share (program_parts.cpp).
[[nodiscard]] std::string_view program_helpers();
[[nodiscard]] std::string_view program_main();
// The function that compares an element of an output with its reference's under a rule.
[[nodiscard]] std::string_view program_comparison(Comparison comparison);

}  // namespace warpcheck
