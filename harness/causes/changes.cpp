#include "harness/causes/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpcheck {
namespace {

using vgpu::FindingKind;

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

// Changes by these remedies are the same order at different places.
std::vector<Change> as_family(std::vector<Change> changes, Remedy remedy) {
  switch (remedy) {
    case Remedy::block_barrier:
    case Remedy::cluster_barrier:
    case Remedy::fence:
    case Remedy::fence_of_block:
    case Remedy::fence_of_system: break;
    default: return changes;
  }
  for (Change& change : changes) change.family = 1 + static_cast<std::size_t>(remedy);
  return changes;
}

bool races_for(const std::vector<vgpu::Finding>& findings, const std::string& variable) {
  return std::ranges::any_of(findings, [&](const vgpu::Finding& finding) {
    return finding.kind == FindingKind::data_race && finding.severity == vgpu::Severity::error &&
           finding.variable == variable;
  });
}

bool races_between_warps(const std::vector<vgpu::Finding>& findings, const std::string& variable) {
  return std::ranges::any_of(findings, [&](const vgpu::Finding& finding) {
    return finding.kind == FindingKind::data_race && finding.severity == vgpu::Severity::error &&
           finding.variable == variable && finding.relation == vgpu::Relation::warps;
  });
}

// "kernel scale", "the host copy at main.cu:31"
std::string operation_of(const vgpu::AccessSide& side, const std::vector<LaunchedKernel>& kernels) {
  if (const auto site = site_of(side, kernels))
    return "kernel " + vgpu::short_kernel_name(vgpu::kernel_name(site->program().kernel));
  if (side.file.empty()) return "the " + side.role;
  const std::string name = side.file.substr(side.file.find_last_of('/') + 1);
  return fmt::format("the {} at {}:{}", side.role, name, side.line);
}

// " between kernel scale and the host copy at main.cu:31", " between two launches of kernel scale"
std::string between_operations(const vgpu::Finding& finding,
                               const std::vector<LaunchedKernel>& kernels) {
  if (finding.accesses.size() < 2) return {};
  const std::string one = operation_of(finding.accesses[0], kernels);
  const std::string other = operation_of(finding.accesses[1], kernels);
  if (one == other) {
    const bool is_kernel = !finding.accesses[0].ptx.empty();
    return is_kernel ? fmt::format(" between two launches of {}", one) : " between (1) and (2)";
  }
  return fmt::format(" between {} and {}", one, other);
}

// " at main.cu:40", of the last side that is host code.
std::string place_of_host(const vgpu::Finding& finding) {
  std::string place;
  for (const vgpu::AccessSide& side : finding.accesses) {
    if (!side.ptx.empty() || side.file.empty()) continue;
    place = fmt::format(" at {}:{}", side.file.substr(side.file.find_last_of('/') + 1), side.line);
  }
  return place;
}

// More dynamic shared memory.  What is read beyond the end tells: with room that nothing has
// written, a wrong index would still read wrong values.
std::vector<Change> shared_size_changes(const vgpu::Finding& finding, bool results_are_known) {
  const bool reads_beyond_shared = finding.kind == FindingKind::out_of_bounds &&
                                   finding.space == "shared" && !finding.accesses.empty() &&
                                   finding.accesses.front().role == "read";
  if (!reads_beyond_shared || !results_are_known) return {};
  Change change;
  change.text = "more dynamic shared memory for the launch (third in <<<...>>>)";
  change.supposed.more_dynamic_shared = true;
  change.is_of_values = true;
  return {std::move(change)};
}

// A bound that leaves out what has to be done makes findings vanish, too.
std::vector<Change> with_right_results(std::vector<Change> changes) {
  for (Change& change : changes) change.is_of_values = true;
  return changes;
}

std::vector<Change> changes_by(Remedy remedy, const vgpu::Finding& finding,
                               const std::vector<CodeSite>& sites,
                               const std::vector<LaunchedKernel>& kernels) {
  switch (remedy) {
    case Remedy::wider_scope: return scope_changes(kernels, is_of_system(finding));
    case Remedy::fence:
    case Remedy::fence_of_block:
    case Remedy::fence_of_system: return fence_changes(kernels, remedy);
    case Remedy::wider_mask: return mask_changes(sites);
    case Remedy::split: return split_changes(sites);
    case Remedy::atomic_update: return atomic_updates(sites);
    case Remedy::atomic_access: return atomic_accesses(sites, is_of_system(finding));
    case Remedy::bound: return with_right_results(bound_changes(sites));
    case Remedy::first_value: return value_changes(finding, sites);
    case Remedy::barrier_elsewhere: return barrier_moves(sites);
    case Remedy::grid_barrier: return {};
    default: return inserted_orders(remedy, sites);
  }
}

}  // namespace

std::vector<Change> host_changes(const vgpu::Finding& finding,
                                 const std::vector<LaunchedKernel>& kernels,
                                 bool results_are_known) {
  std::vector<Change> changes;
  const auto suppose = [&](bool cudart::Suppositions::*supposed, std::string text) {
    Change& change = changes.emplace_back();
    change.text = std::move(text);
    change.supposed.*supposed = true;
  };
  const bool is_of_launches = finding.lack == vgpu::Lack::order_of_launches;
  const bool is_of_host = finding.lack == vgpu::Lack::wait_of_host;
  const auto where = [&] { return between_operations(finding, kernels); };
  if (is_of_launches || is_of_host) {
    suppose(&cudart::Suppositions::one_stream,
            "an order of the streams (cudaStreamWaitEvent(), or one stream)" + where());
  }
  if (is_of_launches) {
    suppose(&cudart::Suppositions::ordered_nodes,
            "an edge of the graph (cudaGraphAddDependencies())" + where());
  }
  if (is_of_host) {
    suppose(&cudart::Suppositions::host_waits,
            "a wait of the host (cudaStreamSynchronize())" + where());
  }
  if (finding.lack == vgpu::Lack::peer_access) {
    suppose(&cudart::Suppositions::peer_access,
            "access of the devices to one another (cudaDeviceEnablePeerAccess())");
  }
  if (finding.kind == FindingKind::use_after_free && finding.space != "shared") {
    suppose(&cudart::Suppositions::late_frees,
            "a later end of the freed memory" +
                (place_of_host(finding).empty() ? "" : ", freed" + place_of_host(finding)));
  }
  std::ranges::move(shared_size_changes(finding, results_are_known), std::back_inserter(changes));
  const bool is_unwritten =
      finding.kind == FindingKind::uninitialized_read && finding.space == "global";
  if (is_unwritten && results_are_known) {
    suppose(&cudart::Suppositions::zeroed_memory,
            "zeros in what cudaMalloc() returns (cudaMemset)");
    changes.back().is_of_values = true;
  }
  return changes;
}

std::vector<Change> changes_for(const std::vector<vgpu::Finding>& findings,
                                const std::vector<LaunchedKernel>& kernels,
                                bool results_are_known) {
  ChangeList all;
  bool has_site = false, of_system = false;
  for (std::size_t i = 0; i < findings.size(); ++i)
    all.add(shared_size_changes(findings[i], results_are_known), i);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const vgpu::Finding& finding = findings[i];
    if (finding.severity != vgpu::Severity::error) {
      of_system = of_system || is_of_system(finding);
      continue;
    }
    const bool races = races_for(findings, finding.variable);
    if (!races || finding.kind == FindingKind::data_race)
      all.add(host_changes(finding, kernels, results_are_known), i);
    const std::vector<CodeSite> sites = sites_of(finding, kernels);
    has_site = has_site || !sites.empty();
    if (sites.empty()) continue;
    const RemedyFacts facts{.results_are_known = results_are_known,
                            .one_warp = sites.front().kernel->threads <= 32,
                            .races_between_warps = races_between_warps(findings, finding.variable),
                            .races = races};
    for (const Remedy remedy : remedies_for(finding, facts))
      all.add(as_family(changes_by(remedy, finding, sites, kernels), remedy), i);
  }
  // A wrong result alone: what threads hand over may come too late.
  if (!has_site) {
    const Remedy fence = of_system ? Remedy::fence_of_system : Remedy::fence;
    all.add(scope_changes(kernels, of_system));
    all.add(as_family(fence_changes(kernels, fence), fence));
  }
  return all.take();
}

}  // namespace warpcheck
