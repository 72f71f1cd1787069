// Tests of compute instructions that the recorded vectors do not cover.
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/program/refusal.hpp"

namespace warpcheck::vgpu {
namespace {

using Words = std::vector<std::uint32_t>;

class Forms : public SyncTest {};

// Seen on sm_90: the NaN 0x7ff7, of either sign, as a factor gives zero; as the addend it gives a
// NaN.
TEST_F(Forms, WhatLiesOutOfBoundsMakesAFusedMultiplyAddZero) {
  compile(
      "fma.rn.oob.f16x2 %r2, 0x7ff73c00, 0x3c003c00, 0x40004000; st.global.u32 [%rd1], %r2;\n"
      "fma.rn.oob.bf16x2 %r2, 0x3f803f80, 0xfff73f80, 0x40004000; st.global.u32 [%rd1+4], %r2;\n"
      "fma.rn.oob.relu.f16x2 %r2, 0x3c007ff8, 0x3c003c00, 0x7ff7bc00; st.global.u32 [%rd1+8], "
      "%r2;\n"
      "fma.rn.f16x2 %r2, 0x7ff73c00, 0x3c003c00, 0x40004000; st.global.u32 [%rd1+12], %r2;");
  run(1);
  EXPECT_EQ(ints(4), (Words{0x00004200, 0x00004040, 0x7fff7fff, 0x7fff4200}));
}

TEST_F(Forms, SuffixesMayStandInAnyOrder) {
  compile(
      "lg2.approx.f32.ftz %r2, 0f41000000; st.global.u32 [%rd1], %r2;\n"
      "mad.u32.lo %r2, 3, 4, 5; st.global.u32 [%rd1+4], %r2;");
  run(1);
  EXPECT_EQ(ints(2), (Words{0x40400000, 17}));
  // Types are positional.
  EXPECT_THROW(compile("cvt.rn.u32.f32 %r2, %r1;"), Refusal);
}

TEST_F(Forms, ARegisterOf128BitsIsTwoHalves) {
  compile(
      ".reg .b128 %q<3>;\n"
      "mov.b128 %q1, {%rd1, 7}; mov.b128 %q2, %q1; mov.b128 {_, %rd4}, %q2;\n"
      "st.global.u64 [%rd1], %rd4;");
  run(1);
  EXPECT_EQ(ints(2), (Words{7, 0}));
}

TEST_F(Forms, VideoInstructionsSelectBytesAndHalves) {
  compile(
      "mov.u32 %r2, 0x80ff0201; mov.u32 %r3, 0x00108000;\n"
      "vadd.s32.s32.s32 %r4, %r2.b3, %r3.h0; st.global.u32 [%rd1], %r4;\n"
      "vadd.u32.u32.u32 %r4.b2, %r2.b1, %r3.h1, 0x11223344; st.global.u32 [%rd1+4], %r4;\n"
      "vadd2.u32.u32.u32 %r4.h1, %r2.h10, %r3.h23, 5; st.global.u32 [%rd1+8], %r4;\n"
      "vmad.s32.s32.s32 %r4, -%r2.b0, %r3.h1, 100; st.global.u32 [%rd1+12], %r4;\n"
      "vset.u32.u32.lt.add %r4, %r2.b0, %r2.b1, 41; st.global.u32 [%rd1+16], %r4;");
  run(1);
  EXPECT_EQ(ints(5), (Words{0xffff7f80, 0x11123344, 0x00ff0005, 84, 42}));
}

// Refuses cases in which GPUs deviate from the ISA, and instructions that do not exist.
TEST_F(Forms, OtherVideoInstructionsAreRefused) {
  EXPECT_THROW(compile("vadd.u32.u32.u32 %r4.h1, %r2, %r3, %r1;"), Refusal);
  EXPECT_THROW(compile("vadd.u32.u32.u32.sat %r4.b0, %r2, %r3, %r1;"), Refusal);
  EXPECT_THROW(compile("vmin.u32.u32.u32.max %r4, %r2, %r3, %r1;"), Refusal);
  EXPECT_THROW(compile("vshl.u32.u32.u32.sat.clamp %r4, %r2, %r3;"), Refusal);
  EXPECT_THROW(compile("vadd.u32.u32.u32 %r4, %r2.b4, %r3;"), Refusal);
  EXPECT_THROW(compile("vadd2.u32.u32.u32 %r4, %r2.h4, %r3.h10, %r1;"), Refusal);
  EXPECT_THROW(compile("vadd4.u32.u32.u32 %r4.h0, %r2, %r3, %r1;"), Refusal);
  EXPECT_THROW(compile("vmad.s32.s32.s32 %r4, -%r2, %r3, -%r1;"), Refusal);
}

TEST_F(Forms, GenericAddressesTellTheirSpace) {
  compile(
      ".local .align 4 .b8 l[4];\n"
      "mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; mov.u64 %rd5, l; cvta.local.u64 %rd5, %rd5;\n"
      "isspacep.shared %p1, %rd4; isspacep.local %p2, %rd4; isspacep.local %p3, %rd5;\n"
      "isspacep.global %p4, %rd5; isspacep.global %p5, %rd1; isspacep.const %p6, %rd1;\n"
      "mov.u32 %r2, 0; @%p1 or.b32 %r2, %r2, 1; @%p2 or.b32 %r2, %r2, 2;\n"
      "@%p3 or.b32 %r2, %r2, 4; @%p4 or.b32 %r2, %r2, 8; @%p5 or.b32 %r2, %r2, 16;\n"
      "@%p6 or.b32 %r2, %r2, 32; st.global.u32 [%rd1], %r2;",
      ".shared .align 4 .b8 s[4];\n");
  run(1);
  EXPECT_EQ(ints(1), (Words{1 + 4 + 16}));
}

}  // namespace
}  // namespace warpcheck::vgpu
