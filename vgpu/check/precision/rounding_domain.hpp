// Shadow values for the agreement within_rounding(): beside each float of a kernel, what it would
// be if nothing had been rounded, and a bound of its distance from that.
//
// The bound is that of running error analysis (Wilkinson; Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., 3.3): an operation adds u * |result| to what reaches the result of
// its operands' bounds.  u is the unit roundoff of its type, but of an operation in a type with
// fewer digits than the declared one it is that of the declared type: who declares float and adds
// up in half has no excuse.  A conversion adds what it has rounded away, in any type, because a
// half that is stored is what the program says; one after the fourth of a chain is a sum in half.
// Approximations add their documented errors (PTX ISA).
//
// What there is no rule for is lost, and no result that depends on it has a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/precision/double_double.hpp"
#include "vgpu/check/shadow/shadow_domain.hpp"

namespace warpcheck::vgpu {

class RoundingDomain {
 public:
  // declared: the type in which the kernel says that it calculates
  explicit RoundingDomain(ptx::Type declared) : declared_(declared) {}

  struct Value {
    // Of bits that are no float: not used.
    DoubleDouble exact{};
    // Infinite: an overflow.  0: the bits are the exact value.
    double bound = 0;
    std::uint32_t made_at = ptx::kNone;  // index of a site: where most of the error was made
    std::uint8_t narrowings = 0;         // conversions to fewer digits that have rounded it
    ptx::Type type = ptx::Type::none;
    friend bool operator==(const Value&, const Value&) = default;
  };
  using Operand = ShadowOperand<Value>;
  static constexpr bool kTrustsBits = false;
  static bool lifts(const ShadowOperation& operation);
  static std::optional<Value> constant(std::uint64_t bits, ptx::Type type);
  // The value of a double that code has put together of the lower word of a value and another
  // upper word; nothing: it is not the value times a power of two, or its negative.
  static std::optional<Value> rescaled(const Value& value, std::uint64_t bits);
  // Of bits that are no float the type says nothing.
  static ptx::Type type_of(const Value& value) {
    return ptx::is_float(value.type) ? value.type : ptx::Type::none;
  }
  // The value of the float that a bf16 becomes; nothing: it is no bf16.
  static std::optional<Value> widened(const Value& value) {
    if (value.type != ptx::Type::bf16) return std::nullopt;
    Value result = value;
    result.type = ptx::Type::f32;
    return result;
  }
  std::optional<Value> apply(const ShadowStep& step, const ShadowOperation& operation,
                             std::span<const Operand> operands, const std::uint64_t* result);
  // The kernel's side of a branch is followed.
  static bool compare(const ShadowStep&, const ShadowOperation&, std::span<const Operand>, bool) {
    return true;
  }
  static std::optional<Value> select(const ShadowStep&, const ShadowComparison<Value>&,
                                     const Value&, const Value&) {
    return std::nullopt;
  }
  void decided(const ShadowStep&, ShadowDecision, std::uint32_t) {}

  [[nodiscard]] const std::vector<AccessSide>& sites() const { return sites_; }

 private:
  struct Numbers;
  static Numbers numbers_of(const ShadowOperation& operation, std::span<const Operand> operands,
                            bool has_result);
  std::uint32_t site_of(const ShadowStep& step);
  static std::optional<Value> of_bits(const ShadowOperation& operation,
                                      std::span<const Operand> operands,
                                      const std::uint64_t* result);
  static std::optional<Value> of_exponent(const ShadowOperation& operation,
                                          std::span<const Operand> operands,
                                          const std::uint64_t* result);
  static std::optional<Value> of_digits(const ShadowOperation& operation,
                                        std::span<const Operand> operands,
                                        const std::uint64_t* result);
  static std::optional<Value> extremum(const ShadowOperation& operation,
                                       std::span<const Operand> operands, const Numbers& in,
                                       const std::uint64_t* result);
  std::optional<Value> of_specials(const ShadowStep& step, const ShadowOperation& operation,
                                   std::span<const Operand> operands, const Numbers& in,
                                   const std::optional<DoubleDouble>& truth);
  [[nodiscard]] double rounding_of(const ShadowOperation& operation, const Numbers& in,
                                   double actual, std::uint8_t narrowings) const;

  ptx::Type declared_;
  std::vector<AccessSide> sites_;
  std::unordered_map<const Program*, std::vector<std::uint32_t>> numbers_;  // by pc
};

// Returns half a unit in the last place of 1 in a format.
double unit_roundoff_of(ptx::Type type);
double smallest_normal_of(ptx::Type type);

}  // namespace warpcheck::vgpu
