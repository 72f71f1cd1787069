// The tree of a parsed expression.  Internal to expressions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/debug/variables/expression.hpp"

namespace warpcheck::debug {

// clang-format off
enum class Operator : std::uint8_t {
  none,
  multiply, divide, remainder, add, subtract, shift_left, shift_right,
  less, less_equal, greater, greater_equal, equal, not_equal,
  bit_and, bit_xor, bit_or, logical_and, logical_or,
  repeat,  // a @ n: the array of n elements that begins at a, as in gdb
  plus, negate, logical_not, complement, dereference, address_of,
};
// clang-format on

struct Node {
  enum class Kind : std::uint8_t {
    literal,      // value
    variable,     // name
    reg,          // name: "%r5", "%tid.x"
    unary,        // op a
    binary,       // a op b
    conditional,  // a ? b : c
    cast,         // (type) a
    size_of,      // sizeof a
    index,        // a[b]
    member,       // a.name
    arrow,        // a->name
  };
  Kind kind = Kind::literal;
  Operator op = Operator::none;
  std::size_t column = 1;
  std::size_t end_column = 1;  // behind it
  std::string name;
  const Type* type = nullptr;
  Value value;
  std::unique_ptr<Node> a, b, c;
};

// Parses a whole text.  Throws ExpressionError.
std::unique_ptr<const Node> parse_expression(std::string_view text,
                                             const ModuleDescription& module);

}  // namespace warpcheck::debug
