// Expressions of C over the variables of a stopped thread.
//
//   primary  literals, variables, (e), registers (%r5, %tid.x), threadIdx.x, blockIdx, blockDim,
//            gridDim, warpSize
//   postfix  e[i]  e.member  e->member
//   unary    + - ! ~ * & (type)e sizeof(type) sizeof e
//   binary   a @ n (the n elements from a on, as in gdb), * / % + - << >> < <= > >= == != & ^ | &&
//   ||, and c ? a : b
//
// A pointer's type may name a space for raw addresses: *(@shared float*)0x40.  Conversions are
// those of C (C11, 6.3): promotions, then usual arithmetic conversions; half and bfloat16 compute
// as float.  A result that depends on what the program has not written is itself "not written".
//
// An expression is parsed once and evaluated in many threads and frames: names of variables are
// looked up when it is evaluated, names of types when it is parsed.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/debug/variables/frame_variables.hpp"

namespace warpcheck::debug {

// An expression that is not one, or that has no value here.  what() begins with the column:
// "column 5: expected ')', found '+'".
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(std::size_t error_column, const std::string& message);
  std::size_t column;  // from 1
};

struct Node;  // expression_nodes.hpp

class Expression {
 public:
  // module: for the names of types; must outlive the expression.  Throws ExpressionError.
  Expression(std::string_view text, const ModuleDescription& module);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  [[nodiscard]] const std::string& text() const { return text_; }
  // Throws ExpressionError.
  [[nodiscard]] Value evaluate(const FrameVariables& frame) const;
  // The value as a condition: whether it is not zero.  Throws ExpressionError, also if it depends
  // on what the program has not written.
  [[nodiscard]] bool is_true(const FrameVariables& frame) const;

 private:
  std::string text_;
  std::unique_ptr<const Node> root_;
};

// Parses the name of a type, "unsigned int*"; nothing: the text is not one.
const Type* parse_type(std::string_view text, const ModuleDescription& module);

}  // namespace warpcheck::debug
