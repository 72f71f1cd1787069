// `check` and `replay` with --engine gpu, and the options for it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/report_options.hpp"
#include "harness/pair/any_pair.hpp"

namespace warpcheck {

struct EngineOptions {
  std::string engine = "vgpu";
  bool require_gpu = false;
  std::string sanitizer;
  std::string runtime;
  double time_limit_seconds = 30;

  void add_to(CLI::App& command);
  // Whether the engine is a real GPU.  Throws UsageError for options that require it.
  [[nodiscard]] bool gpu() const;
};

struct GpuCheck {
  std::vector<const AnyPair*> pairs;
  int trials = 0;
  std::uint64_t seed = 1;
  std::string cases;
  std::string database;  // of failures, which run first; empty: none
  const ReportOptions& reports;
};

// Returns the exit status.  Without a device: one line that says so, and status 2, or 1 with
// --require-gpu.
int check_on_gpu(const GpuCheck& check, const EngineOptions& engine);
int replay_on_gpu(const std::vector<std::string>& cases, int runs, const ReportOptions& reports,
                  const EngineOptions& engine);

}  // namespace warpcheck
