#include "vgpu/check/shadow/shadow_plane.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/check/shadow/shadow_testing.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {
namespace {

class ShadowPlaneTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kBytes = 1024;

  // Runs a kernel for `threads` threads.  Its body has %tid.x in %r1, the input, which has shadow
  // values of `width` bytes, in %rd1, and the output in %rd2; %rd3 and %rd4 are the two plus 8
  // bytes for each thread.
  void run(const std::string& body, std::uint32_t width = 4, std::uint32_t threads = 32) {
    const std::string text =
        ".version 8.6\n.target sm_90\n.address_size 64\n" + functions_ +
        ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n"
        ".reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b64 %rd<20>;\n.shared .align 8 .b8 s[1024];\n"
        ".local .align 8 .b8 l[64];\n"
        "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd5, %r1, 8;\nadd.s64 %rd3, %rd1, %rd5;\nadd.s64 %rd4, %rd2, %rd5;\n" +
        body + "\nret;\n}\n";
    program_ = decode(ptx::parse(text, "test.ptx"), "k");
    link(program_);
    in_ = memory_.allocate(kBytes);
    out_ = memory_.allocate(kBytes);
    std::memset(out_->data, 0, kBytes);
    give_input(width);
    const std::array<std::uint64_t, 2> parameters{in_->address, out_->address};
    Launch launch;
    launch.program = &program_;
    launch.grid = {1, 1, 1};
    launch.block = {threads, 1, 1};
    launch.parameters = std::as_bytes(std::span(parameters));
    DefaultPolicy policy;
    Observer* const observers[] = {&plane_};
    const Outcome outcome = machine_.run(launch, WarpModel::independent, policy, observers, {});
    ASSERT_EQ(outcome.end, Outcome::End::completed);
  }

  // Returns the state of the output's bytes of a thread, and checks that a value is what is there.
  char state(std::uint32_t thread, std::uint32_t byte = 0, std::uint32_t bytes = 4) {
    const std::uint32_t at = 8 * thread + byte;
    const auto reading = plane_.in_memory(*out_, at, bytes);
    if (reading.state == ShadowState::plain) return 'p';
    if (reading.state == ShadowState::lost) {
      lost_at_ = plane_.sites()[reading.site].ptx;
      return 'l';
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, out_->data + at, bytes);
    EXPECT_EQ(reading.value.bits, bits) << "thread " << thread << " byte " << byte;
    return 'v';
  }
  // The states of the first word of all threads.
  std::string states(std::uint32_t byte = 0, std::uint32_t bytes = 4, std::uint32_t threads = 32) {
    std::string all;
    for (std::uint32_t thread = 0; thread < threads; ++thread) all += state(thread, byte, bytes);
    return all;
  }
  static std::string all(char state) { return std::string(32, state); }

  std::string functions_;  // of the program, before its kernel
  TwinDomain domain_;
  ShadowPlane<TwinDomain> plane_{domain_};
  DeviceMemory memory_;
  Machine machine_{memory_};
  Program program_;
  Allocation *in_ = nullptr, *out_ = nullptr;
  std::string lost_at_;

 private:
  void give_input(std::uint32_t width) {
    std::vector<std::byte> bytes(kBytes);
    for (std::uint32_t i = 0; i < kBytes; ++i) {
      bytes[i] = static_cast<std::byte>((i * 37 + 11) % 61);
    }
    for (std::uint32_t at = 0; at < kBytes; at += width) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &bytes[at], width);
      plane_.host().set(&bytes[at], width, {bits});
    }
    HostAccess access{.allocation = in_, .bytes = kBytes, .write = true};
    access.host = access.brought = bytes.data();
    plane_.on_host_access(access);
    std::memcpy(in_->data, bytes.data(), kBytes);
  }
};

TEST_F(ShadowPlaneTest, LoadsAndStoresMoveValues) {
  run("ld.global.v2.u32 {%r2, %r3}, [%rd3];\nst.global.v2.u32 [%rd4], {%r3, %r2};");
  EXPECT_EQ(states(), all('v'));
  EXPECT_EQ(states(4), all('v'));
}

// The host may have freed a buffer, and filled another one at the same address.
TEST_F(ShadowPlaneTest, WhatEqualsAResultByChanceIsPlain) {
  run("ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd4], %r2;");
  std::vector<std::byte> host(kBytes);
  HostAccess fetch{.allocation = out_, .bytes = kBytes, .write = false};
  fetch.host = host.data();
  plane_.on_host_access(fetch);
  const auto states_of_copy = [&](std::size_t others) {
    std::memcpy(host.data(), out_->data, kBytes);
    for (std::size_t thread = 0; thread < others; ++thread) std::memset(&host[8 * thread], 200, 4);
    HostAccess back{.allocation = in_, .bytes = kBytes, .write = true};
    back.host = back.brought = host.data();
    plane_.on_host_access(back);
    return std::array{plane_.in_memory(*in_, 0, 4).state, plane_.in_memory(*in_, 8 * 31, 4).state};
  };
  using enum ShadowState;
  EXPECT_EQ(states_of_copy(0), (std::array{value, value}));
  EXPECT_EQ(states_of_copy(4), (std::array{plain, value}));  // the host has changed some
  for (std::size_t byte = 0; byte < 8 * 31; ++byte) out_->data[byte] = std::byte{77};
  EXPECT_EQ(states_of_copy(0), (std::array{plain, plain}));
}

TEST_F(ShadowPlaneTest, WhatNothingHasInfluencedIsPlain) {
  run("mov.u32 %r2, 5;\nadd.s32 %r2, %r2, %r1;\nst.global.u32 [%rd4], %r2;");
  EXPECT_EQ(states(), all('p'));
}

TEST_F(ShadowPlaneTest, AStoreOfAConstantTakesAwayAValue) {
  run("ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd4], %r2;\nst.global.u32 [%rd4], 7;\n"
      "st.global.u32 [%rd4+4], %r2;\nst.global.u8 [%rd4+4], 7;");
  EXPECT_EQ(states(), all('p'));
  EXPECT_EQ(states(4), all('l'));
}

TEST_F(ShadowPlaneTest, ADoubleIsShuffledAsTwoWords) {
  run("ld.global.b64 %rd6, [%rd3];\nmov.b64 {%r2, %r3}, %rd6;\n"
      "shfl.sync.down.b32 %r2, %r2, 1, 31, -1;\nshfl.sync.down.b32 %r3, %r3, 1, 31, -1;\n"
      "mov.b64 %rd7, {%r2, %r3};\nst.global.b64 [%rd4], %rd7;",
      8);
  EXPECT_EQ(states(0, 8), all('v'));
  EXPECT_EQ(states(0, 4), all('l'));  // half of a value
}

TEST_F(ShadowPlaneTest, HalvesOfTwoDoublesAreNoDouble) {
  run("ld.global.b64 %rd6, [%rd3];\nmov.b64 {%r2, %r3}, %rd6;\n"
      "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\nmov.b64 %rd7, {%r2, %r3};\n"
      "st.global.b64 [%rd4], %rd7;",
      8);
  EXPECT_EQ(states(0, 8), all('l'));
}

TEST_F(ShadowPlaneTest, LanesThatMeetInTwoFragmentsShuffle) {
  run("ld.global.u32 %r2, [%rd3];\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\n"
      "shfl.sync.bfly.b32 %r2, %r2, 16, 31, -1;\nbra B;\nA:\n"
      "shfl.sync.bfly.b32 %r2, %r2, 16, 31, -1;\nB:\nst.global.u32 [%rd4], %r2;");
  EXPECT_EQ(states(), all('v'));
}

TEST_F(ShadowPlaneTest, PackedHalvesAreTwoValues) {
  run("ld.global.b32 %r2, [%rd3];\nmov.b32 {%h1, %h2}, %r2;\nmov.b32 %r3, {%h2, %h1};\n"
      "add.f16x2 %r4, %r2, %r3;\nst.global.b32 [%rd4], %r4;\nst.global.b16 [%rd4+4], %h2;",
      2);
  EXPECT_EQ(states(0, 2), all('v'));
  EXPECT_EQ(states(2, 2), all('v'));
  EXPECT_EQ(states(4, 2), all('v'));
  EXPECT_EQ(states(6, 2), all('p'));
}

TEST_F(ShadowPlaneTest, InstructionsOnBitsMoveHalves) {
  run("ld.global.b32 %r2, [%rd3];\nshr.u32 %r3, %r2, 16;\nshl.b32 %r4, %r2, 16;\n"
      "or.b32 %r5, %r3, %r4;\nst.global.b32 [%rd4], %r5;\nand.b32 %r6, %r2, 65535;\n"
      "prmt.b32 %r7, %r6, %r2, 0x5410;\nlop3.b32 %r8, %r7, 0xffff0000, 0x1234, 0xea;\n"
      "st.global.b32 [%rd4+4], %r8;",
      2);
  EXPECT_EQ(states(0, 2), all('v'));
  EXPECT_EQ(states(2, 2), all('v'));
  EXPECT_EQ(states(4, 2), all('p'));
  EXPECT_EQ(states(6, 2), all('v'));
}

// Parameters of functions are moved by insertions of bits.
TEST_F(ShadowPlaneTest, InsertionsMoveHalves) {
  run("ld.global.b32 %r2, [%rd3];\nmov.u32 %r3, 7;\nbfi.b32 %r3, %r2, %r3, 0, 16;\n"
      "st.global.b32 [%rd4], %r3;\nbfi.b32 %r3, %r2, %r3, 16, 16;\nst.global.b32 [%rd4+4], %r3;",
      2);
  EXPECT_EQ(states(0, 2), all('v'));
  EXPECT_EQ(states(2, 2), all('p'));
  EXPECT_EQ(states(4, 2), all('v'));
  EXPECT_EQ(states(6, 2), all('v'));
}

TEST_F(ShadowPlaneTest, AHalfPassesThroughAWord) {
  run("ld.global.u16 %h1, [%rd3];\ncvt.u32.u16 %r2, %h1;\ncvt.u16.u32 %h2, %r2;\n"
      "st.global.u16 [%rd4], %h2;",
      2);
  EXPECT_EQ(states(0, 2), all('v'));
}

TEST_F(ShadowPlaneTest, AnIntegerThatIsNarrowedIsTheDomains) {
  run("ld.global.u32 %r2, [%rd3];\ncvt.u16.u32 %h2, %r2;\nst.global.u16 [%rd4], %h2;");
  EXPECT_EQ(states(0, 2), all('v'));
}

TEST_F(ShadowPlaneTest, HalvesPassThroughCallsAndLocalMemory) {
  functions_ =
      ".func (.param .align 2 .b8 r[2]) f(.param .align 2 .b8 x[2])\n{\n.reg .b16 %h<4>;\n"
      ".local .align 2 .b8 l[4];\n.reg .b64 %rd<3>;\nmov.u64 %rd1, l;\ncvta.local.u64 %rd2, %rd1;\n"
      "ld.param.u16 %h1, [x];\nst.u16 [%rd2+2], %h1;\nld.u16 %h2, [%rd2+2];\n"
      "st.param.b16 [r+0], %h2;\nret;\n}\n";
  run("ld.global.u16 %h1, [%rd3];\n{\n.param .align 2 .b8 p0[2];\nst.param.b16 [p0+0], %h1;\n"
      ".param .align 2 .b8 r0[2];\ncall.uni (r0), f, (p0);\nld.param.b16 %h2, [r0+0];\n}\n"
      "st.global.u16 [%rd4], %h2;",
      2);
  EXPECT_EQ(states(0, 2), all('v'));
}

TEST_F(ShadowPlaneTest, AConversionOfTwoValuesHasTwoValues) {
  run("ld.global.v2.f32 {%f1, %f2}, [%rd3];\ncvt.rn.f16x2.f32 %r2, %f1, %f2;\n"
      "st.global.b32 [%rd4], %r2;\nmov.f32 %f3, 0f3F800000;\n"
      "cvt.rn.bf16x2.f32 %r3, %f1, %f3;\nst.global.b32 [%rd4+4], %r3;");
  EXPECT_EQ(states(0, 2), all('v'));
  EXPECT_EQ(states(2, 2), all('v'));
  EXPECT_EQ(states(4, 2), all('v'));
  EXPECT_EQ(states(6, 2), all('v'));
}

// Bytes of a number that are taken one by one are the number again where they are together again.
TEST_F(ShadowPlaneTest, BytesOfAValueAreTheValueAgain) {
  run("ld.global.u32 %r2, [%rd3];\nst.global.u8 [%rd4], %r2;\nshr.u32 %r3, %r2, 8;\n"
      "st.global.u8 [%rd4+1], %r3;\nshr.u32 %r3, %r2, 16;\nst.global.u8 [%rd4+2], %r3;\n"
      "shr.u32 %r3, %r2, 24;\nst.global.u8 [%rd4+3], %r3;\n"
      "ld.global.s8 %r4, [%rd4];\nld.global.u8 %r5, [%rd4+1];\nld.global.u16 %r6, [%rd4+2];\n"
      "and.b32 %r4, %r4, 255;\nshl.b32 %r5, %r5, 8;\nor.b32 %r5, %r4, %r5;\n"
      "prmt.b32 %r7, %r5, %r6, 0x5410;\nst.global.u32 [%rd4+4], %r7;");
  EXPECT_EQ(states(), all('v'));
  EXPECT_EQ(states(4), all('v'));
}

TEST_F(ShadowPlaneTest, BytesInAnotherOrderOrOfAnotherValueAreNone) {
  run("ld.global.u32 %r2, [%rd3];\nprmt.b32 %r3, %r2, 0, 0x0123;\nst.global.u32 [%rd4], %r3;\n"
      "prmt.b32 %r4, %r3, 0, 0x0123;\nst.global.u32 [%rd4+4], %r4;");
  EXPECT_EQ(states(), all('l'));
  EXPECT_EQ(states(4), all('v'));
}

TEST_F(ShadowPlaneTest, AByteOfAnotherValueTearsAValue) {
  run("ld.global.u32 %r2, [%rd3];\nld.global.u32 %r3, [%rd3+4];\nst.global.u32 [%rd4], %r2;\n"
      "shr.u32 %r4, %r3, 8;\nst.global.u8 [%rd4+1], %r4;\nst.global.u32 [%rd4+4], %r2;\n"
      "st.global.u8 [%rd4+6], 7;\nshr.u32 %r5, %r2, 16;\nst.global.u8 [%rd4+6], %r5;");
  EXPECT_EQ(states(), all('l'));
  EXPECT_EQ(states(4), all('v'));
}

// The sign of a byte is no byte of the value.
TEST_F(ShadowPlaneTest, TheSignOfAByteIsLost) {
  run("ld.global.s8 %r2, [%rd3];\nst.global.u32 [%rd4], %r2;\nld.global.u8 %r3, [%rd3];\n"
      "cvt.s32.s8 %r4, %r3;\nst.global.u16 [%rd4+4], %r4;");
  EXPECT_EQ(states(), all('l'));
  EXPECT_EQ(states(4, 2), all('l'));
}

// What a comparison of data finds is data, and lost; other comparisons are constants.
TEST_F(ShadowPlaneTest, ANumberOfAComparisonOfDataIsLost) {
  run("ld.global.u32 %r2, [%rd3];\nset.gt.u32.u32 %r3, %r2, 3;\nst.global.u32 [%rd4], %r3;\n"
      "set.gt.u32.u32 %r4, %r1, 3;\nst.global.u32 [%rd4+4], %r4;");
  EXPECT_EQ(states(), all('l'));
  EXPECT_EQ(states(4), all('p'));
}

TEST_F(ShadowPlaneTest, AByteOfAHalfIsLost) {
  run("ld.global.b32 %r2, [%rd3];\nshr.u32 %r3, %r2, 8;\nst.global.b32 [%rd4], %r3;", 2);
  EXPECT_EQ(states(), all('l'));
}

TEST_F(ShadowPlaneTest, SharedAndLocalMemoryKeepValues) {
  run("ld.global.b64 %rd6, [%rd3];\nmov.u64 %rd8, l;\nst.local.b64 [%rd8+8], %rd6;\n"
      "ld.local.b64 %rd9, [%rd8+8];\nmov.u64 %rd7, s;\nadd.s64 %rd7, %rd7, %rd5;\n"
      "st.shared.b64 [%rd7], %rd9;\nbar.sync 0;\nld.shared.b64 %rd10, [%rd7];\n"
      "st.global.b64 [%rd4], %rd10;",
      8);
  EXPECT_EQ(states(0, 8), all('v'));
}

TEST_F(ShadowPlaneTest, AnAsynchronousCopyMovesValues) {
  run("mov.u32 %r3, s;\nmul.lo.u32 %r4, %r1, 8;\nadd.u32 %r3, %r3, %r4;\n"
      "cp.async.ca.shared.global [%r3], [%rd3], 8;\ncp.async.wait_all;\n"
      "ld.shared.u32 %r5, [%r3+4];\nst.global.u32 [%rd4], %r5;");
  EXPECT_EQ(states(), all('v'));
}

TEST_F(ShadowPlaneTest, CalculationsAreTheDomains) {
  run("ld.global.u32 %r2, [%rd3];\nmad.lo.s32 %r3, %r2, 3, %r1;\nst.global.u32 [%rd4], %r3;\n"
      "popc.b32 %r4, %r2;\nadd.s32 %r5, %r4, 1;\nst.global.u32 [%rd4+4], %r5;");
  EXPECT_EQ(states(), all('v'));
  EXPECT_EQ(states(4), all('l'));
  EXPECT_EQ(lost_at_, "popc.b32");
  EXPECT_TRUE(domain_.decisions.empty());
}

TEST_F(ShadowPlaneTest, ASelectionByConstantsMovesAndByDataIsTheDomains) {
  run("ld.global.u32 %r2, [%rd3];\nld.global.u32 %r3, [%rd3+4];\nsetp.lt.u32 %p1, %r1, 7;\n"
      "selp.u32 %r4, %r2, 9, %p1;\nst.global.u32 [%rd4], %r4;\nsetp.gt.u32 %p2, %r2, %r3;\n"
      "selp.u32 %r5, %r2, %r3, %p2;\nst.global.u32 [%rd4+4], %r5;");
  EXPECT_EQ(states(), std::string(7, 'v') + std::string(25, 'p'));
  EXPECT_EQ(states(4), all('v'));
  EXPECT_TRUE(domain_.decisions.empty());
}

// What is known of the condition decides, or leaves the comparison, or turns it round.
TEST_F(ShadowPlaneTest, AComparisonIsCombinedWithAKnownCondition) {
  run("ld.global.u32 %r2, [%rd3];\nld.global.u32 %r3, [%rd3+4];\nsetp.lt.u32 %p1, %r1, 7;\n"
      "setp.gt.and.u32 %p2, %r2, %r3, %p1;\nselp.u32 %r4, %r2, %r3, %p2;\n"
      "st.global.u32 [%rd4], %r4;\nsetp.le.u32 %p2, %r2, %r3;\nnot.pred %p2, %p2;\n"
      "and.pred %p2, %p2, %p1;\nselp.u32 %r5, %r2, %r3, %p2;\nst.global.u32 [%rd4+4], %r5;");
  EXPECT_EQ(states(), all('v'));
  EXPECT_EQ(states(4), all('v'));
  EXPECT_TRUE(domain_.decisions.empty());
}

TEST_F(ShadowPlaneTest, BranchesAndAddressesThatDataDecidesAreReported) {
  run("ld.global.u32 %r2, [%rd3];\nsetp.eq.u32 %p1, %r2, 1000;\n@%p1 bra END;\n"
      "and.b32 %r3, %r2, 4;\ncvt.u64.u32 %rd6, %r3;\nadd.s64 %rd7, %rd4, %rd6;\n"
      "st.global.u32 [%rd7], 1;\nEND:",
      4, 1);
  ASSERT_EQ(domain_.decisions.size(), 2u);
  EXPECT_EQ(domain_.decisions[0], std::pair(ShadowDecision::branch, std::string("bra")));
  EXPECT_EQ(domain_.decisions[1], std::pair(ShadowDecision::address, std::string("st.global.u32")));
}

TEST_F(ShadowPlaneTest, AtomicOperationsCombineLaneAfterLane) {
  run("ld.global.u32 %r2, [%rd3];\natom.global.add.u32 %r3, [%rd2+4], %r2;\n"
      "st.global.u32 [%rd4], %r3;\natom.global.exch.b32 %r4, [%rd2+12], %r2;");
  EXPECT_EQ(states(), "p" + std::string(31, 'v'));
  EXPECT_EQ(state(0, 4), 'v');
  EXPECT_EQ(state(1, 4), 'v');
}

TEST_F(ShadowPlaneTest, ReductionsOfAWarpAreTheDomains) {
  run("ld.global.u32 %r2, [%rd3];\nredux.sync.add.u32 %r3, %r2, -1;\nst.global.u32 [%rd4], %r3;\n"
      "setp.gt.u32 %p1, %r2, 9;\nvote.sync.ballot.b32 %r4, %p1, -1;\nst.global.u32 [%rd4+4], %r4;");
  EXPECT_EQ(states(), all('v'));
  EXPECT_EQ(states(4), all('l'));
}

}  // namespace
}  // namespace warpcheck::vgpu
