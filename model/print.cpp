#include "model/print.hpp"

#include <fmt/format.h>

#include "model/operators.hpp"

namespace warpcheck::model {
namespace {

std::string shown(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::always: return "true";
    case Condition::Kind::compare:
      return fmt::format("{}{}{}", condition.left.name, comparison_sign(condition.operation),
                         condition.right.name);
    case Condition::Kind::negation: return fmt::format("~({})", shown(condition.parts.front()));
    default: break;
  }
  const bool all = condition.kind == Condition::Kind::conjunction;
  std::string text;
  for (const Condition& part : condition.parts) {
    if (!text.empty()) text += all ? " /\\ " : " \\/ ";
    const bool inner =
        part.kind == Condition::Kind::conjunction || part.kind == Condition::Kind::disjunction;
    text += inner ? fmt::format("({})", shown(part)) : shown(part);
  }
  return text;
}

std::string_view quantifier(const Test& test) {
  switch (test.quantifier) {
    case Quantifier::exists: return "exists";
    case Quantifier::not_exists: return "~exists";
    case Quantifier::forall: break;
  }
  return "forall";
}

}  // namespace

std::string_view name_of(Observation observation) {
  switch (observation) {
    case Observation::never: return "Never";
    case Observation::sometimes: return "Sometimes";
    case Observation::always: return "Always";
    case Observation::unknown: break;
  }
  return "Unknown";
}

std::string_view kind_of(const Test& test) {
  switch (test.quantifier) {
    case Quantifier::exists: return "Allowed";
    case Quantifier::not_exists: return "Forbidden";
    case Quantifier::forall: break;
  }
  return "Required";
}

std::string shown_condition(const Test& test) {
  return fmt::format("{} ({})", quantifier(test), shown(test.condition));
}

std::string shown_state(const Test& test, const FinalState& state) {
  std::string text;
  for (std::size_t index = 0; index < state.size(); ++index) {
    text += fmt::format("{}{}={};", text.empty() ? "" : " ", test.observed[index].name,
                        state[index] ? std::to_string(*state[index]) : "?");
  }
  return text;
}

// The witnesses of ~exists are the executions that satisfy it.
std::string shown_outcome(const Test& test, const Outcome& outcome) {
  const bool negated = test.quantifier == Quantifier::not_exists;
  const std::optional<bool> answer = validated(test, outcome);
  std::string text =
      fmt::format("Test {} {}\nStates {}\n", test.name, kind_of(test), outcome.states.size());
  for (const auto& [state, executions] : outcome.states) text += shown_state(test, state) + "\n";
  if (outcome.loops_cut) {
    text += "Cut: loops go on beyond --unroll, and those executions are missing\n";
  }
  if (outcome.choices_cut) text += "Cut: there are more executions than --limit lets try\n";
  text += !answer ? "Undecided\n" : *answer ? "Ok\n" : "No\n";
  text += fmt::format("Witnesses\nPositive: {} Negative: {}\n{}Condition {}\n",
                      negated ? outcome.negative : outcome.positive,
                      negated ? outcome.positive : outcome.negative,
                      outcome.has_races ? "Flag data-race\n" : "", shown_condition(test));
  text += fmt::format("Observation {} {} {} {}\n\n", test.name, name_of(observation(outcome)),
                      outcome.positive, outcome.negative);
  return text;
}

}  // namespace warpcheck::model
