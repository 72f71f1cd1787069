// Makes a question linear, so that a decision procedure answers it.
//
// A product of unknowns becomes an unknown of its own, and so do quotients by unknowns and bitwise
// operations.  What the solver has to know of products is added as lemmas: of two products with a
// common factor q >= 0, that of the larger other factor is larger by q at least.  That is all that
// row * width + column and i + k * stride need.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/symbolic/symbols.hpp"

namespace warpcheck::vgpu::symbolic {

// A polynomial: coefficients by monomial, which is the ascending list of its factors.
using Monomial = std::vector<std::uint32_t>;
using Polynomial = std::map<Monomial, Integer>;
[[nodiscard]] bool has_products(const Polynomial& polynomial);

class Linear {
 public:
  explicit Linear(Symbols& symbols) : symbols_(symbols), kept_(symbols.context()) {}

  // Returns the linear form of a condition or an integer.
  z3::expr rewrite(const z3::expr& term);
  // What has to be true besides: call it after all rewrites.
  [[nodiscard]] std::vector<z3::expr> lemmas();
  // Indices of symbols in factors of products, in divisors and in bitwise operations.
  [[nodiscard]] const std::set<std::uint32_t>& nonlinear() const { return nonlinear_; }

  const Polynomial& polynomial(const z3::expr& term);
  z3::expr term_of(const Polynomial& polynomial);
  // The term of a factor in a monomial.
  [[nodiscard]] const z3::expr& factor(std::uint32_t number) const { return atoms_[number]; }
  // Whether polynomials are what went in: none has an unknown that stands for something.
  [[nodiscard]] bool is_exact() const { return fresh_ == 0; }

 private:
  struct Product {
    Polynomial a, b;
    friend bool operator==(const Product&, const Product&) = default;
  };

  Polynomial expand(const z3::expr& term);
  Polynomial multiply(const Polynomial& a, const Polynomial& b);
  void note_product(const Polynomial& a, const Polynomial& b);
  void note_multiples(const Polynomial& whole);
  void note_comparison(const z3::expr& left, const z3::expr& right);
  Polynomial atom(const z3::expr& linear);
  Polynomial quotient(const z3::expr& term);
  Polynomial chosen(const z3::expr& condition, Polynomial a, Polynomial b);
  z3::expr rewrite_condition(const z3::expr& term);
  z3::expr fresh(const char* stem);
  void note_symbols(const z3::expr& term);
  void add_order(std::vector<z3::expr>& lemmas, const Polynomial& p, const Polynomial& q,
                 const Polynomial& common);
  void add_signs(std::vector<z3::expr>& lemmas, const Polynomial& p, const Polynomial& q);

  Symbols& symbols_;
  z3::expr_vector kept_;
  std::vector<z3::expr> atoms_;
  std::unordered_map<unsigned, std::uint32_t> atom_of_;  // by the id of its term
  std::unordered_map<unsigned, Polynomial> polynomials_;
  std::unordered_map<unsigned, z3::expr> conditions_;
  std::map<Monomial, z3::expr> monomials_;
  std::map<std::pair<Polynomial, Polynomial>, z3::expr> quotients_;
  std::set<std::uint32_t> is_quotient_;  // by number of the atom
  std::vector<Product> products_;
  std::vector<z3::expr> facts_;
  std::set<std::uint32_t> nonlinear_;
  std::uint32_t fresh_ = 0;
};

}  // namespace warpcheck::vgpu::symbolic
