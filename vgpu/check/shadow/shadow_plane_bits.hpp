// ShadowPlane: instructions on bits that move whole halves of their operands.
#pragma once

#include "vgpu/check/shadow/shadow_bits.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"

namespace warpcheck::vgpu {

// Gives the results of those of the lanes whose halves are moved or are constants, and returns
// these lanes.
template <class Domain>
std::uint32_t ShadowPlane<Domain>::move_bits(std::uint32_t lanes) {
  const Instr& instr = *current_.instr;
  const Ref& to = instr[ComputeOperand::d];
  ShadowRegisters<Value>& registers = current_.warp->registers;
  std::uint32_t moved = 0;
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
                   ShadowRegisters<Value>::bytes_of(ref), kTorn);
      for (unsigned half = 0; half < 4; ++half) {
        if (sources.cell(4 * i + half).state != ShadowState::plain)
          operands.of_data[i] |= static_cast<std::uint8_t>(1u << half);
      }
    }
    const ShadowHalves halves = shadow_halves_of(instr, operands);
    bool is_moved = halves.is_known;
    for (unsigned half = 0; half < bytes / 2; ++half) {
      const ShadowHalf& from = halves.halves[half];
      is_moved = is_moved && from.kind != ShadowHalf::Kind::mixed;
      // A conversion of an integer is the domain's.
      const bool is_part = from.kind == ShadowHalf::Kind::moved &&
                           sources.cell(4u * from.operand + from.half).bytes > 2;
      if (instr.opcode == ptx::Opcode::cvt_ && is_part) is_moved = false;
    }
    if (!is_moved) return;
    moved |= 1u << lane;
    const std::uint64_t first = current_.frame.byte_of(to, lane) / 2;
    for (unsigned half = 0; half < bytes / 2; ++half) {
      const ShadowHalf& from = halves.halves[half];
      registers.cells(to).put(first + half, from.kind == ShadowHalf::Kind::plain
                                                ? typename Cells::Cell{}
                                                : sources.cell(4u * from.operand + from.half));
    }
  });
  return moved;
}

}  // namespace warpcheck::vgpu
