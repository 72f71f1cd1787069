// Emits calls of the interpreter's functions, and jumps back to the interpreter.
#include "vgpu/machine/native/call_emitter.hpp"

namespace warpcheck::vgpu::native {

void CallEmitter::call(const void* function) {
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(function)));
  a.call(x86::rax);
  load_lanes();
}

void CallEmitter::call_compute(const Instr& instr, std::uint32_t pc) {
  store_rows();
  a.mov(x86::rdi, x86::rbx);
  a.mov(x86::rsi, field(offsetof(NativeFrame, code), 8));
  a.add(x86::rsi, static_cast<std::int32_t>(pc * sizeof(Instr)));
  call(reinterpret_cast<const void*>(instr.compute));
}

void CallEmitter::call_execute(const Instr& instr, std::uint32_t pc, const Counted& rest) {
  store_rows();
  a.mov(x86::rdi, x86::rbx);
  a.mov(x86::esi, pc);
  a.mov(x86::ecx, rest.instructions);
  call(reinterpret_cast<const void*>(moves_rows(instr) ? calls.access : calls.execute));
  follow(pc, rest);
}

void CallEmitter::follow(std::uint32_t pc, const Counted& rest) {
  const asmjit::Label leaves = a.newLabel();
  a.test(x86::eax, x86::eax);
  a.jnz(leaves);
  later([this, leaves, pc, rest] {
    const asmjit::Label before = a.newLabel();
    a.bind(leaves);
    a.cmp(x86::eax, static_cast<std::uint32_t>(NativeStep::leave_before));
    a.je(before);
    leave(pc + 1, rest);
    a.bind(before);
    leave(pc, {rest.instructions + 1, rest.unguarded, rest.accesses});
  });
}

void CallEmitter::check_widened(std::uint32_t pc, const Counted& rest) {
  if (!uniform_ || !rows_->has_reader(pc)) return;
  const auto widened = uniform_->widened();
  if (!widened) return;
  const asmjit::Label exceeds = a.newLabel();
  const asmjit::Operand first = first_lane(widened->source, false);
  a.emit(first.isReg() ? Inst::kIdVmovd : Inst::kIdMov, x86::eax, first);
  a.add(x86::eax, (kWarpLanes - 1) * widened->step);
  a.emit(widened->is_signed ? Inst::kIdJo : Inst::kIdJc, exceeds);
  later_with_rows([this, exceeds, pc, rest] {
    a.bind(exceeds);
    store_rows();
    leave(pc, {rest.instructions + 1, rest.unguarded + 1, rest.accesses});
  });
}

void CallEmitter::leave(std::uint32_t pc, const Counted& undone) {
  if (undone.instructions != 0) {
    a.add(field(offsetof(NativeFrame, quantum_left), 4), undone.instructions);
  }
  if (undone.unguarded != 0) {
    a.sub(field(offsetof(NativeFrame, unguarded), 8), undone.unguarded);
  }
  if (undone.accesses != 0) {
    a.add(field(offsetof(NativeFrame, accesses_left), 8), undone.accesses);
  }
  a.mov(x86::eax, pc);
  a.jmp(epilogue);
}

}  // namespace warpcheck::vgpu::native
