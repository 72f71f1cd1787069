#include "model/parse_condition.hpp"

#include <algorithm>
#include <charconv>

namespace warpcheck::model {
namespace {

class ConditionParser {
 public:
  ConditionParser(TokenReader& reader, Symbols& symbols, Test& test)
      : reader_(reader), symbols_(symbols), test_(test) {}

  Condition disjunction() {
    Condition left = conjunction();
    while (reader_.accept("\\/") || reader_.accept("||") || reader_.accept("or")) {
      left = joined(Condition::Kind::disjunction, std::move(left), conjunction());
    }
    return left;
  }

  // 1:r0, P1:r0, x, [x], a[1], &x, 5
  Term term() {
    if (reader_.at_number() && !reader_.peek(1).is(":")) {
      const std::int64_t value = reader_.expect_number("a number");
      return {.value = value, .name = std::to_string(value)};
    }
    if (reader_.peek(1).is(":")) return register_term();
    if (reader_.accept("&")) {
      const NamedLocation& location = named_location();
      return {.value = location.address, .name = "&" + test_.cells[cell_of(location, 0)].name};
    }
    const bool bracketed = reader_.accept("[");
    const Term found = cell_term();
    if (bracketed) reader_.expect("]");
    return found;
  }

 private:
  static Condition joined(Condition::Kind kind, Condition left, Condition right) {
    if (left.kind != kind) {
      Condition all;
      all.kind = kind;
      all.parts.push_back(std::move(left));
      left = std::move(all);
    }
    left.parts.push_back(std::move(right));
    return left;
  }

  Condition conjunction() {
    Condition left = factor();
    while (reader_.accept("/\\") || reader_.accept("&&") || reader_.accept("and")) {
      left = joined(Condition::Kind::conjunction, std::move(left), factor());
    }
    return left;
  }

  Condition factor() {
    if (reader_.accept("~") || reader_.accept("!") || reader_.accept("not")) {
      Condition negation;
      negation.kind = Condition::Kind::negation;
      negation.parts.push_back(factor());
      return negation;
    }
    if (reader_.accept("(")) {
      Condition inner = disjunction();
      reader_.expect(")");
      return inner;
    }
    if (reader_.accept("true")) return {};
    Condition compare;
    compare.kind = Condition::Kind::compare;
    compare.left = term();
    compare.operation = comparison();
    compare.right = term();
    return compare;
  }

  Operator comparison() {
    constexpr std::array<std::pair<std::string_view, Operator>, 8> kComparisons{{
        {"=", Operator::eq},
        {"==", Operator::eq},
        {"!=", Operator::ne},
        {"<>", Operator::ne},
        {"<", Operator::lt},
        {"<=", Operator::le},
        {">", Operator::gt},
        {">=", Operator::ge},
    }};
    for (const auto& [sign, operation] : kComparisons) {
      if (reader_.accept(sign)) return operation;
    }
    reader_.fail("a comparison");
  }

  Term register_term() {
    const unsigned index = thread_named(reader_.take(), test_);
    reader_.expect(":");
    const std::string name = reader_.expect_name("a register").text;
    Thread& thread = test_.threads[index];
    if (!Symbols::has_register(thread, name)) {
      test_.warnings.push_back(
          fmt::format("P{} never uses {}, which therefore is 0", thread.number, name));
    }
    return {.kind = Term::Kind::reg,
            .thread = index,
            .reg = Symbols::register_of(thread, name),
            .name = fmt::format("{}:{}", thread.number, name)};
  }

  const NamedLocation& named_location() {
    const Token& name = reader_.expect_name("a location");
    const NamedLocation* location = symbols_.find(name.text);
    if (location == nullptr) {
      throw LitmusError(name.place, fmt::format("there is no location '{}'", name.text));
    }
    return *location;
  }

  unsigned cell_of(const NamedLocation& location, std::int64_t element) const {
    return test_.addresses.at(location.address + element * kElementBytes);
  }

  Term cell_term() {
    const Place place = reader_.peek().place;
    const NamedLocation& location = named_location();
    std::int64_t element = 0;
    if (reader_.accept("[")) {
      element = reader_.expect_number("an index");
      reader_.expect("]");
    }
    if (element < 0 || element >= location.elements) {
      throw LitmusError(place,
                        fmt::format("there is no element {}, of {}", element, location.elements));
    }
    const unsigned cell = cell_of(location, element);
    return {.kind = Term::Kind::cell,
            .cell = cell,
            .name = fmt::format("[{}]", test_.cells[cell].name)};
  }

  TokenReader& reader_;
  Symbols& symbols_;
  Test& test_;
};

void add_observed(const Term& term, std::vector<Term>& observed) {
  if (term.kind == Term::Kind::constant) return;
  const bool known =
      std::ranges::any_of(observed, [&](const Term& other) { return other.name == term.name; });
  if (!known) observed.push_back(term);
}

void add_observed(const Condition& condition, std::vector<Term>& observed) {
  if (condition.kind == Condition::Kind::compare) {
    add_observed(condition.left, observed);
    add_observed(condition.right, observed);
  }
  for (const Condition& part : condition.parts) add_observed(part, observed);
}

// locations [x; 1:r0;]
void parse_locations(TokenReader& reader, ConditionParser& parser, std::vector<Term>& observed) {
  reader.expect("[");
  while (!reader.accept("]")) {
    add_observed(parser.term(), observed);
    if (!reader.peek().is("]")) reader.expect(";");
  }
}

void parse_quantified(TokenReader& reader, ConditionParser& parser, Test& test) {
  const bool negated = reader.accept("~") || reader.accept("not");
  if (reader.accept("exists")) {
    test.quantifier = negated ? Quantifier::not_exists : Quantifier::exists;
  } else if (!negated && reader.accept("forall")) {
    test.quantifier = Quantifier::forall;
  } else {
    reader.fail(negated ? "'exists'" : "'exists', '~exists' or 'forall'");
  }
  test.condition = parser.disjunction();
}

}  // namespace

bool begins_conditions(const TokenReader& reader) {
  for (const char* word : {"exists", "~", "not", "forall", "filter", "locations"}) {
    const Token& next = reader.peek(1);
    if (reader.peek().is(word) && !next.is(":") && !next.is(".")) return true;
  }
  return reader.at_end();
}

int thread_number(const Token& token) {
  std::string_view digits = token.text;
  if (token.kind == Token::Kind::name && digits.starts_with("P")) digits.remove_prefix(1);
  int number = -1;
  const char* last = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), last, number);
  return result.ec == std::errc{} && result.ptr == last ? number : -1;
}

unsigned thread_named(const Token& token, const Test& test) {
  const int number = thread_number(token);
  const auto at = std::ranges::find_if(test.threads, [&](const Thread& thread) {
    return static_cast<int>(thread.number) == number;
  });
  if (number < 0 || at == test.threads.end()) {
    throw LitmusError(token.place, fmt::format("there is no thread {}", shown(token)));
  }
  return static_cast<unsigned>(at - test.threads.begin());
}

void parse_conditions(TokenReader& reader, Symbols& symbols, Test& test) {
  ConditionParser parser(reader, symbols, test);
  std::vector<Term> listed;
  bool has_condition = false;
  while (!reader.at_end()) {
    if (reader.accept(";")) continue;
    if (reader.accept("locations")) {
      parse_locations(reader, parser, listed);
    } else if (reader.accept("filter")) {
      test.filter = parser.disjunction();
    } else if (has_condition) {
      reader.fail("the end of the file");
    } else {
      parse_quantified(reader, parser, test);
      has_condition = true;
    }
  }
  if (!has_condition) reader.fail("'exists', '~exists' or 'forall'");
  add_observed(test.condition, test.observed);
  for (const Term& term : listed) add_observed(term, test.observed);
  // Registers by thread, then locations.
  std::ranges::sort(test.observed, {}, [&](const Term& term) {
    return std::tuple(term.kind == Term::Kind::cell, term.thread, term.name);
  });
  test.asked = test.observed;
  add_observed(test.filter, test.asked);
}

}  // namespace warpcheck::model
