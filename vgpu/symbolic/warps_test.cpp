// Operations that the lanes of a warp have to execute together, what threads have in common, and
// what is true in every iteration of a loop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

// %r1: the thread, %r2: n, %rd1: an array of n + 64 elements, %rd3: the address of its %r1-th one;
// %r9 is stored there at the end.  Line 9 is that of the last lines.
KernelProof answer_of(std::string_view body) {
  const std::string text = fmt::format(R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{{
  .shared .align 4 .b8 flag[4];
  .shared .align 4 .b8 other[4];
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<10>;
  .loc 1 1 0
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r9, 0;
{}
  .loc 1 9 0
  st.global.u32 [%rd3], %r9;
  ret;
}}
)",
                                       body);
  using Kind = ParameterContract::Kind;
  KernelContract contract;
  contract.parameters = {{.kind = Kind::pointer,
                          .name = "a",
                          .bytes = Term::constant(4) * (Term::name("n") + Term::constant(64))},
                         {.kind = Kind::scalar, .name = "n", .range = {0, 1'000'000}}};
  contract.launch.grid[0] = {1, 1};
  contract.launch.block[0] = {64, 64};
  return prove_kernel(ptx::parse(text, "k.ptx"), "k", contract);
}

void expect_proved(std::string_view body) {
  const KernelProof proof = answer_of(body);
  EXPECT_EQ(proof.answer, Answer::proved) << proof.reason << " " << proof.location.line;
}

void expect_not_proved(std::string_view body, std::string_view reason, std::uint32_t line) {
  const KernelProof proof = answer_of(body);
  EXPECT_NE(proof.answer, Answer::proved);
  EXPECT_EQ(proof.reason.substr(0, reason.size()), reason);
  EXPECT_EQ(proof.location.line, line);
}

// for (i = thread; i < n; i += 64); its end differs between lanes.
constexpr std::string_view kStrides = R"(
  mov.u32 %r3, %r1;
HEAD:
  setp.ge.s32 %p1, %r3, %r2;
  @%p1 bra AFTER;
  add.s32 %r3, %r3, 64;
  bra HEAD;
AFTER:
)";
constexpr std::string_view kShuffle = "  .loc 1 3 0\n  shfl.sync.bfly.b32 %r9, %r2, 1, 31, -1;\n";

std::string guarded(std::string_view condition, std::string_view step) {
  return fmt::format("{}\n  @!%p2 bra LAST;\n{}LAST:\n", condition, step);
}

TEST(WarpSteps, LanesMeetBehindALoopThatTheyLeaveAtDifferentTimes) {
  expect_proved(fmt::format("{}{}", kStrides, kShuffle));
  expect_proved(fmt::format("{}{}", kStrides, guarded("  setp.lt.s32 %p2, %r1, 32;", kShuffle)));
}

TEST(WarpSteps, WhatALoopHasLeftDiffersBetweenLanes) {
  expect_not_proved(
      fmt::format("{}{}", kStrides,
                  guarded("  add.s32 %r4, %r2, 33;\n  setp.lt.s32 %p2, %r3, %r4;", kShuffle)),
      "barrier-divergence", 3);
}

TEST(WarpSteps, DataOfTwoLanesDiffer) {
  expect_not_proved(guarded("  .loc 1 2 0\n  ld.global.u32 %r5, [%rd3];\n"
                            "  setp.eq.u32 %p2, %r5, 12345;",
                            kShuffle),
                    "barrier-divergence", 2);
}

TEST(WarpSteps, LoopsOfLanesDiffer) {
  // for (d = thread; d > 0; d /= 2)
  expect_not_proved(fmt::format(R"(
  mov.u32 %r3, %r1;
HEAD:
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra AFTER;
{}
  shr.u32 %r3, %r3, 1;
  bra HEAD;
AFTER:
)",
                                kShuffle),
                    "barrier-divergence", 3);
}

TEST(WarpSteps, LoopsOfAWarpAreOfAllItsLanes) {
  // for (i = thread / 32; i < n; i += 2)
  expect_proved(fmt::format(R"(
  shr.u32 %r3, %r1, 5;
HEAD:
  setp.ge.u32 %p1, %r3, %r2;
  @%p1 bra AFTER;
{}
  add.u32 %r3, %r3, 2;
  bra HEAD;
AFTER:
)",
                            kShuffle));
}

TEST(WarpSteps, AVoteIsOneForAllLanes) {
  const std::string compared =
      "  .loc 1 2 0\n  ld.global.u32 %r5, [%rd3];\n  setp.eq.u32 %p3, %r5, 12345;\n";
  expect_proved(compared + guarded("  vote.sync.any.pred %p2, %p3, -1;", kShuffle));
  const std::string broadcast = "  shfl.sync.idx.b32 %r6, %r5, 7, 31, -1;\n";
  expect_proved(compared + broadcast + guarded("  setp.eq.u32 %p2, %r6, 1;", kShuffle));
  expect_not_proved(compared + "  shfl.sync.down.b32 %r6, %r5, 7, 31, -1;\n" +
                        guarded("  setp.eq.u32 %p2, %r6, 1;", kShuffle),
                    "barrier-divergence", 2);
}

TEST(WarpSteps, AMaskOfTheActiveLanesWaitsForNoOthers) {
  constexpr std::string_view kAsked = "  activemask.b32 %r3;\n";
  constexpr std::string_view kOfMask = "  .loc 1 3 0\n  shfl.sync.bfly.b32 %r9, %r2, 1, 31, %r3;\n";
  constexpr std::string_view kHalf = "  setp.lt.u32 %p2, %r1, 16;";
  expect_proved(guarded(kHalf, fmt::format("{}{}", kAsked, kOfMask)));
  expect_not_proved(fmt::format("{}{}", kAsked, guarded(kHalf, kOfMask)),
                    "a mask of a part of a warp", 3);
}

// if (thread == 0) flag = n; barrier
constexpr std::string_view kFlag = R"(
  .loc 1 2 0
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  st.shared.u32 [flag], %r2;
WAIT:
  bar.sync 0;
  .loc 1 3 0
  ld.shared.u32 %r5, [flag];
)";

TEST(Loads, OfOnePlaceBetweenTwoBarriersAreEqual) {
  constexpr std::string_view kBarrier = "  .loc 1 4 0\n  bar.sync 0;\n";
  constexpr std::string_view kCondition = "  setp.eq.u32 %p2, %r5, 1;";
  expect_proved(fmt::format("{}{}", kFlag, guarded(kCondition, kBarrier)));
  expect_proved(fmt::format("{}{}", kFlag, guarded(kCondition, kShuffle)));
  // Each thread's own element is none that they have in common.
  const std::string own(kFlag);
  expect_not_proved(fmt::format("{}  ld.global.u32 %r5, [%rd3];\n{}{}", own,
                                guarded(kCondition, kBarrier), "  bar.sync 0;\n"),
                    "barrier-divergence", 3);
  // A volatile load may find what another thread stores meanwhile.
  std::string is_volatile = own;
  is_volatile.replace(is_volatile.find("ld.shared"), 9, "ld.volatile.shared");
  expect_not_proved(
      fmt::format("{}{}{}", is_volatile, guarded(kCondition, kBarrier), "  bar.sync 0;\n"),
      "barrier-divergence", 3);
}

TEST(Loads, OfTwoIterationsAreNot) {
  // Each iteration stores another flag; lanes that leave at different times have different ones.
  expect_not_proved(
      fmt::format(R"(
  mov.u32 %r3, 0;
HEAD:
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  .loc 1 2 0
  st.shared.u32 [flag], %r3;
WAIT:
  bar.sync 0;
  .loc 1 3 0
  ld.shared.u32 %r5, [flag];
  bar.sync 0;
  setp.lt.u32 %p4, %r3, %r1;
  selp.b32 %r6, %r5, %r6, %p4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p5, %r3, 64;
  @%p5 bra HEAD;
{}{})",
                  guarded("  setp.eq.u32 %p2, %r6, 5;", "  bar.sync 0;\n"), "  bar.sync 0;\n"),
      "barrier-divergence", 3);
}

TEST(Loops, WhatIsComparedDoesNotWrap) {
  // for (i = 3 * thread; i + 2 < n; i += 192) reads three elements.
  expect_proved(R"(
  mul.lo.u32 %r3, %r1, 3;
HEAD:
  add.s32 %r4, %r3, 2;
  setp.ge.s32 %p1, %r4, %r2;
  @%p1 bra AFTER;
  mul.wide.s32 %rd4, %r3, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r5, [%rd5];
  ld.global.u32 %r6, [%rd5+8];
  add.s32 %r3, %r3, 192;
  bra HEAD;
AFTER:
  bar.sync 0;
)");
}

TEST(Loops, NumbersThatApproachEachOtherDoNotPassBy) {
  // A binary search in n elements that nothing is known of.
  constexpr std::string_view kSearch = R"(
  mov.u32 %r3, 0;
  mov.u32 %r4, %r2;
  setp.eq.s32 %p1, %r4, 0;
  @%p1 bra AFTER;
HEAD:
  .loc 1 3 0
  add.s32 %r5, %r3, %r4;
  shr.s32 %r5, %r5, 1;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r6, [%rd5+256];
  setp.lt.s32 %p2, %r6, %r1;
  add.s32 %r7, %r5, 1;
  selp.b32 %r3, %r7, %r3, %p2;
  selp.b32 %r4, %r4, %r5, %p2;
  setp.lt.s32 %p3, %r3, %r4;
  @%p3 bra HEAD;
AFTER:
)";
  expect_proved(kSearch);
  std::string behind(kSearch);
  behind.replace(behind.find("+256"), 4, "+260");
  expect_not_proved(behind, "out-of-bounds", 3);
}

TEST(Loops, PointersToTwoArraysMaySwap) {
  constexpr std::string_view kSwap = R"(
  mov.u32 %r3, flag;
  mov.u32 %r4, other;
  mov.u32 %r5, 0;
  setp.eq.u32 %p1, %r1, 0;
HEAD:
  .loc 1 3 0
  @%p1 st.shared.u32 [%r3], %r5;
  mov.u32 %r6, %r3;
  mov.u32 %r3, %r4;
  mov.u32 %r4, %r6;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p2, %r5, %r2;
  @%p2 bra HEAD;
)";
  expect_proved(kSwap);
  std::string by_two(kSwap);
  by_two.replace(by_two.find("eq.u32 %p1, %r1, 0"), 18, "lt.u32 %p1, %r1, 2");
  expect_not_proved(by_two, "data-race", 3);
}

TEST(Counters, GiveConsecutiveNumbers) {
  const auto stores_to = [](int mask) {
    return fmt::format(R"(
  .loc 1 3 0
  mov.u32 %r3, flag;
  atom.shared.add.u32 %r4, [%r3], 1;
  and.b32 %r5, %r4, {};
  mul.wide.u32 %rd4, %r5, 4;
  add.s64 %rd3, %rd1, %rd4;
  mov.u32 %r9, %r1;
)",
                       mask);
  };
  expect_proved(stores_to(63));
  expect_not_proved(stores_to(31), "data-race", 3);
}

TEST(Volatile, AccessesThatNothingOrdersAreASuspicion) {
  expect_not_proved(
      "  .loc 1 3 0\n  mov.u32 %r3, flag;\n  st.volatile.shared.u32 [%r3], %r1;\n"
      "  ld.volatile.shared.u32 %r9, [%r3];\n",
      "data-race", 3);
}

}  // namespace
}  // namespace warpcheck::vgpu::symbolic
