#include "vgpu/ptx/parse/constant.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>

namespace warpcheck::ptx {
namespace {

constexpr int kDepthMax = 64;  // nested parentheses and signs

struct BinaryOperator {
  std::string_view text;
  int precedence;  // higher binds tighter
};
// `|` is not included: in an operand it separates the registers of a pair.
constexpr std::array<BinaryOperator, 9> kBinaryOperators = {
    {{"*", 5}, {"/", 5}, {"%", 5}, {"+", 4}, {"-", 4}, {"<<", 3}, {">>", 3}, {"&", 2}, {"^", 1}}};

int precedence_of(const Token& token) {
  if (token.kind != Token::Kind::punctuation) return 0;
  for (const BinaryOperator& op : kBinaryOperators) {
    if (op.text == token.text) return op.precedence;
  }
  return 0;
}

Constant divide(const Lexer& lexer, Constant a, Constant b, bool remainder) {
  if (b.bits == 0) lexer.fail("division by zero in a constant expression");
  const auto x = static_cast<std::int64_t>(a.bits);
  const auto y = static_cast<std::int64_t>(b.bits);
  const bool overflows = x == std::numeric_limits<std::int64_t>::min() && y == -1;
  if (a.is_unsigned || b.is_unsigned || overflows) {
    const std::uint64_t divisor = overflows ? 1 : b.bits;
    return {remainder ? a.bits % divisor : a.bits / divisor, a.is_unsigned || b.is_unsigned};
  }
  return {static_cast<std::uint64_t>(remainder ? x % y : x / y)};
}

// Shifts by 64 or more give what is left of the value: nothing, or its sign.
Constant shift_right(Constant a, std::uint64_t by) {
  const int count = static_cast<int>(by < 63 ? by : 63);
  if (!a.is_unsigned) {
    return {static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> count)};
  }
  return {by > 63 ? 0 : a.bits >> count, true};
}

Constant compute(const Lexer& lexer, std::string_view op, Constant a, Constant b) {
  if (a.is_real || b.is_real) lexer.fail("expected an integer in a constant expression");
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (op == "*") return {a.bits * b.bits, is_unsigned};
  if (op == "+") return {a.bits + b.bits, is_unsigned};
  if (op == "-") return {a.bits - b.bits, is_unsigned};
  if (op == "&") return {a.bits & b.bits, is_unsigned};
  if (op == "^") return {a.bits ^ b.bits, is_unsigned};
  if (op == "<<") return {b.bits > 63 ? 0 : a.bits << b.bits, a.is_unsigned};
  if (op == ">>") return shift_right(a, b.bits);
  return divide(lexer, a, b, op == "%");
}

Constant negated(Constant value) {
  if (!value.is_real) return {-value.bits, value.is_unsigned};
  value.bits ^= value.is_double ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31;
  return value;
}

Constant parse_binary(Lexer& lexer, int precedence, int depth);

Constant parse_unary(Lexer& lexer, int depth) {
  if (depth > kDepthMax) lexer.fail("constant expression is nested too deeply");
  const Token token = lexer.peek();
  if (token.kind == Token::Kind::integer || token.kind == Token::Kind::real) {
    lexer.take();
    return {token.bits, token.is_unsigned, token.kind == Token::Kind::real, token.is_double};
  }
  if (token.kind == Token::Kind::identifier && token.text == "WARP_SZ") {
    lexer.take();
    return {32};
  }
  if (lexer.accept('+')) return parse_unary(lexer, depth + 1);
  if (lexer.accept('-')) return negated(parse_unary(lexer, depth + 1));
  if (token.is('~') || token.is('!')) {
    lexer.take();
    const Constant value = parse_unary(lexer, depth + 1);
    if (value.is_real) lexer.fail(token.line, "expected an integer in a constant expression");
    return token.is('~') ? Constant{~value.bits, value.is_unsigned} : Constant{value.bits == 0};
  }
  if (!lexer.accept('(')) lexer.expected("a constant");
  const Constant value = parse_binary(lexer, 1, depth + 1);
  lexer.expect(')');
  return value;
}

Constant parse_binary(Lexer& lexer, int precedence, int depth) {
  Constant value = parse_unary(lexer, depth);
  for (;;) {
    const int next = precedence_of(lexer.peek());
    if (next == 0 || next < precedence) return value;
    const std::string_view op = lexer.take().text;
    value = compute(lexer, op, value, parse_binary(lexer, next + 1, depth + 1));
  }
}

}  // namespace

double Constant::real() const {
  if (!is_real) {
    return is_unsigned ? static_cast<double>(bits)
                       : static_cast<double>(static_cast<std::int64_t>(bits));
  }
  if (is_double) return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

bool starts_constant(const Lexer& lexer) {
  const Token& token = lexer.peek();
  switch (token.kind) {
    case Token::Kind::integer:
    case Token::Kind::real: return true;
    case Token::Kind::identifier: return token.text == "WARP_SZ";
    case Token::Kind::punctuation:
      return token.is('-') || token.is('+') || token.is('~') || token.is('(');
    default: return false;
  }
}

Constant parse_constant(Lexer& lexer) { return parse_binary(lexer, 1, 0); }

std::uint64_t parse_count(Lexer& lexer, std::string_view what, std::uint64_t max) {
  const std::uint32_t line = lexer.peek().line;
  const Constant value = parse_constant(lexer);
  if (value.is_real) lexer.fail(line, fmt::format("expected an integer as {}", what));
  const bool is_negative = !value.is_unsigned && static_cast<std::int64_t>(value.bits) < 0;
  if (is_negative || value.bits > max) {
    lexer.fail(line, is_negative ? fmt::format("{} is {}, less than 0", what,
                                               static_cast<std::int64_t>(value.bits))
                                 : fmt::format("{} is {}, more than {}", what, value.bits, max));
  }
  return value.bits;
}

}  // namespace warpcheck::ptx
