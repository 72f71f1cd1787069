// What threads have in common in a loop, and what it leaves.
#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {

void Walk::share_between_threads(Summary& summary, const ThreadState& after, Region& body,
                                 const std::vector<Path>& to_barriers) {
  const Loop& loop = graph_.loops()[summary.loop];
  std::set<std::size_t> shared{symbols_.index_of(summary.count)};
  for (const Changing& one : summary.changing) shared.insert(symbols_.index_of(one.symbol));
  const auto is_shared = [&](const z3::expr& term) {
    return std::ranges::all_of(symbols_.in(term), [&](std::uint32_t index) {
      return symbols_.at(index).level != Level::thread || shared.contains(index);
    });
  };
  const std::size_t begin = at_header(summary).path.size();
  bool changes = true;
  while (changes) {
    const std::size_t before = shared.size();
    for (const Changing& one : summary.changing) {
      const Value& value = after.registers[one.reg];
      const bool keeps = value.term && is_shared(*value.term) && is_shared(*one.initial.term);
      if (!keeps) shared.erase(symbols_.index_of(one.symbol));
    }
    // With a barrier in each iteration all threads are in the same one.
    for (const auto& [block, state] : body.exits) {
      if (loop.always_has_barrier) break;
      if (!is_shared(conjunction(symbols_.context(), state.path, begin))) shared.clear();
    }
    for (const Path& path : to_barriers) {
      if (!is_shared(conjunction(symbols_.context(), path, begin))) shared.clear();
    }
    changes = shared.size() != before;
  }
  if (loop.has_barrier) {
    for (const std::size_t index : shared) symbols_.at(index).level = Level::block;
    return;
  }
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  for (const std::size_t index : shared) {
    const Symbol one = symbols_.at(index);
    from.push_back(one.term);
    to.push_back(symbols_.symbol(one.term.decl().name().str() + " at the end", Level::block,
                                 one.low, one.high));
    symbols_.of(to.back()).domain = one.domain;
  }
  if (from.empty()) return;
  for (auto& [block, state] : body.exits) {
    for (z3::expr& condition : state.path) condition = condition.substitute(from, to);
    const auto at_the_end = [&](z3::expr term) { return term.substitute(from, to); };
    for (Value& value : state.registers) value = value.mapped(at_the_end, at_the_end);
  }
}

// What the loop makes of values that threads have in common is common to them in each iteration.
void Walk::find_same_in_iteration(const Summary& summary, const ThreadState& after) {
  for (const Changing& one : summary.changing) symbols_.of(one.symbol).same_in = summary.prefix;
  const auto is_same = [&](const z3::expr& term) {
    return std::ranges::all_of(symbols_.in(term), [&](std::uint32_t index) {
      const Symbol& symbol = symbols_.at(index);
      return symbol.level != Level::thread || symbol.is_of_warp ||
             (!symbol.same_in.empty() && summary.prefix.starts_with(symbol.same_in));
    });
  };
  bool changes = true;
  while (changes) {
    changes = false;
    for (const Changing& one : summary.changing) {
      std::string& same_in = symbols_.of(one.symbol).same_in;
      const Value& value = after.registers[one.reg];
      if (same_in.empty() || (value.term && is_same(*value.term) && is_same(*one.initial.term))) {
        continue;
      }
      same_in.clear();
      changes = true;
    }
  }
}

// The values of the last iteration get names of their own: of an earlier one other things are true.
void Walk::rename_what_is_left(const Summary& summary, ThreadState& left) {
  std::set<std::uint32_t> of_loop;
  const auto add = [&](const z3::expr& term) {
    for (const std::uint32_t index : symbols_.in(term)) {
      if (index >= summary.symbols_before) of_loop.insert(index);
    }
    return term;
  };
  for (const z3::expr& condition : left.path) add(condition);
  for (const Value& value : left.registers) (void)value.mapped(add, add);
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  for (const std::uint32_t index : of_loop) {
    Symbol copy = symbols_.at(index);
    from.push_back(copy.term);
    copy.term =
        symbols_.symbol(copy.term.decl().name().str() + " left", copy.level, copy.low, copy.high);
    to.push_back(copy.term);
    copy.same_in.clear();
    copy.counts_iterations = copy.meets_barriers = false;
    symbols_.of(copy.term) = copy;
  }
  const auto renamed = [&](z3::expr term) { return term.substitute(from, to); };
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (z3::expr& fact : symbols_.of(to[static_cast<unsigned>(i)]).facts) fact = renamed(fact);
  }
  for (z3::expr& condition : left.path) condition = renamed(condition);
  for (Value& value : left.registers) value = value.mapped(renamed, renamed);
}

// Each thread that comes to a loop leaves it.  If there is one place to which, how it does so is no
// condition of being there, but a fact about the values that it has left.
void Walk::make_exit_certain(const Summary& summary, Region& body) {
  if (graph_.loops()[summary.loop].has_barrier || body.exits.empty()) return;
  const std::uint32_t to = body.exits.front().first;
  std::vector<ThreadState> states;
  for (const auto& [block, state] : body.exits) {
    if (block != to) return;
    states.push_back(state);
  }
  ThreadState left = *met(std::move(states));
  rename_what_is_left(summary, left);
  const z3::expr comes = conjunction(symbols_.context(), summary.initial.path);
  Path path = summary.initial.path;
  for (std::size_t i = path.size(); i < left.path.size(); ++i) {
    const z3::expr fact = z3::implies(comes, left.path[i]);
    bool is_of_loop = false;
    for (const std::uint32_t index : symbols_.in(left.path[i])) {
      if (index < summary.symbols_before) continue;
      symbols_.at(index).facts.push_back(fact);
      is_of_loop = true;
    }
    if (!is_of_loop) path.push_back(left.path[i]);
  }
  left.path = std::move(path);
  body.exits.clear();
  body.exits.emplace_back(to, std::move(left));
}

bool Walk::meets_barriers(std::uint32_t loop) const {
  const auto is_any_barrier = [&](std::uint32_t at) {
    return is_block_barrier(kernel_.body[at]) || is_warp_barrier(kernel_.body[at]);
  };
  return std::ranges::any_of(graph_.loops()[loop].blocks, [&](std::uint32_t block) {
    const auto instructions =
        std::views::iota(graph_.blocks()[block].begin, graph_.blocks()[block].end);
    return std::ranges::any_of(instructions, is_any_barrier);
  });
}

}  // namespace warpcheck::vgpu::symbolic
