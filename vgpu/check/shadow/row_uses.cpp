#include "vgpu/check/shadow/row_uses.hpp"

#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {

RowUses::RowUses(const Program& program) : program_(program) {
  find_calls();
  const auto is_row = [](const Ref& ref) {
    return ref.bank == Bank::word || ref.bank == Bank::wide;
  };
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    for (const Ref& result : destinations_of(program, instr)) {
      if (is_row(result)) makers_[written(pc, result)].push_back(pc);
    }
    roles_of(instr).reads.for_each_in(instr.operands, [&](const Ref& source) {
      if (is_row(source)) users_[read(pc, source)].push_back(pc);
    });
  }
}

// Parameters are written just before the call, and results are read just after it.
void RowUses::find_calls() {
  const auto count = static_cast<std::uint32_t>(program_.code.size());
  functions_.resize(count);
  next_call_.assign(count, ptx::kNone);
  last_call_.assign(count, ptx::kNone);
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    functions_[pc] = program_.function_of(pc);
    if (pc == 0 || functions_[pc - 1] != functions_[pc]) continue;
    const Instr& before = program_.code[pc - 1];
    last_call_[pc] = before.kind == InstrKind::call ? before.function : last_call_[pc - 1];
  }
  for (std::uint32_t pc = count; pc-- != 0;) {
    const Instr& instr = program_.code[pc];
    if (instr.kind == InstrKind::call) {
      next_call_[pc] = instr.function;
    } else if (pc + 1 != count && functions_[pc + 1] == functions_[pc]) {
      next_call_[pc] = next_call_[pc + 1];
    }
  }
}

RowUses::Row RowUses::row_of(std::uint32_t pc, const Ref& ref,
                             const std::vector<std::uint32_t>& calls) const {
  const std::uint32_t end = program_.functions[functions_[pc]].words * kWordRowBytes;
  const bool is_of_callee = ref.bank == Bank::word && ref.offset >= end && calls[pc] != ptx::kNone;
  if (is_of_callee) return {calls[pc], ref.bank, ref.offset - end};
  return {functions_[pc], ref.bank, ref.offset};
}

}  // namespace warpcheck::vgpu
