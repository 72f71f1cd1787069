// Shadow values with more digits: beside each float that a kernel computes, what it would be if
// nothing had been rounded since the host gave the data.
//
// The digits are those of a double-double (106 bits).  With it travels the line at which most of
// the error was made, and the cancellation that has made it matter, and how far it moves if the
// data are other by a rounding error.  What the domain does not know (sines, bits of floats that
// are taken apart) is taken as the kernel has it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/check/precision/double_double.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/check/shadow/shadow_domain.hpp"

namespace warpcheck::vgpu {

// What was seen of one instruction.
struct PrecisionSite {
  const Program* program = nullptr;
  std::uint32_t pc = 0;
  std::string kernel;
  AccessSide side;                   // the first lane of which something was seen
  ptx::Type type = ptx::Type::none;  // of the results
  std::uint64_t executed = 0;        // by lanes, on numbers that are followed
  // Sums of which an addend was not 0 and has changed nothing.
  std::uint64_t absorbed = 0;
  bool overflows = false;  // its result is infinite, and the exact one is not
  // The most leading bits that have cancelled where an operand had an error.
  int cancelled_bits = 0;
  // Comparisons that turn out otherwise without rounding: whether there are any, with the operands
  // of the first one, and how many decide what the kernel does.
  bool turns = false;
  std::uint64_t unstable = 0;
  double a = 0, b = 0, exact_a = 0, exact_b = 0;
};

// How far a value moves if each datum of the host moves by half a unit in its last place or less,
// for some random directions: an error of that size says nothing against a kernel, because data
// that are measured or calculated have it themselves.  Equal data move alike.  Whole numbers and
// numbers with few digits are exact, as literals are as a rule.
using Moved = std::array<float, 4>;
inline double largest(const Moved& moved) {
  float most = 0;
  for (const float one : moved) most = std::max(most, std::abs(one));
  return static_cast<double>(most);
}

class PrecisionDomain {
 public:
  explicit PrecisionDomain(const Reporter& reporter) : reporter_(&reporter) {}
  static constexpr std::uint32_t kNoSite = ptx::kNone;
  struct Value {
    DoubleDouble exact{};
    std::uint32_t made_at = kNoSite;       // index of a site: where most of the error was made
    std::uint32_t cancelled_at = kNoSite;  // where most of the leading bits have cancelled since
    std::int32_t cancelled_bits = 0;
    ptx::Type type = ptx::Type::none;
    bool was_infinite = false;  // the kernel has had an infinity on the way to it
    Moved moved{};
    friend bool operator==(const Value&, const Value&) = default;
  };
  static constexpr bool kTrustsBits = true;
  static bool lifts(const ShadowOperation& operation);
  static std::optional<Value> constant(std::uint64_t bits, ptx::Type type);
  static std::optional<Value> literal(std::uint64_t bits, ptx::Type type);
  // The value of a double that code has put together of the lower word of a value and another
  // upper word; nothing: it is not the value times a power of two, or its negative.
  static std::optional<Value> rescaled(const Value& value, std::uint64_t bits);
  static ptx::Type type_of(const Value& value) { return value.type; }
  // The value of the float that a bf16 becomes; nothing: it is no bf16.
  static std::optional<Value> widened(const Value& value) {
    if (value.type != ptx::Type::bf16) return std::nullopt;
    Value result = value;
    result.type = ptx::Type::f32;
    return result;
  }
  std::optional<Value> apply(const ShadowStep& step, const ShadowOperation& operation,
                             std::span<const ShadowOperand<Value>> operands,
                             const std::uint64_t* result);
  bool compare(const ShadowStep& step, const ShadowOperation& operation,
               std::span<const ShadowOperand<Value>> operands, bool outcome);
  // The side that is selected without rounding, if the other one is as good: |x| near 0, or the
  // two sides of a compensated sum.
  static std::optional<Value> select(const ShadowStep& step,
                                     const ShadowComparison<Value>& comparison,
                                     const Value& if_true, const Value& if_false);
  void outcome_used(const ShadowStep& at);
  void decided(const ShadowStep&, ShadowDecision, std::uint32_t) {}

  [[nodiscard]] const std::vector<PrecisionSite>& sites() const { return sites_; }

 private:
  static std::optional<Value> of_exponent(const ShadowOperation& operation,
                                          std::span<const ShadowOperand<Value>> operands,
                                          const std::uint64_t* result_bits);
  static std::optional<Value> extreme_of(std::span<const ShadowOperand<Value>> operands,
                                         bool is_largest);
  std::uint32_t site_of(const ShadowStep& step);
  [[nodiscard]] AccessSide side_of(const ShadowStep& step) const {
    return reporter_->side("compute", *step.program, step.pc, thread_of(step.place, step.lane));
  }

  const Reporter* reporter_;
  std::vector<PrecisionSite> sites_;
  std::unordered_map<const Program*, std::vector<std::uint32_t>> numbers_;  // by pc
  const Program* last_program_ = nullptr;
  std::vector<std::uint32_t>* last_numbers_ = nullptr;  // of last_program_
};

// Returns the number that bits are in a format; NaN for other types.
double float_of_bits(std::uint64_t bits, ptx::Type type);
// Returns the unit in the last place of a number in a format.
double unit_in_last_place(double value, ptx::Type type);
// Returns the distance of what the kernel has from the exact value.  What an infinity leaves where
// it is divided away is right beside 1: 1 / (1 + exp(x)).
double error_of(double computed, const PrecisionDomain::Value& value);
// Returns it in units in the last place of the exact value.
double error_in_ulps(double computed, const PrecisionDomain::Value& value);

}  // namespace warpcheck::vgpu
