// Where a barrier of the block may be tried.
#include "harness/causes/uniform_code.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck {
namespace {

// The code of a kernel, `membar.cta;` in the place that is asked for: whether all threads come by.
bool all_come_by_mark(const std::string& body) {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u32 n) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<9>; .shared .align 4 .b8 s[64];\n"
      "mov.u32 %r1, %tid.x;\nld.param.u32 %r2, [n];\n" +
          body + "\nret;\n}\n",
      "test");
  const ptx::Function& function = module.functions.front();
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    if (function.body[i].text == "membar.cta") return UniformCode(function).all_come_by(i);
  }
  ADD_FAILURE() << "no mark";
  return false;
}

constexpr const char* kCount = "add.s32 %r3, %r3, 1;\n";

TEST(UniformCode, LoopsOfAllThreadsAreForBarriers) {
  EXPECT_TRUE(all_come_by_mark("membar.cta;"));
  const std::string begin = "mov.u32 %r3, 0;\nL:\n";
  const std::string end = std::string(kCount) + "setp.lt.s32 %p1, %r3, %r2;\n@%p1 bra L;\n";
  EXPECT_TRUE(all_come_by_mark(begin + "membar.cta;\n" + end));
  EXPECT_TRUE(all_come_by_mark(begin + end + "membar.cta;\n"));
}

TEST(UniformCode, LoopsThatThreadsLeaveAtDifferentTimesAreNot) {
  const std::string begin = "mov.u32 %r3, %r1;\nL:\n";
  const std::string end = std::string(kCount) + "setp.lt.s32 %p1, %r3, %r2;\n@%p1 bra L;\n";
  EXPECT_FALSE(all_come_by_mark(begin + "membar.cta;\n" + end));
  EXPECT_TRUE(all_come_by_mark(begin + end + "membar.cta;\n"));
  // A thread leaves a loop of all of them.
  EXPECT_FALSE(
      all_come_by_mark("mov.u32 %r3, 0;\nL:\nsetp.eq.s32 %p2, %r3, %r1;\n@%p2 bra M;\n"
                       "membar.cta;\n" +
                       end + "M: st.shared.u32 [s], %r3;\n"));
}

TEST(UniformCode, BranchesOfSomeThreadsAreNotUnlessTheOthersEnd) {
  const std::string branch = "setp.ge.s32 %p1, %r1, %r2;\n@%p1 bra E;\n";
  EXPECT_FALSE(all_come_by_mark(branch + "membar.cta;\nE: st.shared.u32 [s], %r1;\n"));
  EXPECT_TRUE(all_come_by_mark(branch + "st.shared.u32 [s], %r1;\nE: membar.cta;\n"));
  EXPECT_TRUE(all_come_by_mark(branch + "membar.cta;\nE:\n"));
}

// Roles of warps: `if (t < n) { ... } else { ... }`, in both ways in which nvcc lays them out.
TEST(UniformCode, BothWaysOfABranchAreOfSomeThreads) {
  const std::string branch = "setp.ge.s32 %p1, %r1, %r2;\n@%p1 bra E;\n";
  const std::string store = "st.shared.u32 [s], %r1;\n", join = "bra.uni F;\n";
  EXPECT_FALSE(all_come_by_mark(branch + store + join + "E: membar.cta;\n" + store + "F:\n"));
  EXPECT_FALSE(all_come_by_mark(branch + "membar.cta;\n" + join + "E: " + store + "F:\n"));
  EXPECT_TRUE(all_come_by_mark(branch + store + join + "E: " + store + "F: membar.cta;\n"));
  const std::string jumps = branch + "bra.uni G;\nE: ";
  EXPECT_FALSE(all_come_by_mark(jumps + store + join + "G: membar.cta;\nF:\n"));
  EXPECT_FALSE(all_come_by_mark(jumps + "membar.cta;\n" + join + "G: " + store + "F:\n"));
}

TEST(UniformCode, ThreadsThatStoreAndEndCountAtNoBarrier) {
  const std::string branch = "setp.ge.s32 %p1, %r1, %r2;\n@%p1 bra E;\n";
  EXPECT_TRUE(all_come_by_mark(branch + "st.global.u32 [%r4], %r1;\nbra.uni F;\n"
                                        "E: membar.cta;\nst.shared.u32 [s], %r1;\nF:\n"));
  EXPECT_FALSE(all_come_by_mark(branch + "red.shared.add.u32 [s], 1;\nbra.uni F;\n"
                                         "E: membar.cta;\nst.shared.u32 [s], %r1;\nF:\n"));
}

TEST(UniformCode, ValuesOfDividedCodeDiffer) {
  EXPECT_FALSE(
      all_come_by_mark("setp.ge.s32 %p1, %r1, %r2;\nmov.u32 %r4, 0;\n@%p1 bra E;\n"
                       "mov.u32 %r4, 1;\nE: setp.eq.s32 %p2, %r4, 0;\n@%p2 bra F;\n"
                       "membar.cta;\nF: st.shared.u32 [s], %r1;\n"));
}

TEST(UniformCode, WhatIsSharedIsOneValue) {
  EXPECT_TRUE(
      all_come_by_mark("ld.shared.u32 %r4, [s];\nsetp.eq.s32 %p2, %r4, 0;\n@%p2 bra F;\n"
                       "membar.cta;\nF: st.shared.u32 [s], %r1;\n"));
  EXPECT_FALSE(
      all_come_by_mark("ld.shared.u32 %r4, [%r1];\nsetp.eq.s32 %p2, %r4, 0;\n@%p2 bra F;\n"
                       "membar.cta;\nF: st.shared.u32 [s], %r1;\n"));
}

}  // namespace
}  // namespace warpcheck
