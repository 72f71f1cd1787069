#include "harness/case/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck {
namespace {

template <class T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

bool keeps(const FailureClass& target, const FailureClass& candidate) {
  return candidate.signatures == target.signatures &&
         std::ranges::includes(target.places, candidate.places);
}

bool Verdict::failed() const {
  return std::ranges::any_of(findings, [](const vgpu::Finding& finding) {
    return finding.severity == vgpu::Severity::error;
  });
}

FailureClass failure_class(const std::vector<vgpu::Finding>& findings) {
  FailureClass result;
  for (const vgpu::Finding& finding : findings) {
    if (finding.severity != vgpu::Severity::error) continue;
    result.signatures.push_back(
        fmt::format("{}|{}|{}", vgpu::name_of(finding.kind), finding.space, finding.kernel));
    result.places.push_back(vgpu::class_of(finding));
  }
  sort_unique(result.signatures);
  sort_unique(result.places);
  return result;
}

FailureClass failure_class(const Verdict& verdict) { return failure_class(verdict.findings); }

std::vector<vgpu::FindingKind> failure_kinds(const Verdict& verdict) {
  std::vector<vgpu::FindingKind> kinds;
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.severity == vgpu::Severity::error) kinds.push_back(finding.kind);
  }
  sort_unique(kinds);
  return kinds;
}

std::string show_kinds(const std::vector<vgpu::FindingKind>& kinds) {
  std::string text;
  for (const vgpu::FindingKind kind : kinds) {
    if (!text.empty()) text += ", ";
    text += vgpu::name_of(kind);
  }
  return text;
}

}  // namespace warpcheck
