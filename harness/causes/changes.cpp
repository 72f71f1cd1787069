#include "harness/causes/changes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpcheck {
namespace {

using vgpu::FindingKind;
using vgpu::Relation;

class ChangeList {
 public:
  void add(std::vector<Change> changes, std::size_t finding = Change::kNoFinding) {
    for (Change& change : changes) {
      change.finding = finding;
      const bool is_known = std::ranges::any_of(list_, [&](const Change& known) {
        return known.edits == change.edits && known.supposed == change.supposed;
      });
      if (!is_known) list_.push_back(std::move(change));
    }
  }
  std::vector<Change> take() { return std::move(list_); }

 private:
  std::vector<Change> list_;
};

bool races_for(const std::vector<vgpu::Finding>& findings, const std::string& variable) {
  return std::ranges::any_of(findings, [&](const vgpu::Finding& finding) {
    return finding.kind == FindingKind::data_race && finding.severity == vgpu::Severity::error &&
           finding.variable == variable;
  });
}

bool is_of_system(const vgpu::Finding& finding) {
  return finding.relation == Relation::host || finding.relation == Relation::launches;
}

}  // namespace

std::vector<Change> host_changes(const vgpu::Finding& finding, bool results_are_known) {
  Change change;
  if (finding.lack == vgpu::Lack::order_of_launches || finding.lack == vgpu::Lack::wait_of_host) {
    change.text = "an order of the streams (cudaStreamWaitEvent, or one stream)";
    change.supposed.one_stream = true;
    return {change};
  }
  const bool is_unwritten =
      finding.kind == FindingKind::uninitialized_read && finding.space == "global";
  if (!is_unwritten || !results_are_known) return {};
  change.text = "zeros in what cudaMalloc() returns (cudaMemset)";
  change.supposed.zeroed_memory = true;
  change.is_of_values = true;
  return {change};
}

std::vector<Change> changes_for(const std::vector<vgpu::Finding>& findings,
                                const std::vector<LaunchedKernel>& kernels,
                                bool results_are_known) {
  ChangeList all;
  bool has_site = false, of_system = false;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const vgpu::Finding& finding = findings[i];
    if (finding.severity != vgpu::Severity::error) {
      of_system = of_system || is_of_system(finding);
      continue;
    }
    if (!races_for(findings, finding.variable) || finding.kind == FindingKind::data_race)
      all.add(host_changes(finding, results_are_known), i);
    const std::vector<CodeSite> sites = sites_of(finding, kernels);
    has_site = has_site || !sites.empty();
    if (sites.empty()) continue;
    switch (finding.kind) {
      case FindingKind::data_race:
        all.add(order_changes_for(finding, sites, kernels), i);
        all.add(split_changes(sites), i);
        all.add(atomic_changes(sites, is_of_system(finding)), i);
        break;
      case FindingKind::out_of_bounds:
      case FindingKind::misaligned_access:
        if (results_are_known) all.add(bound_changes(sites), i);
        break;
      case FindingKind::uninitialized_read:
        if (results_are_known) {
          // Where threads race for the variable, it is their order that is missing.
          if (!races_for(findings, finding.variable)) all.add(value_changes(finding, sites), i);
          all.add(bound_changes(sites), i);
        }
        break;
      case FindingKind::barrier_divergence:
      case FindingKind::deadlock: all.add(barrier_moves(sites), i); break;
      default: break;
    }
  }
  // A wrong result alone: what threads hand over may come too late.
  if (!has_site) all.add(handover_changes(kernels, of_system));
  return all.take();
}

}  // namespace warpcheck
