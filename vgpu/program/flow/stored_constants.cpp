#include "vgpu/program/flow/stored_constants.hpp"

#include <algorithm>
#include <cstring>

#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// A number of a row of constants, which is the same in all lanes.
std::optional<std::uint64_t> number_at(const Program& program, const Ref& row,
                                       std::uint32_t bytes) {
  if (row.bank != Bank::constant || row.offset + bytes > program.constants.size()) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  std::memcpy(&number, program.constants.data() + row.offset, bytes);
  return number;
}

}  // namespace

std::optional<StoredConstant> stored_constant(const Program& program, std::uint32_t pc) {
  if (pc >= program.code.size()) return std::nullopt;
  const Instr& store = program.code[pc];
  const std::uint32_t bytes = ptx::bytes_of(store.modifiers.type);
  if (store.kind != InstrKind::store || store.modifiers.vector != 1 || bytes > 8) {
    return std::nullopt;
  }
  const Ref& value = store[MemoryOperand::value];
  StoredConstant stored{.bytes = bytes};
  if (value.bank == Bank::constant) {
    const auto number = number_at(program, value, bytes);
    if (!number) return std::nullopt;
    stored.value = *number;
    return stored;
  }
  // All instructions that write the register give it one constant.
  const RegisterFlow flow(program);
  const std::uint32_t number = flow.is_known() ? flow.register_of(pc, value) : ptx::kNone;
  if (number == ptx::kNone) return std::nullopt;
  bool is_written = false;
  for (std::uint32_t at = 0; at < program.code.size(); ++at) {
    if (flow.is_opaque(at)) return std::nullopt;
    const auto writes = flow.writes(at);
    if (std::ranges::find(writes, number) == writes.end()) continue;
    const Instr& instr = program.code[at];
    const bool moves = instr.kind == InstrKind::compute && instr.opcode == ptx::Opcode::mov_ &&
                       instr.modifiers.vector == 1 && ptx::bytes_of(instr.modifiers.type) >= bytes;
    const auto moved = moves ? number_at(program, instr[ComputeOperand::a], bytes) : std::nullopt;
    if (!moved || (is_written && *moved != stored.value)) return std::nullopt;
    stored.value = *moved;
    is_written = true;
  }
  if (!is_written) return std::nullopt;
  return stored;
}

}  // namespace warpcheck::vgpu
