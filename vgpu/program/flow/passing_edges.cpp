#include "vgpu/program/flow/passing_edges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "vgpu/program/flow/block_graph.hpp"
#include "vgpu/program/strong_components.hpp"
#include "vgpu/ptx/parse/locations.hpp"

namespace warpcheck::vgpu {
namespace {

using Mark = PassingEdges::Mark;
using Word = std::uint64_t;  // one bit for each of up to 64 blocks with barriers

// A place at which threads wait for others.
bool is_waited_at(const Instr& instr) {
  return instr.kind == InstrKind::warp_sync || instr.kind == InstrKind::cluster_barrier ||
         (instr.kind == InstrKind::barrier && !instr.modifiers.arrive);
}

// Returns whether instructions of the kind do something that others can depend on.
bool is_act(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
      return instr.modifiers.space != ptx::Space::local &&
             instr.modifiers.space != ptx::Space::param &&
             instr.modifiers.space != ptx::Space::constant;
    case InstrKind::warp:
    case InstrKind::warp_sync:
    case InstrKind::barrier_object:
    case InstrKind::copy:
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::async_store:
    case InstrKind::group_load:
    case InstrKind::tensor_memory:
    case InstrKind::cluster_barrier:
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
    case InstrKind::barrier:
    case InstrKind::print:
    case InstrKind::device_call:
    case InstrKind::texture: return true;
    default: return false;
  }
}

// Returns whether the instruction does something that others can depend on.  Stores of several
// branches that the optimiser has merged behind them are not counted: in the source, they are not
// behind a barrier of one of the branches.
bool acts(const Program& program, std::uint32_t pc) {
  return is_act(program.code[pc]) && program.source_of(pc).location.column != ptx::kMergedColumn;
}

class Finder {
 public:
  explicit Finder(const Program& program)
      : program_(program),
        graph_(program, is_guarded_barrier),
        local_of_(graph_.blocks().size(), ptx::kNone) {}

  std::shared_ptr<const PassingEdges> run() {
    for (const BlockGraph::Block& block : graph_.blocks()) {
      first_act_.push_back(find_act(block.begin, block.end));
    }
    find_acting_blocks();
    std::vector<std::uint32_t> all(graph_.blocks().size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    look_at(all, std::nullopt);
    return marks_.empty() ? nullptr : finish();
  }

 private:
  struct Marked {
    std::uint32_t from, to;  // pcs
    auto operator<=>(const Marked&) const = default;
  };
  // What is known at the beginning of the blocks of one loop, or of the whole program; the last one
  // is the next iteration.
  struct Level {
    std::span<const std::uint32_t> blocks;
    std::optional<std::uint32_t> header;
    std::vector<std::vector<std::uint32_t>> successors;
    std::vector<bool> leaves;         // some threads leave the loop or the program
    std::vector<bool> may_act;        // something can be done in the same iteration
    std::vector<Word> own;            // barriers in the block
    std::vector<Word> after, to;      // can be reached from the barrier; can reach it
    std::vector<Word> behind, leads;  // lies behind it; leads there inevitably
  };

  [[nodiscard]] std::uint32_t find_act(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t pc = begin; pc < end; ++pc) {
      if (program_.code[pc].guard.bank == Bank::none && acts(program_, pc)) return pc;
    }
    return ptx::kNone;
  }

  [[nodiscard]] bool may_act_in(const BlockGraph::Block& block) const {
    for (std::uint32_t pc = block.begin; pc < block.end; ++pc) {
      if (acts(program_, pc)) return true;
    }
    return false;
  }

  // Finds the blocks from which something can still be done.
  void find_acting_blocks() {
    const auto blocks = graph_.blocks();
    may_act_.assign(blocks.size(), false);
    for (std::size_t i = 0; i < blocks.size(); ++i) may_act_[i] = may_act_in(blocks[i]);
    for (bool grows = true; grows;) {
      grows = false;
      for (auto i = static_cast<std::uint32_t>(blocks.size()); i-- > 0;) {
        if (may_act_[i]) continue;
        may_act_[i] = std::ranges::any_of(graph_.successors(i),
                                          [&](std::uint32_t next) { return may_act_[next]; });
        grows |= may_act_[i];
      }
    }
  }

  // Finds the edges into what lies behind barriers of a loop, or of the whole program, and then
  // those of the loops in it.
  void look_at(std::span<const std::uint32_t> blocks, std::optional<std::uint32_t> header) {
    Level level;
    level.blocks = blocks;
    level.header = header;
    std::vector<std::uint32_t> with_barriers;
    for (const std::uint32_t block : blocks) {
      const auto [begin, end] = graph_.blocks()[block];
      if (std::any_of(program_.code.begin() + begin, program_.code.begin() + end, is_waited_at)) {
        with_barriers.push_back(block);
      }
    }
    if (with_barriers.empty()) return;
    link(level);
    find_acting_blocks_of(level);
    for (std::size_t i = 0; i < with_barriers.size(); i += 64) {
      const std::size_t count = std::min<std::size_t>(64, with_barriers.size() - i);
      look_at_barriers(level, std::span(with_barriers).subspan(i, count));
    }
    for (const std::uint32_t block : blocks) local_of_[block] = ptx::kNone;
    for (const std::vector<std::uint32_t>& loop : loops_of(level)) {
      look_at(loop, *std::ranges::min_element(loop));
    }
  }

  void link(Level& level) {
    const auto count = static_cast<std::uint32_t>(level.blocks.size());
    for (std::uint32_t i = 0; i < count; ++i) local_of_[level.blocks[i]] = i;
    level.successors.resize(count + 1);
    level.leaves.resize(count + 1);
    level.leaves[count] = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      level.leaves[i] = graph_.ends(level.blocks[i]);
      for (const std::uint32_t next : graph_.successors(level.blocks[i])) {
        if (next == level.header) {
          level.successors[i].push_back(count);
        } else if (local_of_[next] != ptx::kNone) {
          level.successors[i].push_back(local_of_[next]);
        } else {
          level.leaves[i] = true;
        }
      }
    }
  }

  void find_acting_blocks_of(Level& level) const {
    level.may_act.assign(level.blocks.size() + 1, false);
    for (std::size_t i = 0; i < level.blocks.size(); ++i) {
      level.may_act[i] = may_act_in(graph_.blocks()[level.blocks[i]]);
    }
    until_stable(static_cast<std::uint32_t>(level.blocks.size()), true, [&](std::uint32_t i) {
      if (level.may_act[i]) return false;
      level.may_act[i] = std::ranges::any_of(
          level.successors[i], [&](std::uint32_t next) { return level.may_act[next]; });
      return bool{level.may_act[i]};
    });
  }

  void look_at_barriers(Level& level, std::span<const std::uint32_t> with_barriers) {
    find_behind(level, with_barriers);
    std::vector<std::vector<std::pair<Marked, std::uint32_t>>> entered(with_barriers.size());
    for (std::uint32_t i = 0; i < level.blocks.size(); ++i) {
      const bool is_guarded =
          is_guarded_barrier(program_.code[graph_.blocks()[level.blocks[i]].end - 1]);
      if (!is_guarded && level.successors[i].size() + (level.leaves[i] ? 1 : 0) < 2) continue;
      Word again = 0;  // barriers of the block that can be reached again
      for (const std::uint32_t next : level.successors[i]) again |= level.to[next];
      const Word here = level.behind[i] | level.leads[i] | (is_guarded ? 0 : level.own[i] & ~again);
      for (const std::uint32_t next : level.successors[i]) {
        for (Word rest = (level.behind[next] | level.leads[next]) & ~here; rest != 0;
             rest &= rest - 1) {
          entered[static_cast<std::size_t>(std::countr_zero(rest))].emplace_back(
              Marked{graph_.blocks()[level.blocks[i]].end - 1, begin_of(level, next)}, next);
        }
      }
    }
    for (std::uint32_t bit = 0; bit < with_barriers.size(); ++bit) {
      if (!entered[bit].empty()) add_region(level, with_barriers[bit], bit, entered[bit]);
    }
  }

  [[nodiscard]] std::uint32_t block_at(const Level& level, std::uint32_t local) const {
    return local == level.blocks.size() ? *level.header : level.blocks[local];
  }
  [[nodiscard]] std::uint32_t begin_of(const Level& level, std::uint32_t local) const {
    return graph_.blocks()[block_at(level, local)].begin;
  }

  // Repeats change(block), from the last block to the first or the other way, until nothing
  // changes.
  static void until_stable(std::uint32_t count, bool backwards, auto&& change) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (change(backwards ? count - 1 - i : i)) changed = true;
      }
    }
  }

  void find_behind(Level& level, std::span<const std::uint32_t> with_barriers) {
    const auto count = static_cast<std::uint32_t>(level.blocks.size()) + 1;
    for (auto* const words : {&level.own, &level.after, &level.to, &level.behind, &level.leads}) {
      words->assign(count, 0);
    }
    std::size_t bit = 0;
    for (std::uint32_t i = 0; i + 1 < count && bit < with_barriers.size(); ++i) {
      if (level.blocks[i] == with_barriers[bit]) level.own[i] = Word{1} << bit++;
    }
    level.to = level.own;
    until_stable(count, true, [&](std::uint32_t i) {
      const Word before = level.to[i];
      for (const std::uint32_t next : level.successors[i]) level.to[i] |= level.to[next];
      return level.to[i] != before;
    });
    until_stable(count, false, [&](std::uint32_t i) {
      bool grows = false;
      for (const std::uint32_t next : level.successors[i]) {
        const Word added = (level.after[i] | level.own[i]) & ~level.after[next];
        level.after[next] |= added;
        grows |= added != 0;
      }
      return grows;
    });
    for (std::uint32_t i = 0; i < count; ++i) {
      if (may_act_[block_at_or_first(level, i)]) level.behind[i] = level.after[i] & ~level.to[i];
      if (!level.leaves[i] && !level.successors[i].empty()) level.leads[i] = ~level.to[i];
    }
    until_stable(count, true, [&](std::uint32_t i) {
      const Word before = level.leads[i];
      for (const std::uint32_t next : level.successors[i]) {
        level.leads[i] &= level.leads[next] | level.behind[next];
      }
      return level.leads[i] != before;
    });
  }
  // The whole program has no next iteration; nothing leads there.
  [[nodiscard]] std::uint32_t block_at_or_first(const Level& level, std::uint32_t local) const {
    return local == level.blocks.size() ? level.header.value_or(0) : level.blocks[local];
  }

  // Returns whether threads may come to the barrier several times.
  static bool can_be_reached_again(const Level& level, std::uint32_t bit) {
    for (std::uint32_t i = 0; i < level.own.size(); ++i) {
      if ((level.own[i] >> bit & 1) == 0) continue;
      return std::ranges::any_of(level.successors[i], [&](std::uint32_t next) {
        return (level.to[next] >> bit & 1) != 0;
      });
    }
    return false;
  }

  // Barriers with the same edges have one region.
  void add_region(const Level& level, std::uint32_t block, std::uint32_t bit,
                  const std::vector<std::pair<Marked, std::uint32_t>>& entered) {
    std::vector<Marked> key;
    for (const auto& [edge, next] : entered) key.push_back(edge);
    std::ranges::sort(key);
    const auto [found, is_new] =
        regions_.try_emplace({level.header.has_value(), key}, result_->is_of_loop.size());
    const auto region = static_cast<std::uint32_t>(found->second);
    for (std::uint32_t pc = graph_.blocks()[block].begin; pc < graph_.blocks()[block].end; ++pc) {
      if (!is_waited_at(program_.code[pc])) continue;
      std::vector<std::uint32_t>& regions = result_->regions_behind[pc];
      if (!std::ranges::count(regions, region)) regions.push_back(region);
    }
    if (!is_new) return;
    result_->is_of_loop.push_back(level.header.has_value());
    std::vector<std::uint32_t> undecided;
    const bool is_in_loop = can_be_reached_again(level, bit);
    for (const auto& [edge, next] : entered) {
      const Walk walk = walk_from(level, next, bit);
      const bool matters = walk.acts || (level.may_act[next] && !is_in_loop);
      marks_[edge].push_back({region, true, walk.acts, matters, walk.place});
      if (!walk.acts) undecided.push_back(graph_.block_of(walk.place));
    }
    mark_acts(region, std::move(undecided));
  }

  struct Walk {
    bool acts;
    std::uint32_t place;  // of what is done, or of the end of the last block
  };
  // Follows a thread that enters a region, as far as its way is certain.
  Walk walk_from(const Level& level, std::uint32_t local, std::uint32_t bit) const {
    const auto is_behind = [&](std::uint32_t block) {
      const std::uint32_t at = local_of_[block];
      return at == ptx::kNone || (level.after[at] >> bit & 1) != 0;
    };
    const bool is_next_iteration = local == level.blocks.size();
    return follow(block_at(level, local),
                  [&](std::uint32_t at) { return is_next_iteration || is_behind(at); });
  }
  Walk follow(std::uint32_t block, auto&& is_behind) const {
    for (std::size_t length = 0;; ++length) {
      if (first_act_[block] != ptx::kNone && is_behind(block)) return {true, first_act_[block]};
      const std::span<const std::uint32_t> next = graph_.successors(block);
      const bool is_certain = next.size() == 1 && !graph_.ends(block);
      if (!is_certain || length == graph_.blocks().size()) {
        return {false, graph_.blocks()[block].end - 1};
      }
      block = next.front();
    }
  }

  // Marks the edges at which it becomes certain that a thread in the region does something.
  void mark_acts(std::uint32_t region, std::vector<std::uint32_t> undecided) {
    std::vector<bool> seen(graph_.blocks().size());
    for (std::size_t i = 0; i < undecided.size(); ++i) {
      const std::uint32_t block = undecided[i];
      if (seen[block]) continue;
      seen[block] = true;
      for (const std::uint32_t next : graph_.successors(block)) {
        const Walk walk = follow(next, [](std::uint32_t) { return true; });
        if (walk.acts) {
          const Marked edge{graph_.blocks()[block].end - 1, graph_.blocks()[next].begin};
          marks_[edge].push_back({region, false, true, true, walk.place});
        } else {
          undecided.push_back(graph_.block_of(walk.place));
        }
      }
    }
  }

  // Returns the loops of a level, without the edges to its own header.
  std::vector<std::vector<std::uint32_t>> loops_of(const Level& level) const {
    std::vector<bool> is_of_iteration(level.successors.size(), true);
    is_of_iteration.back() = false;
    StrongComponents parts(level.successors, is_of_iteration);
    for (std::uint32_t i = 0; i < level.blocks.size(); ++i) parts.visit(i);
    std::vector<std::vector<std::uint32_t>> loops;
    for (const std::vector<std::uint32_t>& part : parts.found()) {
      const std::uint32_t first = part.front();
      if (part.size() == 1 && !std::ranges::count(level.successors[first], first)) continue;
      std::vector<std::uint32_t>& loop = loops.emplace_back();
      for (const std::uint32_t at : part) loop.push_back(level.blocks[at]);
      std::ranges::sort(loop);
    }
    return loops;
  }

  // Copies of a barrier, as in an unrolled loop, are one barrier: a thread that has come behind one
  // of them has come behind all.
  void join_copies() {
    using Place = std::array<std::uint32_t, 3>;
    std::map<std::vector<Place>, std::set<std::uint32_t>> regions_at;
    const auto regions_of = [&](std::uint32_t pc) -> std::set<std::uint32_t>& {
      std::vector<Place> places;
      ptx::SourceLocation at = program_.source_of(pc).location;
      if (at.file == ptx::kNone) places.push_back({pc, 0, 0});
      while (at.file != ptx::kNone) {
        places.push_back({at.file, at.line, at.column});
        if (at.inlined_at >= program_.locations.size()) break;
        at = program_.locations[at.inlined_at];
      }
      return regions_at[places];
    };
    for (const auto& [pc, regions] : result_->regions_behind) {
      regions_of(pc).insert(regions.begin(), regions.end());
    }
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (!is_waited_at(program_.code[pc])) continue;
      const std::set<std::uint32_t>& all = regions_of(pc);
      if (!all.empty()) result_->regions_behind[pc].assign(all.begin(), all.end());
    }
  }

  std::shared_ptr<const PassingEdges> finish() {
    join_copies();
    result_->first_at.assign(program_.code.size(), ptx::kNone);
    for (auto& [edge, marks] : marks_) {
      std::uint32_t& first = result_->first_at[edge.from];
      if (first == ptx::kNone) first = static_cast<std::uint32_t>(result_->edges.size());
      result_->edges.push_back({edge.from, edge.to, std::move(marks)});
    }
    return result_;
  }

  const Program& program_;
  const BlockGraph graph_;
  std::vector<std::uint32_t> first_act_;  // by block: pc, or kNone
  std::vector<bool> may_act_;             // by block: something can be done from its beginning on
  std::vector<std::uint32_t> local_of_;   // by block: its index in the level at hand, or kNone
  std::map<Marked, std::vector<Mark>> marks_;
  std::map<std::pair<bool, std::vector<Marked>>, std::size_t> regions_;
  std::shared_ptr<PassingEdges> result_ = std::make_shared<PassingEdges>();
};

}  // namespace

std::shared_ptr<const PassingEdges> find_passing_edges(const Program& program) {
  if (program.code.empty() || std::ranges::none_of(program.code, is_waited_at)) return nullptr;
  return Finder(program).run();
}

}  // namespace warpcheck::vgpu
