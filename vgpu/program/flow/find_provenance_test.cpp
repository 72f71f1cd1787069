// The objects that addresses are made from, in code of every shape that compilers generate.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr const char* kHeader =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".shared .align 4 .b8 a[64];\n.shared .align 4 .b8 b[64];\n"
    ".global .align 4 .b8 g[64];\n.global .align 4 .b8 h[64];\n";

std::string text_of(const Program& program, const RootSum& sum) {
  std::string text;
  for (const RootTerm& term : sum) {
    const Root& root = program.roots[term.root];
    text += term.count < 0 ? "-" : "+";
    if (term.count != 1 && term.count != -1) text += std::to_string(std::abs(term.count));
    switch (root.kind) {
      case Root::Kind::shared: text += program.shared_symbols[root.index].name; break;
      case Root::Kind::variable:
        text += program.patches[root.index].variable == 2 ? "g" : "h";
        break;
      case Root::Kind::parameter: text += "p" + std::to_string(root.index / 8); break;
    }
  }
  return text;
}

Program program_of(const std::string& body, const std::string& functions) {
  return decode(ptx::parse(kHeader + functions +
                               ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, "
                               ".param .u64 p3)\n{\n.local .align 8 .b8 depot[32];\n"
                               ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"
                               "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\n"
                               "ld.param.u64 %rd3, [p2];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, a;\n"
                               "mov.u32 %r3, b;\n" +
                               body + "\nret;\n}\n",
                           "test.ptx"),
                "k");
}

// Returns two strings for each access with a volatile mark, in the order of the code: the sum of
// its address, and the terms that must cancel.
std::vector<std::string> addresses_of(const std::string& body, const std::string& functions = "") {
  const Program program = program_of(body, functions);
  std::vector<std::string> found;
  for (const Instr& instr : program.code) {
    if (instr.modifiers.order != ptx::Order::volatile_) continue;
    const Provenance& made_from = program.provenances[instr.provenance];
    std::string text = text_of(program, made_from.sum);
    for (const RootSum& one : made_from.differences) text += " | " + text_of(program, one);
    found.push_back(text);
  }
  return found;
}

using Addresses = std::vector<std::string>;

TEST(Provenance, SumsOfAnAddressAndIntegers) {
  EXPECT_EQ(addresses_of("ld.volatile.shared.u32 %r4, [a];\n"
                         "ld.volatile.shared.u32 %r4, [%r3+4];\n"
                         "shl.b32 %r5, %r1, 2;\nadd.s32 %r6, %r2, %r5;\nsub.s32 %r6, %r6, %r1;\n"
                         "ld.volatile.shared.u32 %r4, [%r6+60];\n"
                         "mul.wide.s32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd4, %rd2;\n"
                         "cvta.to.global.u64 %rd6, %rd5;\nst.volatile.global.u32 [%rd6], %r1;\n"
                         "mad.wide.s32 %rd7, %r1, 4, %rd1;\nst.volatile.u32 [%rd7], %r1;\n"
                         "ld.volatile.global.u32 %r4, [g+8];\n"),
            (Addresses{"+a", "+b", "+a", "+p1", "+p0", "+g"}));
}

// The same place in another block of the cluster is in the same variable.
TEST(Provenance, MappingsToOtherBlocks) {
  EXPECT_EQ(addresses_of("mapa.shared::cluster.u32 %r4, %r2, %r1;\nadd.s32 %r4, %r4, 8;\n"
                         "ld.volatile.shared::cluster.u32 %r5, [%r4];\n"
                         "cvt.u64.u32 %rd4, %r3;\ncvta.shared.u64 %rd5, %rd4;\n"
                         "getctarank.u64 %r6, %rd5;\nmapa.u64 %rd6, %rd5, %r6;\n"
                         "ld.volatile.u32 %r5, [%rd6+4];\n"
                         "bfi.b32 %r7, %r1, %r2, 4, 8;\nld.volatile.shared.u32 %r5, [%r7];\n"
                         "bfi.b64 %rd7, %rd2, %rd1, 24, 8;\nld.volatile.u32 %r5, [%rd7];\n"),
            (Addresses{"+a", "+b", "", ""}));
}

TEST(Provenance, DifferencesCancelOut) {
  EXPECT_EQ(addresses_of("sub.s64 %rd4, %rd2, %rd1;\nadd.s64 %rd5, %rd1, %rd4;\n"
                         "ld.volatile.u32 %r4, [%rd5];\n"  // p0 + (p1 - p0)
                         "shr.s64 %rd6, %rd4, 2;\nshl.b64 %rd7, %rd6, 2;\n"
                         "add.s64 %rd8, %rd1, %rd7;\nld.volatile.u32 %r4, [%rd8];\n"
                         "add.s64 %rd9, %rd1, %rd3;\nld.volatile.u32 %r4, [%rd9];\n"
                         "sub.s32 %r5, %r3, %r2;\nadd.s32 %r6, %r2, %r5;\n"
                         "ld.volatile.shared.u32 %r4, [%r6];\n"
                         "shr.s32 %r7, %r5, 2;\nadd.s32 %r8, %r2, %r7;\n"
                         "ld.volatile.shared.u32 %r4, [%r8];\n"),
            (Addresses{"+p1", "+p0 | +p0-p1", "+p0+p2", "+b", ""}));
}

TEST(Provenance, CopiesThatMeet) {
  EXPECT_EQ(addresses_of("mov.u32 %r4, %r2;\nmov.u64 %rd4, %rd1;\n"
                         "LOOP:\nld.volatile.shared.u32 %r5, [%r4];\nadd.s32 %r4, %r4, 4;\n"
                         "ld.volatile.u32 %r5, [%rd4];\nadd.s64 %rd5, %rd4, %rd3;\n"
                         "mov.u64 %rd4, %rd5;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra LOOP;\n"
                         "selp.b64 %rd6, %rd1, %rd2, %p1;\nld.volatile.u32 %r5, [%rd6];\n"
                         "selp.b32 %r6, %r2, %r3, %p1;\nld.volatile.shared.u32 %r5, [%r6];\n"
                         "ld.u64 %rd7, [%rd1];\n@%p1 mov.u64 %rd7, %rd2;\n"
                         "ld.volatile.u32 %r5, [%rd7];\n"),
            (Addresses{"+a", "+p0 | +p2", "+p0 | +p0-p1", "", ""}));
}

// A value from memory may be added; a program that subtracts one may compute a distance.
TEST(Provenance, ValuesFromMemory) {
  EXPECT_EQ(addresses_of("ld.global.u64 %rd4, [%rd3];\nadd.s64 %rd5, %rd1, %rd4;\n"
                         "ld.volatile.u32 %r4, [%rd5];\n"
                         "ld.volatile.u32 %r4, [%rd4];\n"
                         "ld.global.u64 %rd6, [%rd3+8];\nsub.s64 %rd7, %rd4, %rd6;\n"
                         "add.s64 %rd8, %rd1, %rd7;\nld.volatile.u32 %r4, [%rd8];\n"
                         "sub.s64 %rd9, %rd4, %rd1;\nadd.s64 %rd10, %rd9, %rd1;\n"
                         "ld.volatile.u32 %r4, [%rd10];\n"),
            (Addresses{"+p0", "", "", ""}));
  EXPECT_EQ(addresses_of("sub.s64 %rd4, %rd2, %rd1;\nst.global.u64 [%rd3], %rd4;\n"
                         "ld.global.u64 %rd5, [%rd3];\nadd.s64 %rd6, %rd1, %rd5;\n"
                         "ld.volatile.u32 %r4, [%rd6];\n"),
            (Addresses{"+p0 | +p0-p1"}));
}

TEST(Provenance, NumbersMadeOfAddresses) {
  EXPECT_EQ(addresses_of("and.b64 %rd4, %rd1, -16;\nld.volatile.u32 %r4, [%rd4];\n"
                         "xor.b64 %rd5, %rd1, %rd2;\nxor.b64 %rd6, %rd5, %rd1;\n"
                         "ld.volatile.u32 %r4, [%rd6];\n"
                         "add.s64 %rd7, %rd3, %rd5;\nld.volatile.u32 %r4, [%rd7];\n"
                         "mov.b64 {%r5, %r6}, %rd1;\nmov.b64 %rd8, {%r5, %r6};\n"
                         "ld.volatile.u32 %r4, [%rd8];\n"
                         "mov.b64 {%r7, %r8}, %rd2;\nmov.b64 %rd9, {%r5, %r8};\n"
                         "ld.volatile.u32 %r4, [%rd9];\n"
                         "shfl.sync.idx.b32 %r9, %r2, 0, 31, -1;\n"
                         "ld.volatile.shared.u32 %r4, [%r9];\n"),
            (Addresses{"", "", "+p2 | +p0 | +p1", "+p0", "", ""}));
}

constexpr const char* kFunctions =
    ".func (.param .b64 r) moved(.param .b64 x, .param .b32 i)\n{\n.reg .b32 %r<4>;\n"
    ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [x];\nld.param.u32 %r1, [i];\n"
    "mad.wide.s32 %rd2, %r1, 4, %rd1;\nld.volatile.u32 %r2, [%rd2];\n"
    "st.param.b64 [r], %rd2;\nret;\n}\n";

std::string call(const std::string& from, const std::string& to) {
  return "{\n.param .b64 x;\n.param .b32 i;\n.param .b64 r;\nst.param.b64 [x], " + from +
         ";\nst.param.b32 [i], %r1;\ncall.uni (r), moved, (x, i);\nld.param.b64 " + to +
         ", [r];\n}\n";
}

TEST(Provenance, EveryCallByItself) {
  EXPECT_EQ(addresses_of("cvt.u64.u32 %rd4, %r2;\ncvta.shared.u64 %rd5, %rd4;\n" +
                             call("%rd5", "%rd6") + call("%rd2", "%rd7") +
                             "ld.volatile.u32 %r4, [%rd6];\nld.volatile.u32 %r4, [%rd7];\n",
                         kFunctions),
            (Addresses{"+a", "+p1", "+a", "+p1"}));
}

// The frame of the function whose variables an address is made from, also in a function that it is
// passed to; a mask loses it.
TEST(FindProvenance, KnowsTheFrameOfLocalVariables) {
  const Program program = program_of(
      "mov.u64 %rd4, depot;\nmul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
      "ld.volatile.local.u32 %r4, [%rd6+4];\ncvta.local.u64 %rd7, %rd4;\n"
      "{\n.param .b64 q;\nst.param.b64 [q], %rd7;\ncall.uni f, (q);\n}\n"
      "and.b64 %rd8, %rd6, -16;\nld.volatile.local.u32 %r5, [%rd8];",
      ".func f(.param .b64 f0)\n{\n.local .align 4 .b8 own[20];\n.reg .b32 %r<4>;\n"
      ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [f0];\nld.volatile.u32 %r1, [%rd1];\n"
      "mov.u64 %rd2, own;\nld.volatile.local.u32 %r2, [%rd2];\nret;\n}\n");
  std::vector<std::uint32_t> frames;
  for (const Instr& instr : program.code) {
    if (instr.modifiers.order == ptx::Order::volatile_)
      frames.push_back(program.provenances[instr.provenance].frame);
  }
  EXPECT_EQ(frames, (std::vector<std::uint32_t>{0, ptx::kNone, 0, 1}));
  EXPECT_EQ(program.functions[0].variable_bytes, 32u);
  EXPECT_EQ(program.functions[1].variable_bytes, 20u);
  EXPECT_EQ(program.functions[1].local_begin, 32u);
}

// Unoptimised code stores structures in local memory.
TEST(Provenance, ThroughLocalMemory) {
  const std::string keep =
      "mov.u64 %rd4, depot;\ncvta.local.u64 %rd5, %rd4;\nst.u64 [%rd5+8], %rd1;\n"
      "st.local.u64 [%rd4+16], %rd2;\nld.u32 %r5, [%rd5+8];\nld.u32 %r6, [%rd5+12];\n"
      "add.u64 %rd6, %rd5, 24;\nst.u32 [%rd6], %r5;\nst.u32 [%rd6+4], %r6;\n";
  const std::string use =
      "ld.u64 %rd7, [%rd5+24];\nld.volatile.u32 %r4, [%rd7];\n"
      "ld.local.u64 %rd8, [%rd4+16];\nld.volatile.u32 %r4, [%rd8];\n";
  EXPECT_EQ(addresses_of(keep + use), (Addresses{"+p0", "+p1"}));
  // Another write may hit the local memory, or an index may lead anywhere.
  EXPECT_EQ(addresses_of(keep + "st.global.u64 [%rd3], %rd5;\n" + use), (Addresses{"", ""}));
  EXPECT_EQ(addresses_of(keep +
                         "mul.wide.u32 %rd9, %r1, 4;\nadd.s64 %rd10, %rd5, %rd9;\n"
                         "st.u32 [%rd10], %r1;\n" +
                         use),
            (Addresses{"", ""}));
}

// Returns for each access with a volatile mark whether it is to the word around another address.
std::vector<bool> words_around(const std::string& body, const std::string& functions = "") {
  const Program program = program_of(body, functions);
  std::vector<bool> found;
  for (const Instr& instr : program.code) {
    if (instr.modifiers.order == ptx::Order::volatile_) found.push_back(instr.is_word_around);
  }
  return found;
}

TEST(Provenance, TheWordAroundAnAddressIsMadeByAMask) {
  EXPECT_EQ(words_around("and.b64 %rd4, %rd1, -4;\nld.volatile.u32 %r4, [%rd4];\n"
                         "ld.volatile.u32 %r4, [%rd1];\n"    // no mask
                         "ld.volatile.u32 %r4, [%rd4+4];\n"  // another word
                         "ld.volatile.u16 %r4, [%rd4];\n"    // of another size
                         "add.s64 %rd5, %rd4, 4;\nld.volatile.u32 %r4, [%rd5];\n"
                         "and.b64 %rd6, %rd1, -16;\nld.volatile.u32 %r4, [%rd6];\n"
                         "and.b64 %rd7, %rd1, -2;\nmov.u64 %rd8, %rd7;\n"
                         "ld.volatile.u16 %r4, [%rd8];\n"
                         "selp.b64 %rd9, %rd4, %rd1, %p1;\nld.volatile.u32 %r4, [%rd9];\n"),
            (std::vector<bool>{true, false, false, false, false, false, true, false}));
}

// Unoptimised code keeps the address in local memory and passes it to a function.
TEST(Provenance, TheWordAroundAnAddressIsFollowed) {
  const std::string same =
      ".func (.param .b64 r) moved(.param .b64 x, .param .b32 i)\n{\n.reg .b32 %r<4>;\n"
      ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [x];\nld.volatile.u32 %r2, [%rd1];\n"
      "st.param.b64 [r], %rd1;\nret;\n}\n";
  EXPECT_EQ(words_around("and.b64 %rd4, %rd1, -4;\nst.local.u64 [depot], %rd4;\n"
                         "ld.local.u64 %rd5, [depot];\nld.volatile.u32 %r4, [%rd5];\n" +
                             call("%rd5", "%rd6") + call("%rd1", "%rd7") +
                             "ld.volatile.u32 %r4, [%rd6];\nld.volatile.u32 %r4, [%rd7];\n",
                         same),
            (std::vector<bool>{true, true, false, true, false}));
}

}  // namespace
}  // namespace warpcheck::vgpu
