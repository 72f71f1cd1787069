#include "vgpu/symbolic/mixed_radix.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace warpcheck::vgpu::symbolic {
namespace {

constexpr unsigned kDigitsMax = 6;

// p = factor * first + second
std::pair<Polynomial, Polynomial> digits_at(const Polynomial& p, std::uint32_t factor) {
  std::pair<Polynomial, Polynomial> result;
  for (const auto& [monomial, coefficient] : p) {
    const auto at = std::ranges::find(monomial, factor);
    if (at == monomial.end()) {
      result.second[monomial] = coefficient;
      continue;
    }
    Monomial rest = monomial;
    rest.erase(rest.begin() + (at - monomial.begin()));
    result.first[rest] = coefficient;
  }
  return result;
}

// Divides both by what divides all their coefficients: bytes become elements.  Returns the divisor.
Integer divide_by_content(Polynomial& p, Polynomial& q) {
  Integer content = 0;
  for (const Polynomial* const one : {&p, &q}) {
    for (const auto& [monomial, coefficient] : *one) {
      Integer a = content, b = coefficient < 0 ? -coefficient : coefficient;
      while (b != 0) a = std::exchange(b, a % b);
      content = a;
    }
  }
  if (content <= 1) return 1;
  for (Polynomial* const one : {&p, &q}) {
    for (auto& [monomial, coefficient] : *one) coefficient /= content;
  }
  return content;
}

}  // namespace

std::optional<z3::expr> MixedRadix::are_equal(const z3::expr& x, const Path& way_of_x,
                                              const z3::expr& y, const Path& way_of_y) {
  const Polynomial p = linear_.polynomial(x), q = linear_.polynomial(y);
  if (!linear_.is_exact() || (!has_products(p) && !has_products(q))) return std::nullopt;
  way_of_x_ = &way_of_x;
  way_of_y_ = &way_of_y;
  equal_ = symbols_.context().bool_val(true);
  has_digits_ = false;
  add_digits(p, q, 0);
  return has_digits_ ? equal_ : std::nullopt;
}

void MixedRadix::add_digits(Polynomial p, Polynomial q, unsigned depth) {
  divide_by_content(p, q);
  for (const std::uint32_t base : bases_of(p, q)) {
    if (depth == kDigitsMax) break;
    auto [p_high, p_low] = digits_at(p, base);
    auto [q_high, q_low] = digits_at(q, base);
    // y * 16 * gridDim.x + x: the base is 16 * gridDim.x.
    const Integer multiple = divide_by_content(p_high, q_high);
    const z3::expr number = symbols_.number(multiple) * linear_.factor(base);
    if (!is_digit(p_low, number, *way_of_x_) || !is_digit(q_low, number, *way_of_y_)) continue;
    has_digits_ = true;
    add_digits(std::move(p_high), std::move(q_high), depth + 1);
    add_digits(std::move(p_low), std::move(q_low), depth + 1);
    return;
  }
  equal_ = both(*equal_, term_of(p) == term_of(q));
}

std::vector<std::uint32_t> MixedRadix::bases_of(const Polynomial& p, const Polynomial& q) {
  std::map<std::uint32_t, unsigned> products;
  for (const Polynomial* const one : {&p, &q}) {
    for (const auto& [monomial, coefficient] : *one) {
      if (monomial.size() < 2) continue;
      for (const std::uint32_t factor : monomial) ++products[factor];
    }
  }
  std::vector<std::uint32_t> bases;
  for (const auto& [factor, times] : products) {
    const z3::expr& term = linear_.factor(factor);
    if (symbols_.level_of(term) == Level::launch && symbols_.data_in(term) == nullptr) {
      bases.push_back(factor);
    }
  }
  std::ranges::stable_sort(bases, std::greater<>(),
                           [&](std::uint32_t factor) { return products[factor]; });
  return bases;
}

bool MixedRadix::is_digit(const Polynomial& p, const z3::expr& base, const Path& way) {
  const z3::expr digit = term_of(p);
  return questions_.follows_easily(way, digit >= 0 && digit < base) == Reply::holds;
}

z3::expr MixedRadix::term_of(const Polynomial& polynomial) {
  z3::expr sum = symbols_.number(0);
  for (const auto& [monomial, coefficient] : polynomial) {
    z3::expr product = symbols_.number(coefficient);
    for (const std::uint32_t factor : monomial) product = product * linear_.factor(factor);
    sum = sum + product;
  }
  return sum.simplify();
}

}  // namespace warpcheck::vgpu::symbolic
