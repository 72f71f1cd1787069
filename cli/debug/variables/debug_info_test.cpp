#include "cli/debug/variables/debug_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/debug/variables/ptx_testing.hpp"

namespace warpcheck::debug {
namespace {

std::string text_of(const Location& location) {
  switch (location.kind) {
    case Location::Kind::absent: return location.reason;
    case Location::Kind::in_register: return location.register_name;
    case Location::Kind::in_memory:
      return fmt::format("{} {}+{}", name_of(location.space), location.symbol, location.offset);
    case Location::Kind::constant: return "constant";
  }
  return "?";
}

// "float[64] share" for each variable of the scope.
std::vector<std::string> names_of(const Scope& scope) {
  std::vector<std::string> names;
  for (const Variable& each : scope.variables) names.push_back(each.type->name + " " + each.name);
  std::ranges::sort(names);
  return names;
}

const Variable& find(const std::vector<Scope>& scopes, std::string_view name) {
  for (const Scope& scope : scopes) {
    for (const Variable& each : scope.variables) {
      if (each.name == name) return each;
    }
  }
  throw std::runtime_error("no variable " + std::string(name));
}

TEST(DebugInfo, WhatIsInlinedIsKnownWithItsCall) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  const std::uint32_t line = line_of_mark(unoptimized_ptx(), "inlined");
  std::vector<InlinedCode> around;
  for (const InlinedCode& each : info.inlined_code()) {
    if (each.first_line <= line && line < each.end_line) around.push_back(each);
  }
  ASSERT_EQ(around.size(), 1u);
  EXPECT_EQ(around[0].function, "_Z7inlinedi");
  EXPECT_EQ(around[0].call_file, WARPCHECK_TEST_SOURCE);
  EXPECT_EQ(around[0].call_line,
            line_with(file_text(WARPCHECK_TEST_SOURCE), "grid[1][2] = inlined(t)"));
}

// As of a program that was compiled in parts: labels and numbers of lines repeat.
TEST(DebugInfo, EachPartOfATextHasItsOwn) {
  const std::string& part = unoptimized_ptx();
  const DebugInfo info(part + part, "t.ptx");
  const std::uint32_t line = line_of_mark(part, "inlined");
  const auto lines = static_cast<std::uint32_t>(std::ranges::count(part, '\n'));
  for (const std::uint32_t before : {0u, lines}) {
    const std::vector<Scope> scopes = info.scopes_at(line + before);
    ASSERT_EQ(scopes.size(), 4u) << before;
    EXPECT_EQ(scopes.back().function, "kernel");
    EXPECT_EQ(text_of(find(scopes, "base").location),
              text_of(find(DebugInfo(part, "t.ptx").scopes_at(line), "base").location));
  }
  EXPECT_EQ(info.inlined_code().size(), 2 * DebugInfo(part, "t.ptx").inlined_code().size());
  EXPECT_EQ(info.inlined_code().back().end_line,
            DebugInfo(part, "t.ptx").inlined_code().back().end_line + lines);
}

TEST(DebugInfo, ScopesOfALoop) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  ASSERT_TRUE(info.has_variables());
  const std::vector<Scope> scopes = info.scopes_at(line_of_mark(unoptimized_ptx(), "loop"));
  ASSERT_EQ(scopes.size(), 4u);
  EXPECT_EQ(names_of(scopes[0]), std::vector<std::string>{"int square"});
  EXPECT_EQ(names_of(scopes[1]), std::vector<std::string>{"int i"});
  EXPECT_EQ(names_of(scopes[2]),
            (std::vector<std::string>{"Link link", "Mode mode", "Pair pair", "Point p",
                                      "Steps steps", "Word word", "__half h", "__nv_bfloat16 brain",
                                      "char letter", "const int t", "const int& alias",
                                      "float[2][3] grid", "float[64] share", "int (*)(int) change",
                                      "int* where", "int[8] local"}));
  EXPECT_EQ(names_of(scopes[3]),
            (std::vector<std::string>{"Point by_value", "Point* points", "__half scale",
                                      "const float* input", "float4 quad", "int n"}));
  EXPECT_EQ(scopes[3].kind, Scope::Kind::function);
  EXPECT_EQ(scopes[3].function, "kernel");
  EXPECT_TRUE(scopes[3].linkage_name.starts_with("_Z6kernel"));
}

TEST(DebugInfo, Locations) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  const std::vector<Scope> scopes = info.scopes_at(line_of_mark(unoptimized_ptx(), "loop"));
  const std::string kernel = scopes.back().linkage_name;
  EXPECT_EQ(text_of(find(scopes, "n").location), "param " + kernel + "_param_2+0");
  EXPECT_EQ(text_of(find(scopes, "share").location), "shared _ZZ" + kernel.substr(2) + "E5share+0");
  EXPECT_TRUE(text_of(find(scopes, "grid").location).starts_with("local __local_depot"));
  EXPECT_TRUE(text_of(find(scopes, "t").location).starts_with("%r"));
}

// A variable in a register has other registers at other places.
TEST(DebugInfo, LocationLists) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  std::map<std::string, int> registers;
  const std::uint32_t first = line_with(unoptimized_ptx(), ".entry _Z6kernel");
  const std::uint32_t last = line_with(unoptimized_ptx(), "ret;", first);
  for (std::uint32_t line = first; line < last; ++line) {
    for (const Scope& scope : info.scopes_at(line)) {
      for (const Variable& each : scope.variables) {
        if (each.name == "i") ++registers[text_of(each.location)];
      }
    }
  }
  EXPECT_TRUE(registers.contains("the compiler keeps it nowhere at this place"));
  EXPECT_GE(registers.size(), 3u);
  for (const auto& [name, places] : registers) {
    EXPECT_TRUE(name.starts_with("%r") || name.starts_with("the compiler")) << name;
  }
}

TEST(DebugInfo, HidingVariableComesFirst) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  const std::vector<Scope> scopes = info.scopes_at(line_of_mark(unoptimized_ptx(), "hidden"));
  ASSERT_EQ(scopes.size(), 3u);
  EXPECT_EQ(names_of(scopes[0]), std::vector<std::string>{"int t"});
  EXPECT_NE(text_of(scopes[0].variables[0].location), text_of(find({scopes[1]}, "t").location));
}

TEST(DebugInfo, CalledFunction) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  const std::vector<Scope> scopes = info.scopes_at(line_of_mark(unoptimized_ptx(), "callee"));
  ASSERT_EQ(scopes.size(), 2u);
  EXPECT_EQ(names_of(scopes[0]), std::vector<std::string>{"const int result"});
  EXPECT_EQ(scopes[1].function, "twice");
  EXPECT_TRUE(find(scopes, "value").is_parameter);
}

TEST(DebugInfo, Globals) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  std::map<std::string, std::string> globals;
  for (const Variable& each : info.globals()) {
    globals[each.type->name + " " + each.name] = text_of(each.location);
  }
  EXPECT_EQ(globals["int counter"], "global counter+0");
  EXPECT_EQ(globals["float[4] table"], "const table+0");
  EXPECT_EQ(globals["int[] dynamic"], "shared dynamic+0");
  EXPECT_EQ(globals["long long deep::total"], "global _ZN4deep5totalE+0");
  EXPECT_TRUE(globals.contains("float[64] share"));
}

TEST(DebugInfo, Types) {
  const DebugInfo info(unoptimized_ptx(), "t.ptx");
  const auto declaration = [&](std::string_view name) {
    const Type* const type = info.find_type(name);
    return type == nullptr ? "none" : declaration_of(*type);
  };
  EXPECT_EQ(declaration("Point"),
            "struct Point : Base {\n  float x;\n  float y;\n  double weights[3];\n  Color color;\n"
            "  unsigned int flags : 3;\n  unsigned int rest : 7;\n}");
  EXPECT_EQ(declaration("Word"), "union Word {\n  unsigned int bits;\n  float value;\n}");
  EXPECT_EQ(declaration("Link"), "struct Link {\n  int value;\n  Link* next;\n}");
  EXPECT_EQ(declaration("Color"), "enum Color {red = 0, green = 5, blue = 6}");
  EXPECT_EQ(declaration("Mode"), "enum Mode {Mode::off = 0, Mode::on = 3}");
  EXPECT_EQ(declaration("Pair"), "struct Pair {\n  short a;\n  short b;\n}");
  EXPECT_EQ(declaration("Nothing"), "none");
  const Type& half = *info.find_type("__half");
  EXPECT_EQ(half.kind, Type::Kind::floating);
  EXPECT_EQ(half.bytes, 2u);
  const Member& rest = info.find_type("Point")->members.back();
  EXPECT_EQ(rest.bit_count, 7);
  EXPECT_EQ(rest.first_bit, 3);
}

// Optimised code: the text describes lines, and no variables.
TEST(DebugInfo, NoneInOptimizedCode) {
  const DebugInfo info(optimized_ptx(), "t.ptx");
  EXPECT_FALSE(info.has_variables());
  EXPECT_TRUE(info.scopes_at(line_of_mark(optimized_ptx(), "all")).empty());
}

// What is wrong with the debug information of a text.
std::string error_of(const std::string& text) {
  try {
    const DebugInfo info(text, "t.ptx");
    for (std::uint32_t line = 0; line < 3000; line += 10) (void)info.scopes_at(line);
    return "no error";
  } catch (const DebugInfoError& error) {
    return error.what();
  }
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what, text.find(".section\t.debug_info"));
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(DebugInfo, DamageIsAnErrorByName) {
  EXPECT_EQ(error_of(unoptimized_ptx()), "no error");
  const std::uint32_t info = line_with(unoptimized_ptx(), ".debug_info");
  EXPECT_EQ(error_of(replaced(unoptimized_ptx(), ".b32 .debug_abbrev", ".b32 12345678")),
            "t.ptx: the debug information is damaged: invalid offset");
  EXPECT_EQ(
      error_of(replaced(unoptimized_ptx(), ".b32 .debug_abbrev", ".b32 ,")),
      fmt::format("t.ptx:{}: .debug_info: expected a number or a label, found ','", info + 5));
  EXPECT_EQ(error_of(replaced(unoptimized_ptx(), ".b32 .debug_abbrev", ".b24 1")),
            fmt::format("t.ptx:{}: .debug_info: expected .b8, .b16, .b32, .b64 or a label, "
                        "found '.b24'",
                        info + 5));
}

// Whatever is cut off, there is an error or what remains is read; nothing is read behind the end.
TEST(DebugInfo, EveryBeginningIsReadOrRefused) {
  const std::string& text = unoptimized_ptx();
  const std::size_t section = text.find(".section\t.debug_info");
  const std::size_t begin = text.find('{', section), end = text.find("\n\t}", section);
  for (std::size_t at = begin + 2; at < end; at += 997) {
    const std::size_t line_end = text.find('\n', at);
    const std::string cut = text.substr(0, line_end) + "\n\t}\n";
    EXPECT_NE(error_of(cut), "");
  }
}

}  // namespace
}  // namespace warpcheck::debug
