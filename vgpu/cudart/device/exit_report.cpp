#include "vgpu/cudart/device/exit_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <vector>

#include "vgpu/check/finding_groups.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/device/runtime_use.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::cudart {
namespace {

std::vector<vgpu::Finding>& kept_findings() {
  static auto* const findings = new std::vector<vgpu::Finding>;  // lives until the report at exit
  return *findings;
}

bool wanted_at_exit = false;

// Returns the findings to be printed at exit; none for a plain program under `warpcheck exec`,
// whose session reports them.
std::vector<vgpu::Finding> findings_at_exit(Device& device) {
  const bool in_ambient = device.trial().in_ambient();
  // Pending operations of a process that was forked later belong to its parent.
  if (in_ambient && !device_was_used_before_fork()) device.system().finish();
  if (ExecSession* const session = ExecSession::instance()) {
    const std::string gap = device.host_accesses().not_checked();
    if (in_ambient && !gap.empty()) session->not_checked(gap);
    if (in_ambient) {
      const TrialResult result = device.system().end_ambient(session->wants_leaks());
      session->end(result, device.trial().kernels(), device.system().findings_of_parent());
    }
    return {};
  }
  std::vector<vgpu::Finding> findings = std::move(kept_findings());
  if (in_ambient) {
    const TrialResult result = device.system().peek_result();
    findings.insert(findings.end(), result.findings.begin(), result.findings.end());
  }
  return findings;
}

// Runs after the destructors of the program's static objects, which may still free memory.
[[gnu::destructor]] void print_report() {
  if (!wanted_at_exit) return;
  const std::vector<vgpu::Finding> findings = with_device(findings_at_exit);
  if (findings.empty()) return;
  for (const std::vector<std::size_t>& group : vgpu::groups_of_one_cause(findings)) {
    fmt::print(stderr, "warpcheck: {}", compact_text(findings[group.front()]));
    for (const std::size_t i : std::span(group).subspan(1)) {
      fmt::print(stderr, "  the same cause: {}: {}\n", findings[i].object,
                 vgpu::places_text(findings[i]));
    }
  }
  fmt::print(stderr, "warpcheck: {}\n", counted(findings.size(), "finding"));
}

}  // namespace

void print_report_at_exit() { wanted_at_exit = true; }

void keep_for_exit_report(const TrialResult& result) {
  std::vector<vgpu::Finding>& kept = kept_findings();
  kept.insert(kept.end(), result.findings.begin(), result.findings.end());
}

std::string compact_text(const vgpu::Finding& finding) {
  std::string text;
  if (finding.severity == vgpu::Severity::note) text += "note: ";
  text += name_of(finding.kind);
  if (!finding.space.empty()) text += fmt::format(" on {} memory", finding.space);
  if (!finding.object.empty()) text += fmt::format(": {}", finding.object);
  if (!finding.kernel.empty()) text += fmt::format(", in {}", finding.kernel);
  if (finding.count > 1) text += fmt::format(", {} times", finding.count);
  text += '\n';
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const vgpu::AccessSide& side = finding.accesses[i];
    text += fmt::format("  ({}) {}", i + 1, side.role);
    if (!side.ptx.empty()) {
      text +=
          fmt::format(" by block {} thread {}  {}:{}   {}", triple(side.block), triple(side.thread),
                      side.file.empty() ? "?" : side.file, side.line, side.ptx);
      if (!side.header.empty()) {
        text += fmt::format("   ({}:{})", vgpu::short_header_name(side.header), side.header_line);
      }
    } else if (!side.file.empty()) {
      text += fmt::format("  {}:{}", side.file, side.line);
    }
    text += '\n';
    if (const std::string callers = vgpu::callers_text(side); !callers.empty()) {
      text += fmt::format("      {}\n", callers);
    }
  }
  if (!finding.message.empty()) text += fmt::format("  {}\n", finding.message);
  if (const std::string also = vgpu::also_text(finding); !also.empty()) {
    text += fmt::format("  {}\n", also);
  }
  if (!finding.cause.empty()) text += fmt::format("  cause: {}\n", finding.cause);
  return text;
}

}  // namespace warpcheck::cudart
