// What the emitters of one function share: its frame, its parameters, its control flow, and the
// operands of its text as rows.  Internal to vgpu/program.
#pragma once

#include <cstdint>

#include "vgpu/program/emit/constants.hpp"
#include "vgpu/program/emit/context.hpp"
#include "vgpu/program/emit/control_flow.hpp"
#include "vgpu/program/emit/frame.hpp"
#include "vgpu/program/emit/params.hpp"

namespace warpcheck::vgpu {

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
  std::uint32_t next_block = ptx::kNone;  // of the code, behind the one that is emitted

  // An instruction at the place of `in`, with its opcode, modifiers and guard.
  Instr begin(const ptx::Instruction& in);
  void push(const Instr& instruction);
  void push_refusal(Instr& out, const std::string& why);
  [[noreturn]] void refuse(const ptx::Instruction& in, const std::string& why) const {
    context.refuse(in, why);
  }
  // Refuses a form that forms.def does not list.
  void require_form(const ptx::Instruction& in) const;

  // Operands as rows (operands.cpp).  What they have to be made from is pushed.
  Ref source(const ptx::Instruction& in, const ptx::Operand& operand, ptx::Type type);
  Ref destination(const ptx::Instruction& in, const ptx::Operand& operand) const;
  // The row of an address; what is added to it goes to out.displacement.
  Ref address(const ptx::Instruction& in, const ptx::Operand& operand, Instr& out);
  // The first of the two rows of a .b128 register; none for the sink.
  Ref quad(const ptx::Instruction& in, const ptx::Operand& operand) const;
  // Of the byte at `offset` of the frame's local memory.
  Ref local_address(const ptx::Instruction& in, std::int64_t offset, bool is_wide);

 private:
  Ref immediate(const ptx::Operand& operand, ptx::Type type);
  Ref variable_address(const ptx::Instruction& in, const ptx::Operand& operand, bool is_wide);
  Ref special(const ptx::Instruction& in, ptx::SpecialRegister reg, ptx::Type type);
  Ref low_word(const ptx::Instruction& in, const Ref& row);
  Ref negated(const ptx::Instruction& in, const Ref& row);
};

}  // namespace warpcheck::vgpu
