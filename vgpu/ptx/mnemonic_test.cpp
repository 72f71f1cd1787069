#include "vgpu/ptx/mnemonic.hpp"

#include <gtest/gtest.h>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::ptx {
namespace {

Modifiers modifiers_of(std::string_view text) {
  const Mnemonic mnemonic = read_mnemonic(text);
  EXPECT_EQ(mnemonic.unsupported, "");
  EXPECT_NE(mnemonic.opcode, Opcode::invalid);
  return mnemonic.modifiers;
}

std::string refusal_of(std::string_view text) { return read_mnemonic(text).unsupported; }

TEST(Mnemonic, Load) {
  const Modifiers m = modifiers_of("ld.acquire.gpu.global.L1::no_allocate.L2::128B.v4.u32");
  EXPECT_EQ(m.order, Order::acquire);
  EXPECT_EQ(m.scope, Scope::gpu);
  EXPECT_EQ(m.space, Space::global);
  EXPECT_EQ(m.vector, 4);
  EXPECT_EQ(m.type, Type::u32);
}

TEST(Mnemonic, LoadWithoutModifiersIsWeakAndGeneric) {
  const Modifiers m = modifiers_of("ld.f64");
  EXPECT_EQ(m.order, Order::weak);
  EXPECT_EQ(m.scope, Scope::none);
  EXPECT_EQ(m.space, Space::generic);
  EXPECT_EQ(m.vector, 1);
  EXPECT_EQ(modifiers_of("ld.volatile.shared.u8").order, Order::volatile_);
  EXPECT_EQ(modifiers_of("ld.mmio.relaxed.sys.global.u32").order, Order::mmio);
  EXPECT_EQ(modifiers_of("ld.shared::cta.u8").space, Space::shared);
}

TEST(Mnemonic, AtomicsAreRelaxedAtGpuScopeUnlessTheySayOtherwise) {
  const Modifiers plain = modifiers_of("atom.shared.add.u32");
  EXPECT_EQ(plain.atom_op, AtomOp::add);
  EXPECT_EQ(plain.order, Order::relaxed);
  EXPECT_EQ(plain.scope, Scope::gpu);
  const Modifiers full = modifiers_of("atom.acq_rel.sys.global.cas.b64");
  EXPECT_EQ(full.atom_op, AtomOp::cas);
  EXPECT_EQ(full.order, Order::acq_rel);
  EXPECT_EQ(full.scope, Scope::sys);
  EXPECT_EQ(modifiers_of("red.global.add.noftz.f16x2").type, Type::f16x2);
}

TEST(Mnemonic, Fences) {
  EXPECT_EQ(modifiers_of("membar.gl").order, Order::sc);
  EXPECT_EQ(modifiers_of("membar.gl").scope, Scope::gpu);
  EXPECT_EQ(modifiers_of("fence.cta").order, Order::acq_rel);
  EXPECT_EQ(modifiers_of("fence.sc.sys").order, Order::sc);
}

TEST(Mnemonic, BarrierObjects) {
  const Modifiers plain = modifiers_of("mbarrier.arrive.shared.b64");
  EXPECT_EQ(plain.object_op, ObjectOp::arrive);
  EXPECT_EQ(plain.space, Space::shared);
  EXPECT_FALSE(plain.expect_tx);
  const Modifiers both = modifiers_of("mbarrier.arrive_drop.expect_tx.relaxed.cta.shared::cta.b64");
  EXPECT_EQ(both.object_op, ObjectOp::arrive_drop);
  EXPECT_TRUE(both.expect_tx);
  EXPECT_EQ(both.order, Order::relaxed);
  EXPECT_EQ(both.scope, Scope::cta);
  EXPECT_EQ(modifiers_of("mbarrier.expect_tx.b64").object_op, ObjectOp::expect_tx);
  EXPECT_TRUE(modifiers_of("mbarrier.try_wait.parity.acquire.cta.b64").parity);
  EXPECT_TRUE(modifiers_of("mbarrier.arrive.noComplete.b64").no_complete);
  EXPECT_NE(refusal_of("mbarrier.b64"), "");
  EXPECT_NE(refusal_of("mbarrier.arrive.init.b64"), "");
}

TEST(Mnemonic, CopiesNameTheirTargetFirst) {
  const Modifiers copy = modifiers_of("cp.async.cg.shared.global.L2::128B");
  EXPECT_EQ(copy.space, Space::shared);
  EXPECT_EQ(copy.source_space, Space::global);
  EXPECT_EQ(copy.copy_op, CopyOp::none);
  EXPECT_EQ(modifiers_of("cp.async.wait_group").copy_op, CopyOp::wait_group);
  const Modifiers arrival = modifiers_of("cp.async.mbarrier.arrive.noinc.shared.b64");
  EXPECT_EQ(arrival.copy_op, CopyOp::arrive);
  EXPECT_TRUE(arrival.no_increment);
  const Modifiers bulk =
      modifiers_of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
  EXPECT_TRUE(bulk.bulk && bulk.cluster);
  EXPECT_EQ(bulk.space, Space::shared);
  EXPECT_EQ(bulk.source_space, Space::global);
  EXPECT_EQ(bulk.completion, Completion::object);
  const Modifiers reduce =
      modifiers_of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32");
  EXPECT_TRUE(reduce.reduce && !reduce.cluster);
  EXPECT_EQ(reduce.completion, Completion::bulk_group);
  EXPECT_EQ(reduce.atom_op, AtomOp::add);
  EXPECT_TRUE(modifiers_of("cp.async.bulk.wait_group.read").read);
  EXPECT_NE(refusal_of("ld.shared.global.u32"), "");
}

TEST(Mnemonic, ConvertNamesTheDestinationFirst) {
  const Modifiers m = modifiers_of("cvt.rzi.ftz.sat.s32.f32");
  EXPECT_EQ(m.type, Type::s32);
  EXPECT_EQ(m.source_type, Type::f32);
  EXPECT_EQ(m.rounding, Rounding::rzi);
  EXPECT_TRUE(m.ftz);
  EXPECT_TRUE(m.sat);
  const Modifiers packed = modifiers_of("cvt.pack.sat.s8.s32.b32");
  EXPECT_EQ(packed.type, Type::s8);
  EXPECT_EQ(packed.source_type, Type::s32);
  EXPECT_TRUE(packed.pack);
}

TEST(Mnemonic, AWordMeansWhatTheOpcodeMakesOfIt) {
  EXPECT_EQ(modifiers_of("mul.lo.s32").part, MulPart::lo);
  EXPECT_EQ(modifiers_of("mul.wide.u16").part, MulPart::wide);
  const Modifiers setp = modifiers_of("setp.lo.and.u32");
  EXPECT_EQ(setp.compare, Compare::lo);
  EXPECT_EQ(setp.bool_op, BoolOp::and_);
  EXPECT_EQ(setp.part, MulPart::none);
  EXPECT_EQ(modifiers_of("red.shared.and.b32").atom_op, AtomOp::and_);
  EXPECT_EQ(modifiers_of("vote.sync.uni.pred").vote, VoteMode::uni);
  EXPECT_FALSE(modifiers_of("vote.sync.uni.pred").uniform);
  EXPECT_TRUE(modifiers_of("bra.uni").uniform);
  EXPECT_EQ(modifiers_of("shfl.sync.idx.b32").shuffle, ShuffleMode::idx);
  EXPECT_EQ(modifiers_of("redux.sync.min.s32").atom_op, AtomOp::min);
}

TEST(Mnemonic, Barriers) {
  const Modifiers warp = modifiers_of("bar.warp.sync");
  EXPECT_TRUE(warp.warp);
  EXPECT_TRUE(warp.sync);
  const Modifiers red = modifiers_of("barrier.cta.red.popc.aligned.u32");
  EXPECT_TRUE(red.red);
  EXPECT_TRUE(red.popc);
  EXPECT_TRUE(red.aligned);
  EXPECT_EQ(modifiers_of("bar.red.or.pred").bool_op, BoolOp::or_);
}

TEST(Mnemonic, TheRest) {
  EXPECT_TRUE(modifiers_of("bfind.shiftamt.u32").shift_amount);
  const Modifiers shift = modifiers_of("shf.l.wrap.b32");
  EXPECT_TRUE(shift.left);
  EXPECT_TRUE(shift.wrap);
  EXPECT_FALSE(shift.clamp);
  EXPECT_EQ(modifiers_of("prmt.b32.rc16").permute, PermuteMode::rc16);
  EXPECT_EQ(modifiers_of("testp.notanumber.f32").test, TestProperty::notanumber);
  const Modifiers min = modifiers_of("min.NaN.xorsign.abs.f32");
  EXPECT_TRUE(min.nan);
  EXPECT_TRUE(min.xorsign);
  EXPECT_TRUE(min.absolute);
  EXPECT_TRUE(modifiers_of("cvta.to.global.u64").to);
  EXPECT_EQ(modifiers_of("isspacep.shared").space, Space::shared);
  EXPECT_TRUE(modifiers_of("add.cc.u32").carry_out);
  EXPECT_EQ(modifiers_of("dp4a.u32.s32").source_type, Type::s32);
}

TEST(Mnemonic, RefusalsNameTheSuffix) {
  EXPECT_EQ(refusal_of("foo.bar.u32"), "unknown instruction 'foo.bar.u32'");
  EXPECT_EQ(refusal_of("add.frob.u32"), "unknown modifier '.frob' in 'add.frob.u32'");
  EXPECT_EQ(refusal_of("add..u32"), "unknown modifier '.' in 'add..u32'");
  EXPECT_EQ(refusal_of("add.wide.u32"), "modifier '.wide' of 'add.wide.u32' is not supported");
  EXPECT_EQ(refusal_of("bar.cluster.arrive"),
            "modifier '.cluster' of 'bar.cluster.arrive' is not supported");
  EXPECT_EQ(
      refusal_of("cp.async.bulk.tensor.3d.shared::cta.global.im2col::w"),
      "modifier '.im2col::w' of 'cp.async.bulk.tensor.3d.shared::cta.global.im2col::w': the ISA "
      "shows the layout of the halo in figures, and no GPU has recorded it");
  EXPECT_EQ(refusal_of("add.rn.rz.f32"),
            "modifier '.rz' in 'add.rn.rz.f32' comes after another of its kind");
  EXPECT_EQ(refusal_of("sad.u32.u32"),
            "modifier '.u32' in 'sad.u32.u32' comes after another of its kind");
}

TEST(Mnemonic, WhatMustStandIsMissed) {
  EXPECT_EQ(refusal_of("add"), "'add' lacks a type");
  EXPECT_EQ(refusal_of("cvt.u32"), "'cvt.u32' lacks a type");
  EXPECT_EQ(refusal_of("mul.s32"), "'mul.s32' lacks a modifier of the kind part");
  EXPECT_EQ(refusal_of("mul.f32"), "");
  EXPECT_EQ(refusal_of("setp.u32"), "'setp.u32' lacks a modifier of the kind compare");
  EXPECT_EQ(refusal_of("atom.global.u32"), "'atom.global.u32' lacks a modifier of the kind atomop");
  EXPECT_EQ(refusal_of("cvta.u64"), "'cvta.u64' lacks a modifier of the kind space");
}

Operand operand(Operand::Kind kind) {
  Operand out;
  out.kind = kind;
  return out;
}

std::string misfit_of(std::string_view text, std::initializer_list<Operand> operands) {
  return find_misfit(read_mnemonic(text), {operands.begin(), operands.size()});
}

TEST(Operands, AreCountedAndChecked) {
  const Operand reg = operand(Operand::Kind::reg);
  const Operand number = operand(Operand::Kind::immediate);
  const Operand address = operand(Operand::Kind::address);
  EXPECT_EQ(misfit_of("add.u32", {reg, reg, number}), "");
  EXPECT_EQ(misfit_of("add.u32", {reg, reg}), "expected 3 operands, found 2");
  EXPECT_EQ(misfit_of("add.u32", {number, reg, reg}), "operand 1 must be a register");
  EXPECT_EQ(misfit_of("ld.u32", {reg, reg}), "operand 2 must be an address");
  EXPECT_EQ(misfit_of("ld.u32", {reg, address}), "");
  EXPECT_EQ(misfit_of("ld.L2::cache_hint.u32", {reg, address}), "operand 2 must be a cache policy");
  EXPECT_EQ(misfit_of("ld.L2::cache_hint.u32", {reg, address, reg}), "");
  EXPECT_EQ(misfit_of("setp.eq.u32", {reg, reg, reg, reg}), "");
  EXPECT_EQ(misfit_of("setp.eq.u32", {reg}), "expected 3 to 4 operands, found 1");
  EXPECT_EQ(misfit_of("ret", {}), "");
  EXPECT_EQ(misfit_of("ret", {reg}), "expected 0 operands, found 1");
}

TEST(Operands, FormsDependOnTheSuffixes) {
  const Operand reg = operand(Operand::Kind::reg);
  const Operand address = operand(Operand::Kind::address);
  EXPECT_EQ(misfit_of("atom.add.u32", {reg, address, reg}), "");
  EXPECT_EQ(misfit_of("atom.add.u32", {reg, address, reg, reg}), "expected 3 operands, found 4");
  EXPECT_EQ(misfit_of("atom.cas.b32", {reg, address, reg, reg}), "");
  EXPECT_EQ(misfit_of("atom.cas.b32", {reg, address, reg}), "expected 4 operands, found 3");
  EXPECT_EQ(misfit_of("bar.sync", {reg}), "");
  EXPECT_EQ(misfit_of("bar.warp.sync", {reg, reg}), "expected 1 operands, found 2");
  EXPECT_EQ(misfit_of("bar.red.popc.u32", {reg, reg, reg}), "");
  EXPECT_EQ(misfit_of("bar.red.popc.u32", {reg, reg}), "expected 3 to 4 operands, found 2");
}

TEST(Operands, NegationIsForPredicatesOnly) {
  const Operand reg = operand(Operand::Kind::reg);
  Operand negated = reg;
  negated.negated = true;
  EXPECT_EQ(misfit_of("vote.sync.any.pred", {reg, negated, reg}), "");
  EXPECT_EQ(misfit_of("not.pred", {reg, negated}), "operand 2 must be a register or an immediate");
}

TEST(Operands, PairsAndVectorsAreNotTheSame) {
  const Operand reg = operand(Operand::Kind::reg);
  Operand two = operand(Operand::Kind::vector);
  two.parts = {reg, reg};
  Operand pair = two;
  pair.pair = true;
  EXPECT_EQ(misfit_of("setp.eq.u32", {pair, reg, reg}), "");
  EXPECT_EQ(misfit_of("setp.eq.u32", {two, reg, reg}),
            "operand 1 must be a register or a pair `d|p`");
  EXPECT_EQ(misfit_of("mov.b64", {two, reg}), "");
  EXPECT_EQ(misfit_of("mov.b64", {pair, reg}), "operand 1 must be a register or a vector of them");
}

TEST(Operands, RowsThatSayAnyAreNotChecked) {
  EXPECT_EQ(misfit_of("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", {}), "");
  EXPECT_EQ(misfit_of("unheard.of", {}), "");
}

}  // namespace
}  // namespace warpcheck::ptx
