// The named operands of instructions.
#include "vgpu/program/operands.hpp"

#include <gtest/gtest.h>

#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

template <class Index>
concept IsOperand = requires(Instr instr, Index index) {
  instr[index];
};
static_assert(IsOperand<ComputeOperand> && IsOperand<MatrixOperand>);
// Operands cannot be indexed by number.
static_assert(!IsOperand<int> && !IsOperand<std::size_t> && !IsOperand<InstrKind>);

TEST(Operands, OfOneFamilyHavePlacesOfTheirOwn) {
  Instr instr;
  const Ref first{Bank::word, 0}, second{Bank::predicate, 4};
  instr[WarpOperand::result] = first;
  instr[WarpOperand::members] = second;
  EXPECT_EQ(instr[WarpOperand::result], first);
  EXPECT_EQ(instr[WarpOperand::members], second);
  EXPECT_EQ(instr[WarpOperand::value], Ref{});
}

TEST(Operands, OfAVectorFollowEachOther) {
  Instr instr;
  for (std::uint32_t i = 0; i < kElementsMax; ++i) {
    instr[MemoryOperand::value + i] = Ref{Bank::word, i * kWordRowBytes};
  }
  EXPECT_EQ(instr[MemoryOperand::address], Ref{});
  EXPECT_EQ(instr[MemoryOperand::value + 3], (Ref{Bank::word, 3 * kWordRowBytes}));
}

TEST(Operands, ASetHasThoseThatItWasMadeFrom) {
  constexpr OperandSet set{AtomicOperand::address, AtomicOperand::swap};
  EXPECT_TRUE(set.has(AtomicOperand::swap));
  EXPECT_FALSE(set.has(AtomicOperand::old));
  EXPECT_TRUE(OperandSet{}.empty());
}

TEST(OperandRoles, AMoveToAVectorWritesItsParts) {
  Instr instr;
  instr.kind = InstrKind::compute;
  instr.opcode = ptx::Opcode::mov_;
  instr.modifiers.vector = 2;
  instr.operands = ComputeRows{.d = {Bank::word, 0}, .a = {Bank::wide, 0}, .e = {Bank::word, 128}};
  EXPECT_TRUE(roles_of(instr).writes.has(ComputeOperand::e));
  EXPECT_FALSE(roles_of(instr).reads.has(ComputeOperand::c));
  instr.operands = ComputeRows{.d = {Bank::wide, 0}, .a = {Bank::word, 0}, .b = {Bank::word, 128}};
  EXPECT_TRUE(roles_of(instr).reads.has(ComputeOperand::b));
  EXPECT_FALSE(roles_of(instr).writes.has(ComputeOperand::c));
}

// All four elements: an earlier version omitted the last two.
TEST(OperandRoles, AnAsynchronousStoreReadsWhatItStores) {
  Instr instr;
  instr.kind = InstrKind::async_store;
  const OperandSet reads = roles_of(instr).reads;
  EXPECT_TRUE(reads.has(MemoryOperand::value + 3));
  EXPECT_TRUE(reads.has(AsyncStoreOperand::object));
  instr.modifiers.atom_op = ptx::AtomOp::add;
  EXPECT_TRUE(roles_of(instr).reads.has(AtomicOperand::value));
  EXPECT_FALSE(roles_of(instr).reads.has(MemoryOperand::value));
}

}  // namespace
}  // namespace warpcheck::vgpu
