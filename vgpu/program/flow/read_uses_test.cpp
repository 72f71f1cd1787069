#include "vgpu/program/flow/read_uses.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::vgpu {
namespace {

constexpr const char* kHeader =
    ".version 8.0\n.target sm_75\n.address_size 64\n.shared .align 4 .b8 s[256];\n";
constexpr const char* kBegin =
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n"
    ".reg .b64 %rd<8>;\nld.param.u64 %rd1, [out];\n";

Program program_of(const std::string& text) {
  return decode(ptx::parse(kHeader + text, "test.ptx"), "k");
}

// Returns a letter for each relaxed load in `body`, in order: 'd' if its value is used as data, '-'
// if not.  The program also contains a volatile store.
std::string uses_in(const std::string& body, const std::string& functions = "") {
  const Program program =
      program_of(functions + kBegin + "st.volatile.shared.u32 [s], 0;\n" + body + "ret;\n}\n");
  const std::vector<bool> data = find_data_reads(program);
  std::string uses;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.kind != InstrKind::load || !is_relaxed_access(instr)) continue;
    uses += !data.empty() && data[pc] ? 'd' : '-';
  }
  return uses;
}

TEST(ReadUses, WhatIsStoredOrCalculatedIntoResultsIsData) {
  EXPECT_EQ(uses_in("ld.volatile.shared.u32 %r1, [s];\nst.global.u32 [%rd1], %r1;\n"), "d");
  EXPECT_EQ(uses_in("ld.volatile.shared.u32 %r1, [s];\nadd.u32 %r2, %r1, 1;\n"
                    "st.global.u32 [%rd1], %r2;\n"),
            "d");
  EXPECT_EQ(uses_in("ld.relaxed.gpu.global.u32 %r1, [%rd1];\n"
                    "red.global.add.u32 [%rd1+4], %r1;\n"),
            "d");
}

TEST(ReadUses, AnAddressIsData) {
  EXPECT_EQ(uses_in("ld.volatile.global.u64 %rd2, [%rd1];\nld.global.u32 %r1, [%rd2];\n"), "d");
}

TEST(ReadUses, WhatIsOnlyComparedIsNot) {
  EXPECT_EQ(uses_in("ld.volatile.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 1;\n"
                    "@%p1 st.global.u32 [%rd1], 7;\n"),
            "-");
  EXPECT_EQ(uses_in("ld.volatile.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 1;\n"
                    "selp.b32 %r2, 3, 4, %p1;\nst.global.u32 [%rd1], %r2;\n"),
            "-");
}

TEST(ReadUses, AFlagThatWasLookedAtIsNot) {
  EXPECT_EQ(uses_in("W: ld.volatile.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 bra W;\nst.global.u32 [%rd1], %r1;\n"),
            "-");
  // The value may be compared with anything, if the result decides whether to read again.
  EXPECT_EQ(uses_in("ld.global.u32 %r2, [%rd1];\nW: ld.volatile.shared.u32 %r1, [s];\n"
                    "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra W;\nst.global.u32 [%rd1], %r1;\n"),
            "-");
  EXPECT_EQ(uses_in("ld.volatile.shared.u32 %r1, [s];\nsetp.ne.u32 %p1, %r1, 0;\n"
                    "selp.b32 %r2, %r1, 4, %p1;\nst.global.u32 [%rd1], %r2;\n"),
            "-");
}

TEST(ReadUses, AComparisonWithOtherDataIsNoLook) {
  EXPECT_EQ(uses_in("ld.volatile.shared.u32 %r1, [s];\nld.volatile.shared.u32 %r2, [s+4];\n"
                    "setp.gt.u32 %p1, %r1, %r2;\n@!%p1 bra E;\nst.global.u32 [%rd1], %r1;\nE: "),
            "d-");
}

TEST(ReadUses, DataInALoopThatItDoesNotEnd) {
  EXPECT_EQ(uses_in("mov.u32 %r3, 16;\nL: ld.volatile.shared.u32 %r1, [s];\n"
                    "st.volatile.shared.u32 [s+4], %r1;\nshr.u32 %r3, %r3, 1;\n"
                    "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n"),
            "d");
  // The value is used before it is compared.
  EXPECT_EQ(uses_in("L: ld.volatile.shared.u32 %r1, [s];\nadd.u32 %r2, %r1, 1;\n"
                    "st.volatile.shared.u32 [s], %r2;\nld.volatile.shared.u32 %r3, [s];\n"
                    "setp.ne.u32 %p1, %r3, %r2;\n@%p1 bra L;\n"),
            "d-");
}

TEST(ReadUses, AreFollowedThroughCalls) {
  const std::string function =
      ".func (.param .b32 v) f(.param .b64 p)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
      "ld.param.b64 %rd1, [p];\nld.volatile.global.u32 %r1, [%rd1];\n"
      "st.param.b32 [v], %r1;\nret;\n}\n";
  const std::string call =
      "{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %rd1;\ncall (b), f, (a);\n"
      "ld.param.b32 %r1, [b];\n}\n";
  EXPECT_EQ(uses_in(call + "st.global.u32 [%rd1], %r1;\n", function), "d");
  EXPECT_EQ(uses_in("W:\n" + call +
                        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\n"
                        "st.global.u32 [%rd1], %r1;\n",
                    function),
            "-");
}

TEST(ReadUses, NothingIsHandedOnWhereNothingIsStored) {
  const Program program = program_of(std::string(kBegin) +
                                     "ld.volatile.shared.u32 %r1, [s];\n"
                                     "st.global.u32 [%rd1], %r1;\nret;\n}\n");
  EXPECT_TRUE(find_data_reads(program).empty());
}

TEST(ReadUses, WhatACompareAndSwapExpectsIsAGuess) {
  const auto is_guess = [](const std::string& body) {
    const Program program = program_of(kBegin + body + "ret;\n}\n");
    for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
      if (program.code[pc].kind == InstrKind::load) return is_swap_guess(program, pc);
    }
    ADD_FAILURE() << "there is no load";
    return false;
  };
  const std::string loop =
      "mov.b32 %r2, %r1;\n"
      "L: add.u32 %r3, %r2, 1;\natom.global.cas.b32 %r4, [%rd1], %r2, %r3;\n"
      "setp.ne.u32 %p1, %r2, %r4;\nmov.b32 %r5, %r2;\nmov.b32 %r2, %r4;\n@%p1 bra L;\n";
  EXPECT_TRUE(is_guess("ld.global.u32 %r1, [%rd1];\n" + loop));
  // After the loop, the swap has succeeded with the value.
  EXPECT_TRUE(is_guess("ld.global.u32 %r1, [%rd1];\n" + loop + "st.global.u32 [%rd1+4], %r5;\n"));
  EXPECT_FALSE(is_guess("ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;\n" + loop));
  EXPECT_FALSE(is_guess("ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;\n"));
  EXPECT_FALSE(
      is_guess("ld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\n"
               "atom.global.cas.b32 %r4, [%rd1], 0, %r2;\n"));
}

}  // namespace
}  // namespace warpcheck::vgpu
