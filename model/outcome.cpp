#include "model/outcome.hpp"

#include <algorithm>

#include "model/operators.hpp"

namespace warpcheck::model {
namespace {

std::optional<std::int64_t> value_of(const Term& term, const Test& test, const FinalState& state) {
  if (term.kind == Term::Kind::constant) return term.value;
  const auto at = std::ranges::find(test.asked, term.name, &Term::name);
  return state.at(static_cast<std::size_t>(at - test.asked.begin()));
}

Truth truth(bool value) { return value ? Truth::yes : Truth::no; }

Truth negated(Truth value) { return value == Truth::unknown ? value : truth(value == Truth::no); }

// Kleene's logic: a deciding part decides, whatever the unknown parts are.
Truth joined(const std::vector<Condition>& parts, Truth deciding, const Test& test,
             const FinalState& state) {
  Truth result = negated(deciding);
  for (const Condition& part : parts) {
    const Truth value = holds(part, test, state);
    if (value == deciding) return deciding;
    if (value == Truth::unknown) result = Truth::unknown;
  }
  return result;
}

}  // namespace

Truth holds(const Condition& condition, const Test& test, const FinalState& state) {
  switch (condition.kind) {
    case Condition::Kind::always: return Truth::yes;
    case Condition::Kind::compare: {
      const auto left = value_of(condition.left, test, state);
      const auto right = value_of(condition.right, test, state);
      if (!left || !right) return Truth::unknown;
      return truth(calculate(condition.operation, *left, *right, {}) != 0);
    }
    case Condition::Kind::negation: return negated(holds(condition.parts.front(), test, state));
    case Condition::Kind::conjunction: return joined(condition.parts, Truth::no, test, state);
    case Condition::Kind::disjunction: return joined(condition.parts, Truth::yes, test, state);
  }
  return Truth::unknown;
}

Observation observation(const Outcome& outcome) {
  if (outcome.positive > 0 && outcome.negative > 0) return Observation::sometimes;
  if (outcome.cut()) return Observation::unknown;
  return outcome.positive > 0 ? Observation::always : Observation::never;
}

std::optional<bool> validated(const Test& test, const Outcome& outcome) {
  const bool asks_for_all = test.quantifier == Quantifier::forall;
  const std::uint64_t deciding = asks_for_all ? outcome.negative : outcome.positive;
  if (deciding == 0 && outcome.cut()) return std::nullopt;
  return (deciding > 0) == (test.quantifier == Quantifier::exists);
}

}  // namespace warpcheck::model
