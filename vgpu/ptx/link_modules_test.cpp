#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/text_parts.hpp"

namespace warpcheck::ptx {
namespace {

constexpr const char* kHeader = ".version 8.0\n.target sm_75\n.address_size 64\n";

Module linked(const std::vector<std::string>& texts) {
  std::vector<Module> modules;
  for (const std::string& text : texts) {
    modules.push_back(
        parse(kHeader + text, std::string(1, static_cast<char>('a' + modules.size()))));
  }
  return link_modules(std::move(modules), "program");
}

std::string error_of(const std::vector<std::string>& texts) {
  try {
    linked(texts);
  } catch (const LinkError& error) {
    return error.what();
  }
  return "linked";
}

TEST(LinkModules, DeclarationsFindTheirDefinitions) {
  const Module module =
      linked({".extern .func f(.param .b32 x);\n.extern .global .u32 v;\n"
              ".visible .entry k()\n{\n.reg .b64 %rd<2>;\nmov.u64 %rd1, v;\nret;\n}\n",
              ".visible .global .u32 other = 1;\n.visible .global .u32 v = 7;\n"
              ".visible .func f(.param .b32 x)\n{\nret;\n}\n"});
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_TRUE(module.find_function("f")->has_body);
  ASSERT_EQ(module.variables.size(), 2u);
  const std::uint32_t v = module.find_function("k")->body[0].operands[1].variable.index;
  EXPECT_EQ(module.variables[v].name, "v");
  EXPECT_FALSE(module.variables[v].external);
  EXPECT_EQ(module.variables[v].initial, (std::vector<std::uint8_t>{7, 0, 0, 0}));
}

TEST(LinkModules, InternalNamesThatClashAreChanged) {
  const std::string text =
      ".global .u32 s = 1;\n.global .u64 p = s;\n.func f()\n{\nret;\n}\n"
      ".global .u64 q = f;\n.visible .entry ";
  const std::string body = "()\n{\n.reg .b64 %rd<2>;\nmov.u64 %rd1, s;\ncall f;\nret;\n}\n";
  const Module module = linked({text + "k" + body, text + "l" + body});
  const Function* const l = module.find_function("l");
  EXPECT_EQ(module.variables[l->body[0].operands[1].variable.index].name, "s$1");
  EXPECT_EQ(l->body[1].operands[1].name, "f$1");
  EXPECT_TRUE(module.find_function("f$1")->has_body);
  EXPECT_EQ(module.find_function("k")->body[1].operands[1].name, "f");
  ASSERT_EQ(module.variables.size(), 6u);
  EXPECT_EQ(module.variables[4].relocations[0].symbol, "s$1");
  EXPECT_EQ(module.variables[5].relocations[0].symbol, "f$1");
}

TEST(LinkModules, NumberedNamesOfSeveralModulesStayApart) {
  const auto unit = [](const std::string& kernel, int first) {
    const auto string = [&](const std::string& name, int value) {
      return ".global .align 1 .b8 " + name + "[1] = {" + std::to_string(value) + "};\n";
    };
    return string("$str", first) + string("$str$1", first + 1) + string("$str$2", first + 2) +
           ".visible .entry " + kernel +
           "()\n{\n.reg .b64 %rd<4>;\nmov.u64 %rd1, $str;\nmov.u64 %rd2, $str$1;\n"
           "mov.u64 %rd3, $str$2;\nret;\n}\n";
  };
  const Module module = linked({unit("k", 10), unit("l", 20), unit("m", 30)});
  ASSERT_EQ(module.variables.size(), 9u);
  int expected = 10;
  for (const char* const kernel : {"k", "l", "m"}) {
    const Function* const function = module.find_function(kernel);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t at = function->body[i].operands[1].variable.index;
      EXPECT_EQ(module.variables[at].initial[0], expected + static_cast<int>(i)) << kernel;
    }
    expected += 10;
  }
}

TEST(LinkModules, OfWeakDefinitionsOneStaysAndStrongOnesWin) {
  const Module module = linked({".weak .global .u32 v = 1;\n.weak .func f()\n{\nret;\n}\n",
                                ".weak .global .u32 v = 2;\n.weak .func f()\n{\nexit;\n}\n",
                                ".visible .global .u32 v = 3;\n"});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].initial[0], 3u);
  EXPECT_EQ(module.find_function("f")->body[0].opcode, Opcode::ret_);
}

TEST(LinkModules, CommonVariablesAreAsLargeAsTheLargest) {
  const Module module = linked({".common .global .b8 v[4];\n", ".common .global .b8 v[12];\n"});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].bytes, 12u);
}

TEST(LinkModules, LocationsKeepTheirFiles) {
  const std::string body = "()\n{\n.loc 1 5 1\nret;\n}\n.file 1 ";
  const Module module = linked(
      {".visible .entry k" + body + "\"a.cu\"\n", ".visible .entry l" + body + "\"b.cu\"\n"});
  EXPECT_EQ(module.files[module.find_function("k")->body[0].location.file], "a.cu");
  EXPECT_EQ(module.files[module.find_function("l")->body[0].location.file], "b.cu");
}

TEST(LinkModules, WhatHasNoDefinitionStaysADeclaration) {
  const Module module = linked({".extern .func f();\n.extern .global .u32 v;\n", ""});
  EXPECT_FALSE(module.find_function("f")->has_body);
  EXPECT_TRUE(module.variables.at(0).external);
}

TEST(LinkModules, ErrorsNameTheSymbolAndBothModules) {
  const std::string function = ".visible .func f()\n{\nret;\n}\n";
  EXPECT_EQ(error_of({function, function}),
            "program: multiple definition of 'f' in b, first defined in a");
  EXPECT_EQ(error_of({".visible .global .u32 v;\n", "", ".visible .global .u32 v;\n"}),
            "program: multiple definition of 'v' in c, first defined in a");
  EXPECT_EQ(error_of({function, ".extern .func f(.param .b32 x);\n"}),
            "program: 'f' stands for functions with different parameters in a and b");
  EXPECT_EQ(
      error_of({".visible .func f(.reg .b64 x)\n{\nret;\n}\n", ".extern .func f(.reg .b32 x);\n"}),
      "program: 'f' stands for functions with different parameters in a and b");
  EXPECT_EQ(error_of({".visible .global .u32 v;\n", ".extern .const .u32 v;\n"}),
            "program: 'v' stands for variables of different state spaces in a and b");
  EXPECT_EQ(error_of({".visible .global .u32 f;\n", function}),
            "program: 'f' stands for a function and a variable in a and b");
}

// The text of a program in parts; in each part, lines and inlined functions are numbered anew.
TEST(LinkModules, PartsOfATextKeepTheirPlaces) {
  const auto part = [](const std::string& kernel, const std::string& inlined) {
    return kHeader + std::string(".visible .entry ") + kernel +
           "()\n{\n.loc 1 2 3, function_name $L__s, inlined_at 1 9 9\nret;\n}\n" +
           ".section .debug_str {\n$L__s:\n.b8 " + inlined + ",0\n}\n";
  };
  const std::string text = "// made by hand\n" + part("k", "97") + part("l", "98");
  const std::vector<TextPart> parts = parts_of(text);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].lines_before, 0u);
  EXPECT_EQ(parts[1].lines_before, 13u);
  EXPECT_EQ(std::string(parts[0].text) + std::string(parts[1].text), text);
  const Module module = parse_parts(parts, "program");
  const Instruction& first = module.find_function("k")->body.at(0);
  const Instruction& second = module.find_function("l")->body.at(0);
  EXPECT_EQ(first.ptx_line, 8u);
  EXPECT_EQ(second.ptx_line, 20u);
  EXPECT_EQ(module.inlined_functions.at(first.location.function), "a");
  EXPECT_EQ(module.inlined_functions.at(second.location.function), "b");
  EXPECT_EQ(module.locations.at(second.location.inlined_at).line, 9u);
}

}  // namespace
}  // namespace warpcheck::ptx
