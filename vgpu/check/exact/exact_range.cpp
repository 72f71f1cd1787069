#include "vgpu/check/exact/exact_range.hpp"

#include <array>

#include "vgpu/check/exact/exact_value.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::array kSigns{-1, 0, 1};
constexpr std::uint8_t sign_bit_of(int sign) {
  return sign < 0 ? ExactRange::kNegative : sign > 0 ? ExactRange::kPositive : ExactRange::kZero;
}

// The signs that a result has for those of two operands.
//   of(x, y): the bits of its signs for operands of these two
template <class Of>
ExactRange range_of_both(ExactRange a, ExactRange b, Of of) {
  ExactRange result{static_cast<std::uint8_t>((a.may_be | b.may_be) & ExactRange::kUndefined)};
  for (const int x : kSigns) {
    for (const int y : kSigns) {
      if ((a.may_be & sign_bit_of(x)) != 0 && (b.may_be & sign_bit_of(y)) != 0)
        result.may_be = static_cast<std::uint8_t>(result.may_be | of(x, y));
    }
  }
  return result;
}

// Where a number stands among -infinity, the negative ones, 0, the positive ones and infinity.
using Ranks = std::array<bool, 5>;
constexpr std::size_t kTopRank = 4, kZeroRank = 2;

std::optional<Ranks> ranks_of(const ExactValue& value) {
  switch (value.kind) {
    case ExactValue::Kind::minus_infinity: return Ranks{true};
    case ExactValue::Kind::plus_infinity: return Ranks{false, false, false, false, true};
    case ExactValue::Kind::field: break;
    default: return std::nullopt;
  }
  if (!value.range.is_number()) return std::nullopt;
  const auto may_be = [&](std::uint8_t sign) { return (value.range.may_be & sign) != 0; };
  return Ranks{false, may_be(ExactRange::kNegative), may_be(ExactRange::kZero),
               may_be(ExactRange::kPositive), false};
}

// Whether a comparison of numbers holds; order: -1, 0, 1, as the first is less, equal or greater.
std::optional<bool> holds_in_order(ptx::Compare compare, int order) {
  using ptx::Compare;
  switch (compare) {
    case Compare::eq:
    case Compare::equ: return order == 0;
    case Compare::ne:
    case Compare::neu: return order != 0;
    case Compare::lt:
    case Compare::ltu: return order < 0;
    case Compare::le:
    case Compare::leu: return order <= 0;
    case Compare::gt:
    case Compare::gtu: return order > 0;
    case Compare::ge:
    case Compare::geu: return order >= 0;
    case Compare::num: return true;
    case Compare::nan: return false;
    default: return std::nullopt;
  }
}

}  // namespace

ExactRange range_of(double number) { return {sign_bit_of(number < 0 ? -1 : number > 0 ? 1 : 0)}; }

ExactRange range_of_negative(ExactRange a) {
  return range_of_both(a, range_of(0), [](int x, int) { return sign_bit_of(-x); });
}

ExactRange range_of_sum(ExactRange a, ExactRange b) {
  return range_of_both(a, b, [](int x, int y) -> std::uint8_t {
    return x * y < 0 ? ExactRange::kNumber : sign_bit_of(x + y);
  });
}

ExactRange range_of_product(ExactRange a, ExactRange b) {
  return range_of_both(a, b, [](int x, int y) { return sign_bit_of(x * y); });
}

ExactRange range_of_quotient(ExactRange a, ExactRange b) {
  return range_of_both(a, b, [](int x, int y) -> std::uint8_t {
    return y == 0 ? ExactRange{}.may_be : sign_bit_of(x * y);
  });
}

ExactRange range_of_extremum(bool is_greatest, ExactRange a, ExactRange b) {
  return range_of_both(a, b,
                       [&](int x, int y) { return sign_bit_of((x < y) == is_greatest ? y : x); });
}

ExactRange range_of_absolute(ExactRange a) {
  return range_of_both(a, range_of(0), [](int x, int) { return sign_bit_of(x * x); });
}

ExactRange range_of_root(ExactRange a) {
  return range_of_both(a, range_of(0), [](int x, int) -> std::uint8_t {
    return x < 0 ? ExactRange{}.may_be : sign_bit_of(x);
  });
}

ExactRange range_of_logarithm(ExactRange a) {
  return range_of_both(a, range_of(0), [](int x, int) -> std::uint8_t {
    return x <= 0 ? ExactRange{}.may_be : ExactRange::kNumber;
  });
}

ExactRange range_of_function(std::uint8_t signs, ExactRange a) {
  return range_of_both(a, range_of(0), [&](int, int) { return signs; });
}

std::optional<bool> outcome_of(ptx::Compare compare, const ExactValue& a, const ExactValue& b) {
  const std::optional<Ranks> of_a = ranks_of(a), of_b = ranks_of(b);
  if (!of_a || !of_b) return std::nullopt;
  std::optional<bool> outcome;
  bool is_one = true;
  const auto add = [&](int order) {
    const std::optional<bool> here = holds_in_order(compare, order);
    is_one = is_one && here && (!outcome || *outcome == *here);
    outcome = here;
  };
  for (std::size_t x = 0; x <= kTopRank; ++x) {
    for (std::size_t y = 0; y <= kTopRank; ++y) {
      if (!(*of_a)[x] || !(*of_b)[y]) continue;
      const bool is_open = x == y && x != 0 && x != kZeroRank && x != kTopRank;
      if (x < y || is_open) add(-1);
      if (x == y) add(0);
      if (x > y || is_open) add(1);
    }
  }
  return is_one ? outcome : std::nullopt;
}

}  // namespace warpcheck::vgpu
