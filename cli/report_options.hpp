// The report files that a command writes on request: every reporting command has the same options
// and the same formats.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/report/run_report.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

struct ReportOptions {
  std::string json, html, junit, sarif, lcov;  // files; empty: not requested
  bool for_programs = false;

  void add_to(CLI::App& command);
  // For a command that runs programs, which have no case that could run again for a picture, and
  // no coverage.
  void add_for_programs_to(CLI::App& command);

  // Call before anything runs.  Throws UsageError for an invalid file: a directory, or the same
  // file for two formats.
  void check() const;

  [[nodiscard]] bool wants_coverage() const { return !html.empty() || !lcov.empty(); }
  [[nodiscard]] bool wants_pictures() const { return !html.empty() && !for_programs; }

  // The files among them that can be rewritten: regular files, and files that do not exist yet.
  [[nodiscard]] ReportOptions rewritable() const;
  [[nodiscard]] bool wants_any() const;

  // Makes the requested pictures and writes every file.  If a file cannot be written, the others
  // still are; then throws CaseFileError that names all such files.
  void write(RunReport& run, Engine& engine = virtual_gpu()) const;
};

}  // namespace warpcheck
