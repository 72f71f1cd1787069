#include "vgpu/machine/native/flow/live_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

Program program_of(const std::string& body, const std::string& functions = "") {
  return decode(ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".shared .align 4 .b8 s[256];\n" +
                               functions +
                               ".visible .entry k()\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n"
                               ".reg .f32 %f<16>;\n.param .b32 p0;\n" +
                               body + "ret;\n}\n",
                           "test.ptx"),
                "k");
}

bool any_at_begin(const std::string& body) {
  const Program program = program_of(body);
  const LiveRows live(program);
  return !live.live_at_begin(Bank::word, program.words_max).empty();
}

// Returns one letter for each instruction of `body` that writes a 32-bit register, in order: 'r' if
// the value may be read later, '-' if not.
std::string live_in(const std::string& body, const std::string& functions = "") {
  const Program program = program_of(body, functions);
  const LiveRows live(program);
  std::string found;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    for (const Ref& row : destinations_of(program, program.code[pc])) {
      if (row.bank == Bank::word) found += live.is_live(pc + 1, row) ? 'r' : '-';
    }
  }
  return found;
}

TEST(LiveRows, WhatIsReadLaterIsLive) {
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [s], %r2;\n"), "rr");
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [s], %r1;\n"), "r-");
}

TEST(LiveRows, ARowOfTheStackIsFoundByItsIndex) {
  const Program program = program_of(
      "mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r1, 1;\nadd.u32 %r2, %r1, 1;\n"
      "@%p1 st.shared.u32 [s], %r2;\n");
  const LiveRows live(program);
  const auto index_of = [&](std::uint32_t pc) {
    return destinations_of(program, program.code[pc])[0].offset / kWordRowBytes;
  };
  EXPECT_FALSE(live.is_live(3, Bank::word, index_of(0)));
  EXPECT_TRUE(live.is_live(2, Bank::word, index_of(0)));
  EXPECT_TRUE(live.is_live(3, Bank::word, index_of(2)));
  EXPECT_TRUE(
      live.is_live(3, Bank::predicate, destinations_of(program, program.code[1])[0].offset / 4));
  EXPECT_TRUE(live.is_live(3, Bank::word, 1000)) << "no instruction uses it";
}

TEST(LiveRows, WhatIsOverwrittenFirstIsNot) {
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\nmov.u32 %r1, 2;\nst.shared.u32 [s], %r1;\n"), "-r");
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\nadd.u32 %r1, %r1, 2;\nst.shared.u32 [s], %r1;\n"), "rr");
}

TEST(LiveRows, AGuardLeavesWhatWasThere) {
  EXPECT_EQ(live_in("setp.eq.u32 %p1, 1, 2;\nmov.u32 %r1, 1;\n@%p1 mov.u32 %r1, 2;\n"
                    "st.shared.u32 [s], %r1;\n"),
            "rr");
}

TEST(LiveRows, AnAtomicMayLeaveWhatWasThere) {
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\natom.shared.add.u32 %r1, [s], 3;\n"
                    "st.shared.u32 [s], %r1;\n"),
            "rr");
}

TEST(LiveRows, OnSomeWayIsEnough) {
  const std::string one_way =
      "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nsetp.eq.u32 %p1, %r2, 2;\n@%p1 bra E;\n"
      "st.shared.u32 [s], %r1;\nE:\n";
  EXPECT_EQ(live_in(one_way), "rr");
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\nmov.u32 %r3, 5;\nL:\nadd.u32 %r2, %r1, 1;\n"
                    "mov.u32 %r1, %r2;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n"),
            "r-rr");
}

// Other lanes may read a lane that has exited, too.
TEST(LiveRows, WhatOtherLanesReadIsLiveEverywhere) {
  EXPECT_EQ(live_in("shfl.sync.idx.b32 %r2, %r1, 1, 31, -1;\nst.shared.u32 [s], %r2;\n"
                    "mov.u32 %r1, 7;\n"),
            "rr");
}

TEST(LiveRows, CallsTakeAndGive) {
  const std::string function =
      ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .b32 %r<4>;\n"
      "ld.param.b32 %r1, [in];\nadd.u32 %r2, %r1, 1;\nmov.u32 %r3, 5;\n"
      "st.param.b32 [out], %r2;\nret;\n}\n";
  const std::string call =
      "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\ncall.uni (b), f, (a);\n"
      "ld.param.b32 %r2, [b];\n}\n";
  const std::string read =
      live_in("mov.u32 %r1, 7;\n" + call + "st.shared.u32 [s], %r2;\n", function);
  const std::string unread = live_in("mov.u32 %r1, 7;\n" + call, function);
  EXPECT_EQ(read.size(), unread.size());
  EXPECT_EQ(read.front(), 'r');
  // Only the function's third register is never read.
  EXPECT_EQ(std::count(read.begin(), read.end(), '-'), 1);
  EXPECT_GT(std::count(unread.begin(), unread.end(), '-'), 1);
}

TEST(LiveRows, NothingIsReadOfAKernelsBeginningThatIsWrittenFirst) {
  EXPECT_FALSE(any_at_begin(""));
  EXPECT_FALSE(any_at_begin("mov.u32 %r1, 1;\nst.shared.u32 [s], %r1;\n"));
  EXPECT_FALSE(
      any_at_begin("ld.shared.u32 %r1, [s];\nL:\nadd.u32 %r1, %r1, 1;\n"
                   "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"));
  EXPECT_TRUE(any_at_begin("st.shared.u32 [s], %r1;\nmov.u32 %r1, 1;\n"));
  EXPECT_TRUE(any_at_begin("L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"));
}

TEST(LiveRows, TheRowsOfTheBeginningAreListed) {
  const Program program = program_of(
      "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r3;\nst.shared.u32 [s], %r2;\nmov.u32 %r3, 2;\n");
  const std::uint32_t third = destinations_of(program, program.code[3])[0].offset / kWordRowBytes;
  EXPECT_EQ(LiveRows(program).live_at_begin(Bank::word, program.words_max),
            std::vector<std::uint32_t>{third});
}

TEST(LiveRows, WhatIsWrittenOnOneWayOrUnderAGuardMayBeReadOfTheBeginning) {
  EXPECT_TRUE(
      any_at_begin("setp.eq.u32 %p1, 1, 2;\n@%p1 mov.u32 %r1, 2;\n"
                   "st.shared.u32 [s], %r1;\n"));
  EXPECT_TRUE(
      any_at_begin("setp.eq.u32 %p1, 1, 2;\n@%p1 bra E;\nmov.u32 %r1, 2;\nE:\n"
                   "st.shared.u32 [s], %r1;\n"));
}

// The other lanes may not have executed the write.
TEST(LiveRows, WhatOtherLanesReadMayBeReadOfTheBeginning) {
  EXPECT_TRUE(
      any_at_begin("mov.u32 %r1, 7;\nshfl.sync.idx.b32 %r2, %r1, 1, 31, -1;\n"
                   "st.shared.u32 [s], %r2;\n"));
}

// A call through an address may read any register.
TEST(LiveRows, WhereNothingIsKnownAllIsLive) {
  EXPECT_EQ(live_in("mov.u32 %r1, 1;\n{\n.reg .b64 %rd<2>;\n"
                    "P: .callprototype _ ();\nmov.u64 %rd1, f;\ncall %rd1, (), P;\n}\n"
                    "mov.u32 %r1, 2;\n",
                    ".func f()\n{\nret;\n}\n"),
            "rr");
}

}  // namespace
}  // namespace warpcheck::vgpu
