// Integer expressions over the scalars of a launch: lengths of arrays, bounds, conditions.
//
// Their values are mathematical integers: nothing wraps.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace warpcheck::vgpu::symbolic {

// A name is that of a scalar parameter (ScalarParameter::name), or one of "blockDim.x" ...
// "blockDim.z", "gridDim.x" ... "gridDim.z".
struct Term {
  enum class Kind : std::uint8_t {
    constant,
    name,
    add,
    subtract,
    multiply,
    divide,     // rounds down; by a positive divisor
    remainder,  // of divide
    minimum,
    maximum,
    // Those of C: 1 or 0; whatever is not 0 is true.
    equal,
    less,
    both,
    either,
    opposite,      // of one
    power_of_two,  // of one: whether it is 0, or has one bit
    choice,        // of three: a condition and two values
  };
  Kind kind = Kind::constant;
  std::int64_t value = 0;     // constant
  std::string text{};         // name
  std::vector<Term> parts{};  // two, unless the kind says otherwise

  static Term constant(std::int64_t value) { return {Kind::constant, value, {}, {}}; }
  static Term name(std::string text) { return {Kind::name, 0, std::move(text), {}}; }
  static Term of(Kind kind, Term a, Term b) { return {kind, 0, {}, {std::move(a), std::move(b)}}; }
  friend bool operator==(const Term&, const Term&) = default;
};

inline Term operator+(Term a, Term b) {
  return Term::of(Term::Kind::add, std::move(a), std::move(b));
}
inline Term operator-(Term a, Term b) {
  return Term::of(Term::Kind::subtract, std::move(a), std::move(b));
}
inline Term operator*(Term a, Term b) {
  return Term::of(Term::Kind::multiply, std::move(a), std::move(b));
}

// Something that every launch of the domain has: `n % 4 == 0`.
struct Condition {
  enum class Relation : std::uint8_t { equal, not_equal, less, less_or_equal };
  Term left;
  Relation relation = Relation::equal;
  Term right;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// As in C: "4 * n + 1", "n % 4 == 0".
[[nodiscard]] std::string text_of(const Term& term);
[[nodiscard]] std::string text_of(const Condition& condition);

}  // namespace warpcheck::vgpu::symbolic
