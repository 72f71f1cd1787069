#include "vgpu/symbolic/term.hpp"

#include <fmt/format.h>

namespace warpcheck::vgpu::symbolic {
namespace {

// How tightly an operator binds, as in C.
int tightness(const Term& term) {
  switch (term.kind) {
    case Term::Kind::choice: return 0;
    case Term::Kind::either: return 1;
    case Term::Kind::both: return 2;
    case Term::Kind::equal:
    case Term::Kind::power_of_two: return 3;
    case Term::Kind::less: return 4;
    case Term::Kind::add:
    case Term::Kind::subtract: return 5;
    case Term::Kind::multiply:
    case Term::Kind::divide:
    case Term::Kind::remainder: return 6;
    default: return 7;
  }
}

std::string_view operator_of(Term::Kind kind) {
  switch (kind) {
    case Term::Kind::add: return "+";
    case Term::Kind::subtract: return "-";
    case Term::Kind::multiply: return "*";
    case Term::Kind::divide: return "/";
    case Term::Kind::remainder: return "%";
    case Term::Kind::minimum: return "min";
    case Term::Kind::maximum: return "max";
    case Term::Kind::equal: return "==";
    case Term::Kind::less: return "<";
    case Term::Kind::both: return "&&";
    case Term::Kind::either: return "||";
    default: return "";
  }
}

std::string in_parentheses(const Term& term, int at_least) {
  return tightness(term) < at_least ? fmt::format("({})", text_of(term)) : text_of(term);
}

}  // namespace

std::string text_of(const Term& term) {
  const std::string_view name = operator_of(term.kind);
  switch (term.kind) {
    case Term::Kind::constant: return std::to_string(term.value);
    case Term::Kind::name: return term.text;
    case Term::Kind::minimum:
    case Term::Kind::maximum:
      return fmt::format("{}({}, {})", name, text_of(term.parts[0]), text_of(term.parts[1]));
    case Term::Kind::opposite: return fmt::format("!{}", in_parentheses(term.parts[0], 7));
    case Term::Kind::power_of_two: {
      const std::string of = in_parentheses(term.parts[0], 7);
      return fmt::format("({0} & ({0} - 1)) == 0", of);
    }
    case Term::Kind::choice:
      return fmt::format("{} ? {} : {}", in_parentheses(term.parts[0], 1),
                         in_parentheses(term.parts[1], 1), text_of(term.parts[2]));
    default: break;
  }
  const int tight = tightness(term);
  return fmt::format("{} {} {}", in_parentheses(term.parts[0], tight), name,
                     in_parentheses(term.parts[1], tight + 1));
}

std::string text_of(const Condition& condition) {
  constexpr std::string_view kRelations[] = {"==", "!=", "<", "<="};
  const Term::Kind kind = condition.left.kind;
  const bool is_truth = kind == Term::Kind::equal || kind == Term::Kind::less ||
                        kind == Term::Kind::both || kind == Term::Kind::either ||
                        kind == Term::Kind::opposite || kind == Term::Kind::power_of_two;
  if (is_truth && condition.relation == Condition::Relation::not_equal &&
      condition.right == Term::constant(0)) {
    return text_of(condition.left);
  }
  return fmt::format("{} {} {}", text_of(condition.left),
                     kRelations[static_cast<std::size_t>(condition.relation)],
                     text_of(condition.right));
}

}  // namespace warpcheck::vgpu::symbolic
