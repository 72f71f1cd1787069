// Registers of a loop that have few values, like those that are halved or doubled.
#include <algorithm>
#include <set>

#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

constexpr std::size_t kDomainMax = 40;

// The values that a term may have, if they are few: constants, and symbols of a domain.
std::optional<std::set<Integer>> values_of(Symbols& symbols, const z3::expr& term) {
  if (const auto value = number_in(term)) return std::set<Integer>{*value};
  if (term.is_app() && term.decl().decl_kind() == Z3_OP_ITE) {
    auto a = values_of(symbols, term.arg(1));
    const auto b = values_of(symbols, term.arg(2));
    if (!a || !b) return std::nullopt;
    a->insert(b->begin(), b->end());
    return a;
  }
  const std::vector<std::uint32_t> in = symbols.in(term);
  if (in.size() != 1 || symbols.at(in[0]).domain.empty()) return std::nullopt;
  std::set<Integer> values;
  z3::expr_vector from(symbols.context()), to(symbols.context());
  from.push_back(symbols.at(in[0]).term);
  for (const Integer value : std::vector<Integer>(symbols.at(in[0]).domain)) {
    to = z3::expr_vector(symbols.context());
    to.push_back(symbols.number(value));
    z3::expr of = term;
    const auto result = number_in(of.substitute(from, to).simplify());
    if (!result) return std::nullopt;
    values.insert(*result);
  }
  return values;
}

}  // namespace

// A condition of an earlier iteration, in which a register had this value.
z3::expr Walk::with_value(const Changing& one, const z3::expr& condition, Integer value) {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  from.push_back(one.symbol);
  to.push_back(symbols_.number(value));
  z3::expr result = condition;
  return result.substitute(from, to).simplify();
}

// The values in the first iteration.  What an earlier loop left is one of few values, of which the
// way to this loop excludes most.
std::optional<std::set<Integer>> Walk::first_values(const Summary& summary, const Changing& one) {
  auto values = values_of(symbols_, *one.initial.term);
  if (!values || values->size() == 1 || values->size() > kDomainMax) return values;
  const auto is_of_outer_loop = [&](std::uint32_t index) {
    const std::string name = symbols_.at(index).term.decl().name().str();
    return summary.prefix.starts_with(name.substr(0, name.rfind(':') + 1));
  };
  if (std::ranges::any_of(symbols_.in(*one.initial.term), is_of_outer_loop)) return values;
  std::erase_if(*values, [&](Integer value) {
    const z3::expr differs = *one.initial.term != symbols_.number(value);
    return questions_.follows_easily(summary.initial.path, differs) == Reply::holds;
  });
  return values->empty() ? std::nullopt : values;
}

// Whether the values of all iterations form a small set, as those of halving and doubling do.
void Walk::find_domain(const Summary& summary, Changing& one, const z3::expr& after) {
  if (!one.initial.is_integer()) return;
  const auto initial = first_values(summary, one);
  const auto own = static_cast<std::uint32_t>(symbols_.index_of(one.symbol));
  if (!initial || symbols_.in(after) != std::vector<std::uint32_t>{own}) return;
  const Integer size = power_of_two(one.bits);
  std::set<Integer> known;
  std::vector<Integer> waiting(initial->begin(), initial->end());
  one.sequence.clear();
  one.firsts.clear();
  one.next.clear();
  for (const Integer value : *initial) one.firsts.push_back(((value % size) + size) % size);
  while (!waiting.empty()) {
    const Integer value = ((waiting.back() % size) + size) % size;
    waiting.pop_back();
    if (!known.insert(value).second) continue;
    one.sequence.push_back(value);
    if (known.size() > kDomainMax) return;
    z3::expr_vector from(symbols_.context()), to(symbols_.context());
    from.push_back(one.symbol);
    to.push_back(symbols_.number(value));
    z3::expr next = after;
    const auto result = number_in(next.substitute(from, to).simplify());
    if (!result) return;
    one.next[value] = ((*result % size) + size) % size;
    waiting.push_back(*result);
  }
  // The symbol is a representative in range.
  const auto is_in_range = [&](Integer value) { return value >= 0 && value < size; };
  if (!std::ranges::all_of(*initial, is_in_range)) return;
  symbols_.of(one.symbol).domain.assign(known.begin(), known.end());
  if (initial->size() != 1) one.sequence.clear();
}

// What comes behind a value with which the loop ends is no value of the domain.
void Walk::drop_unreached_values(Summary& summary, const ThreadState& after) {
  const std::size_t begin = at_header(summary).path.size();
  for (Changing& one : summary.changing) {
    std::vector<Integer>& domain = symbols_.of(one.symbol).domain;
    if (domain.empty()) continue;
    const auto own = static_cast<std::uint32_t>(symbols_.index_of(one.symbol));
    const auto is_of_iteration = [&](std::uint32_t index) {
      return index < summary.symbols_before || index == own;
    };
    const auto ends = [&](Integer value) {
      for (std::size_t i = begin; i < after.path.size(); ++i) {
        const std::vector<std::uint32_t>& in = symbols_.in(after.path[i]);
        if (!std::ranges::binary_search(in, own) || !std::ranges::all_of(in, is_of_iteration)) {
          continue;
        }
        const z3::expr goes_on = with_value(one, after.path[i], value);
        if (questions_.follows_easily({}, opposite(goes_on)) == Reply::holds) return true;
      }
      return false;
    };
    std::set<Integer> reached;
    std::vector<Integer> waiting = one.firsts;
    while (!waiting.empty()) {
      const Integer value = waiting.back();
      waiting.pop_back();
      if (reached.insert(value).second && !ends(value)) waiting.push_back(one.next.at(value));
    }
    domain.assign(reached.begin(), reached.end());
    std::erase_if(one.sequence, [&](Integer value) { return !reached.contains(value); });
  }
}

// One sequence says in which iteration another one is: where a step is halved, the distance is
// doubled.
void Walk::relate_sequences(Summary& summary) {
  const auto is_sequence = [&](const Changing& one) {
    return !one.sequence.empty() && !symbols_.of(one.symbol).domain.empty();
  };
  // The iterations whose number its value tells.
  const auto told_by = [&](const Changing& one) {
    const auto again = std::ranges::find(one.sequence, one.next.at(one.sequence.back()));
    return static_cast<std::size_t>(again - one.sequence.begin());
  };
  const Changing* first = nullptr;
  for (const Changing& one : summary.changing) {
    if (is_sequence(one) && (first == nullptr || told_by(one) < told_by(*first))) first = &one;
  }
  if (first == nullptr) return;
  const bool is_whole = told_by(*first) == first->sequence.size();
  for (Changing& other : summary.changing) {
    if (other.reg == first->reg || !is_sequence(other)) continue;
    if (is_whole && other.sequence.size() > first->sequence.size()) {
      other.sequence.resize(first->sequence.size());
      std::vector<Integer>& domain = symbols_.of(other.symbol).domain;
      domain = other.sequence;
      std::ranges::sort(domain);
    }
    const std::size_t size = std::min(told_by(*first), other.sequence.size());
    for (std::size_t n = 0; n < size; ++n) {
      summary.previous.push_back(z3::implies(first->symbol == symbols_.number(first->sequence[n]),
                                             other.symbol == symbols_.number(other.sequence[n])));
    }
  }
}

}  // namespace warpcheck::vgpu::symbolic
