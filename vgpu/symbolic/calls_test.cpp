// Functions that a kernel calls, its assertions, and barriers of a warp.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

// out[next(tid)] = tid, where next() chooses between two ways to return; tid < BOUND is asserted.
constexpr std::string_view kCalls = R"(
.version 7.8
.target sm_75
.address_size 64
.file 1 "calls.cu"
.extern .func __assertfail (.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3, .param .b64 p4);
.func (.param .b32 result) next(.param .b32 x)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra FIRST;
  add.s32 %r2, %r1, 0;
  st.param.b32 [result+0], %r2;
  ret;
FIRST:
  mov.u32 %r3, 0;
  st.param.b32 [result+0], %r3;
  ret;
}
.visible .entry calls(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, BOUND;
  @%p1 bra GOOD;
  .loc 1 3 0
  {
  .param .b64 a;
  st.param.b64 [a+0], %rd1;
  .param .b64 b;
  st.param.b64 [b+0], %rd1;
  .param .b32 c;
  st.param.b32 [c+0], 3;
  .param .b64 d;
  st.param.b64 [d+0], %rd1;
  .param .b64 e;
  st.param.b64 [e+0], 1;
  call.uni __assertfail, (a, b, c, d, e);
  }
GOOD:
  {
  .param .b32 argument;
  st.param.b32 [argument+0], %r1;
  .param .b32 found;
  call.uni (found), next, (argument);
  ld.param.b32 %r2, [found+0];
  }
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 5 0
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

KernelProof prove_line(std::string_view text, std::string_view kernel) {
  KernelContract contract;
  contract.parameters = {{.kind = ParameterContract::Kind::pointer,
                          .name = "out",
                          .bytes = Term::constant(4) * Term::name("blockDim.x")}};
  contract.launch.grid[0] = {1, 1};
  return prove_kernel(ptx::parse(text, "calls.ptx"), kernel, contract);
}

TEST(Calls, AreFollowed) {
  const KernelProof proof = prove_line(with(kCalls, "BOUND", "1024"), "calls");
  EXPECT_EQ(proof.answer, Answer::proved) << proof.reason;
}

TEST(Calls, AWrongResultIsSuspected) {
  const KernelProof proof = prove_line(
      with(with(kCalls, "BOUND", "1024"), "add.s32 %r2, %r1, 0", "add.s32 %r2, %r1, 1"), "calls");
  EXPECT_EQ(proof.answer, Answer::suspected) << proof.reason;
  EXPECT_EQ(proof.kind, "out-of-bounds");
  EXPECT_EQ(proof.location.line, 5u);
}

TEST(Calls, AnAssertionThatMayBeFalseIsSuspected) {
  const KernelProof proof = prove_line(with(kCalls, "BOUND", "1023"), "calls");
  EXPECT_EQ(proof.answer, Answer::suspected) << proof.reason;
  EXPECT_EQ(proof.kind, "trap");
  EXPECT_EQ(proof.location.line, 3u);
  EXPECT_EQ(proof.suspect.block.x, 1024u);
}

// Neighbours of a pair of lanes change places, in shared memory and between barriers of the warp.
constexpr std::string_view kWarps = R"(
.version 7.8
.target sm_75
.address_size 64
.file 1 "warps.cu"
.visible .entry warps(.param .u64 out)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 share[4096];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, share;
  add.s32 %r4, %r3, %r2;
  .loc 1 2 0
  st.shared.u32 [%r4], %r1;
  bar.warp.sync -1;
  xor.b32 %r5, %r2, FLIPPED;
  add.s32 %r6, %r3, %r5;
  .loc 1 4 0
  ld.shared.u32 %r7, [%r6];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
  ret;
}
)";

TEST(WarpBarriers, OrderTheLanesOfAWarp) {
  const KernelProof proof = prove_line(with(kWarps, "FLIPPED", "4"), "warps");
  EXPECT_EQ(proof.answer, Answer::proved) << proof.reason;
}

TEST(WarpBarriers, DoNotOrderWarps) {
  const KernelProof proof = prove_line(with(kWarps, "FLIPPED", "128"), "warps");
  EXPECT_EQ(proof.answer, Answer::suspected) << proof.reason;
  EXPECT_EQ(proof.kind, "data-race");
}

TEST(WarpBarriers, WithoutThemLanesRace) {
  const KernelProof proof =
      prove_line(with(with(kWarps, "FLIPPED", "4"), "bar.warp.sync -1;", ""), "warps");
  EXPECT_EQ(proof.answer, Answer::suspected) << proof.reason;
  EXPECT_EQ(proof.kind, "data-race");
}

}  // namespace
}  // namespace warpcheck::vgpu::symbolic
