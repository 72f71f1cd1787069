// Lengths that are products: of several integers and extents of the launch (a batch of matrices, a
// tensor), of sums (a picture with a border), and of rows that lie a stride apart.
#pragma once

#include <optional>
#include <vector>

#include "cli/kernel/lengths.hpp"

namespace warpcheck {

class LengthTerms {
 public:
  // Both have to live longer.
  LengthTerms(const KernelDescription& kernel, const std::vector<Sample>& samples);

  // The first product, the simplest ones standing first, that is never too small and that most runs
  // which touched the array needed all of; of several of one kind, the smallest.  Most is much:
  // among some thousand products one comes near any numbers.
  [[nodiscard]] std::optional<Expression> needed_by_most() const;

 private:
  // A function and its value for each sample.
  struct Term {
    std::string text;
    std::vector<std::int64_t> values;
    bool is_sum = false;
  };
  class Best;

  [[nodiscard]] Term term(const std::string& text) const;
  void offer_one_more(Best& best) const;
  void offer_window(Best& best, const Term& side) const;
  [[nodiscard]] std::optional<Expression> with_border() const;
  void offer_products(Best& best, const Term& product, std::size_t first, int factors) const;
  void offer_products_of_sums(Best& best) const;
  void offer_strided(Best& best) const;
  [[nodiscard]] std::vector<Term> sides() const;

  const KernelDescription& kernel_;
  const std::vector<Sample>& samples_;
  std::size_t widest_ = 0;  // the sample that touched most
  std::vector<std::string> names_;
  std::vector<Term> factors_;
};

}  // namespace warpcheck
