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
  void add(std::vector<Change> changes) {
    for (Change& change : changes) {
      const bool is_known = std::ranges::any_of(
          list_, [&](const Change& known) { return known.edits == change.edits; });
      if (!is_known) list_.push_back(std::move(change));
    }
  }
  std::vector<Change> take() { return std::move(list_); }

 private:
  std::vector<Change> list_;
};

bool is_of_system(const vgpu::Finding& finding) {
  return finding.relation == Relation::host || finding.relation == Relation::launches;
}

}  // namespace

std::vector<Change> changes_for(const std::vector<vgpu::Finding>& findings,
                                const std::vector<LaunchedKernel>& kernels,
                                bool results_are_known) {
  ChangeList all;
  bool has_site = false, of_system = false;
  for (const vgpu::Finding& finding : findings) {
    if (finding.severity != vgpu::Severity::error) {
      of_system = of_system || is_of_system(finding);
      continue;
    }
    const std::vector<CodeSite> sites = sites_of(finding, kernels);
    has_site = has_site || !sites.empty();
    if (sites.empty()) continue;
    switch (finding.kind) {
      case FindingKind::data_race:
        all.add(order_changes_for(finding, sites, kernels));
        all.add(split_changes(sites));
        all.add(atomic_changes(sites, is_of_system(finding)));
        break;
      case FindingKind::out_of_bounds:
      case FindingKind::misaligned_access:
        if (results_are_known) all.add(bound_changes(sites));
        break;
      case FindingKind::uninitialized_read:
        if (results_are_known) {
          all.add(value_changes(finding, sites));
          all.add(bound_changes(sites));
        }
        break;
      case FindingKind::barrier_divergence:
      case FindingKind::deadlock: all.add(barrier_moves(sites)); break;
      default: break;
    }
  }
  // A wrong result alone: what threads hand over may come too late.
  if (!has_site) all.add(handover_changes(kernels, of_system));
  return all.take();
}

}  // namespace warpcheck
