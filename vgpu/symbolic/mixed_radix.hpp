// Two offsets that are equal if all their digits are.
//
// y * width + x is a number with the digits y and x of the base width, if 0 <= x < width: two such
// numbers are equal only if y and x are.  Digits have digits: blockIdx.x * blockDim.x +
// threadIdx.x. So the question whether two threads meet, in products of unknowns, becomes simple
// ones.
#pragma once

#include <optional>

#include "vgpu/symbolic/linear.hpp"
#include "vgpu/symbolic/questions.hpp"
#include "vgpu/symbolic/thread_state.hpp"

namespace warpcheck::vgpu::symbolic {

class MixedRadix {
 public:
  MixedRadix(Symbols& symbols, Questions& questions)
      : symbols_(symbols), questions_(questions), linear_(symbols) {}

  // What is true if and only if x == y, of two threads that came by these ways; absent: nothing
  // simpler is known.
  [[nodiscard]] std::optional<z3::expr> are_equal(const z3::expr& x, const Path& way_of_x,
                                                  const z3::expr& y, const Path& way_of_y);

 private:
  // Adds what makes p and q equal.
  void add_digits(Polynomial p, Polynomial q, unsigned depth);
  // Those that all threads of a block have in common, the one in most products first.
  [[nodiscard]] std::vector<std::uint32_t> bases_of(const Polynomial& p, const Polynomial& q);
  [[nodiscard]] bool is_digit(const Polynomial& p, const z3::expr& base, const Path& way);
  [[nodiscard]] z3::expr term_of(const Polynomial& polynomial);

  Symbols& symbols_;
  Questions& questions_;
  Linear linear_;
  const Path *way_of_x_ = nullptr, *way_of_y_ = nullptr;
  std::optional<z3::expr> equal_;
  bool has_digits_ = false;
};

}  // namespace warpcheck::vgpu::symbolic
