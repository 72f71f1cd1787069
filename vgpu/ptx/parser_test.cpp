#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <string>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::ptx {
namespace {

constexpr std::string_view kHead = ".version 8.0\n.target sm_75\n.address_size 64\n";

Module parse_text(std::string_view rest) {
  return parse(std::string(kHead) + std::string(rest), "t");
}

// Parses a kernel with that body, which is on one line after three lines of header.
Function parse_body_text(std::string_view body) {
  Module module = parse_text(".entry k() { " + std::string(body) + "\n}");
  return std::move(module.functions.at(0));
}

std::string error_of(std::string_view text) {
  try {
    parse(text, "t");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_in(std::string_view rest) {
  return error_of(std::string(kHead) + std::string(rest));
}

std::string error_in_body(std::string_view body) {
  return error_in(".entry k() { .reg .b32 %r<4>; .reg .pred %p; " + std::string(body) + "\n}");
}

std::string read_fixture(std::string_view name) {
  std::ifstream in(WARPCHECK_SOURCE_DIR "/vgpu/ptx/testdata/" + std::string(name));
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ParseModule, Head) {
  const Module module = parse(".version 9.0\n.target sm_90a, debug\n.address_size 64\n", "name");
  EXPECT_EQ(module.name, "name");
  EXPECT_EQ(module.version_major, 9u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_TRUE(module.debug);
  EXPECT_EQ(module.address_bits, 64u);
}

TEST(ParseModule, NulBytesAtTheEndAreIgnored) {
  std::string text(kHead);
  text += std::string(3, '\0');
  EXPECT_EQ(parse(text, "t").target, "sm_75");
}

// As nvcc 13 writes the names of files in folders named `ü`, `q"b\s` and, with a tab, `t<tab>`.
TEST(ParseModule, NamesOfFilesAreThoseOnDisk) {
  const Module module = parse_text(R"(
      .file 1 "/home/\303\274/x.cu"
      .file 2 "q\"b\\s \303\274/x.cu"
      .file 3 "t\t/\\303.cu"
      .file 4 "\30")");
  EXPECT_EQ(module.files, (std::vector<std::string>{"", "/home/\u00fc/x.cu", "q\"b\\s \u00fc/x.cu",
                                                    "t\t/\\303.cu", "30"}));
}

TEST(ParseModule, FilesAndSections) {
  const Module module = parse_text(
      ".file 2 \"b.cu\"\n.file 1 \"a.cu\", 123, 456\n"
      ".section .debug_str {\n$L__info_string0:\n.b8 95,90,0\n}\n"
      ".section .debug_info { .b32 .debug_abbrev // a } and more\n.b64 $L__tmp1 / 1 }\n"
      ".section .debug_macinfo { }");
  EXPECT_EQ(module.files, (std::vector<std::string>{"", "a.cu", "b.cu"}));
}

TEST(ParseVariable, Scalars) {
  const Module module = parse_text(
      ".visible .global .align 4 .f32 f = 0f3FC00000;\n.const .u16 a = 0xFFFF, b = 010;\n"
      ".global .f64 d = 1.5;\n.global .f32 g = 0d3FF8000000000000;\n"
      ".global .attribute(.managed) .align 8 .b64 m;\n.shared .align 16 .v4 .f32 v;");
  ASSERT_EQ(module.variables.size(), 7u);
  const Variable& f = module.variables[0];
  EXPECT_EQ(f.name, "f");
  EXPECT_EQ(f.space, Space::global);
  EXPECT_EQ(f.element, Type::f32);
  EXPECT_EQ(f.bytes, 4u);
  EXPECT_EQ(f.initial, (std::vector<std::uint8_t>{0, 0, 0xC0, 0x3F}));
  EXPECT_EQ(module.variables[1].initial, (std::vector<std::uint8_t>{0xFF, 0xFF}));
  EXPECT_EQ(module.variables[1].alignment, 2u);
  EXPECT_EQ(module.variables[2].name, "b");
  EXPECT_EQ(module.variables[2].space, Space::constant);
  EXPECT_EQ(module.variables[2].initial, (std::vector<std::uint8_t>{8, 0}));
  EXPECT_EQ(module.variables[3].initial, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0xF8, 0x3F}));
  EXPECT_EQ(module.variables[4].initial, f.initial);
  EXPECT_TRUE(module.variables[5].managed);
  EXPECT_TRUE(module.variables[5].initial.empty());
  EXPECT_EQ(module.variables[6].bytes, 16u);
  EXPECT_EQ(module.variables[6].alignment, 16u);
}

TEST(ParseVariable, Arrays) {
  const Module module = parse_text(
      ".global .u8 a[16] = {1, 2};\n.global .u16 b[] = {1, 2, 3};\n"
      ".global .s32 c[2][3] = {{1}, {2, 3, -4}};\n.extern .shared .align 16 .b8 d[];\n"
      ".global .u16 e[2][2] = {1, 2, 3};\n.global .v2 .u8 f[2] = {1, 2, 3};");
  EXPECT_EQ(module.variables[0].bytes, 16u);
  EXPECT_EQ(module.variables[0].initial, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(module.variables[1].bytes, 6u);
  EXPECT_EQ(module.variables[2].bytes, 24u);
  EXPECT_EQ(module.variables[2].initial,
            (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,  //
                                       2, 0, 0, 0, 3, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF}));
  EXPECT_TRUE(module.variables[3].external);
  EXPECT_EQ(module.variables[3].bytes, 0u);
  EXPECT_EQ(module.variables[3].alignment, 16u);
  EXPECT_EQ(module.variables[4].initial, (std::vector<std::uint8_t>{1, 0, 2, 0, 3, 0}));
  EXPECT_EQ(module.variables[5].bytes, 4u);
  EXPECT_EQ(module.variables[5].initial, (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST(ParseVariable, Addresses) {
  const Module module = parse_text(
      ".global .u64 a[4] = {97, generic(x)+8, y, z-4};\n"
      ".global .u8 b[2] = {0xFF(x), 0xFF00(generic(x)+2)};");
  const Variable& a = module.variables[0];
  ASSERT_EQ(a.relocations.size(), 3u);
  EXPECT_EQ(a.relocations[0].offset, 8u);
  EXPECT_EQ(a.relocations[0].symbol, "x");
  EXPECT_EQ(a.relocations[0].addend, 8);
  EXPECT_TRUE(a.relocations[0].generic);
  EXPECT_EQ(a.relocations[0].bytes, 8u);
  EXPECT_EQ(a.relocations[1].symbol, "y");
  EXPECT_FALSE(a.relocations[1].generic);
  EXPECT_EQ(a.relocations[2].addend, -4);
  EXPECT_EQ(a.initial.size(), 32u);
  EXPECT_EQ(a.initial[0], 97);
  const Variable& b = module.variables[1];
  ASSERT_EQ(b.relocations.size(), 2u);
  EXPECT_EQ(b.relocations[0].mask, 0xFFu);
  EXPECT_EQ(b.relocations[0].bytes, 1u);
  EXPECT_EQ(b.relocations[1].mask, 0xFF00u);
  EXPECT_EQ(b.relocations[1].addend, 2);
  EXPECT_TRUE(b.relocations[1].generic);
}

TEST(ParseVariable, ADefinitionTakesThePlaceOfAnExternalDeclaration) {
  const Module module = parse_text(
      ".extern .global .u32 x;\n.global .u32 y;\n.global .u32 x = 3;\n.extern .global .u32 x;");
  ASSERT_EQ(module.variables.size(), 2u);
  EXPECT_EQ(module.variables[0].name, "x");
  EXPECT_FALSE(module.variables[0].external);
  EXPECT_EQ(module.variables[0].initial.size(), 4u);
}

TEST(ParseFunction, PrototypeAndBodyAreOne) {
  const Module module = parse_text(
      ".func (.param .b32 r) f\n(\n.param .b64 a,\n.param .align 8 .b8 b[24]\n)\n;\n"
      ".extern .func g (.param .b64 p) .noreturn;\n"
      ".func (.param .b32 r) f(.param .b64 a, .param .align 8 .b8 b[24]) { ret; }");
  ASSERT_EQ(module.functions.size(), 2u);
  const Function& f = module.functions[0];
  EXPECT_EQ(f.name, "f");
  EXPECT_TRUE(f.has_body);
  EXPECT_FALSE(f.is_entry);
  ASSERT_EQ(f.results.size(), 1u);
  ASSERT_EQ(f.parameters.size(), 2u);
  EXPECT_EQ(f.parameters[1].bytes, 24u);
  EXPECT_EQ(f.parameters[1].alignment, 8u);
  EXPECT_EQ(f.parameters[1].space, Space::param);
  EXPECT_FALSE(module.functions[1].has_body);
  EXPECT_EQ(module.find_function("g"), &module.functions[1]);
  EXPECT_EQ(module.find_function("h"), nullptr);
}

TEST(ParseFunction, KernelDirectives) {
  const Module module = parse_text(
      ".visible .entry k(.param .u64 .ptr .global .align 8 p)\n"
      ".maxntid 16, 8\n.minnctapersm 2\n.maxnreg 32\n.reqntid 4, 2, 1\n.pragma \"x\";\n{ ret; }\n"
      ".entry l .explicitcluster .reqnctapercluster 2, 4 .maxclusterrank 8 { ret; }\n"
      ".entry m .frobnicated 2 { ret; }");
  EXPECT_EQ(module.functions[0].max_threads, 128u);
  EXPECT_EQ(module.functions[0].required_threads[0], 4u);
  EXPECT_EQ(module.functions[0].required_threads[1], 2u);
  EXPECT_EQ(module.functions[0].required_threads[2], 1u);
  EXPECT_EQ(module.functions[0].unsupported, "");
  EXPECT_FALSE(module.functions[0].explicit_cluster);
  EXPECT_EQ(module.functions[0].required_cluster[0], 0u);
  EXPECT_TRUE(module.functions[1].explicit_cluster);
  EXPECT_EQ(module.functions[1].required_cluster[0], 2u);
  EXPECT_EQ(module.functions[1].required_cluster[1], 4u);
  EXPECT_EQ(module.functions[1].required_cluster[2], 1u);
  EXPECT_EQ(module.functions[1].unsupported, "");
  EXPECT_EQ(module.functions[2].unsupported, "directive '.frobnicated'");
}

TEST(ParseFunction, AliasesAreFound) {
  const Module module = parse_text(".func f() { ret; }\n.func g();\n.alias g, f;");
  EXPECT_EQ(module.find_function("g"), &module.functions[0]);
  EXPECT_EQ(error_in(".func f();\n.alias g, f;"), "t:5: undeclared function 'g'");
}

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

TEST(ParseError, NamesFileLineAndToken) {
  EXPECT_EQ(error_of(""), "t:1: expected '.version', found the end of the text");
  EXPECT_EQ(error_of("\n\x01garbage"), "t:2: expected '.version', found '\\x01'");
  EXPECT_EQ(error_of(".version 8\n.target x"), "t:1: expected a version, found '8'");
  EXPECT_EQ(error_of(".version 8.0\nfoo"), "t:2: expected '.target', found 'foo'");
  EXPECT_EQ(error_in("foo"), "t:4: expected a declaration of a function or variable, found 'foo'");
  EXPECT_EQ(error_in(".global .u32 x"), "t:4: expected ';', found the end of the text");
  EXPECT_EQ(error_in(".global x;"), "t:4: expected a type, found 'x'");
  EXPECT_EQ(error_in(".global .u32 .u32 x;"), "t:4: expected a name, found '.u32'");
  EXPECT_EQ(error_in("/* no end"), "t:4: expected '*/', found the end of the text");
  EXPECT_EQ(error_in(".file 1 \"no end\n"), "t:4: expected '\"' at the end of the string");
  EXPECT_EQ(error_in(".section .debug_str {"), "t:4: expected '}', found the end of the text");
}

TEST(ParseError, InABody) {
  EXPECT_EQ(error_in_body("add.u32 %r1, %r1, 1\nret;"), "t:5: expected ';', found 'ret'");
  EXPECT_EQ(error_in_body("add.u32 %r1, %r9, 1;"), "t:4: undeclared name '%r9'");
  EXPECT_EQ(error_in_body("add.u32 %r1, , 1;"), "t:4: expected an operand, found ','");
  EXPECT_EQ(error_in_body("ld.u32 %r1, [%r1;"), "t:4: expected ']', found ';'");
  EXPECT_EQ(error_in_body("mov.u32 {%r1, %r2;"), "t:4: expected '}', found ';'");
  EXPECT_EQ(error_in_body("@%r1 ret;"), "t:4: expected a predicate register, found '%r1'");
  EXPECT_EQ(error_in_body("bra nowhere;"), "t:4: undeclared label 'nowhere'");
  EXPECT_EQ(error_in_body("L: ret; L: ret;"), "t:4: 'L' is declared twice");
  EXPECT_EQ(error_in_body("{"), "t:5: expected an instruction or '}', found the end of the text");
  EXPECT_EQ(error_in_body("}"), "t:5: expected a declaration of a function or variable, found '}'");
  EXPECT_EQ(error_in_body("call nowhere;"), "t:4: undeclared name 'nowhere'");
  EXPECT_EQ(error_in_body("call %p;;\n.frob"),
            "t:5: expected an instruction or a declaration, found '.frob'");
  EXPECT_EQ(error_in_body("mov.u32 %r1, 0x;"), "t:4: expected a constant, found '0x'");
  EXPECT_EQ(error_in_body("mov.u32 %r1, 09;"), "t:4: expected a constant, found '09'");
  EXPECT_EQ(error_in_body("mov.u32 %r1, 18446744073709551616;"),
            "t:4: constant '18446744073709551616' has more than 64 bits");
  EXPECT_EQ(error_in_body("mov.f32 %r1, 0f3F8;"),
            "t:4: expected a constant of 8 hexadecimal digits, found '0f3F8'");
  EXPECT_EQ(error_in_body("mov.u32 %r1, 1/0;"), "t:4: division by zero in a constant expression");
}

TEST(ParseError, Redeclarations) {
  EXPECT_EQ(error_in(".global .u32 x;\n.global .u32 x;"), "t:5: 'x' is declared twice");
  EXPECT_EQ(error_in(".global .u32 x;\n.func x;"), "t:5: 'x' is declared twice");
  EXPECT_EQ(error_in(".func f { ret; }\n.func f { ret; }"), "t:5: 'f' has two bodies");
  EXPECT_EQ(error_in_body(".reg .b32 %r<2>;"), "t:4: '%r' is declared twice");
  EXPECT_EQ(error_in_body(".reg .b32 %r2;"), "t:4: '%r2' is declared twice");
}

TEST(ParseError, LongTokensAreCut) {
  const std::string error = error_in(std::string(100'000, 'x'));
  EXPECT_EQ(error, "t:4: expected a declaration of a function or variable, found '" +
                       std::string(60, 'x') + "...'");
}

// None of these texts may take long to parse, or use much memory.
TEST(ParseBounds, ShortTextsCannotAskForMuch) {
  EXPECT_EQ(error_in_body(".reg .b32 %x<4294967295>;").substr(0, 14), "t:4: 429496729");
  EXPECT_EQ(error_in_body(".reg .b32 %x<99999999999>;"),
            "t:4: a number of registers is 99999999999, more than 4294967295");
  EXPECT_EQ(error_in_body(".reg .b32 %x<-1>;"), "t:4: a number of registers is -1, less than 0");
  EXPECT_EQ(error_in(".global .u32 x[1099511627776][1099511627776];"),
            "t:4: a variable has more than 1099511627776 bytes");
  EXPECT_EQ(error_in(".global .u8 x[2][1099511627775] = {{1}, {2}};"),
            "t:4: a variable has more than 1099511627776 bytes");
  EXPECT_EQ(error_in(".global .u8 x[2][499511627775] = {{1}, {2}};"),
            "t:4: the initial values of 'x' lie too far apart");
  EXPECT_EQ(error_in(".global .u8 x[2] = {1, 2, 3};"), "t:4: too many initial values of 'x'");
  EXPECT_EQ(error_in(".global .align 3 .u8 x;"), "t:4: alignment 3 is not a power of two");
  EXPECT_EQ(error_in(".file 99999 \"x\""), "t:4: a file number is 99999, more than 65536");
  EXPECT_EQ(error_in(".entry k .maxntid 65536, 65536 { }"), "t:4: block size is too large");
}

TEST(ParseBounds, NestingIsBounded) {
  EXPECT_EQ(error_in_body(std::string(100'000, '{')), "t:4: scopes are nested too deeply");
  EXPECT_EQ(error_in_body("mov.u32 %r1, " + std::string(100'000, '(')),
            "t:4: constant expression is nested too deeply");
  EXPECT_EQ(error_in_body("mov.u32 %r1, " + std::string(100'000, '-')),
            "t:4: constant expression is nested too deeply");
  EXPECT_EQ(error_in(".global .u8 x" +
                     [] {
                       std::string text;
                       for (int at = 0; at < 1000; ++at) text += "[1]";
                       return text;
                     }()),
            "t:4: an array has too many dimensions");
}

TEST(ParseFixture, OptimisedOutputOfNvcc) {
  const Module module = parse(read_fixture("histogram.ptx"), "histogram.ptx");
  EXPECT_FALSE(module.debug);
  EXPECT_EQ(module.target, "sm_75");
  ASSERT_EQ(module.files.size(), 3u);
  EXPECT_EQ(module.files[1], "histogram.cu");
  const Function* kernel = module.find_function("_Z9histogramPKiPji");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->is_entry);
  EXPECT_EQ(kernel->max_threads, 128u);
  EXPECT_EQ(kernel->parameters.size(), 3u);
  ASSERT_FALSE(kernel->locals.empty());
  EXPECT_EQ(kernel->locals[0].name, "_ZZ9histogramPKiPjiE6counts");
  EXPECT_EQ(kernel->locals[0].space, Space::shared);
  EXPECT_EQ(kernel->locals[0].bytes, 256u);
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) EXPECT_EQ(instruction.unsupported, "");
  }
}

// min() is line 8 of clamp(), which line 12 of bin_of() calls, which line 24 of the kernel calls.
TEST(ParseFixture, InlinedCodeNamesItsCallers) {
  const Module module = parse(read_fixture("histogram.ptx"), "histogram.ptx");
  for (const Instruction& instruction : module.find_function("_Z9histogramPKiPji")->body) {
    if (instruction.opcode != Opcode::min_) continue;
    EXPECT_EQ(instruction.location.line, 8u);
    const SourceLocation& bin_of = module.locations.at(instruction.location.inlined_at);
    EXPECT_EQ(bin_of.line, 12u);
    const SourceLocation& kernel = module.locations.at(bin_of.inlined_at);
    EXPECT_EQ(kernel.line, 24u);
    EXPECT_EQ(kernel.inlined_at, kNone);
    return;
  }
  FAIL() << "no min in the kernel";
}

TEST(ParseFixture, DebugOutputOfNvcc) {
  const Module module = parse(read_fixture("histogram_debug.ptx"), "histogram_debug.ptx");
  EXPECT_TRUE(module.debug);
  const Function* add = module.find_function("__uAtomicAdd");
  ASSERT_NE(add, nullptr);
  EXPECT_TRUE(add->has_body);  // the prototype comes before the callers, the body after them
  EXPECT_EQ(add->parameters.size(), 2u);
  EXPECT_EQ(add->body[2].text, "atom.add.u32");
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) EXPECT_EQ(instruction.unsupported, "");
    for (const Label& label : function.labels) EXPECT_LE(label.position, function.body.size());
  }
}

}  // namespace
}  // namespace warpcheck::ptx
