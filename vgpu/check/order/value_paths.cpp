#include "vgpu/check/order/value_paths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>

#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr int kBehindMax = 64;
constexpr std::size_t kSeenMax = 16384;  // instructions behind a loop

// Returns whether a constant's row has this value; `ones`: all bits are set.
bool is_constant(const Program& program, const Ref& ref, std::uint32_t bytes, bool ones) {
  if (ref.bank != Bank::constant) return false;
  const std::uint64_t all = ~std::uint64_t{0};
  const std::uint64_t expected = ones ? all : 0;
  return std::memcmp(program.constants.data() + ref.offset, &expected, bytes) == 0;
}

bool is_operand(const OperandSet& operands, const Instr& instr, const Ref& ref) {
  bool is = false;
  operands.for_each_in(instr.operands, [&](const Ref& one) { is |= one == ref; });
  return is;
}

}  // namespace

Ref result_of(const Instr& instr) {
  return instr.kind == InstrKind::load ? instr[MemoryOperand::value] : instr[AtomicOperand::old];
}

bool changes_nothing(const Program& program, const Instr& instr) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  const Ref& value = instr[AtomicOperand::value];
  switch (instr.modifiers.atom_op) {
    case ptx::AtomOp::add:
    case ptx::AtomOp::or_:
    case ptx::AtomOp::xor_: return is_constant(program, value, bytes, false);
    case ptx::AtomOp::and_: return is_constant(program, value, bytes, true);
    case ptx::AtomOp::cas: return value == instr[AtomicOperand::swap];
    default: return false;
  }
}

bool only_pauses(InstrKind kind) {
  return kind == InstrKind::sleep || kind == InstrKind::nop || kind == InstrKind::fence;
}

bool is_same_word(const LaneBanks& banks, const Instr& instr, const Access& access, unsigned lane) {
  const Instr& first = access.program->code[access.pc];
  const Ref& address = first[MemoryOperand::address];
  if (instr[MemoryOperand::address] != address || instr.displacement != first.displacement) {
    return false;
  }
  const std::size_t width = address.bank == Bank::wide ? 8 : 4;
  return std::memcmp(row_of(banks, address) + lane * width,
                     row_of(*access.registers, address) + lane * width, width) == 0;
}

bool Continuation::has(const Ref& ref) const {
  return std::ranges::find(values, ref) != values.end();
}

Continuation behind(const Program& program, std::uint32_t pc) {
  Continuation found;
  found.values = {result_of(program.code[pc])};
  ++pc;
  for (int step = 0; step < kBehindMax && pc < program.code.size(); ++step) {
    const Instr& instr = program.code[pc];
    if (branches(instr) && instr.guard.bank != Bank::none) {
      found.branch = pc;
      return found;
    }
    ++pc;
    if (branches(instr)) {
      pc = instr.target;
    } else if (instr.kind == InstrKind::compute) {
      bool depends = found.has(instr.guard);
      roles_of(instr).reads.for_each_in(instr.operands,
                                        [&](const Ref& ref) { depends |= found.has(ref); });
      roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& ref) {
        if (depends && ref.bank != Bank::none) found.values.push_back(ref);
      });
    } else if (!only_pauses(instr.kind)) {
      break;
    }
  }
  return found;
}

bool is_used_from(const Program& program, std::span<const std::uint32_t> pcs, const Ref& ref,
                  std::uint32_t begin, std::uint32_t last) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> next(pcs.begin(), pcs.end());
  while (!next.empty()) {
    const std::uint32_t pc = next.back();
    next.pop_back();
    if (pc >= program.code.size() || !seen.insert(pc).second) continue;
    const Instr& instr = program.code[pc];
    if (seen.size() > kSeenMax || instr.kind == InstrKind::jump_table) return true;
    const bool is_comparison = instr.kind == InstrKind::compute &&
                               instr.opcode == ptx::Opcode::setp_ && pc >= begin && pc <= last;
    const OperandRoles roles = roles_of(instr);
    const bool is_guarded = instr.guard.bank != Bank::none;
    if (is_guarded && instr.guard == ref) return true;
    if (!is_comparison && is_operand(roles.reads, instr, ref)) return true;
    if (!is_guarded && is_operand(roles.writes, instr, ref)) continue;
    for_each_next(program, pc, [&](std::uint32_t behind) { next.push_back(behind); });
  }
  return false;
}

}  // namespace warpcheck::vgpu
