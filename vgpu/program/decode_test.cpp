#include "vgpu/program/program.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

Program program_of(const std::string& text, const std::string& target = "sm_75") {
  const std::string header = ".version 8.0\n.target " + target + "\n.address_size 64\n";
  return decode(ptx::parse(header + text, "test.ptx"), "k");
}

std::string refusal_of(const std::string& text, const std::string& target = "sm_75") {
  try {
    program_of(text, target);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "accepted";
}

TEST(Decode, EqualImmediatesShareARow) {
  const Program program = program_of(
      ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"
      "add.u32 %r1, %r2, 7;\nsub.u32 %r2, %r1, 7;\nadd.u64 %rd1, %rd1, 7;\nret;\n}\n");
  EXPECT_EQ(program.code[0][ComputeOperand::b], program.code[1][ComputeOperand::b]);
  EXPECT_EQ(program.code[0][ComputeOperand::b].bank, Bank::constant);
  EXPECT_NE(program.code[2][ComputeOperand::b], program.code[0][ComputeOperand::b]);
  EXPECT_EQ(program.constants.size(), kWordRowBytes + kWideRowBytes);
}

TEST(Decode, LaysOutParametersByTheirAlignment) {
  const Program program = program_of(
      ".visible .entry k(.param .u32 a, .param .u64 b, .param .align 2 .b8 c[6], .param .u8 d)\n"
      "{\nret;\n}\n");
  ASSERT_EQ(program.parameters.size(), 4u);
  EXPECT_EQ(program.parameters[1].offset, 8u);
  EXPECT_EQ(program.parameters[2].offset, 16u);
  EXPECT_EQ(program.parameters[3].offset, 22u);
  EXPECT_EQ(program.parameter_bytes, 23u);
}

TEST(Decode, AllExternSharedArraysShareOneBase) {
  const Program program = program_of(
      ".extern .shared .align 16 .b8 a[];\n.extern .shared .align 16 .b8 b[];\n"
      ".shared .align 4 .b8 fixed[20];\n.shared .align 4 .b8 unused[400];\n"
      ".visible .entry k()\n{\n.reg .b32 %r<4>;\n"
      "mov.u32 %r1, a;\nmov.u32 %r2, b;\nmov.u32 %r3, fixed;\nret;\n}\n");
  EXPECT_EQ(program.static_shared_bytes, 20u);
  EXPECT_EQ(program.dynamic_shared_offset, 32u);
  EXPECT_EQ(program.code[0][ComputeOperand::a], program.code[1][ComputeOperand::a]);
  EXPECT_NE(program.code[0][ComputeOperand::a], program.code[2][ComputeOperand::a]);
}

constexpr const char* kCalls =
    ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<3>;\n.loc 1 5 1\n"
    "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry k()\n{\n.reg .b32 %r<4>;\n"
    ".loc 2 10 1\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], 1;\n"
    "call.uni (q), f, (p);\nld.param.b32 %r1, [q];\n}\n"
    ".loc 2 20 1\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], 2;\n"
    "call.uni (q), f, (p);\nld.param.b32 %r2, [q];\n}\nret;\n}\n"
    ".file 1 \"/opt/cuda-13/include/header.hpp\"\n.file 2 \"user.cu\"\n";

TEST(Decode, EveryCallSiteHasItsOwnCopyWithItsOwnLine) {
  const Program program = program_of(kCalls);
  ASSERT_EQ(program.functions.size(), 3u);
  const auto line_at = [&](std::uint32_t function) {
    return program.user_location(program.functions[function].entry).line;
  };
  EXPECT_EQ(line_at(1), 10u);  // the line in the toolkit's header is skipped
  EXPECT_EQ(line_at(2), 20u);
  EXPECT_EQ(program.source_of(program.functions[1].entry).location.line, 5u);
  EXPECT_EQ(program.words_max, program.functions[0].words + program.functions[1].words);
}

// Line 0: the compiler knows no line for the instruction.
TEST(Decode, AnInstructionWithoutALineHasTheLineOfTheOnlyCall) {
  const Program program = program_of(
      ".func f()\n{\n.loc 1 0 1\nbar.sync 0;\nret;\n}\n"
      ".visible .entry k()\n{\n.loc 1 7 1\ncall.uni f;\nret;\n}\n.file 1 \"user.cu\"\n");
  ASSERT_EQ(program.functions.size(), 2u);
  EXPECT_EQ(program.user_location(program.functions[1].entry).line, 7u);
}

TEST(Decode, NamesTheCallsThatLeadToALine) {
  const Program program = program_of(
      ".func f()\n{\n.loc 2 5 1\nbar.sync 0;\nret;\n}\n"
      ".visible .entry k()\n{\n.loc 2 40 1\n"
      ".loc 1 8 1, function_name $L__a, inlined_at 2 40 1\n"
      ".loc 2 30 1, function_name $L__b, inlined_at 1 8 1\ncall.uni f;\n"
      ".loc 2 50 1\ncall.uni f;\nret;\n}\n"
      ".file 1 \"/opt/cuda-13/include/header.hpp\"\n.file 2 \"user.cu\"\n");
  const auto callers = [&](std::uint32_t function) {
    std::vector<std::uint32_t> lines;
    const std::uint32_t pc = program.functions.at(function).entry;
    for (const ptx::SourceLocation& call : program.user_callers(program.user_location(pc))) {
      lines.push_back(call.line);
    }
    return lines;
  };
  EXPECT_EQ(callers(0), std::vector<std::uint32_t>{40});  // without the header's line
  EXPECT_EQ(callers(1), (std::vector<std::uint32_t>{30, 40}));
  EXPECT_EQ(callers(2), std::vector<std::uint32_t>{50});
}

TEST(Decode, RefusesByName) {
  EXPECT_EQ(refusal_of(".visible .entry other()\n{\nret;\n}\n"),
            "test.ptx: no kernel named 'k' in this PTX");
  EXPECT_EQ(refusal_of(".visible .entry k()\n{\n.reg .b32 %r<2>;\nfrob.b32 %r1, %r1;\nret;\n}\n"),
            "test.ptx:7: 'frob.b32' in function 'k' is not supported: unknown instruction "
            "'frob.b32'");
  EXPECT_EQ(refusal_of(".func g();\n.visible .entry k()\n{\ncall.uni g;\nret;\n}\n"),
            "test.ptx:7: the called function 'g' has no body and is not supported");
  EXPECT_EQ(refusal_of(".func __cudaCDP2Memcpy2DAsync();\n.visible .entry k()\n{\n.loc 1 9 2\n"
                       "call.uni __cudaCDP2Memcpy2DAsync;\nret;\n}\n.file 1 \"a.cu\"\n"),
            "test.ptx:8 (from a.cu:9): '__cudaCDP2Memcpy2DAsync' of the device runtime is not "
            "supported");
}

TEST(Decode, ARecursiveCallLeadsBackToItsCopy) {
  const Program program = program_of(
      ".func g();\n.func f()\n{\ncall.uni g;\nret;\n}\n.func g()\n{\ncall.uni f;\nret;\n}\n"
      ".visible .entry k()\n{\ncall.uni f;\ncall.uni f;\nret;\n}\n");
  ASSERT_EQ(program.functions.size(), 5u);  // k, and one copy of f and of g for each call
  EXPECT_TRUE(program.dynamic_stack);
  for (const std::uint32_t f : {1u, 2u}) {
    const std::uint32_t g = program.code[program.functions[f].entry].function;
    EXPECT_EQ(program.functions[g].name, "g");
    EXPECT_EQ(program.code[program.functions[g].entry].function, f);
  }
}

TEST(Decode, CallsWhatAnAliasMeans) {
  const Program program = program_of(
      ".func f();\n.func g()\n{\nret;\n}\n.alias f, g;\n"
      ".visible .entry k()\n{\ncall.uni f;\nret;\n}\n");
  ASSERT_EQ(program.functions.size(), 2u);
  EXPECT_EQ(program.functions[1].name, "g");
}

constexpr const char* kPointers =
    ".func (.param .b32 r) f(.param .b32 x)\n{\nst.param.b32 [r], 1;\nret;\n}\n"
    ".func (.param .b32 r) g(.param .b32 x)\n{\n.reg .b32 %r<2>;\nfrob.b32 %r1, %r1;\nret;\n}\n"
    ".func h(.param .b64 x)\n{\nret;\n}\n"
    ".global .u64 table[3] = {f, g, h};\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n"
    "{\n.param .b32 a;\n.param .b32 q;\nst.param.b32 [a], 1;\n"
    "shape: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (q), %rd1, (a), shape;\n}\nret;\n}\n";

TEST(Decode, FunctionsOfTheShapeWhoseAddressIsTakenMayBeCalled) {
  const Program program = program_of(kPointers);
  ASSERT_EQ(program.function_at.size(), 2u);  // h has another signature
  const FunctionCode& f = program.functions[program.function_at.at(function_address("f"))];
  EXPECT_EQ(f.name, "f");
  EXPECT_FALSE(program.dynamic_stack);
  std::uint32_t calls = 0;
  for (const Instr& instr : program.code) {
    if (instr.kind != InstrKind::call_register) continue;
    ++calls;
    EXPECT_EQ(instr.signature, f.signature);
  }
  EXPECT_EQ(calls, 1u);
}

TEST(Decode, WhatOnlyARegisterReachesIsRefusedWhenItIsReached) {
  const Program program = program_of(kPointers);
  const std::uint32_t g = program.function_at.at(function_address("g"));
  const Instr& first = program.code[program.functions[g].entry];
  ASSERT_EQ(first.kind, InstrKind::refusal);
  EXPECT_EQ(program.refusals.at(first.refusal),
            "test.ptx:12: 'frob.b32' in function 'g' is not supported: unknown instruction "
            "'frob.b32'");
}

TEST(Decode, TheAddressOfAFunctionDependsOnItsNameAlone) {
  EXPECT_EQ(function_address("_Z3addii"), function_address("_Z3addii"));
  EXPECT_NE(function_address("_Z3addii"), function_address("_Z3adddd"));
  EXPECT_EQ(function_address("_Z3addii") % 16, 0u);
  EXPECT_GE(function_address("_Z3addii"), kFunctionBase);
  EXPECT_LT(function_address("_Z3addii"), kFunctionEnd);
}

constexpr const char* kHeapCalls =
    ".extern .func (.param .b64 r) malloc(.param .b64 a)\n;\n"
    ".extern .func free(.param .b64 a)\n;\n.visible .entry k()\n{\n.reg .b64 %rd<3>;\n"
    ".loc 1 7 1\n{\n.param .b64 p;\nst.param.b64 [p+0], 24;\n.param .b64 q;\n"
    "call.uni (q), malloc, (p);\nld.param.b64 %rd1, [q+0];\n}\n"
    "{\n.param .b64 p;\nst.param.b64 [p+0], %rd1;\ncall.uni free, (p);\n}\nret;\n}\n";

TEST(Decode, CallsOfTheDeviceHeapBecomeInstructions) {
  const Program program = program_of(kHeapCalls);
  ASSERT_EQ(program.functions.size(), 1u);
  EXPECT_TRUE(program.uses_heap);
  std::vector<std::string> calls;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const InstrKind kind = program.code[pc].kind;
    EXPECT_NE(kind, InstrKind::call);
    if (kind != InstrKind::heap_allocate && kind != InstrKind::heap_free) continue;
    calls.push_back(program.source_of(pc).text);
    EXPECT_EQ(program.source_of(pc).location.line, 7u);
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"call.uni malloc", "call.uni free"}));
}

TEST(Decode, AProgramsOwnMallocIsCalled) {
  const Program program = program_of(
      ".func (.param .b64 r) malloc(.param .b64 a)\n{\nst.param.b64 [r], 16;\nret;\n}\n"
      ".visible .entry k()\n{\n.reg .b64 %rd<3>;\n{\n.param .b64 p;\n"
      "st.param.b64 [p+0], 24;\n.param .b64 q;\ncall.uni (q), malloc, (p);\n"
      "ld.param.b64 %rd1, [q+0];\n}\nret;\n}\n");
  EXPECT_EQ(program.functions.size(), 2u);
  EXPECT_FALSE(program.uses_heap);
}

TEST(Decode, OtherFunctionsWithoutABodyAreRefusedByName) {
  EXPECT_NE(refusal_of(".extern .func vanish(.param .b64 a)\n;\n.visible .entry k()\n{\n{\n"
                       ".param .b64 p;\nst.param.b64 [p+0], 24;\ncall.uni vanish, (p);\n}\n"
                       "ret;\n}\n")
                .find("the called function 'vanish' has no body"),
            std::string::npos);
}

Program with_texture_instruction(const std::string& instruction) {
  return program_of(
      ".visible .entry k()\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<6>;\n.reg .f32 %f<12>;\n"
      ".reg .pred %p<2>;\n" +
      instruction + "\nret;\n}\n");
}

TEST(Decode, ReadsTextureInstructions) {
  const Program program = with_texture_instruction(
      "tex.grad.a2d.v4.f32.f32 {%f1, _, %f3, %f4}|%p1, [%rd1, {%r1, %f5, %f6, %f6}], {%f7, %f8}, "
      "{%f9, %f10};\n"
      "sust.b.3d.v2.b32.clamp [%rd1, {%r1, %r2, %r3, %r3}], {%r4, %r5};");
  ASSERT_EQ(program.texture_instrs.size(), 2u);
  const TextureInstr& fetch = program.texture_instrs[program.code[0].texture];
  EXPECT_EQ(program.code[0].kind, InstrKind::texture);
  EXPECT_EQ(fetch.operation, TextureInstr::Operation::gradient);
  EXPECT_EQ(fetch.geometry, Geometry::planes);
  EXPECT_EQ(fetch.is_resident.bank, Bank::predicate);
  EXPECT_EQ(fetch.values[1].bank, Bank::none);
  EXPECT_NE(fetch.layer.bank, Bank::none);
  EXPECT_NE(fetch.at[1], fetch.at[0]);
  EXPECT_EQ(fetch.at[2].bank, Bank::none);
  EXPECT_NE(fetch.dy[1].bank, Bank::none);
  const TextureInstr& store = program.texture_instrs[program.code[1].texture];
  EXPECT_EQ(store.operation, TextureInstr::Operation::store);
  EXPECT_EQ(store.geometry, Geometry::volume);
  EXPECT_EQ(store.boundary, TextureInstr::Boundary::clamp);
  EXPECT_EQ(store.type, ptx::Type::b32);
  EXPECT_EQ(store.count, 2);
}

TEST(Decode, RefusesOtherTextureInstructionsByName) {
  for (const std::string instruction :
       {"txq.width.b32 %r1, [%rd1];", "suq.width.b32 %r1, [%rd1];",
        "sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r3;",
        "sust.p.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};",
        "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r4}];",
        "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], {%r1, %r2};",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd1, {%f5, %f6}];"}) {
    std::string refusal = "accepted";
    try {
      with_texture_instruction(instruction);
    } catch (const Refusal& found) {
      refusal = found.what();
    }
    const std::string name = "'" + instruction.substr(0, instruction.find(' ')) + "'";
    EXPECT_NE(refusal.find(name), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("is not supported"), std::string::npos) << refusal;
  }
}

// Returns the reason, without the name, why an instruction on registers of 16, 32 and 64 bits is
// refused.
std::string why_refused(const std::string& instruction, const std::string& target = "sm_75") {
  const std::string refusal = refusal_of(
      ".visible .entry k()\n{\n.reg .b16 %h<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<4>;\n" +
          instruction + "\nret;\n}\n",
      target);
  constexpr std::string_view kBefore = "is not supported: ";
  const std::size_t at = refusal.find(kBefore);
  return at == std::string::npos ? refusal : refusal.substr(at + kBefore.size());
}

TEST(Decode, ExtremesOfThreeAreOfSingleFloatsAlone) {
  EXPECT_EQ(why_refused("max.NaN.abs.f32 %r1, %r2, %r3, %r4;"), "accepted");
  EXPECT_EQ(why_refused("max.abs.f32 %r1, %r2, %r3;"), ".abs of two operands");
  EXPECT_EQ(why_refused("min.s32 %r1, %r2, %r3, %r4;"), "three operands of another type than f32");
  EXPECT_EQ(why_refused("min.xorsign.abs.f32 %r1, %r2, %r3, %r4;"), ".xorsign of three operands");
}

TEST(Decode, InstructionsOfOneArchitectureNeedItsTarget) {
  const std::string fence = "wgmma.fence.sync.aligned;";
  EXPECT_EQ(why_refused(fence, "sm_90"), "the target sm_90 does not have it, but sm_90a");
  EXPECT_EQ(why_refused(fence, "sm_100a"), "the target sm_100a does not have it, but sm_90a");
  EXPECT_EQ(why_refused(fence, "sm_90a"), "accepted");
  const std::string wait = "tcgen05.wait::ld.sync.aligned;";
  EXPECT_EQ(why_refused(wait, "sm_100"),
            "the target sm_100 does not have it, but sm_100f, sm_110f");
  for (const char* const target : {"sm_100a", "sm_100f", "sm_103a", "sm_101a", "sm_110f"}) {
    EXPECT_EQ(why_refused(wait, target), "accepted") << target;
  }
  const std::string load = "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r3, [%r4];";
  EXPECT_EQ(why_refused(load, "sm_100f"),
            "the target sm_100f does not have it, but sm_103f, sm_110f");
  EXPECT_EQ(why_refused(load, "sm_103a"), "accepted");
  const std::string narrow = "cvt.rn.satfinite.e2m3x2.f32 %h1, 0f3F800000, 0f3F800000;";
  EXPECT_EQ(why_refused(narrow, "sm_120"),
            "the target sm_120 does not have it, but sm_100f, sm_110f, sm_120f");
  EXPECT_EQ(why_refused(narrow, "sm_121a"), "accepted");
  const std::string sum = "multimem.ld_reduce.global.add.e4m3x4 %r1, [%rd1];";
  EXPECT_EQ(why_refused(sum, "sm_121a"), "accepted");
  EXPECT_EQ(why_refused(sum, "sm_120f"),
            "the target sm_120f does not have it, but sm_100f, sm_110f, sm_120a, sm_121a");
}

TEST(Decode, SparseProductsHaveAsManySelectorsAsLanesHaveTheirMetadata) {
  const std::string halves =
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
      "{%r7, %r8}, {%r9, %r10, %r11, %r12}, %r13";
  EXPECT_EQ(why_refused(halves + ", 3;"), "accepted");
  EXPECT_EQ(why_refused(halves + ", 4;"), "expected a selector below 4");
  EXPECT_EQ(why_refused(halves + ", %r14;"), "expected a selector below 4");
  EXPECT_EQ(why_refused(halves + ";"),
            "expected four matrices, metadata of a sparse one, and factors of scaled ones");
  const std::string bytes =
      "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, "
      "{%r5, %r6, %r7, %r8}, {%r7, %r8, %r1, %r2}, {%r9, %r10, %r11, %r12}, %r13";
  EXPECT_EQ(why_refused(bytes + ", 0;"), "accepted");
  EXPECT_EQ(why_refused(bytes + ", 1;"), "expected a selector below 1");
}

TEST(Decode, FieldsOfTensorMapsHaveTypesAndOrdinals) {
  const auto replacement = [](const std::string& field, const std::string& operands) {
    return why_refused("tensormap.replace.tile." + field + " [%rd1], " + operands + ";", "sm_90a");
  };
  EXPECT_EQ(replacement("global_address.global.b1024.b64", "%rd2"), "accepted");
  EXPECT_EQ(replacement("box_dim.shared::cta.b1024.b32", "4, %r1"), "accepted");
  EXPECT_EQ(replacement("box_dim.shared::cta.b1024.b32", "5, %r1"),
            "an ordinal that no dimension has");
  EXPECT_EQ(replacement("global_stride.global.b1024.b32", "0, %r1"),
            "a field of this name in a tensor map");
  EXPECT_EQ(replacement("rank.global.b1024.b32", "1, %r1"), "a replacement with other operands");
  EXPECT_EQ(replacement("elemtype.global.b1024.b32", "15"), "accepted");
  EXPECT_EQ(replacement("elemtype.global.b1024.b32", "16"),
            "a value that tensor maps here do not have");
  EXPECT_EQ(replacement("swizzle_mode.global.b1024.b32", "%r1"),
            "a value that tensor maps here do not have");
}

// The optimiser divides arrays and structs that are used by constant indices alone.
TEST(Decode, PartsOfASharedArrayHaveItsName) {
  const Program program = program_of(
      ".visible .entry k()\n{\n.reg .b32 %r<2>;\n"
      ".shared .align 4 .u32 _ZZ1kvE5state_$_1;\n"
      "st.shared.u32 [_ZZ1kvE5state_$_1], %r1;\nret;\n}\n");
  ASSERT_EQ(program.shared_symbols.size(), 1u);
  EXPECT_EQ(program.shared_symbols[0].name, "state (part 1)");
}

}  // namespace
}  // namespace warpcheck::vgpu
