// The state that the emitters of one function share: its frame, its parameters, its control flow,
// and the operands of its text as rows.  Internal to vgpu/program.
#pragma once

#include <cstdint>

#include "vgpu/program/emit/constants.hpp"
#include "vgpu/program/emit/context.hpp"
#include "vgpu/program/emit/control_flow.hpp"
#include "vgpu/program/emit/frame.hpp"
#include "vgpu/program/emit/params.hpp"

namespace warpcheck::vgpu {

// The memory that an address operand leads to.
struct Place {
  ptx::Space space;
  bool of_cluster = false;  // .shared::cluster
};

class Emission {
 public:
  Emission(const Instance& instance, Layout& layout, ConstantRows& constants, Program& program);

  const Instance& instance;
  const ptx::Function& function;
  Layout& layout;
  ConstantRows& constants;
  Program& program;
  FunctionContext context;
  Frame frame;
  ParamPlaces params;
  ControlFlow flow;
  std::uint32_t next_block = ptx::kNone;  // the block after the one that is being emitted

  // Returns an instruction for the place of `in`, with its opcode, modifiers and guard.
  Instr begin(const ptx::Instruction& in);
  void push(const Instr& instruction);
  void push_refusal(Instr& out, const std::string& why);
  [[noreturn]] void refuse(const ptx::Instruction& in, const std::string& why) const {
    context.refuse(in, why);
  }
  // Refuses a form that is not in forms.def.
  void require_form(const ptx::Instruction& in) const;

  // Return operands as rows (operands.cpp).  Instructions that compute them are pushed.
  Ref source(const ptx::Instruction& in, const ptx::Operand& operand, ptx::Type type);
  Ref destination(const ptx::Instruction& in, const ptx::Operand& operand) const;
  // Returns the row of an address in the instruction's own state space, and sets out.displacement
  // to the constant part.
  Ref address(const ptx::Instruction& in, const ptx::Operand& operand, Instr& out) {
    return address(in, operand, {in.modifiers.space, in.modifiers.cluster}, out);
  }
  Ref address(const ptx::Instruction& in, const ptx::Operand& operand, Place place, Instr& out);
  // Returns the offset in the executing block's shared memory of an address that the program has.
  Ref without_rank(const ptx::Instruction& in, const Ref& address);
  // Makes the rank of the executing block available to the code that follows.
  void find_own_window(const ptx::Instruction& first);
  // Returns the first of the two rows of a .b128 register; none for the sink.
  Ref quad(const ptx::Instruction& in, const ptx::Operand& operand) const;
  // Returns the address of the byte at `offset` of the frame's local memory.
  Ref local_address(const ptx::Instruction& in, std::int64_t offset, bool is_wide);

 private:
  Ref immediate(const ptx::Operand& operand, ptx::Type type);
  Ref variable_address(const ptx::Instruction& in, const ptx::Operand& operand, bool is_wide);
  Ref with_rank(const ptx::Instruction& in, const Ref& offset, bool is_wide);
  Ref special(const ptx::Instruction& in, ptx::SpecialRegister reg, ptx::Type type);
  Ref low_word(const ptx::Instruction& in, const Ref& row);
  Ref negated(const ptx::Instruction& in, const Ref& row);

  // Of the executing block's memory in the addresses of its cluster: a word and the same as a wide
  // row.  Only if Layout::has_ranks.
  Ref own_window_{}, own_wide_window_{};
};

}  // namespace warpcheck::vgpu
