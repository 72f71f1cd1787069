// What a whole command found: the data of every format (text, JSON, HTML, JUnit, SARIF, lcov).
// The printers, one file each, have no logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/input/json_values.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/prove/proof.hpp"
#include "harness/report/interleaving.hpp"
#include "harness/report/report.hpp"
#include "harness/search/health.hpp"
#include "harness/trial/line_coverage.hpp"

namespace warpcheck {

// A row of the verdict table: something that was put to the test as a whole.
struct Claim {
  enum class Status : std::uint8_t {
    passed,
    failed,
    cannot_run,  // refused, crashed, interrupted, or its file could not be read
  };
  std::string pair{};       // empty: not known, its case file could not be read
  std::string property{};   // empty: agrees with its reference, or the pair as a whole
  std::string case_file{};  // of a replay
  std::vector<vgpu::FindingKind> expects{};
  std::vector<vgpu::FindingKind> found{};
  std::uint64_t trials = 0;
  Status status = Status::passed;
  std::string verdict{};  // "ok", "NOT FOUND: data-race", "FAIL", a reason
  BeyondTrials beyond{};
  std::vector<std::size_t> reports{};  // indices into RunReport::reports

  // "pair", "pair.property"
  [[nodiscard]] std::string title() const {
    return property.empty() ? pair : pair + "." + property;
  }
};
std::string_view name_of(Claim::Status status);  // "passed", "failed", "cannot-run"

struct RunReport {
  std::string command;  // "hunt", "check", "replay", "shrink", "fuzz", "campaign", "exec"
  std::vector<Claim> claims;
  std::vector<Report> reports;
  std::optional<LineCoverage> coverage;  // of the command's trials; not given: it was not counted
  Json statistics;                       // of drawn cases; null: they were not wanted
  std::string engine;                    // the real GPU that it ran on; empty: the virtual one
  Json health;  // problems of claims that could not have failed (health.hpp); null: not looked for
  // Of exec: what --ignore leaves out of the findings of reports.front().
  std::vector<vgpu::Finding> ignored;
  // Of exec: what nobody has looked at, and why.
  std::vector<std::string> not_checked;
  // Of exec: what ran, in the order of its names; the same however fast.
  struct KernelUse {
    std::string name;
    std::uint64_t launches = 0, thread_instructions = 0;
  };
  std::vector<KernelUse> kernels;
  // For each report and finding its picture; empty: none were wanted.
  std::vector<std::vector<std::optional<Interleaving>>> pictures;

  // Adds `report` to the claim that is last.
  void add(Report report);
  void add_health(const std::string& pair, const std::string& property,
                  const std::vector<HealthProblem>& problems);
};

// The document of `--json`, described by docs/report.schema.json.
[[nodiscard]] Json report_json(const RunReport& run);
inline constexpr int kReportVersion = 1;
inline constexpr std::string_view kReportSchema = "warpcheck-report/1";
inline constexpr std::string_view kListSchema = "warpcheck-list/1";

// One self-contained page; reads the sources of the kernels.
[[nodiscard]] std::string report_html(const RunReport& run);
[[nodiscard]] std::string report_junit(const RunReport& run);
// version: of warpcheck.
[[nodiscard]] std::string report_sarif(const RunReport& run, std::string_view version);
[[nodiscard]] std::string report_lcov(const LineCoverage& coverage);

// Text that every format can hold: valid UTF-8 without control characters but tab and line feed;
// whatever else there was is U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace warpcheck
