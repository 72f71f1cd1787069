// Thread block clusters and asynchronous bulk copies.  PTX ISA 9.0, 9.7.9.22
// (mapa), 9.7.9.23 (getctarank), 9.7.9.25 (cp.async.bulk), 9.7.13.3 (barrier.cluster), and st.async
// and red.async of 9.7.9.12 and 9.7.13.8.
//
// An address of shared memory in the cluster contains the rank of its block plus 1 above the offset
// (memory.hpp); 0 means the executing block, so addresses of a block's own variables have this form
// too.
#include <algorithm>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Completion;
using ptx::ObjectOp;
using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Order;
using ptx::Space;
using ptx::Type;

namespace {

Ref cluster_rank(Emission& e, const ptx::Instruction& in) {
  Instr out = e.begin(in);
  out.kind = InstrKind::special;
  out.special = ptx::SpecialRegister::cluster_ctarank;
  out.guard = {};
  out[ScalarOperand::result] = e.frame.temporary(Bank::word);
  e.push(out);
  return out[ScalarOperand::result];
}

}  // namespace

void emit_cluster_barrier(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool arrives = m.arrive && (m.order == Order::weak || m.order == Order::release ||
                                    m.order == Order::relaxed);
  const bool waits = m.wait && (m.order == Order::weak || m.order == Order::acquire);
  if (arrives == waits || !in.operands.empty() || m.sync || m.red) {
    e.refuse(in, "a barrier of this kind");
  }
  out.kind = InstrKind::cluster_barrier;
  e.program.uses_clusters = true;
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
  const std::size_t operands = 3 + (to_shared ? 1 : 0) + (m.multicast ? 1 : 0);
  const bool reduces_right =
      m.reduce == (m.atom_op != ptx::AtomOp::none) && m.reduce == (m.type != Type::none);
  const bool is_known = to_global ? !m.multicast : to_shared && from_there;
  if (!is_known || !reduces_right || m.read || (m.multicast && !m.cluster)) {
    e.refuse(in, "a bulk copy of this kind");
  }
  if (in.operands.size() < operands) e.refuse(in, "an operand is missing");
  out.kind = InstrKind::bulk_copy;
  out[BulkOperand::target] = address_row(e, in, in.operands[0]);
  out[BulkOperand::source] = address_row(e, in, in.operands[1]);
  out[BulkOperand::bytes] = e.source(in, in.operands[2], Type::u32);
  if (to_shared) out[BulkOperand::object] = address_row(e, in, in.operands[3]);
  if (m.multicast) out[BulkOperand::blocks] = e.source(in, in.operands[4], Type::b16);
  out[BulkOperand::rows] = e.frame.temporary(Bank::word);
  for (int more = 0; more < 3; ++more) e.frame.temporary(Bank::word);
  out.address_rows = e.frame.temporary(Bank::wide).offset;
  e.frame.temporary(Bank::wide);
  e.program.uses_clusters |= m.cluster;
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
  out[BulkOperand::target] = address_row(e, in, in.operands[0]);
  out[BulkOperand::bytes] = e.source(in, in.operands[1], Type::b64);
  out[BulkOperand::source] = e.constants.wide(0);  // the value
  e.push(out);
}

namespace {

// Returns an operand's address in .shared::cluster; without a state space it is a generic one.
Ref cluster_address_row(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand) {
  const Ref row = address_row(e, in, operand);
  if (in.modifiers.space == Space::shared) return row;
  ptx::Modifiers to_shared;
  to_shared.type = Type::u64;
  to_shared.space = Space::shared;
  to_shared.to = true;
  return calculate(e, in, Opcode::cvta_, to_shared, {row}, Bank::wide);
}

}  // namespace

// st.async and red.async: a store or a reduction, and then its bytes at an mbarrier.
void emit_async_store(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
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
  out[AsyncStoreOperand::address] = cluster_address_row(e, in, in.operands[0]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Ref row = e.source(in, parts[i], m.type);
    if (is_reduction) {
      out[AtomicOperand::value] = row;
    } else {
      out[MemoryOperand::value + i] = row;
    }
  }
  out[AsyncStoreOperand::object] = cluster_address_row(e, in, in.operands[2]);
  out.modifiers.space = Space::shared;
  out.elements = m.vector;
  out.modifiers.vector = 1;
  e.program.uses_clusters = true;
  e.push(out);
}

// mapa: the same place in another block's shared memory.
void emit_mapping(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_wide = m.type == Type::u64;
  if (!is_wide && m.type != Type::u32) e.refuse(in, "an address of this type");
  e.program.uses_clusters = true;
  const Ref address = e.source(in, in.operands[1], m.type);
  const Ref rank = e.source(in, in.operands[2], Type::u32);
  const Ref number = calculate(e, in, Opcode::add_, Type::u32, {rank, e.constants.word(1)});
  push_compute(e, out, Opcode::bfi_, is_wide ? Type::b64 : Type::b32, Type::none,
               {.d = e.destination(in, in.operands[0]),
                .a = is_wide ? widened(e, in, number) : number,
                .b = address,
                .c = e.constants.word(kRankShift),
                .f = e.constants.word(kRankBits)});
}

namespace {

constexpr std::uint32_t kPeerBit = 1u << 24;

// Compilers also clear bits that they know to be 0, because the address is aligned.
bool is_mask_of_peer(const ptx::Operand& operand) {
  constexpr std::uint32_t kOfAlignment = 0x3ff;
  const auto mask = static_cast<std::uint32_t>(operand.bits);
  return operand.kind == Kind::immediate && (mask | kOfAlignment) == ~kPeerBit;
}

}  // namespace

// On a device an address of shared memory has the rank of its block in bits 24 and up, and programs
// with pairs of blocks clear bit 24 of an address, so that it leads to the even block of the pair.
// No instruction of the ISA does that; it is recognised by its constant, in modules with such
// pairs.
bool clears_peer_bit(const Emission& e, const ptx::Instruction& in) {
  if (in.opcode != Opcode::and_ || in.modifiers.type != Type::b32 || in.operands.size() != 3) {
    return false;
  }
  return std::ranges::any_of(in.operands, is_mask_of_peer) &&
         std::ranges::any_of(e.layout.instances, [](const Instance& instance) {
           return std::ranges::any_of(instance.function->body, [](const ptx::Instruction& other) {
             return other.text.find("cta_group::2") != std::string_view::npos;
           });
         });
}

// What an address in shared memory says of its block.
struct NamedBlock {
  Ref is_own;  // a predicate: it is the executing block
  Ref rank;    // in the cluster, of another block
};

NamedBlock block_of_address(Emission& e, const ptx::Instruction& in, const Ref& address) {
  const Ref tag = calculate(e, in, Opcode::bfe_, Type::u32,
                            {address, e.constants.word(kRankShift), e.constants.word(kRankBits)});
  ptx::Modifiers equal;
  equal.type = Type::u32;
  equal.compare = ptx::Compare::eq;
  const Ref is_own =
      calculate(e, in, Opcode::setp_, equal, {tag, e.constants.word(0)}, Bank::predicate);
  const Ref rank = calculate(e, in, Opcode::sub_, Type::u32, {tag, e.constants.word(1)});
  return {is_own, rank};
}

// The same place in the even block of the pair.
void emit_even_block(Emission& e, const ptx::Instruction& in, Instr& out) {
  e.program.uses_clusters = true;
  const bool mask_is_first = is_mask_of_peer(in.operands[1]);
  const auto mask = static_cast<std::uint32_t>(in.operands[mask_is_first ? 1 : 2].bits);
  const Ref given = e.source(in, in.operands[mask_is_first ? 2 : 1], Type::b32);
  const Ref address =
      calculate(e, in, Opcode::and_, Type::b32, {given, e.constants.word(mask | kPeerBit)});
  const NamedBlock named = block_of_address(e, in, address);
  ptx::Modifiers select;
  select.type = Type::b32;
  const Ref rank = calculate(e, in, Opcode::selp_, select,
                             {cluster_rank(e, in), named.rank, named.is_own}, Bank::word);
  const Ref even = calculate(e, in, Opcode::and_, Type::b32, {rank, e.constants.word(~1u)});
  const Ref number = calculate(e, in, Opcode::add_, Type::u32, {even, e.constants.word(1)});
  push_compute(e, out, Opcode::bfi_, Type::b32, Type::none,
               {.d = e.destination(in, in.operands[0]),
                .a = number,
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
    address = calculate(e, in, Opcode::cvt_, narrow, {address}, Bank::word);
  }
  const NamedBlock named = block_of_address(e, in, address);
  const Ref own = cluster_rank(e, in);
  const Ref to = e.destination(in, in.operands[0]);
  push_compute(e, out, Opcode::selp_, Type::b32, Type::none,
               {.d = to, .a = own, .b = named.rank, .c = named.is_own});
}

// isspacep.shared tests for the executing block's shared memory, which has a second address if mapa
// computed one.
void emit_space_test(Emission& e, const ptx::Instruction& in, Instr& out) {
  out.kind = InstrKind::compute;
  if (in.modifiers.space != Space::shared) e.require_form(in);
  const bool is_mapped = std::ranges::any_of(e.layout.instances, [](const Instance& instance) {
    return std::ranges::any_of(instance.function->body, [](const ptx::Instruction& other) {
      return other.opcode == Opcode::mapa_;
    });
  });
  const bool asks_for_shared = in.modifiers.space == Space::shared && !in.modifiers.cluster;
  if (!asks_for_shared || !is_mapped) return emit_compute(e, in, out);
  const Ref address = e.source(in, in.operands[1], Type::u64);
  const Ref number =
      calculate(e, in, Opcode::add_, Type::u32, {cluster_rank(e, in), e.constants.word(1)});
  const Ref tag = calculate(e, in, Opcode::shl_, Type::b32, {number, e.constants.word(kRankShift)});
  const Ref wide_tag = widened(e, in, tag);
  const Ref unmapped = calculate(e, in, Opcode::sub_, Type::u64, {address, wide_tag});
  const Ref first = calculate(e, in, Opcode::isspacep_, in.modifiers, {address}, Bank::predicate);
  const Ref second = calculate(e, in, Opcode::isspacep_, in.modifiers, {unmapped}, Bank::predicate);
  push_compute(e, out, Opcode::or_, Type::pred, Type::none,
               {.d = e.destination(in, in.operands[0]), .a = first, .b = second});
}

}  // namespace warpcheck::vgpu
