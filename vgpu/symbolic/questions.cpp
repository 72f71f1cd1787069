#include "vgpu/symbolic/questions.hpp"

#include <algorithm>
#include <set>

namespace warpcheck::vgpu::symbolic {
namespace {

// What it takes to write a condition for the solver, about.
constexpr std::uint64_t kUnitsOfCondition = 100;
// Of a question with numbers for its factors, of which many are asked.
constexpr std::uint32_t kUnitsOfTrial = 200'000;

// Z3 counts its work from the start of the context.
std::uint64_t work_of(const z3::solver& solver) {
  const z3::stats statistics = solver.statistics();
  for (unsigned i = 0; i < statistics.size(); ++i) {
    if (statistics.key(i) != "rlimit count") continue;
    return statistics.is_uint(i) ? statistics.uint_value(i)
                                 : static_cast<std::uint64_t>(statistics.double_value(i));
  }
  return 0;
}

// A sum of multiples of symbols.
bool is_linear(const z3::expr& term) {
  if (!term.is_app() || term.num_args() == 0) return true;
  const Z3_decl_kind kind = term.decl().decl_kind();
  if (kind == Z3_OP_MUL) {
    return term.num_args() == 2 && term.arg(0).is_numeral() && is_linear(term.arg(1));
  }
  const bool is_sum = kind == Z3_OP_ADD || kind == Z3_OP_SUB || kind == Z3_OP_UMINUS;
  for (unsigned i = 0; is_sum && i < term.num_args(); ++i) {
    if (!is_linear(term.arg(i))) return false;
  }
  return is_sum;
}

}  // namespace

void Questions::assume(const z3::expr& fact) {
  assumed_.push_back(fact);
  if (!fact.is_eq() || !fact.arg(0).is_int()) return;
  note_equation(fact.arg(0), fact.arg(1));
  if (known_.size() == 0 || fact.arg(0).id() != known_.back().id()) {
    note_equation(fact.arg(1), fact.arg(0));
  }
}

// `width == 16 * gridDim.x`: products of the width and of the grid are products of one unknown.
void Questions::note_equation(const z3::expr& symbol, const z3::expr& value) {
  if (!symbol.is_const() || symbol.is_numeral() || !symbols_.of(symbol).domain.empty()) return;
  z3::expr given = value;
  given = given.substitute(known_, values_of_known_).simplify();
  const std::vector<std::uint32_t>& in = symbols_.in(given);
  bool is_known = false;
  for (const z3::expr& one : known_) is_known |= one.id() == symbol.id();
  if (is_known || !is_linear(given) ||
      std::ranges::binary_search(in, static_cast<std::uint32_t>(symbols_.index_of(symbol)))) {
    return;
  }
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  from.push_back(symbol);
  to.push_back(given);
  z3::expr_vector values(symbols_.context());
  for (z3::expr one : values_of_known_) values.push_back(one.substitute(from, to).simplify());
  values.push_back(given);
  known_.push_back(symbol);
  values_of_known_ = values;
}

void Questions::add_known(Assignment& values) {
  for (unsigned i = 0; i < known_.size(); ++i) {
    const Conditions value = substituted({values_of_known_[i]}, values);
    if (value.empty()) continue;
    const auto number = number_in(value[0]);
    if (number) values[static_cast<std::uint32_t>(symbols_.index_of(known_[i]))] = *number;
  }
}

Questions::Conditions Questions::without_known(const Conditions& conditions) const {
  Conditions result;
  for (z3::expr condition : conditions) {
    condition = condition.substitute(known_, values_of_known_).simplify();
    if (!condition.is_true()) result.push_back(condition);
  }
  return result;
}

// Adds the ranges of all symbols that occur, and the facts about them.
Questions::Conditions Questions::closed(Conditions conditions) {
  std::set<std::uint32_t> seen;
  conditions.insert(conditions.begin(), assumed_.begin(), assumed_.end());
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::vector<std::uint32_t> in = symbols_.in(conditions[i]);
    for (const std::uint32_t index : in) {
      if (!seen.insert(index).second) continue;
      const Symbol& symbol = symbols_.at(index);
      conditions.push_back(symbol.term >= symbols_.number(symbol.low) &&
                           symbol.term <= symbols_.number(symbol.high));
      conditions.insert(conditions.end(), symbol.facts.begin(), symbol.facts.end());
    }
  }
  return conditions;
}

Questions::Conditions Questions::substituted(const Conditions& conditions,
                                             const Assignment& values) {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  for (const auto& [index, value] : values) {
    from.push_back(symbols_.at(index).term);
    to.push_back(symbols_.number(value));
  }
  Conditions result;
  for (z3::expr condition : conditions) {
    condition = condition.substitute(from, to).simplify();
    if (condition.is_false()) return {condition};
    if (!condition.is_true()) result.push_back(condition);
  }
  return result;
}

std::optional<z3::check_result> Questions::split(const Conditions& conditions, const Linear& linear,
                                                 Assignment* values) {
  for (const std::uint32_t index : linear.nonlinear()) {
    const std::vector<Integer> domain = symbols_.at(index).domain;
    if (domain.empty()) continue;
    z3::check_result worst = z3::unsat;
    for (const Integer value : domain) {
      const z3::check_result one = check(substituted(conditions, {{index, value}}), values);
      if (one == z3::sat && values != nullptr) (*values)[index] = value;
      if (one == z3::sat) return one;
      if (one == z3::unknown) worst = one;
    }
    return worst;
  }
  return std::nullopt;
}

z3::check_result Questions::solve(const Conditions& conditions, Linear& linear,
                                  Assignment* values) {
  z3::solver solver(symbols_.context(), z3::solver::simple());
  z3::params parameters(symbols_.context());
  parameters.set("rlimit", units_of_question_);
  parameters.set("arith.solver", 2u);
  solver.set(parameters);
  for (const z3::expr& condition : conditions) solver.add(condition);
  const std::vector<z3::expr> lemmas = linear.lemmas();
  for (const z3::expr& lemma : lemmas) solver.add(lemma);
  own_units_ += kUnitsOfCondition * (conditions.size() + lemmas.size());
  ++asked_;
  const z3::check_result result = solver.check();
  units_ = work_of(solver);
  if (limits_.on_question) {
    const char* const status = result == z3::unsat ? "unsat"
                               : result == z3::sat ? "sat"
                                                   : "unknown";
    std::string text = solver.to_smt2(status);
    std::ranges::replace(text, '\'', '~');  // of another thread's symbols: no character of SMT-LIB
    limits_.on_question(text);
  }
  if (result != z3::sat || values == nullptr) return result;
  const z3::model model = solver.get_model();
  for (std::uint32_t i = 0; i < symbols_.count(); ++i) {
    const Symbol& symbol = symbols_.at(i);
    const auto number = number_in(model.eval(symbol.term, false));
    (*values)[i] = number ? *number : std::clamp<Integer>(0, symbol.low, symbol.high);
  }
  return result;
}

z3::check_result Questions::check(const Conditions& conditions, Assignment* values) {
  if (units() > limits_.units_of_kernel) throw LimitReached(place_);
  own_units_ += kUnitsOfCondition * conditions.size();
  Linear linear(symbols_);
  Conditions rewritten;
  for (const z3::expr& condition : conditions) {
    if (condition.is_false()) return z3::unsat;
    rewritten.push_back(linear.rewrite(condition));
  }
  if (const auto result = split(conditions, linear, values)) return *result;
  for (std::uint32_t i = 0; i < symbols_.count(); ++i) {
    const Symbol& symbol = symbols_.at(i);
    if (symbol.domain.empty()) continue;
    const bool occurs = std::ranges::any_of(conditions, [&](const z3::expr& condition) {
      return std::ranges::binary_search(symbols_.in(condition), i);
    });
    if (!occurs) continue;
    z3::expr_vector cases(symbols_.context());
    for (const Integer value : symbol.domain)
      cases.push_back(symbol.term == symbols_.number(value));
    rewritten.push_back(z3::mk_or(cases));
  }
  return solve(rewritten, linear, values);
}

Reply Questions::reply_of(z3::check_result result) const {
  return result == z3::unsat ? Reply::holds : result == z3::sat ? Reply::fails : Reply::unknown;
}

Reply Questions::follows(std::span<const z3::expr> given, const z3::expr& goal) {
  if (goal.is_true()) return Reply::holds;
  Conditions fewer = without_other_data(given, goal);
  if (fewer.size() < given.size()) {
    fewer.push_back(opposite(goal));
    if (check(closed(std::move(fewer)), nullptr) == z3::unsat) return Reply::holds;
  }
  Conditions conditions(given.begin(), given.end());
  conditions.push_back(opposite(goal));
  conditions = closed(std::move(conditions));
  const Reply reply = reply_of(check(conditions, nullptr));
  if (reply != Reply::unknown || known_.empty()) return reply;
  return reply_of(check(without_known(conditions), nullptr));
}

Reply Questions::follows_easily(std::span<const z3::expr> given, const z3::expr& goal) {
  units_of_question_ = std::min(kUnitsOfTrial, limits_.units);
  const Reply reply = follows(given, goal);
  units_of_question_ = limits_.units;
  return reply;
}

// The goal's data, and what conditions connect with it, stays.
Questions::Conditions Questions::without_other_data(std::span<const z3::expr> given,
                                                    const z3::expr& goal) {
  std::vector<std::set<std::uint32_t>> data_of;
  const auto data_in = [&](const z3::expr& term) {
    std::set<std::uint32_t> data;
    for (const std::uint32_t index : symbols_.in(term)) {
      if (symbols_.at(index).is_data) data.insert(index);
    }
    return data;
  };
  for (const z3::expr& condition : given) data_of.push_back(data_in(condition));
  std::set<std::uint32_t> kept = data_in(goal);
  const auto is_kept = [&](const std::set<std::uint32_t>& data) {
    return data.empty() || std::ranges::any_of(data, [&](auto one) { return kept.contains(one); });
  };
  for (std::size_t before = kept.size() + 1; before != kept.size();) {
    before = kept.size();
    for (const auto& data : data_of) {
      if (is_kept(data)) kept.insert(data.begin(), data.end());
    }
  }
  Conditions result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_kept(data_of[i])) result.push_back(given[i]);
  }
  return result;
}

bool Questions::is_true(const Conditions& conditions, const Assignment& values) {
  Linear linear(symbols_);
  return std::ranges::all_of(substituted(conditions, values), [&](const z3::expr& condition) {
    return linear.rewrite(condition).simplify().is_true();
  });
}

// The values that the solver gives products need not be their factors' products.  So factors are
// tried as numbers, those of the hint first.
bool Questions::find_small(const Conditions& conditions, const Assignment& hint,
                           Assignment& counterexample) {
  Linear linear(symbols_);
  for (const z3::expr& condition : conditions) (void)linear.rewrite(condition);
  std::vector<std::uint32_t> factors;
  for (const std::uint32_t index : linear.nonlinear()) {
    if (symbols_.at(index).level == Level::launch) factors.push_back(index);
  }
  constexpr Integer kTried[] = {1, 2, 3, 4, 5, 8, 16, 17, 32, 33, 64, 100, 128, 256, 512, 1024};
  std::vector<Assignment> trials;
  for (const Integer value : kTried) {
    Assignment trial;
    for (const std::uint32_t index : factors) {
      trial[index] = std::clamp(value, symbols_.at(index).low, symbols_.at(index).high);
    }
    if (std::ranges::find(trials, trial) == trials.end()) trials.push_back(trial);
  }
  Assignment hinted;
  for (const std::uint32_t index : factors) {
    if (const auto value = hint.find(index); value != hint.end()) hinted.insert(*value);
  }
  trials.push_back(hinted);
  for (const Assignment& trial : trials) {
    Assignment found;
    units_of_question_ = std::min(kUnitsOfTrial, limits_.units);
    const z3::check_result result = check(substituted(conditions, trial), &found);
    units_of_question_ = limits_.units;
    if (result != z3::sat) continue;
    for (const auto& [index, value] : trial) found[index] = value;
    if (!is_true(conditions, found)) continue;
    counterexample = found;
    add_known(counterexample);
    return true;
  }
  return false;
}

Reply Questions::refute(std::span<const z3::expr> given, const z3::expr& goal,
                        Assignment& counterexample) {
  if (goal.is_true()) return Reply::holds;
  Conditions conditions(given.begin(), given.end());
  conditions.push_back(opposite(goal));
  conditions = without_known(closed(std::move(conditions)));
  Assignment first;
  const z3::check_result result = check(conditions, &first);
  if (result == z3::unsat) return Reply::holds;
  // Small launches and scalars are read and run more easily.
  for (const int limit : {4, 40, 300, 3'000}) {
    Conditions smaller = conditions;
    for (std::uint32_t i = 0; i < symbols_.count(); ++i) {
      const Symbol& symbol = symbols_.at(i);
      if (symbol.level != Level::launch || symbol.low > limit) continue;
      smaller.push_back(symbol.term <= limit && symbol.term >= -limit);
    }
    if (find_small(without_known(smaller), {}, counterexample)) return Reply::fails;
  }
  if (result == z3::sat && is_true(conditions, first)) {
    counterexample = first;
    add_known(counterexample);
    return Reply::fails;
  }
  return find_small(conditions, first, counterexample) ? Reply::fails : Reply::unknown;
}

}  // namespace warpcheck::vgpu::symbolic
