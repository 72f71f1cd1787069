// Calls of the interpreter's functions, and jumps back to the interpreter.  Internal to
// vgpu/machine/native.
#pragma once

#include <cstdint>

#include "vgpu/machine/native/row_emitter.hpp"

namespace warpcheck::vgpu::native {

// Numbers that were counted when a block was entered, but that were not executed because the block
// was left early.
struct Counted {
  std::uint32_t instructions = 0;
  std::uint32_t unguarded = 0;  // included in `instructions`
  std::uint32_t accesses = 0;
};

// Returns whether the instruction is a load or a store.
[[nodiscard]] inline bool moves_rows(const Instr& instr) {
  return instr.kind == InstrKind::load || instr.kind == InstrKind::store;
}

class CallEmitter : public RowEmitter {
 public:
  using RowEmitter::RowEmitter;

  // Emits a call of the interpreter's function for the instruction, for the lanes in edx.
  void call_execute(const Instr& instr, std::uint32_t pc, const Counted& rest);
  // Emits a call of the function of a compute instruction.
  void call_compute(const Instr& instr, std::uint32_t pc);
  // Emits a jump to the interpreter, which continues at `pc`; `undone` is subtracted from the
  // counts.
  void leave(std::uint32_t pc, const Counted& undone);
  void call(const void* function);
  // If results of the instruction at `pc` count as ascending only if a source does not exceed the
  // range of its type: leaves the code before the instruction if it does.
  void check_widened(std::uint32_t pc, const Counted& rest);

 protected:
  // Emits the code after a call: execution continues here or, in the interpreter, at `pc` or after
  // it.
  void follow(std::uint32_t pc, const Counted& rest);
};

}  // namespace warpcheck::vgpu::native
