// Thread block clusters and asynchronous bulk copies.  PTX ISA 9.0, 9.7.9.22
// (mapa), 9.7.9.23 (getctarank), 9.7.9.25 (cp.async.bulk), 9.7.13.3 (barrier.cluster), and st.async
// and red.async of 9.7.9.12 and 9.7.13.8.
// Addresses of shared memory in the cluster: shared_windows.hpp.
#include <algorithm>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/shared_windows.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Completion;
using ptx::ObjectOp;
using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Order;
using ptx::Space;
using ptx::Type;

void emit_cluster_barrier(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool arrives = m.arrive && (m.order == Order::weak || m.order == Order::release ||
                                    m.order == Order::relaxed);
  const bool waits = m.wait && (m.order == Order::weak || m.order == Order::acquire);
  if (arrives == waits || !in.operands.empty() || m.sync || m.red) {
    e.refuse(in, "a barrier of this kind");
  }
  out.kind = InstrKind::cluster_barrier;
  e.push(out);
}

// cp.async.bulk and cp.reduce.async.bulk.
void emit_bulk(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.tensor || m.dimensions != 0) return emit_tensor_copy(e, in, out);
  if (m.prefetch) return emit_prefetch(e, in, out);
  const bool to_shared = m.space == Space::shared && m.completion == Completion::object;
  const bool to_global = m.space == Space::global && m.source_space == Space::shared &&
                         m.completion == Completion::bulk_group && !m.cluster;
  const bool from_there = m.source_space == Space::global
                              ? !m.reduce
                              : m.source_space == Space::shared && m.cluster && !m.multicast;
  const std::size_t operands = 3 + (to_shared ? 1 : 0) + (m.multicast || m.cp_mask ? 1 : 0);
  const bool reduces_right =
      m.reduce == (m.atom_op != ptx::AtomOp::none) && m.reduce == (m.type != Type::none);
  const bool is_known =
      to_global ? !m.multicast && !(m.cp_mask && m.reduce) : to_shared && from_there && !m.cp_mask;
  if (!is_known || !reduces_right || m.read || (m.multicast && !m.cluster)) {
    e.refuse(in, "a bulk copy of this kind");
  }
  if (in.operands.size() < operands) e.refuse(in, "an operand is missing");
  out.kind = InstrKind::bulk_copy;
  const Place there{m.space, m.cluster};
  out[BulkOperand::target] = address_row(e, in, in.operands[0], there);
  out[BulkOperand::source] = address_row(e, in, in.operands[1], {m.source_space});
  out[BulkOperand::bytes] = e.source(in, in.operands[2], Type::u32);
  if (to_shared) out[BulkOperand::object] = address_row(e, in, in.operands[3], there);
  if (m.multicast) out[BulkOperand::blocks] = e.source(in, in.operands[4], Type::b16);
  if (m.cp_mask) out[BulkOperand::blocks] = e.source(in, in.operands[3], Type::b16);
  out[BulkOperand::rows] = e.frame.temporary(Bank::word);
  for (int more = 0; more < 3; ++more) e.frame.temporary(Bank::word);
  out.address_rows = e.frame.temporary(Bank::wide).offset;
  e.frame.temporary(Bank::wide);
  e.push(out);
}

// st.bulk [address], bytes, 0
void emit_bulk_zeros(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_known = m.type == Type::none && m.order == Order::weak && !m.async && !m.cluster &&
                        m.vector == 1 && (m.space == Space::generic || m.space == Space::shared) &&
                        m.scope == ptx::Scope::none && in.operands.size() == 3;
  if (!is_known) e.refuse(in, "a bulk store of this kind");
  if (in.operands[2].kind != Kind::immediate || in.operands[2].bits != 0) {
    e.refuse(in, "a bulk store of another value than 0");
  }
  out.kind = InstrKind::bulk_copy;
  out[BulkOperand::target] = address_row(e, in, in.operands[0], {m.space});
  out[BulkOperand::bytes] = e.source(in, in.operands[1], Type::b64);
  out[BulkOperand::source] = e.constants.wide(0);  // the value
  e.push(out);
}

namespace {

// st.async.release and red.async.release in global memory: one of the times at which it may be
// performed is now, as a store or a reduction that releases.
void emit_async_release(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_there = m.space == Space::generic || (m.space == Space::global && !m.cluster);
  const bool has_scope = m.scope == ptx::Scope::gpu || m.scope == ptx::Scope::sys;
  if (!is_there || !has_scope || m.completion != Completion::none || m.vector != 1) {
    e.refuse(in, "an asynchronous store of this kind");
  }
  ptx::Instruction now = in;
  now.modifiers.async = out.modifiers.async = false;
  in.opcode == Opcode::red_ ? emit_atomic(e, now, out) : emit_memory(e, now, out);
}

}  // namespace

// st.async and red.async: a store or a reduction, and then its bytes at an mbarrier.
void emit_async_store(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.order == Order::release && in.operands.size() == 2) return emit_async_release(e, in, out);
  const bool is_reduction = in.opcode == Opcode::red_;
  const bool is_ordered = is_reduction ? m.order == Order::relaxed && m.scope == ptx::Scope::cluster
                                       : m.order == Order::weak && m.scope == ptx::Scope::none;
  const bool is_there = m.space == Space::generic || (m.space == Space::shared && m.cluster);
  const bool is_known =
      is_there && m.completion == Completion::object && is_ordered && in.operands.size() == 3;
  const std::uint32_t bytes = ptx::bytes_of(m.type);
  if (!is_known || (bytes != 4 && bytes != 8) || (is_reduction && m.vector != 1)) {
    e.refuse(in, "an asynchronous store of this kind");
  }
  const ptx::Operand& value = in.operands[1];
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  if (parts.size() != m.vector || m.vector > 4) e.refuse(in, "a vector of another length");
  out.kind = InstrKind::async_store;
  out[AsyncStoreOperand::address] = cluster_address_row(e, in, in.operands[0], m.space);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Ref row = e.source(in, parts[i], m.type);
    if (is_reduction) {
      out[AtomicOperand::value] = row;
    } else {
      out[MemoryOperand::value + i] = row;
    }
  }
  out[AsyncStoreOperand::object] = cluster_address_row(e, in, in.operands[2], m.space);
  out.modifiers.space = Space::shared;
  out.elements = m.vector;
  out.modifiers.vector = 1;
  e.push(out);
}

// mapa: the same place in another block's shared memory.
void emit_mapping(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_wide = m.type == Type::u64;
  if (!is_wide && m.type != Type::u32) e.refuse(in, "an address of this type");
  const Ref address = e.source(in, in.operands[1], m.type);
  Ref window = e.source(in, in.operands[2], Type::u32);
  if (is_wide) {
    const Ref first = e.constants.word(kClusterOffset >> kRankShift);
    window = widened(e, in, calculate(e, in, Opcode::add_, Type::u32, {window, first}));
  }
  push_compute(e, out, Opcode::bfi_, is_wide ? Type::b64 : Type::b32, Type::none,
               {.d = e.destination(in, in.operands[0]),
                .a = window,
                .b = address,
                .c = e.constants.word(kRankShift),
                .f = e.constants.word(kRankBits)});
}

// getctarank: the rank of the block in whose shared memory an address lies.
void emit_rank(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.type != Type::u64 && m.type != Type::u32) e.refuse(in, "an address of this type");
  Ref address = e.source(in, in.operands[1], m.type);
  if (m.type == Type::u64) {
    ptx::Modifiers narrow;
    narrow.type = Type::u32;
    narrow.source_type = Type::u64;
    const Ref in_cluster = to_shared(e, in, address, true);
    address = calculate(e, in, Opcode::cvt_, narrow, {in_cluster}, Bank::word);
  }
  push_compute(
      e, out, Opcode::shr_, Type::u32, Type::none,
      {.d = e.destination(in, in.operands[0]), .a = address, .b = e.constants.word(kRankShift)});
}

// isspacep: .shared tests for the executing block's memory alone.
void emit_space_test(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  out.kind = InstrKind::compute;
  if (m.space != Space::shared) e.require_form(in);
  if (m.space != Space::shared || m.cluster || !e.layout.has_ranks) return emit_compute(e, in, out);
  const Ref address = to_shared(e, in, e.source(in, in.operands[1], Type::u64), true);
  out.opcode = Opcode::setp_;
  out.modifiers = {};
  out.modifiers.type = Type::u64;
  out.modifiers.compare = ptx::Compare::lt;
  out[CompareOperand::p] = e.destination(in, in.operands[0]);
  out[CompareOperand::a] = e.without_rank(in, address);
  out[CompareOperand::b] = e.constants.wide(kWindowBytes);
  e.push(out);
}

}  // namespace warpcheck::vgpu
