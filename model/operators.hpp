// What instructions calculate: one function for constants, for the enumeration and for printing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

// None for a name that is no operator.
std::optional<Operator> operator_named(std::string_view name);
// "=", "!=", "<" ... of comparisons.
std::string_view comparison_sign(Operator operation);

// The value as the type holds it.
std::int64_t wrap(std::int64_t value, ValueType type);

// a operation b.  inc and dec are those of atom (PTX ISA 9.7.13.6): a is what memory holds; exch
// gives b.  Not cas.
std::int64_t calculate(Operator operation, std::int64_t a, std::int64_t b, ValueType type);

}  // namespace warpcheck::model
