// The operators: one function for constants, for the enumeration and for printing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

// Empty for a name that is no operator.
std::optional<Operator> operator_named(std::string_view name);
// "=", "!=", "<" ... of comparisons.
std::string_view comparison_sign(Operator operation);

// The value truncated to the type.
std::int64_t wrap(std::int64_t value, ValueType type);

// a operation b.  inc and dec are those of atom (PTX ISA 9.7.13.6): a is the value in memory; exch
// gives b.  Not cas.
std::int64_t calculate(Operator operation, std::int64_t a, std::int64_t b, ValueType type);

}  // namespace warpcheck::model
