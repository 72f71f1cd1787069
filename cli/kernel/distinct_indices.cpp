#include "cli/kernel/distinct_indices.hpp"

#include <algorithm>

namespace warpcheck {
namespace {

bool is_of_two_stores(const vgpu::Finding& finding) {
  if (finding.severity != vgpu::Severity::error) return true;
  return finding.kind == vgpu::FindingKind::data_race && finding.space == "global" &&
         finding.accesses.size() == 2 &&
         std::ranges::all_of(finding.accesses,
                             [](const vgpu::AccessSide& side) { return side.role == "write"; });
}

}  // namespace

std::vector<std::string> indices_that_may_differ(const AssumedKernel& kernel,
                                                 const std::vector<Report>& failures) {
  const bool are_stores = std::ranges::all_of(failures, [](const Report& failure) {
    return failure.verdict.refusals.empty() &&
           std::ranges::all_of(failure.verdict.findings, is_of_two_stores);
  });
  if (failures.empty() || !are_stores) return {};
  std::vector<std::string> names;
  for (const ArrayParameter& array : kernel.assumptions.kernel.arrays) {
    if (array.order == ArrayParameter::Order::ascending) return {};
    // Values that decide a branch have negative ones among them.
    const bool is_of_indices = array.values && array.values->low >= 0 && array.values->high > 0 &&
                               array.order == ArrayParameter::Order::any &&
                               array.columns.size() == 1;
    if (is_of_indices && !kernel.is_range_given(array.name)) names.push_back(array.name);
  }
  return names;
}

}  // namespace warpcheck
