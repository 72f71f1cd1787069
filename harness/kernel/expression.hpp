// Integer expressions over named numbers: lengths of arrays, shapes of launches and conditions of a
// kernel that has no host code.
//
//   n * m + 1      (n + blockDim.x - 1) / blockDim.x      n % 4 == 0 && n <= m
//
// C's operators and their precedence, without assignments; numbers are 64 bits wide.  true and
// false are 1 and 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// what(): "'n +': expected a number or a name at the end"
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Expression {
 public:
  // Returns the value of a name; nothing: there is none of that name.
  using Names = std::function<std::optional<std::int64_t>(std::string_view name)>;

  // Throws ExpressionError.
  explicit Expression(std::string_view text);
  static Expression number(std::int64_t value) { return Expression(std::to_string(value)); }

  // Nothing: a name is unknown, a divisor is 0, or the value does not fit 64 bits.
  [[nodiscard]] std::optional<std::int64_t> value(const Names& names) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  // The conditions that all hold if and only if this one does: both sides of `a && b`, and of `a &
  // b` of comparisons.  Each is written without needless parentheses, and a comparison of a name
  // with a number begins with the name.
  [[nodiscard]] std::vector<Expression> conjuncts() const;
  // The names in it, in order of their first use.
  [[nodiscard]] std::vector<std::string> names() const;

  // Its parts, for those that translate it.
  struct Node {
    enum class Kind : std::uint8_t { number, name, unary, binary, conditional };
    Kind kind = Kind::number;
    std::int64_t number = 0;
    std::string text;  // of a name; the operator
    std::vector<std::shared_ptr<const Node>> operands;
  };
  [[nodiscard]] const Node& root() const { return *root_; }
  // value() of a part.
  [[nodiscard]] static std::optional<std::int64_t> value_of(const Node& node, const Names& names);

 private:
  explicit Expression(std::shared_ptr<const Node> root);

  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace warpcheck
