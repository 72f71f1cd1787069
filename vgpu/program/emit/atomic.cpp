// Emits atomics, moves of 128-bit values, and cache control.
// PTX ISA 9.0, 9.7.13.5 (atom), 9.7.13.7 (red), 9.7.9 (ld, st, mov of .b128; createpolicy,
// applypriority, discard).
#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Type;

namespace {

// Its registers do not fit in an Instr: they are copied to consecutive rows, and back.
void emit_vector_atomic(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool returns = in.opcode == Opcode::atom_;
  const ptx::Operand& values = in.operands[returns ? 2 : 1];
  const bool is_global = m.space == ptx::Space::global || m.space == ptx::Space::generic;
  const std::uint32_t bytes = ptx::bytes_of(m.type) * m.vector;
  const bool is_word = ptx::bytes_of(m.type) <= 4 && ptx::is_float(m.type);
  if (!is_global || !is_word || bytes > 16) e.refuse(in, "a vector atomic of this type or space");
  if (in.operands.size() != (returns ? 3u : 2u) || values.parts.size() != m.vector) {
    e.refuse(in, "a vector of another length");
  }
  std::vector<Ref> sources;
  for (const ptx::Operand& part : values.parts) sources.push_back(e.source(in, part, m.type));
  out[AtomicOperand::value] = e.frame.rows(Bank::word, m.vector);
  for (std::uint32_t i = 0; i < m.vector; ++i) {
    copy_row(e, in, row_after(out[AtomicOperand::value], i), sources[i], false);
  }
  if (!returns) return e.push(out);
  const std::vector<ptx::Operand>& results = in.operands[0].parts;
  if (results.size() != m.vector) e.refuse(in, "a vector of another length");
  out[AtomicOperand::old] = e.frame.rows(Bank::word, m.vector);
  e.push(out);
  for (std::uint32_t i = 0; i < m.vector; ++i) {
    const Ref to = e.destination(in, results[i]);
    if (to.bank != Bank::none) copy_row(e, in, to, row_after(out[AtomicOperand::old], i), true);
  }
}

}  // namespace

void emit_atomic(Emission& e, const ptx::Instruction& in, Instr& out) {
  const bool returns = in.opcode == Opcode::atom_;
  const std::size_t place = returns ? 1 : 0;
  if (in.modifiers.async) return emit_async_store(e, in, out);
  if (in.operands.size() < place + 2) e.refuse(in, "an atomic without operands");
  out.kind = InstrKind::atomic;
  if (out.modifiers.order == ptx::Order::weak) out.modifiers.order = ptx::Order::relaxed;
  out[AtomicOperand::address] = e.address(in, in.operands[place], out);
  if (in.modifiers.vector != 1) return emit_vector_atomic(e, in, out);
  const bool is_quad = in.modifiers.type == Type::b128;
  const auto value = [&](const ptx::Operand& operand) {
    return is_quad ? e.quad(in, operand) : e.source(in, operand, in.modifiers.type);
  };
  if (returns) {
    out[AtomicOperand::old] =
        is_quad ? e.quad(in, in.operands[0]) : e.destination(in, in.operands[0]);
  }
  out[AtomicOperand::value] = value(in.operands[place + 1]);
  if (in.operands.size() > place + 2) out[AtomicOperand::swap] = value(in.operands[place + 2]);
  e.push(out);
}

// mov.b128: from two halves, to two halves, or between registers.
void emit_quad_mov(Emission& e, const ptx::Instruction& in) {
  const auto halves = [&](const ptx::Operand& operand, bool is_destination) {
    if (operand.kind != Kind::vector) {
      const Ref low = e.quad(in, operand);
      return std::pair{low, row_after(low, 1)};
    }
    if (operand.parts.size() != 2) e.refuse(in, "a vector of this length");
    const auto half = [&](const ptx::Operand& part) {
      const Ref row = is_destination ? e.destination(in, part) : e.source(in, part, Type::b64);
      if (row.bank == Bank::word) e.refuse(in, "a half that is no 64-bit register");
      return row;
    };
    const Ref low = half(operand.parts[0]);
    return std::pair{low, half(operand.parts[1])};
  };
  const auto [to_low, to_high] = halves(in.operands[0], true);
  const auto [from_low, from_high] = halves(in.operands[1], false);
  const Instr base = e.begin(in);
  const auto move = [&](Ref to, Ref from) {
    if (to.bank != Bank::none)
      push_compute(e, base, Opcode::mov_, Type::b64, Type::none, {.d = to, .a = from});
  };
  move(to_low, from_low);
  move(to_high, from_high);
}

void emit_quad_memory(Emission& e, const ptx::Instruction& in, Instr& out) {
  const bool is_load = in.opcode != Opcode::st_;
  if (in.modifiers.vector != 1) e.refuse(in, "a vector of 128-bit elements");
  out.kind = is_load ? InstrKind::load : InstrKind::store;
  out[MemoryOperand::address] = e.address(in, in.operands[is_load ? 1 : 0], out);
  out[MemoryOperand::value] = e.quad(in, in.operands[is_load ? 0 : 1]);
  out[MemoryOperand::value + 1] = row_after(out[MemoryOperand::value], 1);
  e.push(out);
}

// Caches cannot be observed, so policies and priorities have no effect; but discarded bytes are
// undefined until they are written again.
void emit_cache_control(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (in.opcode == Opcode::createpolicy_) {
    e.require_form(in);
    if (in.operands.empty()) e.refuse(in, "no operands");
    return push_compute(e, out, Opcode::mov_, Type::b64, Type::none,
                        {.d = e.destination(in, in.operands[0]), .a = e.constants.wide(0)});
  }
  const bool in_global =
      in.modifiers.space == ptx::Space::global || in.modifiers.space == ptx::Space::generic;
  constexpr std::uint64_t kBytes = 128;
  if (!in_global || in.operands[1].kind != Kind::immediate || in.operands[1].bits != kBytes) {
    e.refuse(in, "other than 128 bytes of global memory");
  }
  out.kind = in.opcode == Opcode::discard_ ? InstrKind::copy : InstrKind::nop;
  out[CopyOperand::target] = e.address(in, in.operands[0], out);
  e.push(out);
}

}  // namespace warpcheck::vgpu
