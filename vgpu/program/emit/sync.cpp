// Emits instructions that synchronise threads: warp operations, barriers, mbarriers, and
// asynchronous copies.  PTX ISA 9.0, 9.7.9.6, 9.7.9.25, 9.7.13.

#include "vgpu/program/barrier_token.hpp"
#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::CopyOp;
using ptx::ObjectOp;
using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

// shfl, vote, match, redux, elect, activemask.  Without .sync the lanes that are active take part.
void emit_warp_operation(Emission& e, const ptx::Instruction& in, Instr& out) {
  const bool has_old_form = in.opcode == Opcode::shfl_ || in.opcode == Opcode::vote_;
  const bool waits = in.modifiers.sync;
  if (!waits && !has_old_form && in.opcode != Opcode::activemask_)
    e.refuse(in, "'.sync' is missing");
  out.kind = waits ? InstrKind::warp_sync : InstrKind::warp;
  emit_compute(e, in, out);
}

void emit_barrier(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.scope == ptx::Scope::cluster) return emit_cluster_barrier(e, in, out);
  if (in.operands.empty()) e.refuse(in, "a barrier without operands");
  const bool is_of_block = m.scope == ptx::Scope::none || m.scope == ptx::Scope::cta;
  if (!is_of_block || m.wait || m.order != ptx::Order::weak) e.refuse(in, "a barrier of this kind");
  if (in.modifiers.warp) {
    out.kind = InstrKind::warp_sync;
    out[WarpOperand::members] = e.source(in, in.operands[0], Type::b32);
    e.push(out);
    return;
  }
  out.kind = InstrKind::barrier;
  out.modifiers.aligned |= in.opcode == Opcode::bar_;  // bar is barrier.aligned
  std::size_t sources = in.operands.size();
  std::size_t first = 0;
  if (in.modifiers.red) {
    if (sources < 3) e.refuse(in, "a reduction without a predicate");
    if (in.modifiers.bool_op == ptx::BoolOp::xor_) e.refuse(in, "a reduction by xor");
    out[BarrierOperand::result] = e.destination(in, in.operands[0]);
    out[BarrierOperand::predicate] = e.source(in, in.operands[--sources], Type::pred);
    first = 1;
  }
  const ptx::Operand& number = in.operands[first];
  out[BarrierOperand::number] = e.source(in, number, Type::u32);
  if (first + 1 < sources)
    out[BarrierOperand::threads] = e.source(in, in.operands[first + 1], Type::u32);
  const bool whole_block_at_0 = number.kind == Kind::immediate && number.bits == 0 &&
                                first + 1 == sources && !in.modifiers.arrive;
  e.program.has_named_barriers |= !whole_block_at_0;
  e.push(out);
}

namespace {

// The instruction depends on its operand alone.
void emit_pending_count(Emission& e, const ptx::Instruction& in, const Instr& base) {
  const Ref state = e.source(in, in.operands[1], Type::b64);
  const auto compute = [&](Opcode opcode, Type type, Type from, const ComputeRows& rows) {
    Instr out = base;
    out.kind = InstrKind::compute;
    out.opcode = opcode;
    out.modifiers = {};
    out.modifiers.type = type;
    out.modifiers.source_type = from;
    out.operands = rows;
    e.push(out);
  };
  const Ref low = e.frame.temporary(Bank::word);
  compute(Opcode::cvt_, Type::u32, Type::u64, {.d = low, .a = state});
  compute(Opcode::and_, Type::b32, Type::none,
          {.d = e.destination(in, in.operands[0]),
           .a = low,
           .b = e.constants.word(BarrierToken::kCountMax)});
}

// cuda::ptx writes cp.async.mbarrier.arrive with an address in shared memory in a register of 32
// bits, and without a state space.  ptxas accepts it of no other instruction on generic addresses,
// and takes the lower 32 bits of a generic address as that in shared memory.
bool has_word_address(const Emission& e, const ptx::Operand& operand) {
  return operand.kind == Kind::address && operand.index != ptx::kNone &&
         e.frame.row_of(operand.index).bank == Bank::word;
}

}  // namespace

void emit_barrier_object(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.object_op == ObjectOp::pending_count) return emit_pending_count(e, in, out);
  const bool returns = m.object_op == ObjectOp::arrive || m.object_op == ObjectOp::arrive_drop ||
                       m.object_op == ObjectOp::test_wait || m.object_op == ObjectOp::try_wait;
  out.kind = InstrKind::barrier_object;
  const bool waits = m.object_op == ObjectOp::test_wait || m.object_op == ObjectOp::try_wait;
  const bool takes_token = waits && !m.parity;
  const std::size_t place = returns ? 1 : 0;
  if (in.operands.size() <= place) e.refuse(in, "an operation without an address");
  out[ObjectOperand::address] = e.address(in, in.operands[place], out);
  if (returns) out[ObjectOperand::result] = e.destination(in, in.operands[0]);
  if (in.operands.size() > place + 1) {
    out[ObjectOperand::value] =
        e.source(in, in.operands[place + 1], takes_token ? Type::b64 : Type::b32);
  } else if (m.expect_tx) {
    e.refuse(in, "no number of bytes");
  }
  out.modifiers.type = Type::b64;
  if (m.scope == ptx::Scope::none) out.modifiers.scope = ptx::Scope::cta;
  e.push(out);
}

void emit_copy(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (in.opcode == Opcode::tensormap_) return emit_tensor_map(e, in, out);
  if (!m.async) e.refuse(in, "'.async' is missing");
  if (m.bulk && m.copy_op == CopyOp::none) return emit_bulk(e, in, out);
  const bool is_bulk_alone = m.reduce || m.multicast || m.completion != ptx::Completion::none ||
                             (m.read && (!m.bulk || m.copy_op != CopyOp::wait_group));
  const bool is_other_alone = m.copy_op == CopyOp::wait_all || m.copy_op == CopyOp::arrive;
  if (is_bulk_alone || (m.bulk && is_other_alone) || m.cluster) e.refuse(in, "a copy of this kind");
  switch (m.copy_op) {
    case CopyOp::commit_group:
    case CopyOp::wait_all:
      out.kind = InstrKind::copy_group;
      e.push(out);
      return;
    case CopyOp::wait_group:
      out.kind = InstrKind::copy_group;
      out[CopyGroupOperand::groups_left] = e.source(in, in.operands[0], Type::u32);
      e.push(out);
      return;
    case CopyOp::arrive:
      out.kind = InstrKind::barrier_object;
      if (has_word_address(e, in.operands[0])) out.modifiers.space = Space::shared;
      out[ObjectOperand::address] = e.address(in, in.operands[0], {out.modifiers.space}, out);
      out.modifiers.type = Type::b64;
      out.modifiers.scope = ptx::Scope::cta;
      e.push(out);
      return;
    case CopyOp::fence:
    case CopyOp::none: break;
  }
  if (m.space != Space::shared || m.source_space != Space::global) {
    e.refuse(in, "a copy other than from global to shared memory");
  }
  const ptx::Operand& size = in.operands[2];
  const std::uint64_t bytes = size.kind == Kind::immediate ? size.bits : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16) e.refuse(in, "a copy of this size");
  out.kind = InstrKind::copy;
  out.modifiers.type = Type::b32;
  out.modifiers.vector = static_cast<std::uint8_t>(bytes / 4);
  Instr from = out;
  out[CopyOperand::target] = e.address(in, in.operands[0], out);
  out[CopyOperand::source] = e.address(in, in.operands[1], {m.source_space}, from);
  out.source_displacement = static_cast<std::uint32_t>(from.displacement);
  if (in.operands.size() > 3) {
    const ptx::Operand& last = in.operands[3];
    const bool ignores =
        last.kind == Kind::reg && e.frame.row_of(last.index).bank == Bank::predicate;
    const bool all = last.kind == Kind::immediate && last.bits == bytes;
    if (ignores) {
      out[CopyOperand::ignores] = e.source(in, last, Type::pred);
    } else if (!all) {
      out[CopyOperand::bytes] = e.source(in, last, Type::u32);
    }
  }
  out[CopyOperand::rows] = e.frame.temporary(Bank::word);
  for (int more = 0; more < 4; ++more) e.frame.temporary(Bank::word);
  e.push(out);
}

void emit_fence(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  out.kind = InstrKind::fence;
  if (m.tensor_map) {
    // The copying thread reads the map like an ordinary load.
    const bool acquires = m.order == ptx::Order::acquire;
    const bool is_known = m.proxy && (acquires || m.order == ptx::Order::release) && !m.async &&
                          !m.alias && m.space == Space::generic && m.scope != ptx::Scope::none;
    if (!is_known || in.operands.size() != (acquires ? 2 : 0)) e.refuse(in, "a fence of this kind");
    out.modifiers.proxy = false;
    if (acquires) {
      out[MemoryOperand::address] = address_row(e, in, in.operands[0], {Space::generic});
    }
    return e.push(out);
  }
  if (!in.operands.empty()) e.refuse(in, "a fence with operands");
  if (m.proxy) {
    // A fence of one direction, for shared memory only (.sync_restrict), is treated as one of both
    // directions.
    const bool is_restricted = m.async && m.scope == ptx::Scope::cluster;
    if (is_restricted) out.modifiers.scope = ptx::Scope::none;
    if (m.alias == m.async || (m.scope != ptx::Scope::none && !is_restricted)) {
      e.refuse(in, "a fence of this proxy");
    }
    if (m.alias) out.kind = InstrKind::nop;  // no memory has two addresses here
  } else if (m.scope == ptx::Scope::none || m.alias || m.async || m.space != ptx::Space::generic) {
    e.refuse(in, "a fence of this kind");
  }
  e.push(out);
}

}  // namespace warpcheck::vgpu
