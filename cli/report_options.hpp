// The report files that a command writes when asked: every command that reports has the same
// options, and none writes a format in a way of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/report/run_report.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

struct ReportOptions {
  std::string json, html, junit, sarif, lcov;  // files; empty: not wanted

  void add_to(CLI::App& command);

  // Before anything runs.  Throws UsageError for a file that cannot be one: a directory, or the
  // same file for two formats.
  void check() const;

  [[nodiscard]] bool wants_coverage() const { return !html.empty() || !lcov.empty(); }
  [[nodiscard]] bool wants_pictures() const { return !html.empty(); }

  // Those of them that can be written again and again: regular files, and such as are not there.
  [[nodiscard]] ReportOptions rewritable() const;
  [[nodiscard]] bool wants_any() const;

  // Draws what is wanted and writes every file.  One that cannot be written does not keep the
  // others from being written; then throws CaseFileError that names them all.
  void write(RunReport& run, Engine& engine = virtual_gpu()) const;
};

}  // namespace warpcheck
