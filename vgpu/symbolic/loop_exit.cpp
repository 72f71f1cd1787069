// What threads have in common in a loop, and what it leaves.
#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {

namespace {

bool is_shared(Symbols& symbols, const z3::expr& term, const std::set<std::size_t>& own,
               const std::set<std::size_t>& shared) {
  return std::ranges::all_of(symbols.in(term), [&](std::uint32_t index) {
    return own.contains(index) ? shared.contains(index) : symbols.at(index).level != Level::thread;
  });
}

}  // namespace

std::set<std::size_t> Walk::symbols_of_loop(const Summary& summary) const {
  std::set<std::size_t> own{symbols_.index_of(summary.count)};
  for (const Changing& one : summary.changing) own.insert(symbols_.index_of(one.symbol));
  return own;
}

std::set<std::size_t> Walk::kept_in_common(const Summary& summary, const ThreadState& after) {
  const std::set<std::size_t> own = symbols_of_loop(summary);
  std::set<std::size_t> shared = own;
  bool changes = true;
  while (changes) {
    const std::size_t before = shared.size();
    for (const Changing& one : summary.changing) {
      const Value& value = after.registers[one.reg];
      const bool keeps = value.term && is_shared(symbols_, *value.term, own, shared) &&
                         is_shared(symbols_, *one.initial.term, own, shared);
      if (!keeps) shared.erase(symbols_.index_of(one.symbol));
    }
    changes = shared.size() != before;
  }
  return shared;
}

std::set<std::size_t> Walk::share_between_threads(Summary& summary, const ThreadState& after,
                                                  Region& body,
                                                  const std::vector<Path>& to_barriers) {
  const Loop& loop = graph_.loops()[summary.loop];
  const std::set<std::size_t> own = symbols_of_loop(summary);
  std::set<std::size_t> shared = kept_in_common(summary, after);
  const std::size_t begin = at_header(summary).path.size();
  const auto all_decide_alike = [&](const Path& path) {
    return is_shared(symbols_, conjunction(symbols_.context(), path, begin), own, shared);
  };
  // With a barrier in each iteration all threads are in the same one.
  const bool are_together =
      (loop.always_has_barrier ||
       std::ranges::all_of(body.exits,
                           [&](const auto& exit) { return all_decide_alike(exit.second.path); })) &&
      std::ranges::all_of(to_barriers, all_decide_alike);
  if (!are_together) shared.clear();
  if (loop.has_barrier) {
    for (const std::size_t index : shared) symbols_.at(index).level = Level::block;
    return shared;
  }
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  for (const std::size_t index : shared) {
    const Symbol one = symbols_.at(index);
    from.push_back(one.term);
    to.push_back(symbols_.symbol(one.term.decl().name().str() + " at the end", Level::block,
                                 one.low, one.high));
    symbols_.of(to.back()).domain = one.domain;
  }
  if (from.empty()) return shared;
  for (auto& [block, state] : body.exits) {
    for (z3::expr& condition : state.path) condition = condition.substitute(from, to);
    const auto at_the_end = [&](z3::expr term) { return term.substitute(from, to); };
    for (Value& value : state.registers) value = value.mapped(at_the_end, at_the_end);
  }
  return shared;
}

Walk::LastPass Walk::last_pass(Summary& summary, const Region& outer) {
  const std::size_t arrivals = outer.result == nullptr ? 0 : outer.result->arrivals.size();
  LastPass pass{run_body(summary, outer.result), std::nullopt};
  pass.after = met(pass.body.again);
  // If an iteration may pass by the barriers, each thread must decide alike.
  std::vector<Path> to_barriers;
  if (outer.result != nullptr && !graph_.loops()[summary.loop].always_has_barrier) {
    for (std::size_t i = arrivals; i < outer.result->arrivals.size(); ++i) {
      to_barriers.push_back(outer.result->arrivals[i].state.path);
    }
  }
  if (!pass.after) return pass;
  find_same_in_iteration(summary, *pass.after);
  pass.shared = share_between_threads(summary, *pass.after, pass.body, to_barriers);
  return pass;
}

// An inner loop's end may depend on this loop's numbers, and this loop's end on the inner one's.
// So the numbers are taken to be common, and this has to follow for the next iteration: that is
// an induction over the iterations, in which threads are together at barriers.
Walk::LastPass Walk::last_pass_with_inner_loops(Summary& summary, const Region& outer) {
  const bool has_inner = std::ranges::any_of(
      graph_.loops(), [&](const Loop& one) { return one.parent == summary.loop; });
  if (outer.result == nullptr || !has_inner || !graph_.loops()[summary.loop].has_barrier) {
    return last_pass(summary, outer);
  }
  const WalkResult before = *outer.result;
  LastPass pass = last_pass(summary, outer);
  if (!pass.after || !pass.shared.empty()) return pass;
  const std::set<std::size_t> assumed = kept_in_common(summary, *pass.after);
  for (const std::size_t index : assumed) symbols_.at(index).level = Level::block;
  *outer.result = before;
  pass = last_pass(summary, outer);
  if (pass.shared == assumed) return pass;
  for (const std::size_t index : symbols_of_loop(summary)) {
    symbols_.at(index).level = Level::thread;
  }
  *outer.result = before;
  return last_pass(summary, outer);
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
