// Atomics of 16 and 128 bits and of vectors, 128-bit accesses, and cache policies.
#include <array>

#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/program/refusal.hpp"

namespace warpcheck::vgpu {
namespace {

using Words = std::vector<std::uint32_t>;

class AtomicsTest : public SyncTest {
 protected:
  struct Seen {
    std::uint32_t bytes, offset, elements;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  // Returns the atomic accesses, each by its first lane.
  std::vector<Seen> atomics() {
    std::vector<Seen> all;
    for (const Access& access : seen_.accesses) {
      if (access.kind != AccessKind::atomic) continue;
      all.push_back({access.bytes, access.offset[access.first_lane()], access.elements()});
    }
    return all;
  }
};

TEST_F(AtomicsTest, ASixteenBitSwapLeavesItsNeighbourAlone) {
  compile(
      ".reg .b16 %h<4>;\n"
      "st.global.u32 [%rd1], 0x11112222; mov.u16 %h1, 0x1111; mov.u16 %h2, 0x3333;\n"
      "atom.global.cas.b16 %h3, [%rd1+2], %h1, %h2; cvt.u32.u16 %r2, %h3;\n"
      "st.global.u32 [%rd1+4], %r2;\n"
      "atom.global.cas.b16 %h3, [%rd1+2], %h1, 0x4444; cvt.u32.u16 %r2, %h3;\n"
      "st.global.u32 [%rd1+8], %r2;");
  run(1);
  EXPECT_EQ(ints(3), (Words{0x33332222, 0x1111, 0x3333}));
  EXPECT_EQ(atomics(), (std::vector<Seen>{{2, 2, 1}, {2, 2, 1}}));
}

TEST_F(AtomicsTest, SixteenBitFloatsAreRoundedOnceAndKeepSubnormals) {
  // 1 + 2^-11 is a tie and is rounded to even; the least subnormal numbers are added exactly.
  compile(
      ".reg .b16 %h<4>;\n"
      "mov.u16 %h1, 0x3c00; st.global.b16 [%rd1], %h1; mov.u16 %h2, 0x1000;\n"
      "atom.global.add.noftz.f16 %h3, [%rd1], %h2;\n"
      "mov.u16 %h1, 1; st.global.b16 [%rd1+2], %h1; red.global.add.noftz.f16 [%rd1+2], %h1;\n"
      "mov.u16 %h1, 0x3f80; st.global.b16 [%rd1+4], %h1;\n"
      "atom.global.add.noftz.bf16 %h3, [%rd1+4], %h1; st.global.b16 [%rd1+6], %h3;");
  run(1);
  EXPECT_EQ(ints(2), (Words{0x00023c00, 0x3f804000}));
}

// PTX ISA 8.2.3: an access to a packed type is a separate access to each element.
TEST_F(AtomicsTest, HalvesOfAPackedTypeAreAtomicEachForItself) {
  compile(
      "mov.u32 %r2, 0x40003c00; st.global.u32 [%rd1], %r2;\n"
      "atom.global.add.noftz.f16x2 %r3, [%rd1], 0x3c003c00; st.global.u32 [%rd1+4], %r3;");
  run(1);
  EXPECT_EQ(ints(2), (Words{0x42004000, 0x40003c00}));
  EXPECT_EQ(atomics(), (std::vector<Seen>{{2, 0, 1}, {2, 2, 1}}));
}

TEST_F(AtomicsTest, ElementsOfAVectorAreAtomicEachForItself) {
  compile(
      ".reg .b32 %f<9>;\n"
      "mov.b32 %f1, 0f3f800000; mov.b32 %f2, 0f40000000;\n"
      "atom.global.v4.f32.add {%f3, _, %f4, %f5}, [%rd1+16], {%f1, %f2, %f1, %f2};\n"
      "atom.global.v4.f32.add {%f3, _, %f4, %f5}, [%rd1+16], {%f1, %f2, %f1, %f2};\n"
      "st.global.v2.b32 [%rd1], {%f3, %f5}; red.global.v2.f32.add [%rd1+8], {%f1, %f2};");
  run(1);
  EXPECT_EQ(ints(8), (Words{0x3f800000, 0x40000000, 0x3f800000, 0x40000000, 0x40000000, 0x40800000,
                            0x40000000, 0x40800000}));
  ASSERT_EQ(atomics().size(), 10u);
  EXPECT_EQ(atomics()[3], (Seen{4, 28, 1}));
}

// The race checker receives each element as a scalar of its own size.
TEST_F(AtomicsTest, ElementsOfAVectorAreAnnouncedAsScalars) {
  compile(
      ".reg .b16 %h<4>;\n"
      "mov.u16 %h1, 0x3c00;\n"
      "red.global.v4.f16.add.noftz [%rd1], {%h1, %h1, %h1, %h1};");
  run(1);
  for (const Access& access : seen_.accesses) {
    EXPECT_EQ(access.bytes / access.elements(), 2u);
  }
  EXPECT_EQ(atomics(), (std::vector<Seen>{{2, 0, 1}, {2, 2, 1}, {2, 4, 1}, {2, 6, 1}}));
}

TEST_F(AtomicsTest, AVectorMustBeAlignedAsAWhole) {
  compile(
      ".reg .b32 %f<3>; mov.b32 %f1, 0f3f800000; mov.b32 %f2, 0f3f800000;\n"
      "atom.global.v4.f32.add {%f1, %f2, _, _}, [%rd1+8], {%f1, %f1, %f1, %f1};\n"
      "st.global.v2.b32 [%rd1], {%f1, %f2};");
  run(1);
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::misaligned);
  EXPECT_EQ(seen_.faults[0].bytes, 16u);
  EXPECT_EQ(ints(4), (Words{0, 0, 0, 0}));  // nothing was added, and all destinations are 0
}

TEST_F(AtomicsTest, SubnormalsAreFlushedInGlobalMemoryAlone) {
  compile(
      "st.global.u32 [%rd1], 0x80000003; st.shared.u32 [s], 3;\n"
      "atom.global.add.f32 %r2, [%rd1], 0f80000001; atom.shared.add.f32 %r3, [s], 0f00000001;\n"
      "ld.shared.u32 %r4, [s]; st.global.u32 [%rd1+4], %r4; st.global.u32 [%rd1+8], %r2;",
      ".shared .align 4 .b8 s[4];\n");
  run(1);
  EXPECT_EQ(ints(3), (Words{0x80000000, 4, 0x80000003}));
}

TEST_F(AtomicsTest, SwapsOf128BitsCompareAllOfThem) {
  compile(
      ".reg .b128 %q<4>;\n"
      "mov.b64 %rd4, 1; mov.b64 %rd5, 2; mov.b128 %q1, {%rd4, %rd5};\n"
      "st.global.b128 [%rd1], %q1; mov.b64 %rd6, 3; mov.b128 %q2, {%rd4, %rd6};\n"
      "atom.global.cas.b128 %q3, [%rd1], %q2, %q2;\n"  // not equal
      "ld.global.b128 %q3, [%rd1]; mov.b128 {%rd7, %rd8}, %q3; st.global.u64 [%rd1+16], %rd8;\n"
      "atom.acquire.gpu.global.cas.b128 %q3, [%rd1], %q1, %q2;\n"
      "mov.b128 {%rd7, %rd8}, %q3; st.global.u64 [%rd1+24], %rd8;\n"
      "atom.global.exch.b128 %q3, [%rd1], %q1; st.relaxed.gpu.global.b128 [%rd1+32], %q3;");
  run(1);
  EXPECT_EQ(ints(12), (Words{1, 0, 2, 0, 2, 0, 2, 0, 1, 0, 3, 0}));
  EXPECT_EQ(atomics(), (std::vector<Seen>{{16, 0, 1}, {16, 0, 1}, {16, 0, 1}}));
  EXPECT_EQ(seen_.accesses[0].elements(), 2u);  // a weak 128-bit access equals a vector access
  EXPECT_NE(seen_.accesses[0].values[1], nullptr);
  EXPECT_EQ(seen_.accesses.back().elements(), 1u);
  std::vector<std::uint32_t> unwritten;
  for (const Access& access : seen_.accesses) {
    if (access.pc == pc_of("atom.global.cas.b128")) unwritten.push_back(access.unwritten);
    if (access.pc == pc_of("atom.acquire.gpu.global.cas.b128"))
      unwritten.push_back(access.unwritten);
  }
  EXPECT_EQ(unwritten, (std::vector<std::uint32_t>{1, 0}));
}

TEST_F(AtomicsTest, EightElementsMoveAtOnce) {
  compile(
      ".reg .b32 %v<8>;\n"
      "st.global.v8.b32 [%rd1], {1, 2, 3, 4, 5, 6, 7, 8};\n"
      "ld.global.v8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, _}, [%rd1];\n"
      "st.global.v2.b32 [%rd1+32], {%v0, %v6}; st.global.v4.b64 [%rd1+64], {1, 2, 3, 4};");
  run(1);
  EXPECT_EQ(ints(10), (Words{1, 2, 3, 4, 5, 6, 7, 8, 1, 7}));
  EXPECT_EQ(ints(24).back(), 0u);
  EXPECT_EQ(ints(23).back(), 4u);
  EXPECT_THROW(compile("st.global.v8.b64 [%rd1], {1, 2, 3, 4, 5, 6, 7, 8};"), Refusal);
}

TEST_F(AtomicsTest, LanesSwap128BitsOneAfterAnother) {
  // Each lane receives what the lane before it has stored.
  compile(
      ".reg .b128 %q<3>;\n"
      "cvt.u64.u32 %rd4, %r1; not.b64 %rd5, %rd4; mov.b128 %q1, {%rd4, %rd5};\n"
      "atom.global.exch.b128 %q2, [%rd1+1024], %q1; mov.b128 {_, %rd6}, %q2;\n"
      "cvt.u32.u64 %r2, %rd6; st.global.u32 [%rd2], %r2;");
  run(4);
  EXPECT_EQ(ints(4), (Words{0, ~0u, ~1u, ~2u}));
}

TEST_F(AtomicsTest, A128BitRegisterIsNoOtherRegister) {
  EXPECT_THROW(compile(".reg .b128 %q<2>; add.u64 %q1, %rd1, 1;"), Refusal);
  EXPECT_THROW(compile(".reg .b128 %q<2>; add.u64 %rd4, %q1, 1;"), Refusal);
  EXPECT_THROW(compile("ld.global.b128 %rd4, [%rd1];"), Refusal);
  EXPECT_THROW(compile("mov.b128 %rd4, %rd5;"), Refusal);
}

TEST_F(AtomicsTest, WhatNoAtomicDoesIsRefused) {
  EXPECT_THROW(compile(".reg .b16 %h<2>; atom.global.exch.b16 %h1, [%rd1], %h1;"), Refusal);
  EXPECT_THROW(compile(".reg .b16 %h<2>; atom.global.min.noftz.f16 %h1, [%rd1], %h1;"), Refusal);
  EXPECT_THROW(compile("atom.global.add.b128 %rd4, [%rd1], %rd4;"), Refusal);
  EXPECT_THROW(compile("red.global.v2.u32.add [%rd1], {%r1, %r1};"), Refusal);
  EXPECT_THROW(compile("red.shared.v2.f32.add [%r1], {%r1, %r1};"), Refusal);
}

TEST_F(AtomicsTest, ACachePolicyChangesNothing) {
  compile(
      "createpolicy.fractional.L2::evict_last.b64 %rd4, 0.5;\n"
      "createpolicy.range.global.L2::evict_first.b64 %rd5, [%rd1], 64, 128;\n"
      "st.global.L2::cache_hint.u32 [%rd1], 5, %rd4;\n"
      "ld.global.L1::no_allocate.L2::cache_hint.u32 %r2, [%rd1], %rd5;\n"
      "atom.global.add.L2::cache_hint.u32 %r3, [%rd1], %r2, %rd4;\n"
      "applypriority.global.L2::evict_normal [%rd1], 128; prefetchu.L1 [%rd1];");
  run(1);
  EXPECT_EQ(ints(1), (Words{10}));
  EXPECT_EQ(seen_.accesses.size(), 3u);
}

TEST_F(AtomicsTest, ADiscardIsAWriteOfUndefinedBytes) {
  compile("mul.wide.u32 %rd4, %r1, 128; add.u64 %rd4, %rd1, %rd4; discard.global.L2 [%rd4], 128;");
  run(2);
  ASSERT_EQ(seen_.accesses.size(), 8u);
  for (std::uint32_t piece = 0; piece < 8; ++piece) {
    const Access& access = seen_.accesses[piece];
    EXPECT_EQ(access.kind, AccessKind::write);
    EXPECT_EQ(access.undefined, 3u);
    EXPECT_EQ(access.undefined_in(1).mask, 3u);
    EXPECT_EQ(access.bytes, 16u);
    EXPECT_EQ(access.offset[1], 128 + 16 * piece);
    EXPECT_EQ(access.values[0], nullptr);
  }
  compile("discard.global.L2 [%rd1+64], 128;");
  run(1);
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::misaligned);
  EXPECT_EQ(seen_.faults[0].bytes, 128u);
  EXPECT_TRUE(seen_.accesses.empty());
  EXPECT_THROW(compile("discard.global.L2 [%rd1], 64;"), Refusal);
}

// Each lane has its own cell; the words of a cell are not adjacent.
TEST_F(AtomicsTest, OfLocalMemoryAreThoseOfTheLane) {
  compile(
      ".local .align 8 .b8 l[32];\n"
      "mov.u32 %r1, %tid.x; mov.u64 %rd4, l; cvta.local.u64 %rd5, %rd4;\n"
      "and.b32 %r2, %r1, 1; mul.wide.u32 %rd6, %r2, 16; add.u64 %rd5, %rd5, %rd6;\n"
      "cvt.u64.u32 %rd7, %r1; st.u64 [%rd5], %rd7; st.u64 [%rd5+8], -1;\n"
      "atom.add.u64 %rd8, [%rd5], 0x500000003; ld.u64 %rd9, [%rd5];\n"
      "atom.cas.b64 %rd10, [%rd5], %rd9, 8; red.add.u64 [%rd5], 1; ld.u64 %rd11, [%rd5];\n"
      "mul.wide.u32 %rd12, %r1, 32; add.u64 %rd12, %rd1, %rd12;\n"
      "st.global.u64 [%rd12], %rd8; st.global.u64 [%rd12+8], %rd9;\n"
      "st.global.u64 [%rd12+16], %rd10; st.global.u64 [%rd12+24], %rd11;");
  run(2);
  EXPECT_TRUE(seen_.faults.empty());
  EXPECT_EQ(ints(16), (Words{0, 0, 3, 5, 3, 5, 9, 0, 1, 0, 4, 5, 4, 5, 9, 0}));
}

TEST_F(AtomicsTest, OfLocalMemoryArePerformedInWordsOfBothHalves) {
  compile(
      ".local .align 8 .b8 l[8]; mov.u64 %rd4, l; cvta.local.u64 %rd5, %rd4;\n"
      "atom.exch.b64 %rd6, [%rd5], 1;");
  run(2);
  ASSERT_EQ(seen_.accesses.size(), 2u);
  for (unsigned half = 0; half < 2; ++half) {
    const Access& access = seen_.accesses[half];
    EXPECT_EQ(access.kind, AccessKind::atomic);
    EXPECT_EQ(access.space, ptx::Space::local);
    EXPECT_EQ(access.bytes, 4u);
    EXPECT_EQ(access.offset[1], 128 * half + 4);
  }
}

TEST_F(AtomicsTest, OfLocalMemoryHaveAtMost64BitsAndOneElement) {
  for (const char* atomic :
       {"atom.exch.b128 %q1, [%rd5], %q1;", "atom.add.noftz.f16x2 %r1, [%rd5], %r2;",
        "red.add.v2.f32 [%rd5], {%f1, %f2};"}) {
    compile(std::string(".reg .b128 %q<2>; .reg .f32 %f<3>; .local .align 16 .b8 l[16];\n"
                        "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.u32 %r2, 0;\n"
                        "mov.b128 %q1, {%rd1, %rd1};\n"
                        "mov.u64 %rd4, l; cvta.local.u64 %rd5, %rd4;\n") +
            atomic);
    run(1);
    ASSERT_EQ(seen_.faults.size(), 1u) << atomic;
    EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::no_such_atomic) << atomic;
  }
}

TEST_F(AtomicsTest, ParametersHaveGenericAddresses) {
  compile(
      "mov.b64 %rd4, p; cvta.param.u64 %rd5, %rd4; ld.u64 %rd6, [%rd5]; st.global.u64 [%rd1], "
      "%rd6;\n"
      "isspacep.param %p1, %rd5; isspacep.global %p2, %rd5; isspacep.param %p3, %rd1;\n"
      "selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2; selp.u32 %r4, 4, 0, %p3;\n"
      "or.b32 %r2, %r2, %r3; or.b32 %r2, %r2, %r4; st.global.u32 [%rd1+8], %r2;\n"
      "cvta.to.param.u64 %rd7, %rd5; sub.u64 %rd7, %rd7, %rd4; st.global.u64 [%rd1+16], %rd7;");
  run(1);
  EXPECT_EQ(ints(6), (Words{static_cast<std::uint32_t>(out_->address),
                            static_cast<std::uint32_t>(out_->address >> 32), 1, 0, 0, 0}));
  compile("mov.b64 %rd4, p; cvta.param.u64 %rd5, %rd4; st.u64 [%rd5], %rd4;");
  run(1);
  ASSERT_EQ(seen_.faults.size(), 1u);
  EXPECT_EQ(seen_.faults[0].kind, Fault::Kind::read_only);
}

}  // namespace
}  // namespace warpcheck::vgpu
