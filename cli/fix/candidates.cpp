#include "cli/fix/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cli/fix/rewrites/bound_rewrites.hpp"
#include "cli/fix/rewrites/early_ends.hpp"
#include "cli/fix/rewrites/first_values.hpp"
#include "cli/fix/rewrites/insertion.hpp"
#include "cli/fix/rewrites/order_rewrites.hpp"
#include "cli/fix/rewrites/parities.hpp"
#include "cli/fix/rewrites/rewrites.hpp"
#include "harness/causes/remedies.hpp"
#include "vgpu/text/replace_all.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;
using vgpu::FindingKind;
using vgpu::Relation;

constexpr std::size_t kOfRankMax = 64;

void add_places(const Sources& sources, const vgpu::SourceLine& at, std::vector<Place>& places) {
  const auto found = sources.find(at.file);
  if (found == sources.end()) return;
  for (const std::size_t node : found->second.statements_at(at.line)) {
    const bool is_known = std::ranges::any_of(places, [&](const Place& place) {
      return place.file == &found->first && place.node == node;
    });
    if (!is_known) places.push_back({&found->first, &found->second, node});
  }
}

// The lines of two sides in the function where the ways to them part.  If one function has both
// accesses, these are their own lines; if both are in functions that a kernel calls one after the
// other, the lines of these calls.
std::vector<vgpu::SourceLine> lines_where_ways_part(const std::vector<vgpu::AccessSide>& sides) {
  if (sides.size() != 2) return {};
  std::size_t common = 0;
  const std::vector<vgpu::SourceLine>&a = sides[0].callers, &b = sides[1].callers;
  while (common < std::min(a.size(), b.size()) &&
         a[a.size() - 1 - common] == b[b.size() - 1 - common])
    ++common;
  std::vector<vgpu::SourceLine> lines;
  for (const vgpu::AccessSide& side : sides) {
    const std::size_t own = side.callers.size() - common;
    lines.push_back(own == 0 ? vgpu::SourceLine{side.file, side.line} : side.callers[own - 1]);
  }
  return lines;
}

// Of candidates for one finding: in the order of its remedies, those of values last.
constexpr int kRankOfWaits = 8, kRankOfParities = 12, kRankOfOrders = 20, kRankStep = 5,
              kRankOfHandovers = 24, kRankOfAtomics = 40, kRankOfValues = 50;

class Proposals {
 public:
  Proposals(const Sources& sources, const KernelsToFix& kernels, Evidence evidence)
      : sources_(sources), kernels_(kernels), evidence_(evidence) {}

  std::vector<Candidate> of(const Verdict& verdict) {
    bool has_place = false;
    for (const vgpu::Finding& finding : verdict.findings) {
      if (finding.severity != vgpu::Severity::error) continue;
      std::vector<Place> places;
      for (const vgpu::SourceLine& at : lines_where_ways_part(finding.accesses))
        add_places(sources_, at, places);
      for (const vgpu::AccessSide& side : finding.accesses)
        add_places(sources_, {side.file, side.line}, places);
      has_place = has_place || !places.empty();
      if (!places.empty()) propose(finding, places);
    }
    if (!has_place) propose_for_kernels();
    std::ranges::stable_sort(all_, {}, &Candidate::rank);
    // Of each rank so many: fences in pairs must not leave out what ranks behind them.
    std::map<int, std::size_t> counts;
    std::erase_if(all_, [&](const Candidate& one) { return ++counts[one.rank] > kOfRankMax; });
    return std::move(all_);
  }

 private:
  void add(std::optional<Patch> patch, int rank) {
    if (!patch) return;
    for (const Candidate& known : all_) {
      if (known.patch == *patch) return;
    }
    all_.push_back({std::move(*patch), rank});
  }

  void propose(const vgpu::Finding& finding, const std::vector<Place>& places) {
    const RemedyFacts facts{.results_are_known = evidence_ != Evidence::none,
                            .one_warp = kernels_.threads_max <= 32,
                            .races_between_warps = false,
                            .races = false};
    propose_library_waits(finding, places);
    propose_parities(finding, places);
    propose_group_syncs(finding, places);
    propose_wider_arrays(finding, places);
    int rank = kRankOfOrders;
    for (const Remedy remedy : remedies_for(finding, facts)) {
      propose_by(remedy, finding, places, rank);
      rank += kRankStep;
    }
    if (finding.kind == FindingKind::data_race && !is_of_system(finding)) {
      for (const Place& place : places) {
        for (Patch& patch : exchanged_handovers(*place.file, *place.tree, place.node))
          add(std::move(patch), kRankOfHandovers);
      }
    }
    // Unwritten values may be those that another thread has yet to write.
    if (finding.kind == FindingKind::uninitialized_read)
      insert_around(places, Remedy::block_barrier, kRankOfValues + kRankStep);
  }

  void propose_by(Remedy remedy, const vgpu::Finding& finding, const std::vector<Place>& places,
                  int rank) {
    switch (remedy) {
      case Remedy::wider_scope: return propose_scopes(places, is_of_system(finding), rank);
      case Remedy::fence:
      case Remedy::fence_of_block:
      case Remedy::fence_of_system:
        insert_around(places, remedy, rank);
        insert_pairs(places, inserted_text(remedy).source, rank + 2);
        return;
      case Remedy::wider_mask:
        for (const Place& place : places) {
          const std::size_t function = place.tree->function_of(place.node);
          for (Patch& patch : wider_masks(*place.file, *place.tree, function))
            add(std::move(patch), rank);
        }
        return;
      case Remedy::phase_wait: return propose_phase_waits(places, rank);
      case Remedy::grid_wait: return propose_grid_wait(places, rank);
      case Remedy::split: return propose_splits(finding, places, rank);
      case Remedy::atomic_update:
        for (const Place& place : places) {
          int of_update = kRankOfAtomics;
          for (Patch& patch : atomic_updates(*place.file, *place.tree, place.node))
            add(std::move(patch), of_update++);
          for (Patch& patch : atomic_steps(*place.file, *place.tree, place.node))
            add(std::move(patch), kRankOfAtomics + 2);
        }
        return;
      case Remedy::atomic_access:
        if (finding.relation == Relation::lanes || finding.relation == Relation::warps) return;
        for (const Patch& patch : atomic_stores(places)) add(patch, kRankOfAtomics + kRankStep);
        return;
      case Remedy::bound:
        for (const Place& place : places) propose_bounds(place);
        return;
      case Remedy::first_value: return propose_values(finding, places);
      case Remedy::grid_barrier: return propose_grid_barrier(places, rank);
      case Remedy::barrier_elsewhere:
        for (const Place& place : places) {
          for (Patch& patch : moved_barriers(*place.file, *place.tree, place.node))
            add(std::move(patch), rank);
          for (Patch& patch : postponed_ends(*place.file, *place.tree, place.node))
            add(std::move(patch), rank - 1);
          const std::size_t function = place.tree->function_of(place.node);
          for (Patch& patch : other_counts(*place.file, *place.tree, function))
            add(std::move(patch), rank + 1);
        }
        return;
      default: insert_around(places, remedy, rank);
    }
  }

  // Scopes are named where threads hand over, or in types that stand elsewhere in the file.
  void propose_scopes(const std::vector<Place>& places, bool of_system, int rank) {
    for (const auto& source : sources_) {
      const bool is_there = places.empty() || std::ranges::any_of(places, [&](const Place& place) {
                              return *place.file == source.first;
                            });
      if (!is_there) continue;
      for (Patch& patch : wider_scopes(source.first, source.second, of_system))
        add(std::move(patch), rank);
    }
  }

  // Where a function waits for phases and copies at all, one more wait is likely what is missing.
  void propose_library_waits(const vgpu::Finding& finding, const std::vector<Place>& places) {
    if (finding.space != "shared") return;
    for (const Place& place : places) {
      const std::size_t function = place.tree->function_of(place.node);
      for (const std::string& wait : library_waits(*place.tree, function)) {
        for (const Gap& gap : gaps_around(place)) add(insertion(place, gap, wait), kRankOfWaits);
      }
    }
  }

  void propose_parities(const vgpu::Finding& finding, const std::vector<Place>& places) {
    if (finding.space != "shared" && finding.kind != FindingKind::deadlock) return;
    for (const Place& place : places) {
      int rank = kRankOfParities;
      for (Patch& patch : other_parities(*place.file, *place.tree))
        add(std::move(patch), std::min(rank++, kRankOfOrders - 1));
    }
  }

  // A barrier of the warp is none of a group whose lanes alone come by.
  void propose_group_syncs(const vgpu::Finding& finding, const std::vector<Place>& places) {
    if (finding.relation != Relation::lanes) return;
    for (const Place& place : places) {
      for (Patch& patch : group_syncs(place)) add(std::move(patch), kRankOfWaits);
    }
  }

  // Two elements that share a place: rows of `[T][T - 1]` overlap.
  void propose_wider_arrays(const vgpu::Finding& finding, const std::vector<Place>& places) {
    if (finding.space != "shared" || finding.kind != FindingKind::data_race) return;
    if (evidence_ != Evidence::results) return;
    for (const Place& place : places) {
      for (Patch& patch : larger_arrays(*place.file, *place.tree, place.node))
        add(std::move(patch), kRankOfValues + 4);
    }
  }

  void propose_phase_waits(const std::vector<Place>& places, int rank) {
    for (const Place& place : places) {
      const std::size_t function = place.tree->function_of(place.node);
      for (const std::string& wait : phase_waits(*place.tree, function)) {
        for (const Gap& gap : gaps_around(place)) add(insertion(place, gap, wait), rank);
      }
    }
  }

  void propose_grid_wait(const std::vector<Place>& places, int rank) {
    for (const Place& place : places) {
      const SourceNode& function = (*place.tree)[place.tree->function_of(place.node)];
      if (function.children.empty()) continue;
      add(insertion(place, {function.children.front(), 0}, inserted_text(Remedy::grid_wait).source),
          rank);
    }
  }

  // Only in kernels whose launches are cooperative.
  void propose_grid_barrier(const std::vector<Place>& places, int rank) {
    std::vector<Place> cooperative = places;
    std::erase_if(cooperative, [](const Place& place) {
      const std::size_t function = place.tree->function_of(place.node);
      return place.tree->code_of(function).find("this_grid") == std::string_view::npos;
    });
    insert_around(cooperative, Remedy::grid_barrier, rank);
  }

  void propose_splits(const vgpu::Finding& finding, const std::vector<Place>& places, int rank) {
    for (const Place& place : places) {
      if (finding.relation == Relation::lanes)
        add(split_statement(*place.file, *place.tree, place.node, "__syncwarp();"), rank + 1);
      add(split_statement(*place.file, *place.tree, place.node, "__syncthreads();"), rank);
    }
  }

  std::vector<Patch> atomic_stores(const std::vector<Place>& places) {
    std::vector<Patch> patches;
    for (const Place& place : places) {
      if (auto patch = atomic_store(*place.file, *place.tree, place.node)) {
        patches.push_back(std::move(*patch));
      }
    }
    return patches;
  }

  void propose_bounds(const Place& place) {
    if (evidence_ == Evidence::none) return;
    const auto add_all = [&](std::vector<Patch> patches, int rank) {
      for (Patch& patch : patches) add(std::move(patch), rank);
    };
    const std::string& file = *place.file;
    const SourceTree& tree = *place.tree;
    add_all(shifted_comparisons(file, tree, place.node), kRankOfValues - 1);
    add_all(exchanged_bounds(file, tree, place.node), kRankOfValues - 1);
    add_all(exchanged_connectives(file, tree, place.node), kRankOfValues - 1);
    add_all(bounded_accesses(file, tree, place.node), kRankOfValues);
    add_all(bounded_branches(file, tree, place.node), kRankOfValues + 1);
    add_all(bounded_variables(file, tree, place.node), kRankOfValues + 2);
    add_all(other_indices(file, tree, place.node), kRankOfValues + 3);
    add_all(larger_arrays(file, tree, place.node), kRankOfValues + 4);
    for (Patch& patch : strided_accesses(*place.file, *place.tree, place.node)) {
      add(std::move(patch), 60);
    }
    add(all_strided_accesses(*place.file, *place.tree, place.tree->function_of(place.node)), 60);
  }

  void propose_values(const vgpu::Finding& finding, const std::vector<Place>& places) {
    if (evidence_ == Evidence::none) return;
    for (const Place& place : places) {
      for (Patch& patch : initial_values(*place.file, *place.tree, place.node, finding.variable,
                                         evidence_ != Evidence::results)) {
        add(std::move(patch), 45);
      }
    }
  }

  void insert_around(const std::vector<Place>& places, Remedy remedy, int rank) {
    const std::string_view text = inserted_text(remedy).source;
    for (const Place& place : places) {
      for (const Gap& gap : gaps_around(place)) add(insertion(place, gap, text), rank);
    }
  }

  // One before and one after the handover, in the code of either side.
  void insert_pairs(const std::vector<Place>& places, std::string_view text, int rank) {
    constexpr std::size_t kNearest = 4;
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = a + 1; b < places.size(); ++b) {
        const std::vector<Gap> first = gaps_around(places[a]), second = gaps_around(places[b]);
        for (std::size_t i = 0; i < std::min(first.size(), kNearest); ++i) {
          for (std::size_t j = 0; j < std::min(second.size(), kNearest); ++j) {
            auto both = insertion(places[a], first[i], text);
            const auto other = insertion(places[b], second[j], text);
            if (both && other && both->add(*other)) add(std::move(both), rank);
          }
        }
      }
    }
  }

  // For a wrong result that no finding explains: strong accesses without fences; a block that has
  // other threads than an array elements, or another number of them than a tree of sums needs.
  void propose_for_kernels() {
    propose_scopes({}, false, kRankOfOrders);
    for (const auto& [file, tree] : sources_) {
      for (std::size_t node = 0; node < tree.nodes().size(); ++node) {
        if (tree[node].kind != Kind::function || !is_launched(tree, node)) continue;
        if (has_strong_accesses(tree)) propose_fences(file, tree, node);
        if (evidence_ == Evidence::none) continue;
        add(all_strided_accesses(file, tree, node), 60);
        for (Patch& patch : halving_from_power_of_two(file, tree, node)) add(std::move(patch), 65);
      }
    }
  }

  [[nodiscard]] bool is_launched(const SourceTree& tree, std::size_t function) const {
    const std::string_view head = tree.code_of(function);
    const std::string_view signature = head.substr(0, head.find('{'));
    return std::ranges::any_of(kernels_.names, [&](const std::string& kernel) {
      return find_word(signature, kernel) != std::string_view::npos;
    });
  }

  void propose_fences(const std::string& file, const SourceTree& tree, std::size_t function) {
    std::vector<Place> places;
    for (std::size_t node = function; node < tree.nodes().size(); ++node) {
      const Kind kind = tree[node].kind;
      if (kind == Kind::function || kind == Kind::block) continue;
      if (tree.function_of(node) != function) continue;
      const std::string_view code = kind == Kind::simple ? tree.code_of(node) : tree.head_of(node);
      if (!hands_on(code)) continue;
      places.push_back({&file, &tree, node});
    }
    // After a loop that waits, and before a store or an update.
    std::vector<Patch> singles;
    for (const Place& place : places) {
      const std::size_t parent = tree[place.node].parent;
      if (tree[parent].kind != Kind::block) continue;
      const std::size_t index = index_in(tree[parent], place.node);
      for (const std::size_t gap : {index, index + 1}) {
        auto patch = insertion(place, {parent, gap}, "__threadfence();");
        if (!patch || std::ranges::find(singles, *patch) != singles.end()) continue;
        singles.push_back(std::move(*patch));
      }
    }
    for (const Patch& patch : singles) add(patch, 20);
    for (std::size_t a = 0; a < singles.size(); ++a) {
      for (std::size_t b = a + 1; b < singles.size(); ++b) {
        Patch both = singles[a];
        if (both.add(singles[b])) add(std::move(both), 25);
      }
    }
  }

  // Without any, what threads hand over would be a race, and that a finding.
  static bool has_strong_accesses(const SourceTree& tree) {
    return std::ranges::any_of(
        std::array{"volatile", "atomic", "asm", "__nanosleep", "cuda::"},
        [&](std::string_view word) { return tree.code().find(word) != std::string::npos; });
  }

  static bool hands_on(std::string_view code) {
    return code.find("atomic") != std::string_view::npos ||
           code.find('[') != std::string_view::npos || code.find('*') != std::string_view::npos ||
           code.find("->") != std::string_view::npos;
  }

  const Sources& sources_;
  const KernelsToFix& kernels_;
  Evidence evidence_;
  std::vector<Candidate> all_;
};

}  // namespace

bool lies_in_a_caller(const vgpu::Finding& finding) {
  const std::vector<vgpu::SourceLine> lines = lines_where_ways_part(finding.accesses);
  for (std::size_t side = 0; side < lines.size(); ++side) {
    const vgpu::AccessSide& own = finding.accesses[side];
    if (lines[side] != vgpu::SourceLine{own.file, own.line}) return true;
  }
  return false;
}

std::vector<Candidate> candidates_for(const Sources& sources, const Verdict& verdict,
                                      const KernelsToFix& kernels, Evidence evidence) {
  return Proposals(sources, kernels, evidence).of(verdict);
}

namespace {

constexpr int kRankOfExperiments = 10;

// "after scan.cu:14"
struct PlaceOfExperiment {
  bool after = false, at = false;
  std::string file;
  std::uint32_t line = 0;
};

std::optional<PlaceOfExperiment> place_of_experiment(std::string_view text) {
  PlaceOfExperiment place;
  const std::size_t blank = text.find(' '), colon = text.rfind(':');
  if (blank == std::string_view::npos || colon == std::string_view::npos || colon < blank)
    return std::nullopt;
  const std::string_view word = text.substr(0, blank);
  if (word != "after" && word != "before" && word != "at") return std::nullopt;
  place.after = word == "after";
  place.at = word == "at";
  place.file = text.substr(blank + 1, colon - blank - 1);
  for (const char c : text.substr(colon + 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    place.line = 10 * place.line + static_cast<std::uint32_t>(c - '0');
  }
  return place;
}

// The remedy whose words the text begins with; the rest is where.
std::optional<Remedy> remedy_of_experiment(std::string_view& text) {
  for (const Remedy remedy :
       {Remedy::copy_wait_and_barrier, Remedy::warp_barrier, Remedy::block_barrier,
        Remedy::cluster_barrier, Remedy::fence, Remedy::fence_of_block, Remedy::fence_of_system,
        Remedy::copy_wait, Remedy::proxy_fence}) {
    const std::string_view words = inserted_text(remedy).words;
    if (!text.starts_with(words) || !text.substr(words.size()).starts_with(' ')) continue;
    text.remove_prefix(words.size() + 1);
    return remedy;
  }
  for (const std::string_view words :
       {"atomicAdd() ", "atomic max ", "atomic min ", "atomic or ", "atomic and ", "atomic xor "}) {
    if (!text.starts_with(words)) continue;
    text.remove_prefix(words.size());
    return Remedy::atomic_update;
  }
  return std::nullopt;
}

std::optional<Patch> patch_at(const Sources& sources, const PlaceOfExperiment& place,
                              Remedy remedy) {
  for (const auto& [file, tree] : sources) {
    if (file.substr(file.find_last_of('/') + 1) != place.file) continue;
    for (const std::size_t node : tree.statements_at(place.line)) {
      const Place there{&file, &tree, node};
      if (remedy == Remedy::atomic_update) {
        std::vector<Patch> updates = atomic_updates(file, tree, node);
        if (!updates.empty()) return std::move(updates.front());
        continue;
      }
      const std::size_t parent = tree[node].parent;
      if (tree[parent].kind != Kind::block) continue;
      const std::size_t index = index_in(tree[parent], node);
      return insertion(there, {parent, place.after ? index + 1 : index},
                       inserted_text(remedy).source);
    }
  }
  return std::nullopt;
}

// The first of the patches of a line of the file that it names.
template <typename PatchesOf>
std::optional<Candidate> first_patch_at(const Sources& sources, std::string_view where,
                                        PatchesOf patches_of) {
  const auto place = place_of_experiment(fmt::format("at {}", where));
  if (!place) return std::nullopt;
  for (const auto& [file, tree] : sources) {
    if (file.substr(file.find_last_of('/') + 1) != place->file) continue;
    for (Patch& patch : patches_of(file, tree, place->line)) {
      return Candidate{std::move(patch), kRankOfExperiments};
    }
  }
  return std::nullopt;
}

// "the scope of the device at scan.cu:20"
std::optional<Candidate> wider_scope_of_experiment(const Sources& sources, std::string_view where,
                                                   bool of_system) {
  return first_patch_at(sources, where,
                        [&](const std::string& file, const SourceTree& tree, std::uint32_t line) {
                          std::vector<Patch> patches = wider_scopes(file, tree, of_system);
                          std::erase_if(patches, [&](const Patch& patch) {
                            const std::vector<TextEdit>& edits = patch.files.at(file);
                            return edits.size() != 1 || tree.line_of(edits.front().at) != line;
                          });
                          return patches;
                        });
}

// "the comparison of scan.cu:20 shifted by one"
std::optional<Candidate> comparison_of_experiment(const Sources& sources, std::string_view where) {
  return first_patch_at(sources, where,
                        [](const std::string& file, const SourceTree& tree, std::uint32_t line) {
                          for (const std::size_t node : tree.statements_at(line)) {
                            std::vector<Patch> patches = shifted_comparisons(file, tree, node);
                            if (!patches.empty()) return patches;
                          }
                          return std::vector<Patch>();
                        });
}

}  // namespace

std::optional<Candidate> candidate_of_experiment(const Sources& sources, const std::string& text) {
  constexpr std::string_view kOfDevice = "the scope of the device at ",
                             kOfSystem = "the scope of the system at ",
                             kComparison = "the comparison of ", kShifted = " shifted by one";
  const std::string_view whole = text;
  if (whole.starts_with(kOfDevice))
    return wider_scope_of_experiment(sources, whole.substr(kOfDevice.size()), false);
  if (whole.starts_with(kOfSystem))
    return wider_scope_of_experiment(sources, whole.substr(kOfSystem.size()), true);
  if (whole.starts_with(kComparison) && whole.ends_with(kShifted)) {
    return comparison_of_experiment(
        sources,
        whole.substr(kComparison.size(), whole.size() - kComparison.size() - kShifted.size()));
  }
  std::string_view rest = text;
  const std::optional<Remedy> remedy = remedy_of_experiment(rest);
  if (!remedy) return std::nullopt;
  Patch all;
  while (!rest.empty()) {
    constexpr std::string_view kAnd = " and ";
    const std::size_t end = std::min(rest.find(kAnd), rest.size());
    const auto place = place_of_experiment(rest.substr(0, end));
    if (!place || place->at != (*remedy == Remedy::atomic_update)) return std::nullopt;
    const std::optional<Patch> patch = patch_at(sources, *place, *remedy);
    if (!patch || !all.add(*patch)) return std::nullopt;
    rest.remove_prefix(std::min(end + kAnd.size(), rest.size()));
  }
  if (all.files.empty()) return std::nullopt;
  return Candidate{std::move(all), kRankOfExperiments};
}

std::vector<Candidate> joint_candidates(const Sources& sources,
                                        const std::vector<std::string>& texts) {
  std::vector<Candidate> candidates;
  Candidate all{.patch = {}, .rank = kRankOfExperiments};
  std::size_t parts = 0;
  for (const std::string& text : texts) {
    const auto one = candidate_of_experiment(sources, text);
    if (one && all.patch.add(one->patch)) ++parts;
  }
  if (parts < 2) return candidates;
  candidates.push_back(all);
  const std::string warp(inserted_text(Remedy::warp_barrier).source);
  const std::string block(inserted_text(Remedy::block_barrier).source);
  for (auto& [file, edits] : all.patch.files) {
    for (TextEdit& edit : edits) replace_all(edit.text, warp, block);
  }
  for (std::string& what : all.patch.what) replace_all(what, warp, block);
  if (!(all.patch == candidates.front().patch)) candidates.push_back(std::move(all));
  return candidates;
}

}  // namespace warpcheck
