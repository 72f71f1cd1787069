#include "model/operators.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace warpcheck::model {
namespace {

constexpr std::array<std::pair<std::string_view, Operator>, 25> kNames{{
    {"add", Operator::add},   {"sub", Operator::sub},     {"mul", Operator::mul},
    {"div", Operator::div},   {"rem", Operator::rem},     {"and", Operator::bit_and},
    {"or", Operator::bit_or}, {"xor", Operator::bit_xor}, {"shl", Operator::shl},
    {"shr", Operator::shr},   {"min", Operator::min},     {"max", Operator::max},
    {"inc", Operator::inc},   {"dec", Operator::dec},     {"exch", Operator::exch},
    {"cas", Operator::cas},   {"eq", Operator::eq},       {"ne", Operator::ne},
    {"lt", Operator::lt},     {"le", Operator::le},       {"gt", Operator::gt},
    {"ge", Operator::ge},     {"mov", Operator::copy},    {"plus", Operator::add},
    {"minus", Operator::sub},
}};

bool less(std::int64_t a, std::int64_t b, ValueType type) {
  return type.is_signed ? a < b : static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
}

// A division by 0 gives all ones, as on the machine; the smallest number divided by -1 wraps.
std::int64_t divide(std::int64_t a, std::int64_t b, ValueType type, bool remainder) {
  if (b == 0) return -1;
  if (!type.is_signed) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(remainder ? x % y : x / y);
  }
  if (b == -1) return remainder ? 0 : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return remainder ? a % b : a / b;
}

std::int64_t unwrapped(Operator operation, std::int64_t a, std::int64_t b, ValueType type) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (operation) {
    case Operator::copy: return a;
    case Operator::add: return static_cast<std::int64_t>(x + y);
    case Operator::sub: return static_cast<std::int64_t>(x - y);
    case Operator::mul: return static_cast<std::int64_t>(x * y);
    case Operator::div: return divide(a, b, type, false);
    case Operator::rem: return divide(a, b, type, true);
    case Operator::bit_and: return a & b;
    case Operator::bit_or: return a | b;
    case Operator::bit_xor: return a ^ b;
    case Operator::shl: return y >= type.bits ? 0 : static_cast<std::int64_t>(x << y);
    case Operator::shr:
      if (type.is_signed) return a >> std::min<std::uint64_t>(y, 63);
      return y >= type.bits ? 0 : static_cast<std::int64_t>(x >> y);
    case Operator::min: return less(b, a, type) ? b : a;
    case Operator::max: return less(a, b, type) ? b : a;
    case Operator::inc: return x >= y ? 0 : a + 1;
    case Operator::dec: return a == 0 || x > y ? b : a - 1;
    case Operator::exch:
    case Operator::cas: return b;
    case Operator::eq: return a == b;
    case Operator::ne: return a != b;
    case Operator::lt: return less(a, b, type);
    case Operator::le: return !less(b, a, type);
    case Operator::gt: return less(b, a, type);
    case Operator::ge: return !less(a, b, type);
  }
  return 0;
}

}  // namespace

std::optional<Operator> operator_named(std::string_view name) {
  const auto* found =
      std::ranges::find(kNames, name, &std::pair<std::string_view, Operator>::first);
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

std::string_view comparison_sign(Operator operation) {
  switch (operation) {
    case Operator::ne: return "!=";
    case Operator::lt: return "<";
    case Operator::le: return "<=";
    case Operator::gt: return ">";
    case Operator::ge: return ">=";
    default: return "=";
  }
}

std::int64_t wrap(std::int64_t value, ValueType type) {
  if (type.bits >= 64) return value;
  const unsigned unused = 64U - type.bits;
  const std::uint64_t high = static_cast<std::uint64_t>(value) << unused;
  return type.is_signed ? static_cast<std::int64_t>(high) >> unused
                        : static_cast<std::int64_t>(high >> unused);
}

std::int64_t calculate(Operator operation, std::int64_t a, std::int64_t b, ValueType type) {
  return wrap(unwrapped(operation, wrap(a, type), wrap(b, type), type), type);
}

}  // namespace warpcheck::model
