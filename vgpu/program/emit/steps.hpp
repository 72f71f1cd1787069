// Instructions that others are taken apart into.
#pragma once

#include <initializer_list>

#include "vgpu/program/emit/emission.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kWholeWarp = 0xffffffffu;  // as a member mask
// Of tensor_copy, for what is on its way.
inline constexpr std::uint32_t kTensorWordRows = 4, kTensorAddressRows = 5;

// A compute instruction that stands for a part of `base`, with its guard.
void push_compute(Emission& e, const Instr& base, ptx::Opcode opcode, ptx::Type type,
                  ptx::Type from, const ComputeRows& rows, std::uint8_t vector = 1);
// A compute instruction without a guard, whose result is a new row.
Ref calculate(Emission& e, const ptx::Instruction& in, ptx::Opcode opcode, ptx::Modifiers modifiers,
              std::initializer_list<Ref> sources, Bank bank);
Ref calculate(Emission& e, const ptx::Instruction& in, ptx::Opcode opcode, ptx::Type type,
              std::initializer_list<Ref> sources);
// The address that an operand names, with its offset, in 64 bits.
Ref address_row(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand);
// The value of a row of words in 64 bits.
Ref widened(Emission& e, const ptx::Instruction& in, Ref word);
void copy_row(Emission& e, const ptx::Instruction& in, Ref to, Ref from, bool guarded);
Ref lane_number(Emission& e, const ptx::Instruction& in);
// The word of another lane.
Ref shuffled(Emission& e, const ptx::Instruction& in, Ref value, Ref lane);

}  // namespace warpcheck::vgpu
