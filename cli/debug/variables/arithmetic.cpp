#include "cli/debug/variables/arithmetic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace warpcheck::debug {
namespace {

using Kind = Type::Kind;

unsigned width_of(const Type& type) { return static_cast<unsigned>(8 * type.bytes); }

// int < long < long long
int rank_of(const Type& type) {
  if (type.bytes < 8) return 1;
  return type.name.ends_with("long long") ? 3 : 2;
}

const Type& basic_integer(int rank, bool is_signed, const BasicTypes& types) {
  const std::string name = rank == 1 ? "int" : rank == 2 ? "long" : "long long";
  return types.get(is_signed ? name : "unsigned " + name);
}

// The smallest power of two behind the type's numbers.
double limit_of(const Type& type) {
  return std::ldexp(1.0, static_cast<int>(width_of(type)) - (type.is_signed ? 1 : 0));
}

std::uint64_t integer_of(double number, const Type& type) {
  const double whole = std::trunc(number);
  const double limit = limit_of(type);
  const bool fits = type.is_signed ? whole >= -limit && whole < limit : whole > -1 && whole < limit;
  if (std::isnan(number)) throw ArithmeticError(fmt::format("NaN does not fit {}", type.name));
  if (!fits) throw ArithmeticError(fmt::format("{} does not fit {}", number, type.name));
  return type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                        : static_cast<std::uint64_t>(whole);
}

double floating_of(const Scalar& scalar, const Type& to) {
  const Type& from = stripped(scalar.type);
  const bool is_single = to.bytes <= 4;
  double number = scalar.number;
  if (!is_floating(from)) {
    const auto as_signed = static_cast<std::int64_t>(scalar.bits);
    // Rounded once, to the type itself.
    if (from.is_signed) {
      number = is_single ? static_cast<double>(static_cast<float>(as_signed))
                         : static_cast<double>(as_signed);
    } else {
      number = is_single ? static_cast<double>(static_cast<float>(scalar.bits))
                         : static_cast<double>(scalar.bits);
    }
  }
  if (to.kind == Kind::brain) {
    const std::uint32_t bits = bfloat16_of_float(static_cast<float>(number));
    return std::bit_cast<float>(bits << 16);
  }
  if (to.bytes == 2) return float_of_half(half_of_float(static_cast<float>(number)));
  return to.bytes == 4 ? static_cast<double>(static_cast<float>(number)) : number;
}

template <typename Number>
bool compares(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::less: return a < b;
    case Operator::less_equal: return a <= b;
    case Operator::greater: return a > b;
    case Operator::greater_equal: return a >= b;
    case Operator::equal: return a == b;
    default: return a != b;
  }
}

bool is_comparison(Operator op) { return op >= Operator::less && op <= Operator::not_equal; }
bool is_shift(Operator op) { return op == Operator::shift_left || op == Operator::shift_right; }

template <typename Float>
double float_result(Operator op, Float a, Float b) {
  switch (op) {
    case Operator::multiply: return static_cast<double>(a * b);
    case Operator::divide: return static_cast<double>(a / b);
    case Operator::add: return static_cast<double>(a + b);
    case Operator::subtract: return static_cast<double>(a - b);
    default: throw ArithmeticError(fmt::format("'{}' needs integers", text_of(op)));
  }
}

std::uint64_t quotient(Operator op, std::uint64_t a, std::uint64_t b, const Type& type) {
  const bool divides = op == Operator::divide;
  if (b == 0) throw ArithmeticError("division by zero");
  if (!type.is_signed) return divides ? a / b : a % b;
  // -x wraps for the smallest number, which the processor would trap on.
  if (b == ~std::uint64_t{0}) return divides ? ~a + 1 : 0;
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  return static_cast<std::uint64_t>(divides ? x / y : x % y);
}

std::uint64_t integer_result(Operator op, std::uint64_t a, std::uint64_t b, const Type& type) {
  switch (op) {
    case Operator::multiply: return a * b;
    case Operator::divide:
    case Operator::remainder: return quotient(op, a, b, type);
    case Operator::add: return a + b;
    case Operator::subtract: return a - b;
    case Operator::bit_and: return a & b;
    case Operator::bit_xor: return a ^ b;
    case Operator::bit_or: return a | b;
    default: throw ArithmeticError(fmt::format("'{}' is no operation of numbers", text_of(op)));
  }
}

Scalar shifted(Operator op, const Scalar& a, const Scalar& b) {
  const Type& type = stripped(a.type);
  if (!is_integral(type) || !is_integral(stripped(b.type))) {
    throw ArithmeticError(fmt::format("'{}' needs integers", text_of(op)));
  }
  if (!b.is_unwritten && b.bits >= width_of(type)) {
    throw ArithmeticError(fmt::format("a shift of {} bits by {} is undefined", width_of(type),
                                      static_cast<std::int64_t>(b.bits)));
  }
  Scalar result = a;
  result.is_unwritten |= b.is_unwritten;
  if (b.is_unwritten) return result;
  if (op == Operator::shift_left) {
    result.bits = a.bits << b.bits;
  } else if (type.is_signed) {
    result.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> b.bits);
  } else {
    result.bits = a.bits >> b.bits;
  }
  result.bits = extended(result.bits, width_of(type), type.is_signed);
  return result;
}

}  // namespace

bool is_zero(const Scalar& scalar) {
  return is_floating(stripped(scalar.type)) ? scalar.number == 0 : scalar.bits == 0;
}

std::string text_of(Operator op) {
  switch (op) {
    case Operator::none: return "";
    case Operator::multiply:
    case Operator::dereference: return "*";
    case Operator::divide: return "/";
    case Operator::remainder: return "%";
    case Operator::add:
    case Operator::plus: return "+";
    case Operator::subtract:
    case Operator::negate: return "-";
    case Operator::shift_left: return "<<";
    case Operator::shift_right: return ">>";
    case Operator::less: return "<";
    case Operator::less_equal: return "<=";
    case Operator::greater: return ">";
    case Operator::greater_equal: return ">=";
    case Operator::equal: return "==";
    case Operator::not_equal: return "!=";
    case Operator::bit_and:
    case Operator::address_of: return "&";
    case Operator::bit_xor: return "^";
    case Operator::bit_or: return "|";
    case Operator::logical_and: return "&&";
    case Operator::logical_or: return "||";
    case Operator::repeat: return "@";
    case Operator::logical_not: return "!";
    case Operator::complement: return "~";
  }
  return "";
}

Scalar converted(const Scalar& scalar, const Type& type) {
  const Type& from = stripped(scalar.type);
  const Type& to = stripped(type);
  Scalar result;
  result.type = &type;
  result.is_unwritten = scalar.is_unwritten;
  if (scalar.is_unwritten) return result;
  if (to.kind == Kind::boolean) {
    result.bits = is_zero(scalar) ? 0 : 1;
  } else if (is_floating(to)) {
    result.number = floating_of(scalar, to);
  } else if (is_floating(from)) {
    result.bits = integer_of(scalar.number, to);
  } else {
    const bool is_signed = is_integral(to) && to.is_signed;
    result.bits = extended(scalar.bits, width_of(to), is_signed);
  }
  return result;
}

Scalar promoted(const Scalar& scalar, const BasicTypes& types, unsigned bit_count) {
  const Type& type = stripped(scalar.type);
  if (is_floating(type)) {
    return converted(scalar, types.get(type.bytes == 8 ? "double" : "float"));
  }
  // int has all numbers of the narrower types and bit fields.
  const unsigned bits = bit_count != 0 ? bit_count : width_of(type);
  const bool fits_int = bits < 32 || (bits == 32 && type.is_signed);
  if (fits_int) return converted(scalar, types.get("int"));
  return converted(scalar, basic_integer(rank_of(type), type.is_signed, types));
}

const Type& common_type(const Type& a, const Type& b, const BasicTypes& types) {
  const Type &x = stripped(a), &y = stripped(b);
  if (is_floating(x) || is_floating(y)) {
    const bool is_double = (is_floating(x) && x.bytes == 8) || (is_floating(y) && y.bytes == 8);
    return types.get(is_double ? "double" : "float");
  }
  const int rank_x = rank_of(x), rank_y = rank_of(y);
  const int rank = std::max(rank_x, rank_y);
  if (x.is_signed == y.is_signed) return basic_integer(rank, x.is_signed, types);
  const Type& with_sign = x.is_signed ? x : y;
  const Type& without = x.is_signed ? y : x;
  if (rank_of(without) >= rank_of(with_sign)) return basic_integer(rank, false, types);
  return basic_integer(rank, with_sign.bytes > without.bytes, types);
}

Scalar computed(Operator op, const Scalar& a, const Scalar& b, const BasicTypes& types) {
  if (is_shift(op)) return shifted(op, a, b);
  const Type& type = common_type(*a.type, *b.type, types);
  const Scalar x = converted(a, type), y = converted(b, type);
  Scalar result;
  result.type = is_comparison(op) ? &types.get("bool") : &type;
  result.is_unwritten = x.is_unwritten || y.is_unwritten;
  if (result.is_unwritten) return result;
  if (is_comparison(op)) {
    const bool is = is_floating(type) ? compares(op, x.number, y.number)
                    : type.is_signed  ? compares(op, static_cast<std::int64_t>(x.bits),
                                                 static_cast<std::int64_t>(y.bits))
                                      : compares(op, x.bits, y.bits);
    result.bits = is ? 1 : 0;
  } else if (is_floating(type)) {
    result.number = type.bytes == 4 ? float_result(op, static_cast<float>(x.number),
                                                   static_cast<float>(y.number))
                                    : float_result(op, x.number, y.number);
  } else {
    result.bits =
        extended(integer_result(op, x.bits, y.bits, type), width_of(type), type.is_signed);
  }
  return result;
}

Scalar computed(Operator op, const Scalar& a, const BasicTypes& types) {
  const Type& type = stripped(a.type);
  Scalar result = a;
  if (op == Operator::logical_not) {
    result.type = &types.get("bool");
    result.bits = is_zero(a) ? 1 : 0;
  } else if (op == Operator::negate) {
    result.number = -a.number;
    result.bits = extended(~a.bits + 1, width_of(type), type.is_signed);
  } else if (op == Operator::complement) {
    if (!is_integral(type)) throw ArithmeticError("'~' needs an integer");
    result.bits = extended(~a.bits, width_of(type), type.is_signed);
  }
  return result;
}

}  // namespace warpcheck::debug
