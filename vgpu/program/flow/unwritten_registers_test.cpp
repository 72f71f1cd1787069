#include "vgpu/program/flow/unwritten_registers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck::vgpu {
namespace {

Program program_of_body(const std::string& body, const std::string& functions = "") {
  return decode(ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".shared .align 4 .b8 s[256];\n" +
                               functions +
                               ".visible .entry k()\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n"
                               ".param .b32 p0;\n" +
                               body + "ret;\n}\n",
                           "test.ptx"),
                "k");
}

// Returns the function and the instruction of each first read, one after the other.
std::string first_reads(const std::string& body, const std::string& functions = "") {
  const Program program = program_of_body(body, functions);
  const auto all = unwritten_registers(program);
  std::string found;
  for (std::size_t function = 0; function < all.size(); ++function) {
    for (const UnwrittenRegister& one : all[function]) {
      found += program.functions[function].name + ": ";
      found += std::string(program.source_of(one.first_read).text) + "; ";
    }
  }
  return found;
}

TEST(UnwrittenRegisters, ThereAreNoneIfEveryPathWrites) {
  EXPECT_EQ(first_reads("ld.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra other;\n"
                        "mov.u32 %r2, 1;\nbra both;\nother:\nmov.u32 %r2, 2;\nboth:\n"
                        "st.shared.u32 [s], %r2;\n"),
            "");
}

TEST(UnwrittenRegisters, OnePathIsEnough) {
  EXPECT_EQ(first_reads("ld.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra both;\n"
                        "mov.u32 %r2, 1;\nboth:\nst.shared.u32 [s], %r2;\n"),
            "k: st.shared.u32; ");
}

TEST(UnwrittenRegisters, AreNamedByTheirFirstReadOnSuchAPath) {
  EXPECT_EQ(first_reads("ld.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra both;\n"
                        "mov.u32 %r2, 1;\nadd.u32 %r3, %r2, 1;\nboth:\nmul.lo.u32 %r2, %r2, 3;\n"
                        "st.shared.u32 [s], %r2;\n"),
            "k: mul.lo.u32; ");
}

TEST(UnwrittenRegisters, ALoopReadsWhatItsFirstRoundHasNotWritten) {
  EXPECT_EQ(first_reads("mov.u32 %r1, 4;\nagain:\nadd.u32 %r2, %r2, %r1;\nsub.u32 %r1, %r1, 1;\n"
                        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra again;\nst.shared.u32 [s], %r2;\n"),
            "k: add.u32; ");
}

TEST(UnwrittenRegisters, AProductOfMatricesWritesAllItsRegisters) {
  const std::string sources =
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n";
  const std::string product =
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r6, %r7, %r8, %r9}, {%r1, %r2}, {%r3}, "
      "{%r4, %r5, %r4, %r5};\n";
  const std::string store =
      "xor.b32 %r6, %r6, %r7;\nxor.b32 %r8, %r8, %r9;\n"
      "xor.b32 %r6, %r6, %r8;\nst.shared.u32 [s], %r6;\n";
  EXPECT_EQ(first_reads(sources + product + store), "");
}

TEST(UnwrittenRegisters, AGuardMayWriteNothing) {
  EXPECT_EQ(first_reads("setp.eq.u32 %p1, 1, 2;\n@%p1 mov.u32 %r1, 2;\nst.shared.u32 [s], %r1;\n"),
            "k: st.shared.u32; ");
  EXPECT_EQ(first_reads("@%p1 mov.u32 %r1, 2;\n"), "k: mov.u32; ");
}

// Where its condition is false, the value of a speculated load does not matter.
TEST(UnwrittenRegisters, ALoadWithAGuardCountsAsAWrite) {
  const std::string body =
      "setp.eq.u32 %p1, 1, 2;\n@%p1 ld.shared.u32 %r1, [s];\nst.shared.u32 [s], %r1;\n";
  EXPECT_EQ(first_reads(body), "");
  EXPECT_TRUE(reads_unwritten_register(program_of_body(body)));
}

TEST(UnwrittenRegisters, BelongToTheFrameOfTheirFunction) {
  const std::string callee =
      ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [in];\n"
      "add.u32 %r3, %r1, %r2;\nst.param.b32 [out], %r3;\nret;\n}\n";
  EXPECT_EQ(first_reads("mov.u32 %r1, 1;\n{\n.param .b32 a;\n.param .b32 b;\n"
                        "st.param.b32 [a], %r1;\ncall (b), f, (a);\nld.param.b32 %r2, [b];\n}\n"
                        "st.shared.u32 [s], %r2;\n",
                        callee),
            "f: add.u32; ");
}

TEST(UnwrittenRegisters, BytesOfParametersMayBePadding) {
  const std::string callee =
      ".func f(.param .align 4 .b8 in[8])\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [in+4];\n"
      "st.shared.u32 [s], %r1;\nret;\n}\n";
  const std::string body =
      "mov.u32 %r1, 1;\n{\n.param .align 4 .b8 a[8];\nst.param.b8 [a], %r1;\n"
      "st.param.b8 [a+1], %r2;\nst.param.b32 [a+4], %r1;\ncall f, (a);\n}\n";
  EXPECT_EQ(first_reads(body, callee), "");
  EXPECT_TRUE(reads_unwritten_register(program_of_body(body, callee)));
}

// ---- whose variable it is: code of the user (file 1) and of a header (file 2) ----

constexpr const char* kFiles =
    ".file 1 \"/home/someone/k.cu\"\n"
    ".file 2 \"/usr/local/cuda/include/cub/block/block_reduce.cuh\"\n";
constexpr const char* kInUsers = ".loc 1 10 3\n";
// Inlined: functions of the header that the user calls at lines 10 and 12, the user's operator that
// the header's kernel calls, and that kernel itself.
constexpr const char* kCalled = ".loc 2 50 5, function_name $L__a, inlined_at 1 10 3\n";
constexpr const char* kCalledBelow = ".loc 2 60 5, function_name $L__b, inlined_at 1 12 3\n";
constexpr const char* kInHeader = ".loc 2 70 5\n";
constexpr const char* kOperator = ".loc 1 30 5, function_name $L__c, inlined_at 2 70 5\n";

// Returns the first read of a register that code of `writer` writes on one path and code of
// `reader` reads.
std::string read_of(const std::string& home, const std::string& writer, const std::string& reader) {
  return first_reads(home + "ld.shared.u32 %r1, [s];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra both;\n" +
                         writer + "ld.shared.u32 %r2, [s+4];\nboth:\n" + reader +
                         "st.shared.u32 [s], %r2;\n",
                     kFiles);
}

TEST(UnwrittenRegisters, OfTheUserCountWhereverTheyAreRead) {
  EXPECT_EQ(read_of(kInUsers, kInUsers, kInUsers), "k: st.shared.u32; ");
  EXPECT_EQ(read_of(kInUsers, kInUsers, kCalled), "k: st.shared.u32; ");
  EXPECT_EQ(read_of(kInUsers, kCalled, kInUsers), "k: st.shared.u32; ");
  // two calls: the caller has passed the value on
  EXPECT_EQ(read_of(kInUsers, kCalled, std::string(kInUsers) + kCalledBelow), "k: st.shared.u32; ");
  EXPECT_EQ(read_of(kInHeader, kOperator, kOperator), "k: st.shared.u32; ");
  EXPECT_EQ(read_of(kInUsers, kInUsers, kInHeader),
            "k: st.shared.u32; ");  // inlined, -G does not say where
}

TEST(UnwrittenRegisters, OfAHeaderDoNotCount) {
  EXPECT_EQ(read_of(kInUsers, kCalled, kCalled), "");
  EXPECT_EQ(read_of(kInHeader, kInHeader, kInHeader), "");
  EXPECT_EQ(read_of(kInHeader, kInHeader, kOperator),
            "");  // an item that a kernel gives an operator
  EXPECT_EQ(read_of(kInHeader, kOperator, kInHeader), "");  // a result
}

TEST(UnwrittenRegisters, ThatNothingWritesAreTheUsersWhoCallsTheReader) {
  const auto never_written = [](const std::string& home, const std::string& reader) {
    return first_reads(home + "mov.u32 %r1, 1;\n" + reader + "st.shared.u32 [s], %r2;\n", kFiles);
  };
  EXPECT_EQ(never_written(kInUsers, kInUsers), "k: st.shared.u32; ");
  EXPECT_EQ(never_written(kInUsers, kCalled), "k: st.shared.u32; ");
  EXPECT_EQ(never_written(kInUsers, kInHeader), "k: st.shared.u32; ");
  EXPECT_EQ(never_written(kInHeader, kOperator), "k: st.shared.u32; ");
  EXPECT_EQ(never_written(kInHeader, kInHeader), "");
}

}  // namespace
}  // namespace warpcheck::vgpu
