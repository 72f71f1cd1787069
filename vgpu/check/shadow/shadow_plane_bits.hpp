// ShadowPlane: instructions on bits that move whole bytes of their operands.
#pragma once

#include "vgpu/check/shadow/shadow_bits.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"

namespace warpcheck::vgpu {

// Finds the bytes of the results that are bytes of the operands, or constants.  Gives the results
// of those of the lanes of which all are, and returns these lanes; of the others, what there is is
// kept for results for which the domain has no rule (moved_parts).
template <class Domain>
std::uint32_t ShadowPlane<Domain>::move_bits(std::uint32_t lanes) {
  const Instr& instr = *current_.instr;
  const Ref& to = instr[ComputeOperand::d];
  ShadowRegisters<Value>& registers = current_.warp->registers;
  std::uint32_t moved = 0;
  current_.moved_parts.clear();
  if (!is_register(to)) return 0;
  const std::uint32_t bytes = ShadowRegisters<Value>::bytes_of(to);
  for_each_lane(lanes, [&](unsigned lane) {
    ShadowBits operands;
    Cells sources;  // eight bytes for each
    for (unsigned i = 0; i < 4; ++i) {
      const Ref& ref = instr[kComputeSources[i]];
      if (ref.bank == Bank::none || ref.bank == Bank::predicate) continue;
      // A constant's row is as wide as the result's, but for an amount of a shift.
      const bool is_wide = ref.bank == Bank::wide || (ref.bank == Bank::constant && bytes == 8 &&
                                                      current_.rule->types[i] != ptx::Type::u32);
      operands.value[i] = current_.frame.bits_of(ref, lane, 0, is_wide ? 8 : 4);
      if (!is_register(ref)) continue;
      sources.copy(std::uint64_t{8} * i, registers.cells(ref), current_.frame.byte_of(ref, lane),
                   ShadowRegisters<Value>::bytes_of(ref));
      for (unsigned byte = 0; byte < 8; ++byte) {
        if (sources.byte(std::uint64_t{8} * i + byte).state != ShadowState::plain)
          operands.of_data[i] |= static_cast<std::uint8_t>(1u << byte);
      }
    }
    const ShadowBytes found = shadow_bytes_of(instr, operands);
    if (!found.is_known) return;
    bool is_whole = true, is_part = false, is_any = false;
    std::array<typename Cells::Byte, 8> parts{};
    for (unsigned byte = 0; byte < bytes; ++byte) {
      const ShadowByte& from = found.bytes[byte];
      is_whole = is_whole && from.kind != ShadowByte::Kind::mixed;
      if (from.kind == ShadowByte::Kind::mixed)
        parts[byte] = {.site = site(), .state = ShadowState::lost};
      if (from.kind != ShadowByte::Kind::moved) continue;
      parts[byte] = sources.byte(std::uint64_t{8} * from.operand + from.byte);
      is_any = true;
      is_part |= parts[byte].bytes > 2;
    }
    // A conversion of an integer is the domain's.
    is_whole = is_whole && !(instr.opcode == ptx::Opcode::cvt_ && is_part);
    if (!is_whole) {
      if (is_any) current_.moved_parts.emplace(lane, parts);
      return;
    }
    moved |= 1u << lane;
    put_parts(to, lane, parts);
  });
  return moved;
}

template <class Domain>
void ShadowPlane<Domain>::put_parts(const Ref& to, unsigned lane,
                                    const std::array<typename Cells::Byte, 8>& parts) {
  Cells& cells = current_.warp->registers.cells(to);
  const std::uint64_t at = current_.frame.byte_of(to, lane);
  for (unsigned byte = 0; byte < ShadowRegisters<Value>::bytes_of(to); ++byte)
    cells.put_byte(at + byte, parts[byte]);
}

}  // namespace warpcheck::vgpu
