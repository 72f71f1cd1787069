// Test helper: the domain whose values are the kernel's own bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/check/shadow/shadow_domain.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// A value is the bits that the kernel has where it is made, so a value that is carried to the wrong
// place differs from what is there.
struct TwinDomain {
  struct Value {
    std::uint64_t bits = 0;
    friend bool operator==(const Value&, const Value&) = default;
  };
  static constexpr bool kTrustsBits = false;
  static bool lifts(const ShadowOperation&) { return false; }
  static std::optional<Value> constant(std::uint64_t bits, ptx::Type) { return Value{bits}; }
  std::optional<Value> apply(const ShadowStep&, const ShadowOperation& operation,
                             std::span<const ShadowOperand<Value>> operands,
                             const std::uint64_t* result) {
    for (const ShadowOperand<Value>& one : operands) {
      if (one.is_plain || one.value.bits == one.bits || result == nullptr) continue;
      ADD_FAILURE() << "an operand of " << ptx::name_of(operation.opcode) << " is another value";
    }
    if (operation.opcode == ptx::Opcode::popc_) return std::nullopt;
    if (result != nullptr) return Value{*result};
    if (operation.opcode == ptx::Opcode::max_)
      return Value{std::max(operands[0].value.bits, operands[1].value.bits)};
    const std::uint64_t sum = operands[0].value.bits + operands[1].value.bits;
    return Value{sum & 0xffff'ffff};
  }
  static bool compare(const ShadowStep&, const ShadowOperation&,
                      std::span<const ShadowOperand<Value>>, bool) {
    return false;
  }
  static std::optional<Value> select(const ShadowStep&, const ShadowComparison<Value>& comparison,
                                     const Value& if_true, const Value& if_false) {
    if (comparison.compare != ptx::Compare::gt) return std::nullopt;
    return Value{std::max(if_true.bits, if_false.bits)};
  }
  void decided(const ShadowStep& step, ShadowDecision decision, std::uint32_t) {
    decisions.emplace_back(decision, step.program->source_of(step.pc).text);
  }
  std::vector<std::pair<ShadowDecision, std::string>> decisions;
};

}  // namespace warpcheck::vgpu
