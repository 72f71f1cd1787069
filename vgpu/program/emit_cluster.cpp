// Thread block clusters and asynchronous bulk copies; see emitter.hpp.  PTX ISA 9.0, 9.7.9.22
// (mapa), 9.7.9.23 (getctarank), 9.7.9.25 (cp.async.bulk), 9.7.13.3 (barrier.cluster), and st.async
// and red.async of 9.7.9.12 and 9.7.13.8.
//
// An address of shared memory in the cluster holds its block's rank and 1 above the offset
// (memory.hpp); 0 there is the executing block, so addresses of its own variables are such, too.
#include <algorithm>

#include "vgpu/program/emitter.hpp"

namespace warpcheck::vgpu {

using ptx::Completion;
using ptx::ObjectOp;
using ptx::Opcode;
using ptx::Order;
using ptx::Space;
using ptx::Type;

namespace {

constexpr std::uint32_t kRankShift = 24, kRankBits = 8;
constexpr std::uint64_t kRankMask = std::uint64_t{0xff} << kRankShift;

}  // namespace

void Emitter::emit_cluster_barrier(const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool arrives = m.arrive && (m.order == Order::weak || m.order == Order::release ||
                                    m.order == Order::relaxed);
  const bool waits = m.wait && (m.order == Order::weak || m.order == Order::acquire);
  if (arrives == waits || !in.operands.empty() || m.sync || m.red) {
    refuse(in, "a barrier of this kind");
  }
  out.kind = InstrKind::cluster_barrier;
  program_.uses_clusters = true;
  push(out);
}

// The address that an operand names, with its offset, in 64 bits.
Ref Emitter::address_row(const ptx::Instruction& in, const ptx::Operand& operand) {
  Instr base;
  Ref row = address(in, operand, base);
  if (row.bank == Bank::word) {
    ptx::Modifiers widen;
    widen.type = Type::u64;
    widen.source_type = Type::u32;
    row = calculate(in, Opcode::cvt_, widen, {row}, Bank::wide);
  }
  if (base.offset == 0) return row;
  const auto offset = static_cast<std::uint64_t>(base.offset);
  return calculate(in, Opcode::add_, Type::u64, {row, constants_.wide(offset)});
}

// cp.async.bulk and cp.reduce.async.bulk.
void Emitter::emit_bulk(const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool to_shared = m.space == Space::shared && m.completion == Completion::object;
  const bool to_global = m.space == Space::global && m.source_space == Space::shared &&
                         m.completion == Completion::bulk_group && !m.cluster;
  const bool from_there = m.source_space == Space::global
                              ? !m.reduce
                              : m.source_space == Space::shared && m.cluster && !m.multicast;
  const std::size_t operands = 3 + (to_shared ? 1 : 0) + (m.multicast ? 1 : 0);
  const bool reduces_right =
      m.reduce == (m.atom_op != ptx::AtomOp::none) && m.reduce == (m.type != Type::none);
  const bool is_known = to_global ? !m.multicast : to_shared && from_there;
  if (!is_known || !reduces_right || m.read || (m.multicast && !m.cluster)) {
    refuse(in, "a bulk copy of this kind");
  }
  if (in.operands.size() < operands) refuse(in, "an operand is missing");
  out.kind = InstrKind::bulk_copy;
  out[BulkOperand::target] = address_row(in, in.operands[0]);
  out[BulkOperand::source] = address_row(in, in.operands[1]);
  out[BulkOperand::bytes] = source(in, in.operands[2], Type::u32);
  if (to_shared) out[BulkOperand::object] = address_row(in, in.operands[3]);
  if (m.multicast) out[BulkOperand::blocks] = source(in, in.operands[4], Type::b16);
  out[BulkOperand::rows] = temporary(Bank::word);
  for (int more = 0; more < 3; ++more) temporary(Bank::word);
  out.target = temporary(Bank::wide).offset;
  temporary(Bank::wide);
  program_.uses_clusters |= m.cluster;
  push(out);
}

// st.async and red.async: a store or a reduction, and then its bytes at an mbarrier.
void Emitter::emit_async_store(const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_reduction = in.opcode == Opcode::red_;
  const bool is_ordered = is_reduction ? m.order == Order::relaxed && m.scope == ptx::Scope::cluster
                                       : m.order == Order::weak && m.scope == ptx::Scope::none;
  const bool is_known = m.space == Space::shared && m.completion == Completion::object &&
                        is_ordered && in.operands.size() == 3;
  const std::uint32_t bytes = ptx::bytes_of(m.type);
  if (!is_known || (bytes != 4 && bytes != 8) || (is_reduction && m.vector != 1)) {
    refuse(in, "an asynchronous store of this kind");
  }
  const ptx::Operand& value = in.operands[1];
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  if (parts.size() != m.vector || m.vector > 4) refuse(in, "a vector of another length");
  out.kind = InstrKind::async_store;
  out[AsyncStoreOperand::address] = address_row(in, in.operands[0]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Ref row = source(in, parts[i], m.type);
    if (is_reduction) {
      out[AtomicOperand::value] = row;
    } else {
      out[MemoryOperand::value + i] = row;
    }
  }
  out[AsyncStoreOperand::object] = address_row(in, in.operands[2]);
  out.target = m.vector;
  out.modifiers.vector = 1;
  program_.uses_clusters = true;
  push(out);
}

// mapa: the same place in another block's shared memory.
void Emitter::emit_mapping(const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_wide = m.type == Type::u64;
  if (!is_wide && m.type != Type::u32) refuse(in, "an address of this type");
  program_.uses_clusters = true;
  const Ref address = source(in, in.operands[1], m.type);
  const Ref rank = source(in, in.operands[2], Type::u32);
  const Ref number = calculate(in, Opcode::add_, Type::u32, {rank, constants_.word(1)});
  const Ref tag = calculate(in, Opcode::shl_, Type::b32, {number, constants_.word(kRankShift)});
  const Ref to = destination(in, in.operands[0]);
  if (!is_wide) {
    const auto mask = static_cast<std::uint32_t>(~kRankMask);
    const Ref offset = calculate(in, Opcode::and_, Type::b32, {address, constants_.word(mask)});
    return push_compute(out, Opcode::or_, Type::b32, Type::none, {.d = to, .a = offset, .b = tag});
  }
  ptx::Modifiers widen;
  widen.type = Type::u64;
  widen.source_type = Type::u32;
  const Ref wide_tag = calculate(in, Opcode::cvt_, widen, {tag}, Bank::wide);
  const Ref offset = calculate(in, Opcode::and_, Type::b64, {address, constants_.wide(~kRankMask)});
  push_compute(out, Opcode::or_, Type::b64, Type::none, {.d = to, .a = offset, .b = wide_tag});
}

Ref Emitter::cluster_rank(const ptx::Instruction& in) {
  Instr out = begin(in);
  out.kind = InstrKind::special;
  out.special = ptx::SpecialRegister::cluster_ctarank;
  out.guard = {};
  out[ScalarOperand::result] = temporary(Bank::word);
  push(out);
  return out[ScalarOperand::result];
}

// getctarank: the rank of the block in whose shared memory an address lies.
void Emitter::emit_rank(const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.type != Type::u64 && m.type != Type::u32) refuse(in, "an address of this type");
  Ref address = source(in, in.operands[1], m.type);
  if (m.type == Type::u64) {
    ptx::Modifiers narrow;
    narrow.type = Type::u32;
    narrow.source_type = Type::u64;
    address = calculate(in, Opcode::cvt_, narrow, {address}, Bank::word);
  }
  const Ref tag = calculate(in, Opcode::bfe_, Type::u32,
                            {address, constants_.word(kRankShift), constants_.word(kRankBits)});
  ptx::Modifiers equal;
  equal.type = Type::u32;
  equal.compare = ptx::Compare::eq;
  const Ref is_own =
      calculate(in, Opcode::setp_, equal, {tag, constants_.word(0)}, Bank::predicate);
  const Ref rank = calculate(in, Opcode::sub_, Type::u32, {tag, constants_.word(1)});
  const Ref own = cluster_rank(in);
  const Ref to = destination(in, in.operands[0]);
  push_compute(out, Opcode::selp_, Type::b32, Type::none,
               {.d = to, .a = own, .b = rank, .c = is_own});
}

// isspacep.shared asks for the executing block's shared memory, which has a second address where
// mapa has made one.
void Emitter::emit_is_shared(const ptx::Instruction& in, Instr& out) {
  out.kind = InstrKind::compute;
  const bool is_mapped = std::ranges::any_of(layout_.instances, [](const Instance& instance) {
    return std::ranges::any_of(instance.function->body, [](const ptx::Instruction& other) {
      return other.opcode == Opcode::mapa_;
    });
  });
  if (in.modifiers.cluster || !is_mapped) return emit_compute(in, out);
  const Ref address = source(in, in.operands[1], Type::u64);
  const Ref number = calculate(in, Opcode::add_, Type::u32, {cluster_rank(in), constants_.word(1)});
  const Ref tag = calculate(in, Opcode::shl_, Type::b32, {number, constants_.word(kRankShift)});
  ptx::Modifiers widen;
  widen.type = Type::u64;
  widen.source_type = Type::u32;
  const Ref wide_tag = calculate(in, Opcode::cvt_, widen, {tag}, Bank::wide);
  const Ref unmapped = calculate(in, Opcode::sub_, Type::u64, {address, wide_tag});
  const Ref first = calculate(in, Opcode::isspacep_, in.modifiers, {address}, Bank::predicate);
  const Ref second = calculate(in, Opcode::isspacep_, in.modifiers, {unmapped}, Bank::predicate);
  push_compute(out, Opcode::or_, Type::pred, Type::none,
               {.d = destination(in, in.operands[0]), .a = first, .b = second});
}

}  // namespace warpcheck::vgpu
