#include "vgpu/check/race/race_flag.hpp"

#include "vgpu/program/flow/read_uses.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_relaxed_update(const Instr& instr) {
  return instr.kind == InstrKind::atomic && instr.modifiers.order == ptx::Order::relaxed;
}

bool writes_flag_behind(const Program& program, std::uint32_t pc) {
  const std::uint32_t function = program.function_of(pc);
  for (++pc; pc < program.code.size() && program.function_of(pc) == function; ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.kind == InstrKind::store && is_relaxed_access(instr)) return true;
    if (is_relaxed_update(instr)) return true;
  }
  return false;
}

// Returns whether a loop that ends in front of `pc` reads a flag.
bool polls_flag_before(const Program& program, std::uint32_t pc) {
  const std::uint32_t function = program.function_of(pc);
  for (std::uint32_t last = 0; last < pc; ++last) {
    const Instr& jump = program.code[last];
    const bool is_jump = jump.kind == InstrKind::branch || jump.kind == InstrKind::jump;
    if (!is_jump || jump.target > last || program.function_of(last) != function) continue;
    for (std::uint32_t at = jump.target; at < last; ++at) {
      const Instr& instr = program.code[at];
      if (instr.kind == InstrKind::load && is_relaxed_access(instr)) return true;
      if (is_relaxed_update(instr)) return true;
    }
  }
  return false;
}

}  // namespace

bool is_handed_on_by_flag(const Program& writer, std::uint32_t write, const Program& reader,
                          std::uint32_t read) {
  return writes_flag_behind(writer, write) && polls_flag_before(reader, read);
}

bool waits_for_phase(const Program& program, std::uint32_t copy, std::uint32_t access) {
  for (std::uint32_t pc = copy; pc < access; ++pc) {
    const ptx::ObjectOp op = program.code[pc].modifiers.object_op;
    if (op == ptx::ObjectOp::test_wait || op == ptx::ObjectOp::try_wait) return true;
  }
  return false;
}

}  // namespace warpcheck::vgpu
