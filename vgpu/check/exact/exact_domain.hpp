// The shadow values of a run in exact arithmetic: what each number of a kernel is as a function of
// the data, at a random point (exact_numbers.hpp).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "vgpu/check/exact/exact_numbers.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/check/shadow/shadow_domain.hpp"

namespace warpcheck::vgpu {

class ExactDomain {
 public:
  using Value = ExactValue;
  using Operand = ShadowOperand<Value>;
  static constexpr bool kTrustsBits = false;

  explicit ExactDomain(ExactNumbers& numbers) : numbers_(numbers) {}

  // Where data has decided something first.
  struct Decision {
    ShadowDecision what{};
    AccessSide at;
  };
  [[nodiscard]] const std::optional<Decision>& decision() const { return decision_; }
  // Refers to whether data has decided something; for Limits::enough.
  [[nodiscard]] const bool& is_decided() const { return is_decided_; }

  static bool is_data(const Value& value) { return value.is_data; }
  static ptx::Type type_of(const Value& value);
  static std::optional<Value> widened(const Value& value);
  // Constants in floats are calculated with exactly, too: 1.0f / 3 is a third.
  static bool lifts(const ShadowOperation& operation);
  std::optional<Value> constant(std::uint64_t bits, ptx::Type type);
  std::optional<Value> apply(const ShadowStep&, const ShadowOperation& operation,
                             std::span<const Operand> operands, const std::uint64_t*);
  // A comparison of constants is not one of data, a NaN is neither less nor greater than data, and
  // an outcome that all finite data shows is decided by none.
  static bool compare(const ShadowStep&, const ShadowOperation& operation,
                      std::span<const Operand> operands, bool outcome);
  std::optional<Value> select(const ShadowStep&, const ShadowComparison<Value>& comparison,
                              const Value& if_true, const Value& if_false);
  void decided(const ShadowStep& step, ShadowDecision what, std::uint32_t site);

 private:
  std::optional<Value> of_numbers(const ShadowOperation& operation,
                                  std::span<const Operand> operands);
  std::optional<Value> of_infinities(const ShadowOperation& operation,
                                     std::span<const Operand> operands, const std::uint64_t* bits);
  void note_whole(const ShadowOperation& operation, std::span<const Operand> operands,
                  const Value& result);
  std::optional<Value> of_floats(const ShadowOperation& operation,
                                 std::span<const Operand> operands);
  std::optional<Value> of_integers(const ShadowOperation& operation,
                                   std::span<const Operand> operands);
  [[nodiscard]] static bool rounds_or_saturates(const ShadowOperation& operation);
  std::optional<Value> of_name(const ShadowOperation& operation, std::span<const Operand> operands);
  std::optional<std::uint64_t> constant_bits(const Operand& number);
  std::optional<Value> of_sign(const ShadowOperation& operation, std::span<const Operand> operands);
  std::optional<Value> converted(const ShadowOperation& operation, const Value& value);
  std::optional<Value> multiply_add(const Value& a, const Value& b, const Value& c);
  std::optional<Value> difference(const Value& a, const Value& b);
  std::optional<Value> reciprocal(const std::optional<Value>& value);
  using Comparison = ShadowComparison<Value>;
  [[nodiscard]] std::optional<Comparison> comparison_behind(const Comparison& comparison) const;
  std::optional<Value> indicator(const Comparison& comparison, bool is_inverse, unsigned bits);

  ExactNumbers& numbers_;
  // What integers that are 1 or 0 by a comparison stand for, by payload.
  std::map<std::uint64_t, Comparison> indicators_;
  // Numbers in [0, 1], and whole numbers that expf() makes of them, by payload.
  std::set<std::uint64_t> saturated_, whole_;
  std::optional<Decision> decision_;
  bool is_decided_ = false;
};

}  // namespace warpcheck::vgpu
