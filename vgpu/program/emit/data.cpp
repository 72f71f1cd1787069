// Moves, memory, atomics and compute instructions of one function.
#include <algorithm>

#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/mnemonic.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

void emit_compute(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (in.operands.empty()) e.refuse(in, "no operands");
  if (is_composed(in)) return emit_composed(e, in, out);
  if (in.opcode == Opcode::cvta_ && in.modifiers.space == Space::shared) {
    out.modifiers.cluster = e.layout.has_ranks;
  }
  const ptx::Operand& first = in.operands[0];
  if (first.kind == Kind::vector) {  // d|p, p|q
    if (first.parts.size() != 2) e.refuse(in, "a vector destination");
    out[ComputeOperand::d] = e.destination(in, first.parts[0]);
    out[ComputeOperand::e] = e.destination(in, first.parts[1]);
  } else {
    out[ComputeOperand::d] = e.destination(in, first);
  }
  const std::size_t sources = in.operands.size() - 1;
  if (sources > 4 && in.opcode != Opcode::lop3_) e.refuse(in, "more than four sources");
  for (std::size_t i = 1; i <= std::min<std::size_t>(sources, 4); ++i) {
    out[kComputeSources[i - 1]] =
        e.source(in, in.operands[i], ptx::source_type(in.opcode, in.modifiers, i - 1));
  }
  if (in.opcode == Opcode::lop3_ && in.operands.size() >= 5) {  // d, a, b, c, table[, q]
    if (in.operands[4].kind != Kind::immediate) e.refuse(in, "a table that is no constant");
    out.truth_table = static_cast<std::int64_t>(in.operands[4].bits);
    out[ComputeOperand::f] =
        in.operands.size() > 5 ? e.source(in, in.operands[5], Type::pred) : Ref{};
  }
  const bool membermask_is_second =
      in.opcode == Opcode::vote_ || in.opcode == Opcode::match_ || in.opcode == Opcode::redux_;
  if (membermask_is_second) std::swap(out[ComputeOperand::b], out[ComputeOperand::f]);
  if (in.opcode == Opcode::elect_) std::swap(out[ComputeOperand::a], out[ComputeOperand::f]);
  const bool carries_in =
      in.opcode == Opcode::addc_ || in.opcode == Opcode::subc_ || in.opcode == Opcode::madc_;
  if (out.modifiers.carry_out || carries_in) {
    const Ref carry = e.frame.carry();
    if (out.modifiers.carry_out) out[CarryOperand::carry_out] = carry;
    if (carries_in) out[CarryOperand::carry_in] = carry;
  }
  e.push(out);
}

namespace {

// mov.v2, mov.v4: between vectors of registers, all at once.
void emit_vector_mov(Emission& e, const ptx::Instruction& in, const Instr& out) {
  const std::vector<ptx::Operand>& to = in.operands[0].parts;
  const std::vector<ptx::Operand>& from = in.operands[1].parts;
  if (to.size() != in.modifiers.vector || from.size() != to.size()) {
    e.refuse(in, "a vector of another length");
  }
  const bool is_wide = ptx::bytes_of(in.modifiers.type) == 8;
  const Ref rows =
      e.frame.rows(is_wide ? Bank::wide : Bank::word, static_cast<std::uint32_t>(to.size()));
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    copy_row(e, in, row_after(rows, i), e.source(in, from[i], in.modifiers.type), false);
  }
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    const Ref row = e.destination(in, to[i]);
    if (row.bank == Bank::none) continue;
    push_compute(e, out, Opcode::mov_, is_wide ? Type::b64 : Type::b32, Type::none,
                 {.d = row, .a = row_after(rows, i)});
  }
}

}  // namespace

void emit_mov(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (in.operands.size() != 2) e.refuse(in, "a move without two operands");
  const ptx::Operand& to = in.operands[0];
  const ptx::Operand& from = in.operands[1];
  if (in.modifiers.type == Type::b128) return emit_quad_mov(e, in);
  if (in.modifiers.vector != 1) return emit_vector_mov(e, in, out);
  const bool unpack = to.kind == Kind::vector;
  const bool pack = from.kind == Kind::vector;
  out.kind = InstrKind::compute;
  if (from.kind == Kind::function) {
    // The device runtime launches a kernel by its address.
    if (e.layout.module->find_function(from.name) == nullptr) {
      e.refuse(in, fmt::format("the address of '{}'", from.name));
    }
    out[ComputeOperand::d] = e.destination(in, to);
    if (out[ComputeOperand::d].bank != Bank::wide)
      e.refuse(in, "the address of a function in 32 bits");
    out[ComputeOperand::a] = e.constants.wide(function_address(from.name));
    e.push(out);
    return;
  }
  if (from.kind == Kind::special) {
    out.kind = InstrKind::special;
    out.special = from.special;
    out[ComputeOperand::d] = e.destination(in, to);
    e.push(out);
    return;
  }
  if (pack || unpack) {
    const std::vector<ptx::Operand>& parts = pack ? from.parts : to.parts;
    if (pack && unpack) e.refuse(in, "a move between vectors");
    if (parts.size() != 2 && parts.size() != 4) e.refuse(in, "a vector of this length");
    const std::uint32_t part_bytes =
        ptx::bytes_of(in.modifiers.type) / static_cast<std::uint32_t>(parts.size());
    const Type part = part_bytes == 4 ? Type::b32 : part_bytes == 2 ? Type::b16 : Type::b8;
    out.modifiers.vector = static_cast<std::uint8_t>(parts.size());
    out[pack ? ComputeOperand::d : ComputeOperand::a] =
        pack ? e.destination(in, to) : e.source(in, from, in.modifiers.type);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      out[pack ? kComputeSources[i] : kUnpackedParts[i]] =
          pack ? e.source(in, parts[i], part) : e.destination(in, parts[i]);
    }
    e.push(out);
    return;
  }
  out[ComputeOperand::d] = e.destination(in, to);
  out[ComputeOperand::a] = e.source(in, from, in.modifiers.type);
  e.push(out);
}

namespace {

// Returns the row to which an element of a load goes, or from which an element of a store comes.
Ref moved_element(Emission& e, const ptx::Instruction& in, const ptx::Operand& element) {
  if (in.opcode != Opcode::st_) return e.destination(in, element);
  const bool is_register =
      element.kind == Kind::reg && e.frame.row_of(element.index).bank != Bank::predicate;
  if (is_register) return e.frame.row_of(element.index);  // may be wider than the stored type
  return e.source(in, element, in.modifiers.type);
}

}  // namespace

void emit_memory(Emission& e, const ptx::Instruction& in, Instr& out) {
  const bool is_load = in.opcode != Opcode::st_;
  if (in.modifiers.bulk) return emit_bulk_zeros(e, in, out);
  if (in.modifiers.async) return emit_async_store(e, in, out);
  if (in.operands.size() != 2) e.refuse(in, "a memory access without two operands");
  const ptx::Operand& place = in.operands[is_load ? 1 : 0];
  const ptx::Operand& value = in.operands[is_load ? 0 : 1];
  if (in.opcode == Opcode::ldu_) out.modifiers.space = Space::global;
  if (in.modifiers.space == Space::param && place.kind == Kind::address &&
      place.variable.scope != ptx::VariableRef::Scope::none) {
    return emit_param_access(e, in, out);
  }
  // Parameters of device functions whose address is taken are in local memory.
  if (in.modifiers.space == Space::param && !e.function.is_entry) {
    out.modifiers.space = Space::local;
  }
  if (in.modifiers.type == Type::b128) return emit_quad_memory(e, in, out);
  if (ptx::bytes_of(in.modifiers.type) == 0 || ptx::bytes_of(in.modifiers.type) > 8) {
    e.refuse(in, "an element of this size");
  }
  const std::uint32_t bytes = ptx::bytes_of(in.modifiers.type);
  if (in.modifiers.vector > 4 && bytes != 4) e.refuse(in, "more than 32 bytes");
  out.kind = is_load ? InstrKind::load : InstrKind::store;
  out[MemoryOperand::address] = e.address(in, place, out);
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  if (parts.size() != in.modifiers.vector) e.refuse(in, "a vector of another length");
  // Eight elements are moved as two times four: a vector access accesses its elements in any order
  // (PTX ISA 8.2).
  for (std::size_t first = 0; first < parts.size(); first += 4) {
    const std::size_t count = std::min<std::size_t>(parts.size() - first, 4);
    Instr part = out;
    part.modifiers.vector = static_cast<std::uint8_t>(count);
    part.displacement += static_cast<std::int64_t>(first * bytes);
    for (std::size_t i = 0; i < count; ++i) {
      part[MemoryOperand::value + i] = moved_element(e, in, parts[first + i]);
    }
    e.push(part);
  }
}

}  // namespace warpcheck::vgpu
