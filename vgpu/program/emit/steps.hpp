// Steps into which other instructions are split.
#pragma once

#include <initializer_list>

#include "vgpu/program/emit/emission.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kWholeWarp = 0xffffffffu;  // a member mask
// Intermediate rows of tensor_copy.
inline constexpr std::uint32_t kTensorWordRows = 4, kTensorAddressRows = 5;

// Pushes a compute instruction that is a part of `base`, with its guard.
void push_compute(Emission& e, const Instr& base, ptx::Opcode opcode, ptx::Type type,
                  ptx::Type from, const ComputeRows& rows, std::uint8_t vector = 1);
// Pushes a compute instruction without a guard, and returns the new row with its result.
Ref calculate(Emission& e, const ptx::Instruction& in, ptx::Opcode opcode, ptx::Modifiers modifiers,
              std::initializer_list<Ref> sources, Bank bank);
Ref calculate(Emission& e, const ptx::Instruction& in, ptx::Opcode opcode, ptx::Type type,
              std::initializer_list<Ref> sources);
// Returns the 64-bit address that an operand names, including its offset.
Ref address_row(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand, Place place);
// The same for an operand in .shared::cluster, or for a generic address there.
Ref cluster_address_row(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand,
                        ptx::Space space);
// Returns the shared address of a generic one.
//   for_program: as the program has it; false: as operands have it (shared_windows.hpp)
Ref to_shared(Emission& e, const ptx::Instruction& in, Ref address, bool for_program);
// Returns the value of a word row, extended to 64 bits.
Ref widened(Emission& e, const ptx::Instruction& in, Ref word);
void copy_row(Emission& e, const ptx::Instruction& in, Ref to, Ref from, bool guarded);
Ref lane_number(Emission& e, const ptx::Instruction& in);
// Returns the word of another lane.
Ref shuffled(Emission& e, const ptx::Instruction& in, Ref value, Ref lane);

}  // namespace warpcheck::vgpu
