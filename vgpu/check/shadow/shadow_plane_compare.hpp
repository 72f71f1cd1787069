// ShadowPlane: comparisons, and predicates from predicates.
#pragma once

#include "vgpu/check/shadow/shadow_plane.hpp"

namespace warpcheck::vgpu {

// Combines a comparison with a predicate that is known.  Returns false if that decides alone.
template <class Domain>
bool ShadowPlane<Domain>::combines(unsigned lane, ShadowComparison<Value>& comparison) const {
  const bool is_set = (current_.combined >> lane & 1u) != 0;
  switch (current_.instr->modifiers.bool_op) {
    case ptx::BoolOp::none: return true;
    case ptx::BoolOp::and_: return is_set;
    case ptx::BoolOp::or_: return !is_set;
    case ptx::BoolOp::xor_:
      if (is_set) comparison.compare = inverse_of(comparison.compare);
      return true;
  }
  return true;
}

template <class Domain>
void ShadowPlane<Domain>::compare(const ShadowRule& rule) {
  const Instr& instr = *current_.instr;
  ShadowRegisters<Value>& registers = current_.warp->registers;
  std::uint32_t lost = 0, lost_at = kNoSite;
  // The predicate that a comparison is combined with.
  const Ref& with = instr[CompareOperand::c];
  if (with.bank == Bank::predicate && instr.modifiers.bool_op != ptx::BoolOp::none) {
    const auto& predicates = registers.predicates(current_.frame.index_of_predicate(with));
    lost = predicates.lost;
    lost_at = kFollowsOutcomes ? predicates.site : site();
  }
  for (std::uint32_t element = 0; element < rule.elements; ++element) {
    const Ref& to =
        rule.elements == 1 || element == 0 ? instr[CompareOperand::p] : instr[CompareOperand::q];
    if (to.bank != Bank::predicate) continue;
    auto& predicates = registers.predicates(current_.frame.index_of_predicate(to));
    predicates.make_plain(current_.step.active);
    const std::uint32_t outcomes = current_.frame.predicate_of(to);
    std::uint32_t lost_now = lost;
    for_each_lane(current_.calculated[element], [&](unsigned lane) {
      const std::span<const Operand> operands(current_.operands[element][lane].data(),
                                              rule.sources);
      const bool is_lost = (current_.lost[element] >> lane & 1u) != 0;
      if (Domain::kTrustsBits && (is_lost || rule.sources != 2)) return;
      const bool is_decided =
          !is_lost && rule.sources == 2 &&
          domain_.compare(here(lane), rule.operation, operands, (outcomes >> lane & 1u) != 0);
      const bool is_plain =
          std::ranges::all_of(operands, [](const Operand& one) { return one.is_plain; });
      if (is_decided || (is_plain && !is_lost)) return;
      ShadowComparison<Value> comparison{instr.modifiers.compare, rule.operation.type,
                                         operands[0].value, operands[1].value, true};
      const bool is_combined_with_data = (lost >> lane & 1u) != 0;
      if (!is_combined_with_data && !combines(lane, comparison)) return;
      lost_now |= 1u << lane;
      if (is_lost || rule.sources != 2 || is_combined_with_data) return;
      predicates.set(lane, comparison, site());
    });
    const std::uint32_t all = lost_now & current_.step.active;
    for_each_lane(all, [&](unsigned lane) {
      const bool is_set = (predicates.lost >> lane & 1u) != 0;
      if (!is_set) predicates.lose(1u << lane, (lost >> lane & 1u) != 0 ? lost_at : site());
    });
    if (rule.elements == 1 && instr[CompareOperand::q].bank == Bank::predicate) {
      auto& other =
          registers.predicates(current_.frame.index_of_predicate(instr[CompareOperand::q]));
      other.make_plain(current_.step.active);
      other.lose(all, predicates.site);
    }
  }
}

// Numbers by comparisons (set): those are constants whose comparison data does not decide.
template <class Domain>
void ShadowPlane<Domain>::set_numbers(const ShadowRule& rule) {
  const Instr& instr = *current_.instr;
  const bool is_alone = instr.modifiers.bool_op == ptx::BoolOp::none && rule.sources == 2;
  const std::uint32_t bytes = 4 / rule.elements;
  std::uint32_t by_data = 0;
  for (std::uint32_t element = 0; element < rule.elements; ++element) {
    for_each_lane(current_.calculated[element], [&](unsigned lane) {
      const std::span<const Operand> operands(current_.operands[element][lane].data(),
                                              rule.sources);
      const bool is_lost = (current_.lost[element] >> lane & 1u) != 0;
      if (Domain::kTrustsBits && is_lost) return;
      const bool outcome =
          current_.frame.bits_of(instr[ComputeOperand::d], lane, element * bytes, bytes) != 0;
      const bool is_decided =
          is_alone && !is_lost && domain_.compare(here(lane), rule.operation, operands, outcome);
      if (!is_decided) by_data |= 1u << lane;
    });
  }
  lose_results(by_data);
}

// Predicates from predicates: what a known operand decides alone is known, and with one that does
// not the other remains a comparison.
template <class Domain>
void ShadowPlane<Domain>::combine_predicates() {
  const Instr& instr = *current_.instr;
  ShadowRegisters<Value>& registers = current_.warp->registers;
  std::uint32_t lost = 0, twice = 0, decided = 0, odd = 0, where = kTorn;
  std::array<ShadowComparison<Value>, kWarpLanes> comparisons{};
  for (const ComputeOperand operand : kComputeSources) {
    const Ref& ref = instr[operand];
    if (ref.bank != Bank::predicate && ref.bank != Bank::none) twice = ~0u;
    if (ref.bank != Bank::predicate) continue;
    const auto& predicates = registers.predicates(current_.frame.index_of_predicate(ref));
    const std::uint32_t value = current_.frame.predicate_of(ref);
    if ((predicates.lost & current_.step.active) != 0) where = predicates.site;
    for_each_lane(predicates.compared == nullptr ? 0 : predicates.lost & current_.step.active,
                  [&](unsigned lane) { comparisons[lane] = (*predicates.compared)[lane]; });
    twice |= lost & predicates.lost;
    lost |= predicates.lost;
    if (instr.opcode == ptx::Opcode::and_) decided |= ~predicates.lost & ~value;
    if (instr.opcode == ptx::Opcode::or_) decided |= ~predicates.lost & value;
    if (instr.opcode == ptx::Opcode::xor_) odd ^= ~predicates.lost & value;
  }
  if (instr.opcode == ptx::Opcode::not_) odd = ~0u;
  lost &= current_.step.active & ~decided;
  const Ref& to = instr[ComputeOperand::d];
  if (to.bank != Bank::predicate) return lose_results(lost);
  auto& result = registers.predicates(current_.frame.index_of_predicate(to));
  result.make_plain(current_.step.active);
  result.lose(lost, where);
  for_each_lane(lost & ~twice, [&](unsigned lane) {
    ShadowComparison<Value> comparison = comparisons[lane];
    if (!comparison.is_known) return;
    if ((odd >> lane & 1u) != 0) comparison.compare = inverse_of(comparison.compare);
    result.set(lane, comparison, where);
  });
}

}  // namespace warpcheck::vgpu
