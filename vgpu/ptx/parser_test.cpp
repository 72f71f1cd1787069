// The parser on modules: their head, files, variables and functions, and what nvcc has written.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/parser_testing.hpp"

namespace warpcheck::ptx {
namespace {

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
