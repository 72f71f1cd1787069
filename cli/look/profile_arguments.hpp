// --profile [FILE]: what the lines of kernels cost in memory, for commands that run kernels.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/report/run_report.hpp"

namespace warpcheck {

class ProfileArguments {
 public:
  void add_to(CLI::App& command);
  [[nodiscard]] bool is_wanted() const { return option_ != nullptr && option_->count() != 0; }
  // Call before anything runs.  Throws UsageError for a file whose name does not end with .json.
  void check() const;
  // Returns the table for the terminal, and writes the file, if one is named.  Throws
  // CaseFileError if it cannot be written.
  //   is_cut: the program was killed
  [[nodiscard]] std::string write(const MemoryProfile& profile, bool is_cut = false) const;

 private:
  CLI::Option* option_ = nullptr;
  std::string file_;  // empty: none
};

}  // namespace warpcheck
