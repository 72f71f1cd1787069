// Votes, shuffles and barriers of a warp.
#include <algorithm>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"
#include "vgpu/symbolic/instructions.hpp"

namespace warpcheck::vgpu::symbolic {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void Instructions::warp_operation(Step& step) {
  const ptx::Instruction& text = step.instruction;
  bool waits = text.modifiers.sync || text.modifiers.warp;
  if (waits) {
    const std::size_t members = text.operands.size() - 1;
    const Value mask = read(step, members);
    const bool is_of_active = is_mask_of_active(step, mask);
    const auto all = mask.is_integer() ? number_in(*mask.term) : std::nullopt;
    if (!is_of_active && (!all || (*all & 0xffffffff) != 0xffffffff)) {
      throw NotFollowed(text.location, "a mask of a part of a warp");
    }
    if (is_of_active) {
      waits = false;
    } else if (step.events != nullptr) {
      step.events->warp_steps.push_back({step.number, step.state.path, step.prefix});
    }
  }
  if (text.modifiers.warp) return;
  const Operand& target = text.operands.at(0);
  const bool is_of_warp = waits && gives_one_value(step);
  const Type type = text.opcode == Opcode::vote_ && text.modifiers.vote != ptx::VoteMode::ballot
                        ? Type::pred
                        : Type::b32;
  const auto result = [&](Type of) {
    const Value value = unknown_value(step, of);
    if (is_of_warp) {
      for (const std::uint32_t index : symbols_.in(*value.term)) {
        symbols_.at(index).is_of_warp = true;
      }
    }
    return value;
  };
  if (text.opcode == Opcode::activemask_) {
    const Value mask = result(type);
    symbols_.of(*mask.term).active_mask_of = step.number;
    return write(step, target, mask);
  }
  if (target.kind != Operand::Kind::vector) return write(step, target, result(type));
  write(step, target.parts.at(0), result(type));
  write(step, target.parts.at(1), result(Type::pred));
}

// Whether a mask is that of the lanes that execute the operation, which waits for no others then:
// it was asked for just before.
bool Instructions::is_mask_of_active(Step& step, const Value& mask) {
  if (!mask.is_integer() || !mask.term->is_const() || mask.term->is_numeral()) return false;
  const std::uint32_t asked = symbols_.of(*mask.term).active_mask_of;
  if (asked == ptx::kNone || asked > step.number) return false;
  for (std::uint32_t at = asked; at < step.number; ++at) {
    using ptx::Family;
    const Family family = ptx::row_of(kernel_.body[at].opcode).family;
    const bool goes_on = family == Family::compute || family == Family::move ||
                         family == Family::memory || family == Family::warp ||
                         family == Family::nothing;
    if (!goes_on || kernel_.body[at].guard != ptx::kNone) return false;
  }
  return step.instruction.guard == ptx::kNone;
}

// Whether all lanes of the warp get the same result.
bool Instructions::gives_one_value(Step& step) {
  const ptx::Instruction& text = step.instruction;
  if (text.opcode == Opcode::vote_ || text.opcode == Opcode::redux_) return true;
  if (text.opcode != Opcode::shfl_ || text.modifiers.shuffle != ptx::ShuffleMode::idx) return false;
  // shfl.sync.idx d, a, lane, clamp and segments, mask
  constexpr Integer kWholeWarp = 31;
  const Value lane = read(step, 2), segments = read(step, 3);
  if (!lane.is_integer() || !segments.is_integer()) return false;
  const auto segment = number_in(*segments.term);
  return segment && *segment == kWholeWarp &&
         std::ranges::all_of(symbols_.in(*lane.term), [&](std::uint32_t index) {
           const Symbol& symbol = symbols_.at(index);
           return symbol.level != Level::thread || symbol.is_of_warp;
         });
}

}  // namespace warpcheck::vgpu::symbolic
