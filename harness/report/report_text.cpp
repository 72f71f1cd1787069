// A report as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "harness/pair/project.hpp"
#include "harness/report/report.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/schedule/schedule.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kFindingsShown = 12;
constexpr std::size_t kDecisionsShown = 8;
constexpr std::size_t kFoldedShown = 8;

// "sums.cu:8", or "sums.cu:8 (cub/block/block_scan.cuh:217)"
std::string place_text(const vgpu::AccessSide& side) {
  if (side.file.empty()) return "";
  std::string text = fmt::format("{}:{}", side.file, side.line);
  if (side.header.empty()) return text;
  return text + fmt::format(" ({}:{})", vgpu::short_header_name(side.header), side.header_line);
}

// The columns of one side: "write", "by block ... thread ...", "file:line", "st.shared.u32".
std::array<std::string, 4> side_columns(const vgpu::AccessSide& side) {
  const bool on_device = !side.ptx.empty();
  return {side.role,
          on_device ? fmt::format("by block {} thread {}", triple(side.block), triple(side.thread))
          : side.file.empty() ? "by the host"
                              : "",
          place_text(side), side.ptx};
}

std::string sides_text(const std::vector<vgpu::AccessSide>& sides) {
  std::array<std::size_t, 4> widths{};
  std::vector<std::array<std::string, 4>> rows;
  for (const vgpu::AccessSide& side : sides) {
    rows.push_back(side_columns(side));
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], rows.back()[i].size());
    }
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [role, who, where, ptx] = rows[i];
    std::string line = fmt::format("    ({}) {:{}} {:{}}  {:{}}   {}", i + 1, role, widths[0], who,
                                   widths[1], where, widths[2], ptx);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (const std::string callers = vgpu::callers_text(sides[i]); !callers.empty()) {
      text += fmt::format("        {}\n", callers);
    }
  }
  return text;
}

std::string schedule_text(const vgpu::Schedule& schedule) {
  const auto& decisions = schedule.decisions;
  if (decisions.empty()) return "schedule: default (0 decisions)\n";
  if (decisions.size() == 1) {
    return fmt::format("schedule: 1 decision, {}\n", vgpu::to_string(decisions.front()));
  }
  std::string text = fmt::format("schedule: {} decisions\n", decisions.size());
  for (std::size_t i = 0; i < std::min(decisions.size(), kDecisionsShown); ++i) {
    text += fmt::format("    {}\n", vgpu::to_string(decisions[i]));
  }
  if (decisions.size() > kDecisionsShown) {
    text += fmt::format("    ... and {} more\n", decisions.size() - kDecisionsShown);
  }
  return text;
}

// "share[3], 4 bytes: write a.cu:12 and read a.cu:14"; of another kind or severity than the first
// finding of the group, with that.
std::string folded_line(const vgpu::Finding& finding, const vgpu::Finding& first) {
  std::string text = finding.severity == first.severity ? "" : "note: ";
  if (finding.accesses.empty() && finding.object.empty()) {
    return text + vgpu::headline_of(finding) + ": " + finding.message;
  }
  const bool same = finding.kind == first.kind && finding.space == first.space;
  text += same ? finding.object : vgpu::headline_of(finding);
  const std::string places = vgpu::places_text(finding);
  if (!text.empty() && !places.empty()) text += ": ";
  return text + places;
}

std::string headline(const Report& report) {
  const char* verdict = !report.verdict.refusals.empty() ? "CANNOT RUN"
                        : report.verdict.failed()        ? "FAIL"
                                                         : "PASS";
  std::string text = fmt::format("{} {}", verdict, report.a_case.title());
  if (!report.search) return text + "\n";
  const auto& [trials, shrinks, complete] = *report.search;
  text += fmt::format("   after {}, {}", counted(trials, "trial"), counted(shrinks, "shrink"));
  if (!complete) text += " (not finished: the budget was used up)";
  return text + "\n";
}

}  // namespace

std::string finding_text(const vgpu::Finding& finding) {
  std::string text = finding.severity == vgpu::Severity::note ? "  note: " : "  ";
  text += vgpu::headline_of(finding);
  if (finding.accesses.empty() && finding.object.empty()) {
    return text + ": " + finding.message + "\n";
  }
  text += "\n" + sides_text(finding.accesses);
  if (!finding.message.empty()) text += fmt::format("    {}\n", finding.message);
  if (const std::string also = vgpu::also_text(finding); !also.empty()) {
    text += fmt::format("    {}\n", also);
  }
  if (!finding.cause.empty()) text += fmt::format("    cause: {}\n", finding.cause);
  return text;
}

std::string folded_text(const std::vector<vgpu::Finding>& findings, const FindingGroup& group) {
  const auto others = std::span(group.findings).subspan(1);
  if (others.empty()) return {};
  std::string text = fmt::format("    {}:\n", folded_title(group));
  for (const std::size_t i : others.first(std::min(others.size(), kFoldedShown))) {
    text += fmt::format("      {}\n", folded_line(findings[i], findings[group.findings.front()]));
  }
  if (others.size() > kFoldedShown) {
    text += fmt::format("      ... and {} more\n", others.size() - kFoldedShown);
  }
  return text;
}

std::string report_text(const Report& report) {
  std::string text = headline(report);
  const auto& findings = report.verdict.findings;
  const std::vector<FindingGroup> groups = finding_groups(findings, report.causes);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < std::min(groups.size(), kFindingsShown); ++i) {
    text += finding_text(findings[groups[i].findings.front()]);
    if (groups[i].change != nullptr)
      text += fmt::format("    {}\n", sentence_of(*groups[i].change, findings.size()));
    text += folded_text(findings, groups[i]);
    shown += groups[i].findings.size();
  }
  if (shown < findings.size()) {
    text += fmt::format("  ... and {} more findings\n", findings.size() - shown);
  }
  if (const std::string limit = limit_of(report.causes); !limit.empty())
    text += fmt::format("  {}\n", limit);
  for (const std::string& refusal : report.verdict.refusals) {
    text += fmt::format("  {}\n", refusal);
  }
  const std::string settings = settings_summary(report.a_case.settings);
  text +=
      fmt::format("  input: {}; {}{}{}", report.a_case.pair->summary(report.a_case.input), settings,
                  settings.empty() ? "" : "; ", schedule_text(report.verdict.schedule));
  if (!report.replay_path.empty()) {
    text += fmt::format("debug: {0} debug {1}\nreplay: {0} replay {1}\n", project().program,
                        shell_word(report.replay_path));
  }
  return text;
}

}  // namespace warpcheck
