#include "cli/fix/host_search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/fix/rewrites/host_rewrites.hpp"
#include "cli/fix/rewrites/uploads.hpp"

namespace warpcheck {
namespace {

using vgpu::AccessSide;
using vgpu::Finding;
using vgpu::FindingKind;
using vgpu::Lack;

bool is_of_launches(const Finding& finding) {
  return finding.lack == Lack::order_of_launches || finding.lack == Lack::wait_of_host;
}

class HostPatches {
 public:
  HostPatches(const std::string& file, const SourceTree& tree, bool results_are_known)
      : file_(file),
        tree_(tree),
        calls_(host_calls(file, tree)),
        results_are_known_(results_are_known) {}

  std::vector<Patch> of(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) propose(finding);
    if (results_are_known_) add(rounded_up_grids(file_, tree_, calls_));
    return std::move(all_);
  }

 private:
  void add(std::vector<Patch> patches) {
    for (Patch& patch : patches) {
      if (std::ranges::find(all_, patch) == all_.end()) all_.push_back(std::move(patch));
    }
  }

  void propose(const Finding& finding) {
    if (is_of_launches(finding)) {
      add(graph_edges(calls_));
      if (finding.accesses.size() > 1) {
        const HostCalls one = calls_of(finding.accesses[0]), other = calls_of(finding.accesses[1]);
        add(waits_of_streams(calls_, one, other));
        add(waits_of_streams(calls_, other, one));
      }
      add(waits_of_host(calls_));
    }
    if (finding.lack == Lack::peer_access) add(peer_accesses(calls_));
    if (finding.kind == FindingKind::use_after_free && finding.space != "shared")
      add(later_frees(calls_));
    if (finding.kind == FindingKind::invalid_free) add(single_frees(calls_));
    if (!results_are_known_) return;
    if (finding.kind == FindingKind::api_error) add(other_directions(calls_));
    const bool is_of_global = finding.space == "global";
    if (finding.kind == FindingKind::uninitialized_read && is_of_global) {
      if (!finding.cause.empty()) add(other_sizes(calls_));
      add(zeroed_allocations(calls_));
      add(left_uploads(calls_));
    }
    if (finding.kind == FindingKind::out_of_bounds) {
      if (is_of_global) add(other_sizes(calls_));
      if (finding.space == "shared") add(larger_shared(tree_, calls_));
    }
  }

  // The calls that may have made the access: launches of its kernel, or copies.
  [[nodiscard]] HostCalls calls_of(const AccessSide& side) const {
    HostCalls found;
    const bool is_of_kernel = !side.ptx.empty();
    for (const HostCall& call : calls_) {
      const std::uint32_t line = tree_.line_of(call.end);
      if (call.is_launch != is_of_kernel || stream_of(call).empty()) continue;
      const bool is_there =
          is_of_kernel ? is_of_function(side, call.name) : side.line == 0 || side.line == line;
      if (is_there) found.push_back(call);
    }
    if (!found.empty()) return found;
    std::ranges::copy_if(calls_, std::back_inserter(found),
                         [](const HostCall& call) { return !stream_of(call).empty(); });
    return found;
  }

  // Whether the line of the access is in the function.
  [[nodiscard]] bool is_of_function(const AccessSide& side, std::string_view name) const {
    for (const std::size_t node : tree_.statements_at(side.line)) {
      const SourceNode& function = tree_[tree_.function_of(node)];
      const std::string_view head =
          std::string_view(tree_.code())
              .substr(function.begin, function.head_begin - function.begin);
      if (find_word(head, name) != std::string_view::npos) return true;
    }
    return false;
  }

  const std::string& file_;
  const SourceTree& tree_;
  HostCalls calls_;
  bool results_are_known_;
  std::vector<Patch> all_;
};

}  // namespace

std::vector<Patch> host_patches_for(const Sources& sources, const Verdict& verdict,
                                    bool results_are_known) {
  std::vector<Patch> all;
  for (const auto& [file, tree] : sources) {
    for (Patch& patch : HostPatches(file, tree, results_are_known).of(verdict.findings))
      all.push_back(std::move(patch));
  }
  return all;
}

}  // namespace warpcheck
