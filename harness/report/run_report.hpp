// The results of a command: the data of every format (text, JSON, HTML, JUnit, SARIF, lcov). The
// printers, one file each, have no logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/expected/expected_findings.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/report/health_problem.hpp"
#include "harness/report/interleaving.hpp"
#include "harness/report/memory_profile.hpp"
#include "harness/report/proof.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/line_coverage.hpp"

namespace warpcheck {

// A row of the verdict table: something that was tested as a whole.
struct Claim {
  enum class Status : std::uint8_t {
    passed,
    failed,
    cannot_run,  // refused, crashed, interrupted, or its file could not be read
  };
  std::string pair{};       // empty: unknown, because its case file could not be read
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
  std::optional<LineCoverage> coverage;  // of the command's trials; absent: not counted
  std::optional<MemoryProfile> profile;  // of the command's runs; absent: not counted
  Json statistics;                       // of drawn cases; null: not requested
  std::string engine;                    // the real GPU that ran the trials; empty: the virtual one
  Json health;  // problems of claims that could not have failed (health.hpp); null: not checked
  // For exec and check: the findings that --expect and --ignore remove from those of reports.
  std::vector<ExpectedFinding> expected;
  // For exec and check: the expectations of files that no finding matched.
  std::vector<Expectation> unmatched;
  // For kernel: what was assumed of the kernel's arguments and launches.
  std::vector<std::string> assumed;
  Json every_size;  // of kernel --prove: what `prove --all-sizes` reports; null: not requested
  // For exec: what was not checked, and why.
  std::vector<std::string> not_checked;
  // For exec: the kernels that ran, by name; independent of the machine's speed.
  struct KernelUse {
    std::string name;
    std::uint64_t launches = 0, thread_instructions = 0;
    std::string proved{};  // with --prove: for what its code proves that there are no findings
  };
  std::vector<KernelUse> kernels;
  // For exec: the command that opens each finding of its report in the debugger.
  std::vector<std::string> debug_commands;
  // The picture of each report and finding; empty: not requested.
  std::vector<std::vector<std::optional<Interleaving>>> pictures;

  // Adds `report` to the last claim.
  void add(Report report);
  void add_health(const std::string& pair, const std::string& property,
                  const std::vector<HealthProblem>& problems);
};

// The document of `--json`; docs/use/report.schema.json describes it.
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

// Text that every format can hold: valid UTF-8 without control characters except tab and line feed;
// every other character is replaced by U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace warpcheck
