#include "vgpu/machine/native/flow/uniform_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "vgpu/machine/link.hpp"
#include "vgpu/machine/native/native_code.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

Program kernel_of(const std::string& body, const std::string& functions = "") {
  return decode(ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".shared .align 4 .b8 s[256];\n" +
                               functions +
                               ".visible .entry k(.param .b32 n)\n{\n.reg .pred %p<4>;\n"
                               ".reg .b32 %r<8>;\n.reg .b64 %a;\n" +
                               body + "st.shared.u32 [s], %r1;\nret;\n}\n",
                           "test.ptx"),
                "k");
}

// Returns one letter for each instruction of `body` that writes a 32-bit register, in order: 'u' if
// its result is the same for all lanes, '-' if not.
std::string uniform_in(const std::string& body, const std::string& functions = "") {
  const Program program = kernel_of(body, functions);
  const LiveRows live(program);
  UniformRows rows(live, true);
  std::string found;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    for (const Ref& row : destinations_of(program, program.code[pc])) {
      if (row.bank != Bank::word) continue;
      rows.move_to(pc);
      found += rows.makes_uniform() ? 'u' : '-';
    }
  }
  return found;
}

// Returns the number of rows that must be checked before the store after `body`.
std::size_t unproven_after(const std::string& body) {
  const Program program = kernel_of(body);
  const LiveRows live(program);
  std::uint32_t pc = 0;
  while (program.code[pc].kind != InstrKind::store) ++pc;
  return UniformRows(live, true).unproven(pc).size();
}

// Returns the step of the last result of `body`; -1: it does not ascend.
int last_step(const std::string& body, bool in_row = true) {
  const Program program = kernel_of(body);
  const LiveRows live(program);
  UniformRows rows(live, in_row);
  std::uint32_t pc = 0;
  while (program.code[pc].kind != InstrKind::store) ++pc;
  rows.move_to(pc);
  const auto step = rows.step_of(destinations_of(program, program.code[pc - 1]).front());
  return step ? static_cast<int>(*step) : -1;
}

TEST(UniformRows, AscendByAConstant) {
  const std::string tid = "mov.u32 %r1, %tid.x;\n";
  EXPECT_EQ(last_step(tid), 1);
  EXPECT_EQ(last_step(tid, false), -1);
  EXPECT_EQ(last_step("mov.u32 %r1, %tid.y;\n"), 0);
  EXPECT_EQ(last_step("mov.u32 %r1, %tid.y;\n", false), -1);
  EXPECT_EQ(last_step("mov.u32 %r1, %laneid;\n", false), 1);
  EXPECT_EQ(last_step(tid + "shl.b32 %r1, %r1, 3;\n"), 8);
  EXPECT_EQ(last_step(tid + "shl.b32 %r1, %r1, 5;\n"), -1);  // no access has such elements
  EXPECT_EQ(last_step(tid + "mul.lo.u32 %r1, %r1, 4;\n"), 4);
  EXPECT_EQ(last_step(tid + "mul.lo.u32 %r1, %r1, %r1;\n"), -1);
  EXPECT_EQ(last_step(tid + "mov.u32 %r2, %ctaid.x;\nmul.lo.u32 %r1, %r1, %r2;\n"), -1);
  EXPECT_EQ(last_step(tid + "mov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, %r2, %r1;\n"), 1);
  EXPECT_EQ(last_step(tid + "add.u32 %r1, %r1, %r1;\n"), 2);
  EXPECT_EQ(last_step(tid + "sub.u32 %r1, %r1, 7;\n"), 1);
  EXPECT_EQ(last_step(tid + "sub.u32 %r1, 7, %r1;\n"), -1);
  EXPECT_EQ(last_step(tid + "and.b32 %r1, %r1, 7;\n"), -1);
  EXPECT_EQ(last_step(tid + "mul.wide.u32 %a, %r1, 8;\n"), 8);
  EXPECT_EQ(last_step(tid + "cvt.s64.s32 %a, %r1;\nmul.lo.u64 %a, %a, 4294967300;\n"), -1);
}

TEST(UniformRows, AreComputedFromWhatLanesShare) {
  EXPECT_EQ(uniform_in("ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nadd.u32 %r1, %r1, %r2;\n"),
            "uuu");
  EXPECT_EQ(uniform_in("mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nmov.u32 %r3, %laneid;\n"
                       "mov.u32 %r4, %clock;\n"),
            "----");
}

TEST(UniformRows, AGuardMayLeaveWhatLanesHad) {
  EXPECT_EQ(uniform_in("mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 mov.u32 %r1, 3;\n"
                       "add.u32 %r2, %r1, 1;\n"),
            "u--");
}

TEST(UniformRows, ASelectionDependsOnItsPredicate) {
  EXPECT_EQ(uniform_in("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 2;\n"
                       "selp.u32 %r2, 3, 4, %p1;\n"),
            "--");
  EXPECT_EQ(uniform_in("mov.u32 %r1, %ntid.x;\nsetp.eq.u32 %p1, %r1, 2;\n"
                       "selp.u32 %r2, 3, 4, %p1;\n"),
            "uu");
}

TEST(UniformRows, ALoadFromOneAddressGivesOneValue) {
  EXPECT_EQ(uniform_in("mov.u32 %r1, %ctaid.x;\nld.shared.u32 %r2, [%r1];\n"), "uu");
  EXPECT_EQ(uniform_in("mov.u32 %r1, %tid.x;\nld.shared.u32 %r2, [%r1];\n"), "--");
  // Lanes may load at different times, and local memory is each lane's own.
  EXPECT_EQ(uniform_in("ld.volatile.shared.u32 %r2, [s];\n"), "-");
  EXPECT_EQ(uniform_in("mov.u64 %a, s;\nld.u32 %r2, [%a];\n"), "-");
  EXPECT_EQ(uniform_in("atom.shared.add.u32 %r2, [s], 1;\n"), "-");
}

TEST(UniformRows, OtherLanesMayGiveDifferentValues) {
  EXPECT_EQ(uniform_in("mov.u32 %r1, 1;\nshfl.sync.idx.b32 %r2, %r1, 1, 31, -1;\n"), "u-");
}

const std::string kBySide =
    "@%p1 bra ELSE;\nmov.u32 %r1, 1;\nbra END;\nELSE:\nmov.u32 %r1, 2;\nEND:\n"
    "add.u32 %r2, %r1, 1;\n";

TEST(UniformRows, LanesThatABranchPartsMeetWithDifferentValues) {
  EXPECT_EQ(uniform_in("mov.u32 %r3, %tid.x;\nsetp.eq.u32 %p1, %r3, 1;\n" + kBySide), "-uu-");
  EXPECT_EQ(uniform_in("mov.u32 %r3, %ntid.x;\nsetp.eq.u32 %p1, %r3, 1;\n" + kBySide), "uuuu");
}

TEST(UniformRows, LanesThatLeaveALoopApartHaveDifferentCounts) {
  const std::string loop =
      "mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r3;\n@%p1 bra L;\n"
      "add.u32 %r2, %r1, 1;\n";
  EXPECT_EQ(uniform_in("mov.u32 %r3, %tid.x;\n" + loop), "-uu-");
  EXPECT_EQ(uniform_in("mov.u32 %r3, %ntid.x;\n" + loop), "uuuu");
}

// The first branch is found to part lanes only when the second one has.
TEST(UniformRows, ABranchMayDependOnWhatAnotherBranchParts) {
  EXPECT_EQ(uniform_in("mov.u32 %r3, %tid.x;\nmov.u32 %r4, 0;\nmov.u32 %r1, 0;\nL:\n"
                       "setp.eq.u32 %p2, %r4, 0;\n@%p2 bra M;\nadd.u32 %r1, %r1, 1;\nM:\n"
                       "add.u32 %r2, %r1, 0;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra N;\n"
                       "mov.u32 %r4, 1;\nN:\nsetp.lt.u32 %p3, %r2, 9;\n@%p3 bra L;\n"),
            "-uu--u");
}

TEST(UniformRows, AFunctionGetsAndReturnsThem) {
  const std::string function =
      ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .b32 %r<4>;\n"
      "ld.param.b32 %r1, [in];\nst.param.b32 [out], %r1;\nret;\n}\n";
  const auto results = [&](const std::string& argument) {
    return uniform_in("mov.u32 %r1, " + argument +
                          ";\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\n"
                          "call.uni (b), f, (a);\nld.param.b32 %r2, [b];\n}\n",
                      function);
  };
  EXPECT_EQ(results("%tid.x").find('u'), std::string::npos);
  EXPECT_EQ(results("%ntid.x").find('-'), std::string::npos);
}

// A call through an address may write any register.
TEST(UniformRows, WhereNothingIsKnownThereAreNone) {
  EXPECT_EQ(uniform_in("mov.u32 %r1, 1;\n{\n.reg .b64 %rd<2>;\nP: .callprototype _ ();\n"
                       "mov.u64 %rd1, f;\ncall %rd1, (), P;\n}\nmov.u32 %r2, 2;\n",
                       ".func f()\n{\nret;\n}\n"),
            "--");
}

TEST(UniformRows, AreCheckedUnlessTheyHaveOneValueInAnyCase) {
  EXPECT_EQ(unproven_after("mov.u32 %r1, %ctaid.x;\nadd.u32 %r1, %r1, 4;\n"), 0u);
  EXPECT_EQ(unproven_after("ld.shared.u32 %r1, [s];\n"), 1u);
  EXPECT_EQ(unproven_after("ld.shared.u32 %r1, [s];\nadd.u32 %r1, %r1, 4;\n"), 1u);
  EXPECT_EQ(unproven_after("ld.shared.u32 %r2, [s];\nmov.u32 %r1, 4;\n"), 0u);  // not read
  const std::string loop = "L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n";
  EXPECT_EQ(unproven_after("mov.u32 %r1, 0;\n" + loop), 1u);
  EXPECT_EQ(unproven_after("mov.u32 %r1, %tid.x;\n" + loop), 0u);
}

TEST(UniformRows, AscendOnlyWithinTheRangeOfTheirType) {
  const auto widened = [](const std::string& body) {
    const Program program = kernel_of("mov.u32 %r1, %tid.x;\nshl.b32 %r1, %r1, 1;\n" + body);
    const LiveRows live(program);
    UniformRows rows(live, true);
    rows.move_to(2);
    return rows.widened();
  };
  EXPECT_FALSE(widened("add.u32 %r1, %r1, 4;\n"));
  EXPECT_FALSE(widened("cvt.u64.u32 %a, 4;\n"));
  const auto of_signed = widened("mul.wide.s32 %a, %r1, 4;\n");
  ASSERT_TRUE(of_signed);
  EXPECT_EQ(of_signed->step, 2u);
  EXPECT_TRUE(of_signed->is_signed);
  const auto of_unsigned = widened("cvt.s64.u32 %a, %r1;\n");
  ASSERT_TRUE(of_unsigned);
  EXPECT_FALSE(of_unsigned->is_signed);
}

// Behind a barrier, an address that was extended to 64 bits would be checked as a whole.
TEST(UniformRows, AreForgottenAtBarriersIfTheyWouldBeChecked) {
  const std::string address =
      "mov.u32 %r2, %tid.x;\nmul.wide.u32 %a, %r2, 4;\nshl.b32 %r1, %r2, 2;\n";
  EXPECT_EQ(unproven_after(address + "cvt.u32.u64 %r1, %a;\n"), 1u);
  EXPECT_EQ(unproven_after(address + "bar.sync 0;\ncvt.u32.u64 %r1, %a;\n"), 0u);
  EXPECT_EQ(unproven_after(address + "bar.sync 0;\n"), 0u);
}

TEST(UniformRows, ALoopWithoutRegistersIsDone) {
  const Program program = decode(ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                                            ".visible .entry k()\n{\nL: bra L;\n}\n",
                                            "test.ptx"),
                                 "k");
  const LiveRows live(program);
  EXPECT_TRUE(UniformRows(live, false).unproven(0).empty());
}

// Returns the size of the code for twenty instructions.
std::size_t bytes_of(const std::string& first, const std::string& instruction, SimdLevel level) {
  const auto size = [&](int count) {
    std::string body = "mov.u32 %r1, " + first + ";\n";
    for (int i = 0; i < count; ++i) body += instruction;
    Program program = kernel_of(body);
    link(program, level);
    const auto code = NativeCode::compile(program, level, Lanes::all, {});
    return code == nullptr ? 0 : code->bytes();
  };
  return size(30) - size(10);
}

TEST(UniformRows, AreComputedOnce) {
  if (host_simd_level() == SimdLevel::baseline) GTEST_SKIP() << "no machine code on this host";
  for (const std::string instruction :
       {"add.u32 %r1, %r1, %r1;\n", "mul.lo.u32 %r1, %r1, %r1;\n"}) {
    EXPECT_EQ(bytes_of("%tid.x", instruction, SimdLevel::avx2),
              4 * bytes_of("%ctaid.x", instruction, SimdLevel::avx2));
    EXPECT_EQ(bytes_of("%tid.x", instruction, SimdLevel::avx512),
              2 * bytes_of("%ctaid.x", instruction, SimdLevel::avx512));
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
