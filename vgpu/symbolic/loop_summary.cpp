// What is true at the header of a loop in every iteration.
//
// A register that the loop changes by the same amount each time is a function of the number of
// finished iterations: i = i0 + k * stride, exactly, whatever wraps.  So is one that gets such a
// function's value, or swaps with another.  One whose values form a small set, like powers of two,
// is one of the set.  All others may be anything, within bounds that are guessed and then proved
// by induction: what fails is dropped until the rest stands (Flanagan and Leino, "Houdini, an
// Annotation Assistant for ESC/Java", FME 2001).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

constexpr Integer kIterationsMax = Integer{1} << 62;

bool contains(const std::vector<std::uint32_t>& symbols, std::size_t index) {
  return std::ranges::binary_search(symbols, static_cast<std::uint32_t>(index));
}

}  // namespace

std::optional<ThreadState> Walk::met(std::vector<ThreadState> states) {
  if (states.empty()) return std::nullopt;
  ThreadState result = std::move(states[0]);
  for (std::size_t i = 1; i < states.size(); ++i) {
    result = merged(symbols_.context(), result, states[i]);
  }
  return result;
}

void Walk::find_changing(Summary& summary) {
  const Loop& loop = graph_.loops()[summary.loop];
  for (const std::uint32_t reg : loop.written) {
    const Value& initial = summary.initial.registers[reg];
    if (!graph_.is_needed(loop.header, reg) || initial.kind == Value::Kind::other) continue;
    if (initial.otherwise) continue;
    const unsigned bits = bits_of(kernel_.registers[reg].type);
    const Integer size = power_of_two(bits);
    const bool is_address = initial.is_address();
    const z3::expr symbol = symbols_.symbol(
        fmt::format("{}{}", summary.prefix, kernel_.registers[reg].name), Level::thread,
        is_address ? -size / 2 : 0, is_address ? size / 2 - 1 : size - 1);
    // An earlier run of the same loop may have left its properties.
    Symbol& properties = symbols_.of(symbol);
    properties.domain.clear();
    properties.is_data = properties.is_chosen = false;
    properties.level = Level::thread;
    summary.changing.push_back({.reg = reg, .initial = initial, .symbol = symbol, .bits = bits});
  }
}

ThreadState Walk::at_header(const Summary& summary) const {
  ThreadState state = summary.initial;
  for (const std::uint32_t reg : graph_.loops()[summary.loop].written) state.registers[reg] = {};
  for (const Changing& one : summary.changing) {
    if (one.is_lost) continue;
    if (one.swapped) {
      state.registers[one.reg] = *one.swapped;
      continue;
    }
    const z3::expr term = one.closed ? *one.closed : one.symbol;
    Value value = one.initial;
    value.term = value.kind == Value::Kind::predicate ? (one.closed ? term : term == 1) : term;
    state.registers[one.reg] = value;
  }
  state.path.push_back(summary.count >= 0);
  for (const z3::expr& fact : summary.previous) state.path.push_back(fact);
  for (const z3::expr& invariant : summary.invariants) state.path.push_back(invariant);
  return state;
}

Walk::Region Walk::run_body(const Summary& summary, WalkResult* result) {
  Region body{summary.loop, summary.is_interval, summary.prefix, result};
  const std::uint32_t header = graph_.loops()[summary.loop].header;
  wait_at(body, {header, graph_.blocks()[header].begin, summary.iterations, at_header(summary)});
  run(body);
  return body;
}

// Two pointers that swap are those of the other one's begin in odd iterations.
bool Walk::find_swapped_arrays(Summary& summary, const ThreadState& after) {
  const auto becomes = [&](const Changing& one, const Changing& other) {
    const Value& value = after.registers[one.reg];
    return value.is_address() && !value.otherwise && value.object == other.initial.object &&
           value.term->id() == other.symbol.id();
  };
  bool finds = false;
  for (Changing& one : summary.changing) {
    for (Changing& other : summary.changing) {
      const bool swap = one.reg < other.reg && one.initial.is_address() &&
                        other.initial.is_address() && one.initial.object != other.initial.object &&
                        becomes(one, other) && becomes(other, one);
      if (!swap) continue;
      const z3::expr is_even = z3::mod(summary.count, 2) == 0;
      one.swapped = merged(is_even, one.initial, other.initial);
      other.swapped = merged(is_even, other.initial, one.initial);
      finds = true;
    }
  }
  return finds;
}

// A register that is now an integer, now an address, or addresses of several arrays, is not
// followed.
bool Walk::lose_mixed(Summary& summary, const ThreadState& after) const {
  bool loses = false;
  for (Changing& one : summary.changing) {
    if (one.swapped) continue;
    const Value& value = after.registers[one.reg];
    const bool is_mixed = value.kind != one.initial.kind || value.object != one.initial.object ||
                          value.otherwise != nullptr;
    loses |= is_mixed && !std::exchange(one.is_lost, one.is_lost || is_mixed);
  }
  return loses;
}

// i + d, of a d that is the same in every iteration.
std::optional<z3::expr> Walk::linear_form(Summary& summary, const Changing& one,
                                          const z3::expr& after) {
  Linear linear(symbols_);
  Polynomial step = linear.polynomial(after);
  for (const auto& [monomial, coefficient] : linear.polynomial(one.symbol)) {
    Integer& own = step[monomial];
    own -= coefficient;
    if (own == 0) step.erase(monomial);
  }
  // The difference is written with the terms that went in, so products stay products.
  const z3::expr d = (after - one.symbol).simplify();
  std::optional<z3::expr> exact;
  const auto is_fixed = [&](const z3::expr& term) {
    return std::ranges::all_of(symbols_.in(term),
                               [&](std::uint32_t i) { return i < summary.symbols_before; });
  };
  if (is_fixed(d)) exact = d;
  if (!exact && linear.lemmas().empty()) {
    const z3::expr rest = linear.term_of(step);
    if (is_fixed(rest)) exact = rest;
  }
  if (!exact) return std::nullopt;
  return (*one.initial.term + summary.count * *exact).simplify();
}

// A value that follows from closed forms of the iteration before.
std::optional<z3::expr> Walk::repeated_form(Summary& summary, const Changing& one,
                                            const z3::expr& after) {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  std::set<std::uint32_t> open;
  for (const std::uint32_t index : symbols_.in(after)) {
    if (index >= summary.symbols_before) open.insert(index);
  }
  const z3::expr before = summary.count - 1;
  for (const Changing& other : summary.changing) {
    if (open.erase(static_cast<std::uint32_t>(symbols_.index_of(other.symbol))) == 0) continue;
    if (!other.closed || other.initial.kind == Value::Kind::predicate) return std::nullopt;
    from.push_back(other.symbol);
    to.push_back(with_count(summary, *other.closed, before));
  }
  if (!open.empty()) return std::nullopt;
  z3::expr repeated = after;
  repeated = repeated.substitute(from, to);
  return choose(summary.count == 0, *one.initial.term, repeated);
}

void Walk::find_closed_forms(Summary& summary, const ThreadState& after) {
  bool changes = true;
  for (Changing& one : summary.changing) {
    const Value& value = after.registers[one.reg];
    if (value.kind == Value::Kind::predicate || one.swapped) continue;
    one.closed = linear_form(summary, one, *value.term);
    if (!one.closed) find_domain(summary, one, *value.term);
  }
  // Two registers that swap have the values of the other one's begin in odd iterations.
  for (Changing& one : summary.changing) {
    for (Changing& other : summary.changing) {
      const Value& a = after.registers[one.reg];
      const Value& b = after.registers[other.reg];
      const bool swaps = one.reg < other.reg && !one.closed && !other.closed && a.term && b.term &&
                         one.initial.kind == other.initial.kind &&
                         one.initial.object == other.initial.object &&
                         a.term->id() == other.symbol.id() && b.term->id() == one.symbol.id();
      if (!swaps) continue;
      const z3::expr is_even = z3::mod(summary.count, 2) == 0;
      one.closed = choose(is_even, *one.initial.term, *other.initial.term);
      other.closed = choose(is_even, *other.initial.term, *one.initial.term);
    }
  }
  while (changes) {
    changes = false;
    for (Changing& one : summary.changing) {
      const Value& value = after.registers[one.reg];
      if (one.closed || one.swapped || !symbols_.of(one.symbol).domain.empty()) continue;
      one.closed = repeated_form(summary, one, *value.term);
      changes |= one.closed.has_value();
    }
  }
  for (const Changing& one : summary.changing) {
    const Value& value = after.registers[one.reg];
    symbols_.of(one.symbol).is_chosen = value.is_integer() && is_chosen_by_data(*value.term);
  }
  for (Changing& one : summary.changing) {
    Symbol& symbol = symbols_.of(one.symbol);
    one.is_free = !one.closed && !one.swapped && symbol.domain.empty();
    const Value& value = after.registers[one.reg];
    if (!one.is_free || !value.term) continue;
    if (const Symbol* const data = symbols_.data_in(*value.term)) {
      symbol.data = data->data;
      symbol.is_data = true;
    }
  }
}

z3::expr Walk::with_count(const Summary& summary, const z3::expr& term,
                          const z3::expr& count) const {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  from.push_back(summary.count);
  to.push_back(count);
  z3::expr result = term;
  return result.substitute(from, to);
}

z3::expr Walk::at_start(const Summary& summary, const z3::expr& term) {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  from.push_back(summary.count);
  to.push_back(symbols_.number(0));
  for (const Changing& one : summary.changing) {
    if (one.closed || !one.initial.is_integer()) continue;
    from.push_back(one.symbol);
    to.push_back(instructions_.in_range(*one.initial.term, one.bits, false, summary.initial.path));
  }
  z3::expr result = term;
  return result.substitute(from, to).simplify();
}

z3::expr Walk::at_next(const Summary& summary, const z3::expr& term, const ThreadState& after) {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  from.push_back(summary.count);
  to.push_back(summary.count + 1);
  for (const Changing& one : summary.changing) {
    const Value& value = after.registers[one.reg];
    if (one.closed || !one.initial.is_integer() || !value.is_integer()) continue;
    from.push_back(one.symbol);
    to.push_back(instructions_.in_range(*value.term, one.bits, false, after.path));
  }
  z3::expr result = term;
  return result.substitute(from, to).simplify();
}

void Walk::guess_invariants(Summary& summary, const ThreadState& after) {
  for (const Changing& one : summary.changing) {
    const Value& value = after.registers[one.reg];
    if (one.initial.kind == Value::Kind::predicate || !value.term || one.swapped) continue;
    const Integer size = power_of_two(one.bits);
    if (one.closed) {
      const Interval range = symbols_.interval_of(*one.closed);
      if (range.low && range.high && *range.low >= -size / 2 && *range.high < size / 2) continue;
      summary.invariants.push_back(*one.closed >= symbols_.number(-size / 2) &&
                                   *one.closed < symbols_.number(size / 2));
      summary.invariants.push_back(*one.closed >= 0);
      summary.invariants.push_back(*one.closed < symbols_.number(size));
      continue;
    }
    const Symbol& symbol = symbols_.of(one.symbol);
    if ((symbol.is_data && !symbol.is_chosen) || !value.is_integer()) continue;
    const z3::expr first =
        instructions_.in_range(*one.initial.term, one.bits, false, summary.initial.path);
    summary.invariants.push_back(one.symbol <= first);
    if (!one.is_free) {
      summary.invariants.push_back(one.symbol >= 1);
      continue;
    }
    summary.invariants.push_back(one.symbol >= first);
    summary.invariants.push_back(one.symbol >= 1);
    summary.invariants.push_back(one.symbol >= 2);
    summary.invariants.push_back(one.symbol < symbols_.number(size / 2));
  }
}

// `low < high`: two numbers that are compared approach each other, and do not pass by.
void Walk::guess_orders(Summary& summary, const ThreadState& after) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> guessed;
  for (const z3::expr& condition : after.path) {
    for (const Changing& one : summary.changing) {
      for (const Changing& other : summary.changing) {
        const auto is_compared = [&](const Changing& of) {
          const Symbol& symbol = symbols_.of(of.symbol);
          return of.is_free && of.initial.is_integer() && (!symbol.is_data || symbol.is_chosen) &&
                 contains(symbols_.in(condition), symbols_.index_of(of.symbol));
        };
        if (one.reg == other.reg || one.bits != other.bits || !is_compared(one) ||
            !is_compared(other) || !guessed.emplace(one.reg, other.reg).second) {
          continue;
        }
        summary.invariants.push_back(one.symbol <= other.symbol);
        summary.invariants.push_back(one.symbol < other.symbol);
      }
    }
  }
}

// What an iteration adds to a symbol, if that is one of few numbers.
std::optional<Interval> Walk::step_of(const z3::expr& term, const z3::expr& symbol) {
  constexpr Integer kStepMost = 64;
  if (!term.is_app() || term.decl().decl_kind() != Z3_OP_ITE) {
    const Interval step = symbols_.interval_of((term - symbol).simplify());
    const bool is_small =
        step.low && step.high && *step.low >= -kStepMost && *step.high <= kStepMost;
    return is_small ? std::optional(step) : std::nullopt;
  }
  const auto one = step_of(term.arg(1), symbol), other = step_of(term.arg(2), symbol);
  if (!one || !other) return std::nullopt;
  return Interval{std::min(*one->low, *other->low), std::max(*one->high, *other->high)};
}

// A number that data increases in some iterations and not in others is between two lines.  Two of
// them may have a sum or a difference that each iteration changes alike: a merge advances the one
// list or the other, a partition grows from both ends.
void Walk::guess_counters(Summary& summary, const ThreadState& after) {
  struct Counter {
    const Changing* of;
    z3::expr first;
    Integer low, high;  // what an iteration adds
  };
  std::vector<Counter> counters;
  for (const Changing& one : summary.changing) {
    const Value& value = after.registers[one.reg];
    if (!one.is_free || !one.initial.is_integer() || !value.is_integer()) continue;
    const auto step = step_of(*value.term, one.symbol);
    if (!step || *step->low == *step->high) continue;
    const z3::expr first =
        instructions_.in_range(*one.initial.term, one.bits, false, summary.initial.path);
    counters.push_back({&one, first, *step->low, *step->high});
  }
  const auto guess = [&](const z3::expr& invariant) { summary.invariants.push_back(invariant); };
  const auto after_all = [&](Integer step) { return symbols_.number(step) * summary.count; };
  for (const Counter& one : counters) {
    guess(one.of->symbol >= one.first + after_all(one.low));
    guess(one.of->symbol <= one.first + after_all(one.high));
  }
  for (auto a = counters.begin(); a != counters.end(); ++a) {
    for (auto b = std::next(a); b != counters.end(); ++b) {
      if (a->of->bits != b->of->bits) continue;
      const z3::expr &x = a->of->symbol, &y = b->of->symbol;
      if (a->high + b->low == a->low + b->high) {
        guess(x + y == a->first + b->first + after_all(a->high + b->low));
        guess(x <= b->first);
        guess(y <= a->first);
      }
      if (a->high - b->high == a->low - b->low) {
        guess(x - y == a->first - b->first + after_all(a->high - b->high));
      }
    }
  }
}

// Whether data decides which number it is, and is none of the numbers.
bool Walk::is_chosen_by_data(const z3::expr& term) {
  if (!term.is_app() || term.decl().decl_kind() != Z3_OP_ITE) {
    return symbols_.data_in(term) == nullptr;
  }
  return is_chosen_by_data(term.arg(1)) && is_chosen_by_data(term.arg(2));
}

// The condition under which the loop goes on was true one iteration ago.
void Walk::learn_from_previous(Summary& summary, const ThreadState& after) {
  summary.previous.clear();
  const std::size_t begin = at_header(summary).path.size();
  const auto of_iteration = [&](const z3::expr& condition, const z3::expr& symbol) {
    return std::ranges::all_of(symbols_.in(condition), [&](std::uint32_t index) {
      return index < summary.symbols_before || index == symbols_.index_of(symbol);
    });
  };
  // A value of a sequence is there if the loop went on after all values before it.
  for (const Changing& one : summary.changing) {
    z3::expr goes_on = symbols_.context().bool_val(true);
    for (std::size_t n = 0; n < one.sequence.size(); ++n) {
      if (n > 0) {
        for (std::size_t i = begin; i < after.path.size(); ++i) {
          if (!of_iteration(after.path[i], one.symbol)) continue;
          goes_on = both(goes_on, with_value(one, after.path[i], one.sequence[n - 1]));
        }
      }
      if (goes_on.is_true()) continue;
      summary.previous.push_back(
          z3::implies(one.symbol == symbols_.number(one.sequence[n]), goes_on));
    }
  }
  for (std::size_t i = begin; i < after.path.size(); ++i) {
    const z3::expr& condition = after.path[i];
    if (!of_iteration(condition, summary.count) ||
        !contains(symbols_.in(condition), symbols_.index_of(summary.count)))
      continue;
    summary.previous.push_back(
        z3::implies(summary.count >= 1, with_count(summary, condition, summary.count - 1)));
  }
}

// `i != end` bounds i if it arrives at the end exactly.
void Walk::guess_trip_bounds(Summary& summary) {
  const std::vector<z3::expr> previous = summary.previous;
  for (const z3::expr& fact : previous) {
    const z3::expr condition = fact.arg(1);
    if (!contains(symbols_.in(condition), symbols_.index_of(summary.count))) continue;
    if (!condition.is_not() || !condition.arg(0).is_eq() || !condition.arg(0).arg(0).is_int()) {
      continue;
    }
    const z3::expr distance = condition.arg(0).arg(0) - condition.arg(0).arg(1);
    summary.invariants.push_back(z3::implies(summary.count >= 1, distance >= 1));
    summary.invariants.push_back(z3::implies(summary.count >= 1, distance <= -1));
  }
}

// `i + 2 < n` bounds i if i + 2 does not wrap, which is more than that i does not.
void Walk::guess_ranges(Summary& summary, const ThreadState& after) {
  std::set<std::uint32_t> open;
  const auto is_wrap = [&](const z3::expr& term) {
    const auto size = number_in(term.arg(1));
    return size && (*size == power_of_two(32) || *size == power_of_two(64)) &&
           contains(symbols_.in(term), symbols_.index_of(summary.count));
  };
  const std::function<void(const z3::expr&)> visit = [&](const z3::expr& term) {
    if (!term.is_app() || !open.insert(term.id()).second) return;
    for (unsigned i = 0; i < term.num_args(); ++i) visit(term.arg(i));
    if (term.decl().decl_kind() != Z3_OP_MOD || !is_wrap(term)) return;
    const z3::expr before = with_count(summary, term.arg(0), summary.count - 1).simplify();
    summary.invariants.push_back(before >= 0 && before < term.arg(1));
  };
  for (const z3::expr& condition : after.path) visit(condition);
}

bool Walk::drop_wrong(Summary& summary, const ThreadState& after) {
  const std::vector<z3::expr> all = summary.invariants;
  std::erase_if(summary.invariants, [&](const z3::expr& invariant) {
    if (questions_.follows(summary.initial.path, at_start(summary, invariant)) != Reply::holds) {
      return true;
    }
    return questions_.follows(after.path, at_next(summary, invariant, after)) != Reply::holds;
  });
  return summary.invariants.size() != all.size();
}

std::vector<std::pair<std::uint32_t, ThreadState>> Walk::summarise(std::uint32_t loop,
                                                                   const Item& from,
                                                                   const Region& outer,
                                                                   const std::string& prefix) {
  Summary summary{loop, fmt::format("{}L{}:", prefix, graph_.loops()[loop].header),
                  symbols_.number(0), 0, from.state};
  summary.is_interval = outer.is_interval;
  summary.iterations = from.iterations;
  // A second run of the loop finds symbols of the first one: they are told apart by number.
  summary.prefix += symbols_.fresh_name("");
  summary.prefix += ":";
  summary.symbols_before = symbols_.count();
  summary.count = symbols_.symbol(summary.prefix + "iterations", Level::thread, 0, kIterationsMax);
  symbols_.of(summary.count).counts_iterations = true;
  symbols_.of(summary.count).same_in = summary.prefix;
  symbols_.of(summary.count).meets_barriers = meets_barriers(loop);
  find_changing(summary);
  std::optional<ThreadState> after = met(run_body(summary, nullptr).again);
  if (after && find_swapped_arrays(summary, *after)) {
    after = met(run_body(summary, nullptr).again);
  }
  while (after && lose_mixed(summary, *after)) after = met(run_body(summary, nullptr).again);
  if (after) {
    std::erase_if(summary.changing, [](const Changing& one) { return one.is_lost; });
    find_closed_forms(summary, *after);
    guess_invariants(summary, *after);
    guess_orders(summary, *after);
    guess_counters(summary, *after);
    bool has_bounds = false, changes = true;
    while (changes) {
      summary.previous.clear();
      after = met(run_body(summary, nullptr).again);
      if (!after) break;
      learn_from_previous(summary, *after);
      if (!std::exchange(has_bounds, true)) {
        guess_ranges(summary, *after);
        guess_trip_bounds(summary);
      }
      after = met(run_body(summary, nullptr).again);
      changes = after && drop_wrong(summary, *after);
    }
    if (after) {
      drop_unreached_values(summary, *after);
      relate_sequences(summary);
    }
  }
  Region body = std::move(last_pass_with_inner_loops(summary, outer).body);
  make_exit_certain(summary, body);
  return std::move(body.exits);
}

}  // namespace warpcheck::vgpu::symbolic
