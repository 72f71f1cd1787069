#include "vgpu/symbolic/linear.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace warpcheck::vgpu::symbolic {
namespace {

void add_to(Polynomial& sum, const Polynomial& other, Integer factor) {
  for (const auto& [monomial, coefficient] : other) {
    Integer& own = sum[monomial];
    own += coefficient * factor;
    if (own == 0) sum.erase(monomial);
  }
}

bool is_constant(const Polynomial& polynomial) {
  return polynomial.empty() || (polynomial.size() == 1 && polynomial.begin()->first.empty());
}

// What a factor is multiplied by; monomials without it are left out.
Polynomial divided(const Polynomial& polynomial, std::uint32_t factor) {
  Polynomial quotient;
  for (const auto& [monomial, coefficient] : polynomial) {
    const auto at = std::ranges::find(monomial, factor);
    if (at == monomial.end()) continue;
    Monomial rest = monomial;
    rest.erase(rest.begin() + (at - monomial.begin()));
    quotient[rest] = coefficient;
  }
  return quotient;
}

// Divides by the greatest common divisor of the coefficients: 4 * n and n make the same product.
Polynomial without_content(Polynomial polynomial) {
  Integer content = 0;
  for (const auto& [monomial, coefficient] : polynomial) {
    Integer a = content, b = coefficient < 0 ? -coefficient : coefficient;
    while (b != 0) a = std::exchange(b, a % b);
    content = a;
  }
  if (content > 1) {
    for (auto& [monomial, coefficient] : polynomial) coefficient /= content;
  }
  return polynomial;
}

}  // namespace

bool has_products(const Polynomial& polynomial) {
  return std::ranges::any_of(polynomial, [](const auto& one) { return one.first.size() > 1; });
}

z3::expr Linear::fresh(const char* stem) {
  const std::string name = std::string(stem) + "?" + std::to_string(fresh_++);
  return symbols_.context().int_const(name.c_str());
}

void Linear::note_symbols(const z3::expr& term) {
  for (const std::uint32_t index : symbols_.in(term)) nonlinear_.insert(index);
}

Polynomial Linear::atom(const z3::expr& linear) {
  if (const auto value = number_in(linear)) {
    return *value == 0 ? Polynomial{} : Polynomial{{{}, *value}};
  }
  const auto [place, is_new] =
      atom_of_.try_emplace(linear.id(), static_cast<std::uint32_t>(atoms_.size()));
  if (is_new) {
    atoms_.push_back(linear);
    kept_.push_back(linear);
  }
  return {{{place->second}, 1}};
}

Polynomial Linear::multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [left, m] : a) {
    for (const auto& [right, n] : b) {
      Monomial monomial;
      std::ranges::merge(left, right, std::back_inserter(monomial));
      add_to(result, {{monomial, m * n}}, 1);
    }
  }
  note_product(without_content(a), without_content(b));
  return result;
}

void Linear::note_product(const Polynomial& a, const Polynomial& b) {
  if (is_constant(a) || is_constant(b)) return;
  const Product product{a, b};
  const Product other{product.b, product.a};
  if (std::ranges::find(products_, product) == products_.end() &&
      std::ranges::find(products_, other) == products_.end()) {
    products_.push_back(product);
  }
}

// 4 * k * n + n + c is a multiple of n, and something: 4 * k + 1 is what its size depends on.
// (In bytes, all is a multiple of 4.)
void Linear::note_multiples(const Polynomial& whole) {
  const Polynomial polynomial = without_content(whole);
  std::set<std::uint32_t> factors;
  for (const auto& [monomial, coefficient] : polynomial) {
    if (monomial.size() > 1) factors.insert(monomial.begin(), monomial.end());
  }
  for (const std::uint32_t factor : factors) {
    Polynomial multiple = divided(polynomial, factor);
    note_product(multiple, {{{factor}, 1}});
    if (has_products(multiple)) note_multiples(multiple);
    // a - (a / n) * n is less than n, whatever the quotient is.
    std::erase_if(multiple, [&](const auto& one) {
      return std::ranges::any_of(one.first,
                                 [&](std::uint32_t i) { return is_quotient_.contains(i); });
    });
    note_product(multiple, {{{factor}, 1}});
  }
}

// a div b, or a mod b, of an unknown b.
Polynomial Linear::quotient(const z3::expr& term) {
  const Polynomial a = polynomial(term.arg(0)), b = polynomial(term.arg(1));
  note_symbols(term.arg(1));
  const auto [known, is_new] = quotients_.try_emplace({a, b}, symbols_.number(0));
  if (is_new) {
    known->second = fresh("quotient");
    const z3::expr zero = symbols_.number(0), divisor = term_of(b);
    const Polynomial q = atom(known->second);
    is_quotient_.insert(q.begin()->first[0]);
    Polynomial rest = a;
    add_to(rest, multiply(q, b), -1);
    const z3::expr remainder = term_of(rest), dividend = term_of(a);
    facts_.push_back(z3::implies(divisor > zero, remainder >= zero && remainder < divisor));
    facts_.push_back(z3::implies(divisor > zero && dividend >= zero,
                                 known->second >= zero && known->second <= dividend));
  }
  const Polynomial q = atom(known->second);
  if (term.decl().decl_kind() == Z3_OP_IDIV) return q;
  Polynomial rest = a;
  add_to(rest, multiply(q, b), -1);
  return rest;
}

// A choice between polynomials, with what they have in common outside of it: so that the factors of
// products are seen.
Polynomial Linear::chosen(const z3::expr& condition, Polynomial a, Polynomial b) {
  Polynomial common;
  for (const auto& [monomial, coefficient] : Polynomial(a)) {
    const auto other = b.find(monomial);
    if (other == b.end() || other->second != coefficient) continue;
    common[monomial] = coefficient;
    a.erase(monomial);
    b.erase(monomial);
  }
  if (a.empty() && b.empty()) return common;
  std::optional<std::uint32_t> factor;
  const Monomial first = a.empty() ? b.begin()->first : a.begin()->first;
  if (has_products(a) || has_products(b)) {
    for (const std::uint32_t candidate : first) {
      const auto has = [&](const auto& one) {
        return std::ranges::binary_search(one.first, candidate);
      };
      if (std::ranges::all_of(a, has) && std::ranges::all_of(b, has)) factor = candidate;
    }
  }
  if (!factor) {
    add_to(common, atom(z3::ite(condition, term_of(a), term_of(b))), 1);
    return common;
  }
  const Polynomial of_factor{{{*factor}, 1}};
  const Polynomial choice = chosen(condition, divided(a, *factor), divided(b, *factor));
  add_to(common, multiply(choice, of_factor), 1);
  return common;
}

Polynomial Linear::expand(const z3::expr& term) {
  if (!term.is_app() || term.num_args() == 0) return atom(term);
  Polynomial result;
  const Z3_decl_kind kind = term.decl().decl_kind();
  switch (kind) {
    case Z3_OP_ADD:
    case Z3_OP_SUB:
      for (unsigned i = 0; i < term.num_args(); ++i) {
        add_to(result, polynomial(term.arg(i)), i > 0 && kind == Z3_OP_SUB ? -1 : 1);
      }
      return result;
    case Z3_OP_UMINUS: add_to(result, polynomial(term.arg(0)), -1); return result;
    case Z3_OP_MUL:
      result = polynomial(term.arg(0));
      for (unsigned i = 1; i < term.num_args(); ++i) {
        const Polynomial& part = polynomial(term.arg(i));
        if (!is_constant(result) && !is_constant(part)) {
          note_symbols(term.arg(i));
          for (unsigned j = 0; j < i; ++j) note_symbols(term.arg(j));
        }
        result = multiply(result, part);
      }
      return result;
    case Z3_OP_ITE:
      return chosen(rewrite(term.arg(0)), polynomial(term.arg(1)), polynomial(term.arg(2)));
    case Z3_OP_IDIV:
    case Z3_OP_MOD: {
      const z3::expr a = rewrite(term.arg(0)), b = rewrite(term.arg(1));
      if (!b.is_numeral()) return quotient(term);
      return atom((kind == Z3_OP_IDIV ? a / b : z3::mod(a, b)).simplify());
    }
    default: break;
  }
  const auto operation = symbols_.bitwise_of(term);
  const z3::expr a = rewrite(term.arg(0)), b = rewrite(term.arg(1));
  if (a.is_numeral() || b.is_numeral()) {
    return polynomial(symbols_.bitwise(operation->first, a, b, operation->second));
  }
  note_symbols(term);
  const z3::expr result_bits = fresh("bits"), zero = symbols_.number(0);
  facts_.push_back(result_bits >= zero &&
                   result_bits < symbols_.number(power_of_two(operation->second)));
  facts_.push_back(operation->first == BitOp::and_ ? result_bits <= a && result_bits <= b
                                                   : result_bits <= a + b);
  if (operation->first == BitOp::or_) facts_.push_back(result_bits >= a && result_bits >= b);
  return atom(result_bits);
}

const Polynomial& Linear::polynomial(const z3::expr& term) {
  if (const auto known = polynomials_.find(term.id()); known != polynomials_.end()) {
    return known->second;
  }
  Polynomial result = expand(term);
  kept_.push_back(term);
  return polynomials_[term.id()] = std::move(result);
}

z3::expr Linear::term_of(const Polynomial& polynomial) {
  z3::expr_vector parts(symbols_.context());
  for (const auto& [monomial, coefficient] : polynomial) {
    if (monomial.empty()) {
      parts.push_back(symbols_.number(coefficient));
      continue;
    }
    z3::expr factor = atoms_[monomial[0]];
    if (monomial.size() > 1) {
      const auto [known, is_new] = monomials_.try_emplace(monomial, factor);
      if (is_new) known->second = fresh("product");
      factor = known->second;
    }
    parts.push_back(coefficient == 1 ? factor : symbols_.number(coefficient) * factor);
  }
  if (parts.empty()) return symbols_.number(0);
  return parts.size() == 1 ? parts[0] : z3::sum(parts);
}

// Products of two sides meet in their difference: (z * m + y) * n < 8 * m * n because of
// (z * m + y - 8 * m) * n.
void Linear::note_comparison(const z3::expr& left, const z3::expr& right) {
  const Polynomial &a = polynomial(left), &b = polynomial(right);
  if (!has_products(a) || !has_products(b)) return;
  Polynomial difference = a;
  add_to(difference, b, -1);
  note_multiples(difference);
}

z3::expr Linear::rewrite_condition(const z3::expr& term) {
  if (!term.is_app() || term.num_args() == 0) return term;
  if (const auto known = conditions_.find(term.id()); known != conditions_.end()) {
    return known->second;
  }
  z3::expr_vector parts(symbols_.context());
  for (unsigned i = 0; i < term.num_args(); ++i) parts.push_back(rewrite(term.arg(i)));
  if (term.num_args() == 2 && term.arg(0).is_int()) note_comparison(term.arg(0), term.arg(1));
  const z3::expr result = term.decl()(parts);
  kept_.push_back(term);
  conditions_.emplace(term.id(), result);
  return result;
}

z3::expr Linear::rewrite(const z3::expr& term) {
  if (term.is_bool()) return rewrite_condition(term);
  const Polynomial& own = polynomial(term);
  note_multiples(own);
  return term_of(own);
}

void Linear::add_order(std::vector<z3::expr>& lemmas, const Polynomial& p, const Polynomial& q,
                       const Polynomial& common) {
  Polynomial difference = p;
  add_to(difference, q, -1);
  if (is_constant(difference)) return;
  const z3::expr zero = symbols_.number(0), factor = term_of(common), d = term_of(difference);
  const z3::expr of_d = term_of(multiply(difference, common));
  lemmas.push_back(z3::implies(factor >= zero && d < zero, of_d + factor <= zero));
  lemmas.push_back(z3::implies(factor >= zero && d > zero, of_d >= factor));
  lemmas.push_back(z3::implies(d == zero, of_d == zero));
}

// Of one product: its sign, and what it is at least and at most.
void Linear::add_signs(std::vector<z3::expr>& lemmas, const Polynomial& p, const Polynomial& q) {
  const z3::expr zero = symbols_.number(0), a = term_of(p), b = term_of(q);
  const z3::expr product = term_of(multiply(p, q));
  lemmas.push_back(z3::implies(b >= zero && a > zero, product >= b));
  lemmas.push_back(z3::implies(b >= zero && a < zero, product + b <= zero));
  lemmas.push_back(z3::implies(a == zero, product == zero));
  lemmas.push_back(z3::implies(b <= zero && a > zero, product <= b));
  lemmas.push_back(z3::implies(b <= zero && a < zero, product + b >= zero));
  // An unknown of a small range: its bounds times the other factor.
  if (p.size() != 1 || p.begin()->first.size() != 1 || p.begin()->second != 1) return;
  const Interval range = symbols_.interval_of(atoms_[p.begin()->first[0]]);
  if (range.high) {
    lemmas.push_back(z3::implies(b >= zero, product <= symbols_.number(*range.high) * b));
  }
  if (range.low && *range.low > 1) {
    lemmas.push_back(z3::implies(b >= zero, product >= symbols_.number(*range.low) * b));
  }
}

std::vector<z3::expr> Linear::lemmas() {
  std::vector<z3::expr> lemmas;
  // The lemmas themselves multiply differences, which are no products of the question.
  const std::vector<Product> products = products_;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Product& one = products[i];
    add_signs(lemmas, one.a, one.b);
    add_signs(lemmas, one.b, one.a);
    for (std::size_t j = i + 1; j < products.size(); ++j) {
      const Product& other = products[j];
      if (one.b == other.b) add_order(lemmas, one.a, other.a, one.b);
      if (one.b == other.a) add_order(lemmas, one.a, other.b, one.b);
      if (one.a == other.b) add_order(lemmas, one.b, other.a, one.a);
      if (one.a == other.a) add_order(lemmas, one.b, other.b, one.a);
    }
  }
  lemmas.insert(lemmas.end(), facts_.begin(), facts_.end());
  return lemmas;
}

}  // namespace warpcheck::vgpu::symbolic
