// Which signs a float's number has in exact arithmetic, for some data of finite numbers: what is
// known of comparisons whose outcome such data does not decide (docs/use/proofs.md).  A power is
// above 0, and so is a sum of powers; a maximum of numbers is no infinity.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct ExactRange {
  static constexpr std::uint8_t kNegative = 1, kZero = 2, kPositive = 4;
  static constexpr std::uint8_t kNumber = kNegative | kZero | kPositive;
  // No number, for some data: a quotient by 0, the root of a negative number.
  static constexpr std::uint8_t kUndefined = 8;

  std::uint8_t may_be = kNumber | kUndefined;

  [[nodiscard]] bool is_number() const { return (may_be & kUndefined) == 0; }
  // What is known of a number makes no other number of it.
  friend bool operator==(const ExactRange&, const ExactRange&) { return true; }
};

// The ranges of results.  What is not defined for an operand is not defined.
[[nodiscard]] ExactRange range_of(double number);
[[nodiscard]] ExactRange range_of_negative(ExactRange a);
[[nodiscard]] ExactRange range_of_sum(ExactRange a, ExactRange b);
[[nodiscard]] ExactRange range_of_product(ExactRange a, ExactRange b);
[[nodiscard]] ExactRange range_of_quotient(ExactRange a, ExactRange b);
[[nodiscard]] ExactRange range_of_extremum(bool is_greatest, ExactRange a, ExactRange b);
[[nodiscard]] ExactRange range_of_absolute(ExactRange a);
[[nodiscard]] ExactRange range_of_root(ExactRange a);
[[nodiscard]] ExactRange range_of_logarithm(ExactRange a);
// Of a function that is defined for every number, and has these signs.
[[nodiscard]] ExactRange range_of_function(std::uint8_t signs, ExactRange a);

struct ExactValue;
// The outcome of a comparison of two floats that all finite data shows; nothing: it depends on
// data, or is not known.
[[nodiscard]] std::optional<bool> outcome_of(ptx::Compare compare, const ExactValue& a,
                                             const ExactValue& b);

}  // namespace warpcheck::vgpu
