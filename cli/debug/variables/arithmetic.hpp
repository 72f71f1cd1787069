// The arithmetic of C on numbers of C's types (C11, 6.3 and 6.5).
#pragma once

#include <stdexcept>
#include <string>

#include "cli/debug/variables/expression_nodes.hpp"
#include "cli/debug/variables/scalar.hpp"
#include "cli/debug/variables/types.hpp"

namespace warpcheck::debug {

// An operation that C does not define, or not for these types.
class ArithmeticError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Converts a number to an arithmetic type (6.3.1).  Throws ArithmeticError if a floating number
// does not fit an integer.
Scalar converted(const Scalar& scalar, const Type& type);

// The integer promotions (6.3.1.1); a floating number of two bytes becomes a float.
//   bit_count: of a bit field, else 0
Scalar promoted(const Scalar& scalar, const BasicTypes& types, unsigned bit_count = 0);

// The usual arithmetic conversions (6.3.1.8): the type in which promoted numbers meet.
const Type& common_type(const Type& a, const Type& b, const BasicTypes& types);

// Of promoted numbers.  Comparisons give bool, as in C++.
Scalar computed(Operator op, const Scalar& a, const Scalar& b, const BasicTypes& types);
Scalar computed(Operator op, const Scalar& a, const BasicTypes& types);

bool is_zero(const Scalar& scalar);

// "+" ...
std::string text_of(Operator op);

}  // namespace warpcheck::debug
