// Modules whose functions are parsed when a kernel needs them.
#include "vgpu/ptx/lazy_module.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "vgpu/ptx/parser_testing.hpp"

namespace warpcheck::ptx {
namespace {

// A lazy module and its text.
struct Lazy {
  explicit Lazy(std::string_view rest)
      : text(std::string(kHead) + std::string(rest)), module(text, "t") {}
  // Returns the names of the functions of which something has been parsed.
  [[nodiscard]] std::string parsed() const {
    std::string names;
    for (const Function& function : module.module().functions) {
      if (!function.body.empty()) names += function.name + " ";
    }
    return names;
  }
  // Returns the error of parsing what a kernel reaches.
  std::string error_of(std::string_view kernel) {
    try {
      module.parse_reached_from(kernel);
    } catch (const ParseError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string text;
  LazyModule module;
};

constexpr std::string_view kCalls = R"(
.func unused() { ret; }
.func inner() { ret; }
.func outer() { call inner; ret; }
.visible .entry a() { call outer; ret; }
.visible .entry b() { .reg .b32 %r<4>; // }
  { /* } */ .pragma "}"; mov.u32 %r1, 7; } ret; }
)";

TEST(LazyModule, ParsesWhatAKernelReaches) {
  Lazy lazy(kCalls);
  EXPECT_EQ(lazy.parsed(), "");
  for (const Function& function : lazy.module.module().functions) EXPECT_TRUE(function.has_body);
  lazy.module.parse_reached_from("none of them");
  EXPECT_EQ(lazy.parsed(), "");
  const Function* const b = lazy.module.module().find_function("b");
  lazy.module.parse_reached_from("b");
  EXPECT_EQ(lazy.parsed(), "b ");
  EXPECT_EQ(lazy.module.module().find_function("b"), b);
  ASSERT_EQ(b->body.size(), 2u);
  EXPECT_EQ(b->body[0].ptx_line, 10u);
  EXPECT_EQ(b->registers.size(), 4u);
  lazy.module.parse_reached_from("a");
  EXPECT_EQ(lazy.parsed(), "inner outer a b ");
  lazy.module.parse_all();
  EXPECT_EQ(lazy.parsed(), "unused inner outer a b ");
}

TEST(LazyModule, ParsesAllForCallsThatDependOnAll) {
  Lazy by_register(R"(
.func f() { ret; }
.visible .entry other() { .reg .b64 %rd<2>; mov.u64 %rd1, f; ret; }
.visible .entry k() { .reg .b64 %rd<2>; p: .callprototype _ (); call %rd1, p; ret; }
)");
  by_register.module.parse_reached_from("k");
  EXPECT_EQ(by_register.parsed(), "f other k ");
  Lazy of_unknown_size(R"(
.extern .func variadic(.param .align 8 .b8 list[]);
.visible .entry other() { ret; }
.visible .entry k() { .param .align 8 .b8 list[8]; call variadic, (list); ret; }
)");
  of_unknown_size.module.parse_reached_from("k");
  EXPECT_EQ(of_unknown_size.parsed(), "other k ");
}

TEST(LazyModule, FollowsAliases) {
  Lazy lazy(R"(
.func f();
.func g() { ret; }
.alias f, g;
.visible .entry k() { call f; ret; }
)");
  lazy.module.parse_reached_from("k");
  EXPECT_EQ(lazy.parsed(), "g k ");
}

TEST(LazyModule, AnErrorIsToldEachTimeAndOnlyWhereItIsReached) {
  Lazy lazy(R"(
.visible .entry bad() { .reg .b32 %r<2>;
  { .reg .b32 %s; mov.u32 %s, %unknown; } ret; }
.visible .entry good() { .reg .b32 %s; mov.u32 %s, 1; ret; }
)");
  const std::string error = "t:6: undeclared name '%unknown'";
  EXPECT_EQ(lazy.error_of("bad"), error);
  EXPECT_EQ(lazy.error_of("bad"), error);
  EXPECT_EQ(lazy.error_of("good"), "no error");
  EXPECT_EQ(lazy.parsed(), "good ");
  EXPECT_EQ(error_of(lazy.text), error);
}

TEST(LazyModule, ABraceThatIsNotClosedIsAnErrorAtOnce) {
  EXPECT_THROW(Lazy(".visible .entry k() { ret; /* } */"), ParseError);
}

// All together is what parse() makes of the text.
TEST(LazyModule, EqualsTheWholeModule) {
  std::ifstream file(WARPCHECK_SOURCE_DIR "/vgpu/ptx/testdata/histogram_debug.ptx");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Module whole = parse(text, "t");
  LazyModule lazy(text, "t");
  lazy.parse_all();
  const Module& parts = lazy.module();
  EXPECT_EQ(parts.files, whole.files);
  EXPECT_EQ(parts.locations.size(), whole.locations.size());
  ASSERT_EQ(parts.functions.size(), whole.functions.size());
  ASSERT_FALSE(whole.functions.empty());
  for (std::size_t i = 0; i < whole.functions.size(); ++i) {
    const Function &one = parts.functions[i], &other = whole.functions[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.registers.size(), other.registers.size());
    EXPECT_EQ(one.labels.size(), other.labels.size());
    ASSERT_EQ(one.body.size(), other.body.size());
    for (std::size_t at = 0; at < other.body.size(); ++at) {
      EXPECT_EQ(one.body[at].text, other.body[at].text);
      EXPECT_EQ(one.body[at].ptx_line, other.body[at].ptx_line);
      EXPECT_EQ(one.body[at].location.line, other.body[at].location.line);
    }
  }
}

// Their names stand behind the bodies, in a section that is read before these.
TEST(LazyModule, InlinedFunctionsHaveNamesInEachBody) {
  const std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k()\n{\n.loc 1 2 3, function_name $L__a, inlined_at 1 9 9\nret;\n}\n"
      ".visible .entry l()\n{\n.loc 1 2 3, function_name $L__b, inlined_at 1 9 9\nret;\n}\n"
      ".section .debug_str\n{\n$L__a:\n.b8 97,0\n$L__b:\n.b8 98,0\n}\n";
  LazyModule lazy(text, "t");
  const auto name_in = [&](std::string_view kernel) {
    lazy.parse_reached_from(kernel);
    const Module& module = lazy.module();
    return module.inlined_functions.at(module.find_function(kernel)->body.at(0).location.function);
  };
  EXPECT_EQ(name_in("l"), "b");
  EXPECT_EQ(name_in("k"), "a");
}

}  // namespace
}  // namespace warpcheck::ptx
