// The parser on the bodies of functions.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "vgpu/ptx/parser_testing.hpp"

namespace warpcheck::ptx {
namespace {

TEST(ParseBody, Operands) {
  const Function f = parse_body_text(
      ".reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>; .shared .u32 s[4]; .local .u32 l;"
      "setp.lt.and.u32 %p1|%p2, %r1, -1, !%p0; ld.shared.v2.u32 {%r1, _}, [s+4];"
      "st.local.u32 [%rd1+-4], 0x10U; mov.u32 %r1, s+8; mov.u32 %r2, %tid.x;"
      "mov.b64 %rd1, {%r1, %r2}; mov.f32 %r1, 0f3F800000; ld.u32 %r1, [16];"
      "mov.f64 %rd1, -1.5; add.u32 %r1, %r1, WARP_SZ-1; @!%p1 exit;");
  ASSERT_EQ(f.body.size(), 11u);
  for (const Instruction& instruction : f.body) EXPECT_EQ(instruction.unsupported, "");
  const std::vector<Operand>& setp = f.body[0].operands;
  EXPECT_TRUE(setp[0].pair);
  EXPECT_EQ(f.registers[setp[0].parts[1].index].name, "%p2");
  EXPECT_EQ(setp[2].bits, ~std::uint64_t{0});
  EXPECT_TRUE(setp[3].negated);
  const std::vector<Operand>& load = f.body[1].operands;
  EXPECT_EQ(load[0].kind, Operand::Kind::vector);
  EXPECT_FALSE(load[0].pair);
  EXPECT_EQ(load[0].parts[1].kind, Operand::Kind::sink);
  EXPECT_EQ(load[1].kind, Operand::Kind::address);
  EXPECT_EQ(load[1].index, kNone);
  EXPECT_EQ(load[1].variable.scope, VariableRef::Scope::local);
  EXPECT_EQ(load[1].variable.index, 0u);
  EXPECT_EQ(load[1].offset, 4);
  EXPECT_EQ(f.registers[f.body[2].operands[0].index].name, "%rd1");
  EXPECT_EQ(f.body[2].operands[0].offset, -4);
  EXPECT_EQ(f.body[2].operands[1].bits, 16u);
  EXPECT_EQ(f.body[3].operands[1].kind, Operand::Kind::variable);
  EXPECT_EQ(f.body[3].operands[1].offset, 8);
  EXPECT_EQ(f.body[4].operands[1].special, SpecialRegister::tid_x);
  EXPECT_TRUE(f.body[6].operands[1].is_float);
  EXPECT_FALSE(f.body[6].operands[1].float_is_double);
  EXPECT_EQ(f.body[6].operands[1].bits, 0x3F800000u);
  EXPECT_EQ(f.body[7].operands[1].index, kNone);
  EXPECT_EQ(f.body[7].operands[1].offset, 16);
  EXPECT_EQ(f.body[8].operands[1].bits, std::bit_cast<std::uint64_t>(-1.5));
  EXPECT_TRUE(f.body[8].operands[1].float_is_double);
  EXPECT_EQ(f.body[9].operands[2].bits, 31u);
  EXPECT_EQ(f.registers[f.body[10].guard].name, "%p1");
  EXPECT_TRUE(f.body[10].guard_negated);
  EXPECT_EQ(f.body[1].text, "ld.shared.v2.u32");
  EXPECT_EQ(f.body[1].ptx_line, 4u);
}

TEST(ParseBody, ConstantExpressions) {
  const auto value_of = [](std::string_view expression) {
    return static_cast<std::int64_t>(
        parse_body_text(".reg .b64 r; mov.b64 r, " + std::string(expression) + ";")
            .body[0]
            .operands[1]
            .bits);
  };
  EXPECT_EQ(value_of("0b101"), 5);
  EXPECT_EQ(value_of("017"), 15);
  EXPECT_EQ(value_of("0xfF"), 255);
  EXPECT_EQ(value_of("0"), 0);
  EXPECT_EQ(value_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(value_of("18446744073709551615"), -1);
  EXPECT_EQ(value_of("1+2*3"), 7);
  EXPECT_EQ(value_of("(1+2)*3"), 9);
  EXPECT_EQ(value_of("10-4-3"), 3);
  EXPECT_EQ(value_of("-7/2"), -3);
  EXPECT_EQ(value_of("-7 % 2"), -1);
  EXPECT_EQ(value_of("~0"), -1);
  EXPECT_EQ(value_of("1<<4"), 16);
  EXPECT_EQ(value_of("-16>>2"), -4);
  EXPECT_EQ(value_of("6&3^1"), 3);
  EXPECT_EQ(value_of("-9223372036854775808/-1"), INT64_MIN);
}

TEST(ParseBody, ScopesRedeclareNames) {
  const Function f = parse_body_text(
      ".reg .b32 %r<2>; .reg .b32 t;"
      "{ .reg .b64 t; .param .b32 a; mov.b64 t, 0; st.param.b32 [a], %r1; }"
      "{ .reg .b64 t; .param .b64 a; .reg .b16 %r1; mov.b64 t, 0; st.param.b64 [a], %r1;"
      "  mov.u32 %r0, 0; }"
      "mov.b32 t, %r1;");
  ASSERT_EQ(f.registers.size(), 6u);
  ASSERT_EQ(f.locals.size(), 2u);
  EXPECT_EQ(f.body[0].operands[0].index, 3u);
  EXPECT_EQ(f.body[1].operands[0].variable.index, 0u);
  EXPECT_EQ(f.body[1].operands[1].index, 1u);
  EXPECT_EQ(f.body[2].operands[0].index, 4u);
  EXPECT_EQ(f.body[3].operands[0].variable.index, 1u);
  EXPECT_EQ(f.body[3].operands[1].index, 5u);
  EXPECT_EQ(f.registers[5].type, Type::b16);
  EXPECT_EQ(f.body[4].operands[0].index, 0u);
  EXPECT_EQ(f.body[5].operands[0].index, 2u);
  EXPECT_EQ(f.body[5].operands[1].index, 1u);
}

TEST(ParseBody, RegisterRangesNestAndOverlapByPrefix) {
  const Function f = parse_body_text(
      ".reg .b32 %r<12>; { .reg .b64 %r<2>; mov.u32 %r1, 0; mov.u32 %r11, 0;"
      "{ .reg .f32 %r1<3>; mov.u32 %r11, 0; mov.u32 %r1, 0; } }");
  EXPECT_EQ(f.body[0].operands[0].index, 13u);
  EXPECT_EQ(f.body[1].operands[0].index, 11u);
  EXPECT_EQ(f.registers[f.body[2].operands[0].index].type, Type::f32);
  EXPECT_EQ(f.body[3].operands[0].index, 13u);
}

TEST(ParseBody, VectorsOfRegistersAreTheirElements) {
  const Function k = parse_body_text(
      ".reg .v2 .f32 pair; .reg .v4 .u32 %quad, %q<2>; .reg .u64 %p; .reg .b64 d;"
      " mov.f32 pair.x, pair.y; mov.u32 %quad.w, %q1.r; mov.b64 d, pair;"
      " ld.global.v4.u32 %quad, [%p]; st.global.v2.f32 [%p], pair; add.u32 %q0.b, %q0.g, %q1.a;");
  ASSERT_EQ(k.registers.size(), 16u);
  EXPECT_EQ(k.registers[1].name, "pair.y");
  EXPECT_EQ(k.registers[1].type, Type::f32);
  EXPECT_EQ(k.registers[5].name, "%quad.w");
  EXPECT_EQ(k.registers[10].name, "%q1.x");
  const auto reg = [&](std::size_t at, std::size_t operand) {
    const Operand& o = k.body.at(at).operands.at(operand);
    return o.kind == Operand::Kind::reg ? o.index : kNone;
  };
  EXPECT_EQ(reg(0, 0), 0u);
  EXPECT_EQ(reg(0, 1), 1u);
  EXPECT_EQ(reg(1, 0), 5u);
  EXPECT_EQ(reg(1, 1), 10u);
  EXPECT_EQ(reg(5, 0), 8u);
  EXPECT_EQ(reg(5, 1), 7u);
  EXPECT_EQ(reg(5, 2), 13u);
  const Operand& packed = k.body[2].operands[1];
  ASSERT_EQ(packed.kind, Operand::Kind::vector);
  ASSERT_EQ(packed.parts.size(), 2u);
  EXPECT_EQ(packed.parts[1].index, 1u);
  EXPECT_EQ(k.body[3].operands[0].parts.size(), 4u);
  EXPECT_EQ(k.body[3].operands[0].parts[3].index, 5u);
  for (const Instruction& instruction : k.body) EXPECT_EQ(instruction.unsupported, "");
}

TEST(ParseBody, VectorsOfRegistersHave128BitsAtMostAndNamedElements) {
  EXPECT_EQ(error_in_body(".reg .v2 .f32 v; mov.f32 v.z, v.x;"),
            "t:4: expected an element of the vector 'v', found '.z'");
  EXPECT_EQ(error_in_body(".reg .v2 .f32 %v; mov.f32 %v.q, 0f00000000;"),
            "t:4: expected an element of the vector '%v.q', found '.q'");
  EXPECT_EQ(error_in_body(".reg .v4 .f64 v;"),
            "t:4: expected the type of an element of a vector of at most 128 bits, found '.f64'");
  EXPECT_EQ(error_in_body(".reg .v2 .pred v;"),
            "t:4: expected the type of an element of a vector of at most 128 bits, found '.pred'");
}

TEST(ParseBody, LabelsAreScoped) {
  const Function f =
      parse_body_text("bra L; { bra L; L: ret; bra M; } L: bra L; M: { { bra M; } } exit; end:");
  const auto target = [&](std::size_t at) {
    return f.labels[f.body[at].operands[0].index].position;
  };
  EXPECT_EQ(target(0), 4u);
  EXPECT_EQ(target(1), 2u);
  EXPECT_EQ(target(3), 5u);
  EXPECT_EQ(target(4), 4u);
  EXPECT_EQ(target(5), 5u);
  EXPECT_EQ(f.labels.back().name, "end");
  EXPECT_EQ(f.labels.back().position, f.body.size());
}

TEST(ParseBody, BranchTargets) {
  const Function f =
      parse_body_text(".reg .b32 %r<2>; ts: .branchtargets A, B; brx.idx %r1, ts; A: ret; B: ret;");
  ASSERT_EQ(f.branch_targets.size(), 1u);
  ASSERT_EQ(f.branch_targets[0].labels.size(), 2u);
  EXPECT_EQ(f.labels[f.branch_targets[0].labels[0]].name, "A");
  EXPECT_EQ(f.labels[f.branch_targets[0].labels[1]].position, 2u);
  EXPECT_EQ(f.body[0].operands[1].kind, Operand::Kind::name);
  EXPECT_EQ(f.body[0].operands[1].index, 0u);
  EXPECT_EQ(f.body[0].unsupported, "");
}

TEST(ParseBody, Calls) {
  const Module module = parse_text(
      ".func (.param .b32 r) f(.param .b32 a);\n.func g;\n.entry k() { .reg .b32 %r<2>;"
      ".reg .b64 %rd<2>; .param .b32 p; .param .b32 q;\n"
      "call.uni (q), \nf, \n(\np\n);\ncall g;\ncall f, (%r1, 3);\n"
      "proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
      "call (q), %rd1, (p), proto; }");
  const Function& k = module.functions[2];
  ASSERT_EQ(k.body.size(), 4u);
  const std::vector<Operand>& direct = k.body[0].operands;
  ASSERT_EQ(direct.size(), 3u);
  EXPECT_EQ(direct[0].parts[0].variable.index, 1u);
  EXPECT_EQ(direct[1].kind, Operand::Kind::function);
  EXPECT_EQ(direct[1].name, "f");
  EXPECT_EQ(direct[2].parts[0].variable.scope, VariableRef::Scope::local);
  ASSERT_EQ(k.body[1].operands.size(), 3u);
  EXPECT_TRUE(k.body[1].operands[0].parts.empty());
  EXPECT_EQ(k.body[1].operands[1].name, "g");
  EXPECT_TRUE(k.body[1].operands[2].parts.empty());
  EXPECT_EQ(k.body[2].operands[2].parts[0].kind, Operand::Kind::reg);
  EXPECT_EQ(k.body[2].operands[2].parts[1].bits, 3u);
  const std::vector<Operand>& indirect = k.body[3].operands;
  ASSERT_EQ(indirect.size(), 4u);
  EXPECT_EQ(indirect[1].kind, Operand::Kind::reg);
  EXPECT_EQ(indirect[3].name, "proto");
  EXPECT_EQ(k.prototypes.at(indirect[3].index).parameters.size(), 2u);
}

// A parameter in a register is a variable and a register, that of a vector several.
TEST(ParseBody, ParametersInRegisters) {
  const Module module = parse_text(
      ".func (.reg .u32 r) f(.param .b32 a, .reg .u64 b, .reg .v2 .f32 v) {\n"
      "mov.b32 r, v.y; ret; }\n"
      ".func g() { .reg .b64 %rd<2>;\n"
      "p: .callprototype (.reg .b32 _) _ (.param .b32 _, .reg .b64 _, .reg .b64 _); }");
  const Function& f = module.functions[0];
  EXPECT_EQ(f.unsupported, "");
  ASSERT_EQ(f.registers.size(), 4u);
  EXPECT_EQ(f.registers[0].name, "r");
  EXPECT_EQ(f.registers[1].type, Type::u64);
  EXPECT_EQ(f.registers[3].name, "v.y");
  EXPECT_EQ(f.results.at(0).first_register, 0u);
  ASSERT_EQ(f.parameters.size(), 3u);
  EXPECT_EQ(f.parameters[0].first_register, kNone);
  EXPECT_EQ(f.parameters[1].first_register, 1u);
  EXPECT_EQ(f.parameters[2].first_register, 2u);
  EXPECT_EQ(f.parameters[2].bytes, 8u);
  EXPECT_EQ(f.body[0].operands[0].index, 0u);
  EXPECT_EQ(f.body[0].operands[1].index, 3u);
  const Prototype& prototype = module.functions[1].prototypes.at(0);
  EXPECT_EQ(prototype.results.size(), 1u);
  EXPECT_EQ(prototype.parameters.size(), 3u);
  EXPECT_EQ(parse_text(".entry k(.reg .b32 a) { ret; }").functions[0].unsupported,
            "parameters of a kernel in registers");
  EXPECT_EQ(error_in(".func f(.reg .b32 a[8]) { ret; }"), "t:4: a register cannot be an array");
}

TEST(ParseBody, LocationsKeepTheirChain) {
  const Module module = parse_text(
      ".entry k() {\n.loc 1 10 3\nnop;\n.loc 2 20 5, function_name $L__info_string0, inlined_at 1 "
      "10 3\nnop;\n.loc 3 30 7, function_name $L__info_string1+4, inlined_at 2 20 5\nnop;\n"
      ".loc 3 31 7, function_name $L__info_string1, inlined_at 2 20 5\nnop;\n}");
  const std::vector<Instruction>& body = module.functions[0].body;
  EXPECT_EQ(body[0].location.file, 1u);
  EXPECT_EQ(body[0].location.line, 10u);
  EXPECT_EQ(body[0].location.column, 3u);
  EXPECT_EQ(body[0].location.inlined_at, kNone);
  EXPECT_EQ(body[2].location.line, 30u);
  const SourceLocation& caller = module.locations.at(body[2].location.inlined_at);
  EXPECT_EQ(caller.file, 2u);
  EXPECT_EQ(caller.line, 20u);
  const SourceLocation& outermost = module.locations.at(caller.inlined_at);
  EXPECT_EQ(outermost.line, 10u);
  EXPECT_EQ(outermost.inlined_at, kNone);
  EXPECT_EQ(body[3].location.inlined_at, body[2].location.inlined_at);
  EXPECT_EQ(module.locations.size(), 2u);
}

// The section has one text: `_Z1av` and `_Z1bv`, behind one label.
TEST(ParseBody, InlinedCodeNamesItsFunction) {
  const Module module = parse_text(
      ".entry k() {\n.loc 1 10 3\nnop;\n.loc 2 20 5, function_name $L__s, inlined_at 1 10 3\n"
      "nop;\n.loc 3 30 7, function_name $L__s+6, inlined_at 2 20 5\nnop;\n"
      ".loc 3 40 7, function_name $L__gone, inlined_at 1 10 3\nnop;\n}\n"
      ".section .debug_str\n{\n$L__other:\n.b8 95,90,0\n$L__s:\n.b8 95,90,49,97,118\n"
      ".b8 0,95,90,49,98,118,0\n}\n");
  std::vector<std::string> names;
  const auto add = [&](const SourceLocation& at) {
    names.push_back(at.function == kNone ? "none" : module.inlined_functions.at(at.function));
  };
  for (const Instruction& instruction : module.functions[0].body) add(instruction.location);
  EXPECT_EQ(names, (std::vector<std::string>{"none", "_Z1av", "_Z1bv", ""}));
  names.clear();
  for (const SourceLocation& caller : module.locations) add(caller);
  EXPECT_EQ(names, (std::vector<std::string>{"none", "_Z1av"}));
}

// The optimiser assigns line 0 to code that it has merged from several lines.
TEST(ParseBody, WithoutALineAnInstructionIsAtThatOfTheOneBefore) {
  const Module module = parse_text(
      ".entry k() {\n.loc 1 0 0\nnop;\n.loc 1 38 5\nnop;\n.loc 1 0 0\nnop;\n"
      ".loc 1 39 5\nnop;\n}\n.entry l() {\n.loc 1 0 0\nnop;\n}");
  std::vector<std::uint32_t> lines;
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) lines.push_back(instruction.location.line);
  }
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{0, 38, 38, 39, 0}));
}

// An inlined function that is called at lines 10 and 20; nvcc states each call chain once.
TEST(ParseBody, ACallOfSeveralChainsIsThatOfTheDirectiveBefore) {
  const std::string inner = ".loc 3 30 7, function_name $L__b, inlined_at 2 5 5\nnop;\n";
  const Module module = parse_text(
      ".entry k() {\n.loc 1 10 3\n.loc 2 5 5, function_name $L__a, inlined_at 1 10 3\n" + inner +
      ".loc 1 20 3\n.loc 2 5 5, function_name $L__a, inlined_at 1 20 3\n" + inner +  //
      ".loc 1 10 3\n" + inner + ".loc 1 20 3\n" + inner + ".loc 1 9 1\n" + inner + "}");
  std::vector<std::uint32_t> lines;
  for (const Instruction& instruction : module.functions[0].body) {
    const SourceLocation& call = module.locations.at(instruction.location.inlined_at);
    lines.push_back(module.locations.at(call.inlined_at).line);
  }
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{10, 20, 10, 20, 20}));
}

TEST(ParseBody, WhatIsUnknownIsRefusedByName) {
  const Function f = parse_body_text(
      ".reg .b32 %r<2>; foo.bar {%x}, [nowhere, 3], (; add.frob.u32 %r1, %r1, 2;"
      "add.u32 %r1, 2; mov.u32 %r1, %envreg7; ld.u32 %r1, %r0; nop;");
  ASSERT_EQ(f.body.size(), 6u);
  EXPECT_EQ(f.body[0].opcode, Opcode::invalid);
  EXPECT_EQ(f.body[0].text, "foo.bar");
  EXPECT_EQ(f.body[0].unsupported, "unknown instruction 'foo.bar'");
  EXPECT_EQ(f.body[1].unsupported, "unknown modifier '.frob' in 'add.frob.u32'");
  EXPECT_EQ(f.body[2].unsupported, "'add.u32': expected 3 operands, found 2");
  EXPECT_EQ(f.body[3].unsupported, "special register '%envreg7'");
  EXPECT_EQ(f.body[4].unsupported, "'ld.u32': operand 2 must be an address");
  EXPECT_EQ(f.body[5].unsupported, "");
}

}  // namespace
}  // namespace warpcheck::ptx
