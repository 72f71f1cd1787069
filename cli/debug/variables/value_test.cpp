#include "cli/debug/variables/value.hpp"

#include <algorithm>

#include "cli/debug/variables/fake_thread.hpp"
#include "cli/debug/variables/frame_variables.hpp"
#include "cli/debug/variables/ptx_testing.hpp"
#include "cli/debug/variables/scalar.hpp"

namespace warpcheck::debug {
namespace {

std::string shown(const AtMark& at, std::string_view name, Format format = Format::natural) {
  const FrameVariables frame(at.module, at.thread);
  const std::optional<NamedValue> found = frame.find(name);
  return found ? text_of(found->value, at.thread, format) : frame.why_unknown(name);
}

// "name = text (expression)" of each child.
std::vector<std::string> children(const AtMark& at, std::string_view name, std::size_t first = 0,
                                  std::size_t count = 100) {
  std::vector<std::string> texts;
  const FrameVariables frame(at.module, at.thread);
  for (const NamedValue& each : children_of(*frame.find(name), at.thread, first, count)) {
    texts.push_back(each.name + " = " + text_of(each.value, at.thread) + " (" + each.expression +
                    ")");
  }
  return texts;
}

using Strings = std::vector<std::string>;

TEST(Value, Numbers) {
  AtMark at("all");
  at.thread.set(at["n"], -3);
  at.thread.set(at["letter"], 'A');
  at.thread.set(at["mode"], std::uint8_t{3});
  at.thread.set(at["scale"], std::uint16_t{0x3e00});
  at.thread.set(at["brain"], std::uint16_t{0x4020});
  EXPECT_EQ(shown(at, "n"), "-3");
  EXPECT_EQ(shown(at, "letter"), "65 'A'");
  EXPECT_EQ(shown(at, "mode"), "Mode::on");
  EXPECT_EQ(shown(at, "scale"), "1.5");
  EXPECT_EQ(shown(at, "brain"), "2.5");
  at.thread.set(at["mode"], std::uint8_t{7});
  EXPECT_EQ(shown(at, "mode"), "(Mode)7");
}

TEST(Value, Formats) {
  AtMark at("all");
  at.thread.set(at["n"], -3);
  at.thread.set(at["scale"], std::uint16_t{0x3e00});
  EXPECT_EQ(shown(at, "n", Format::hex), "0xfffffffd");
  EXPECT_EQ(shown(at, "n", Format::binary), "0b11111111111111111111111111111101");
  EXPECT_EQ(shown(at, "n", Format::decimal), "-3");
  at.thread.set(at["n"], 0x3fc00000);
  EXPECT_EQ(shown(at, "n", Format::floating), "1.5");
  EXPECT_EQ(shown(at, "scale", Format::hex), "0x3e00");
  EXPECT_EQ(shown(at, "scale", Format::decimal), "15872");
  EXPECT_EQ(format_of("x"), Format::hex);
  EXPECT_EQ(format_of("q"), std::nullopt);
}

// The bits behind it in its byte are another field's, which nobody has written.
TEST(Value, ABitFieldIsWrittenIfItsOwnBitsAre) {
  AtMark at("all");
  Value level = absent(at.module.find_type("int"), "");
  level.place = Value::Place::bits;
  level.bytes = {std::byte{0xc9}, std::byte{0xa5}, std::byte{0xa5}, std::byte{0xa5}};
  level.unwritten = {0, 0xfe, 0xff, 0xff};
  level.first_bit = 5;
  level.bit_count = 4;
  EXPECT_EQ(text_of(level, at.thread), "-2");
  level.bit_count = 5;
  EXPECT_EQ(text_of(level, at.thread), "<not written>");
  level.bit_count = 0;
  EXPECT_EQ(text_of(level, at.thread), "<partly not written>");
}

TEST(Value, StructuresAndUnions) {
  AtMark at("all");
  at.thread.set(at["p"], 4);
  at.thread.set(at["p"], 1.5f, 4);
  at.thread.set(at["p"], 2.0, 16);
  at.thread.set(at["p"], 5, 40);
  at.thread.set(at["p"], 0b10'110u, 44);
  EXPECT_EQ(shown(at, "p"),
            "{Base = {id = 4}, x = 1.5, y = <not written>, weights = {2, <not written>, "
            "<not written>}, color = green, flags = 6, rest = 2}");
  EXPECT_EQ(children(at, "p", 1, 2), (Strings{"x = 1.5 (p.x)", "y = <not written> (p.y)"}));
  at.thread.set(at["word"], 1.5f);
  EXPECT_EQ(shown(at, "word"), "{bits = 1069547520, value = 1.5}");
  at.thread.set(at["quad"], 1.0f, 4);
  EXPECT_EQ(shown(at, "quad"), "{x = <not written>, y = 1, z = <not written>, w = <not written>}");
}

TEST(Value, Arrays) {
  AtMark at("all");
  for (unsigned i = 0; i < 8; ++i) at.thread.set(at["local"], i * i, 4 * i);
  EXPECT_EQ(shown(at, "local"), "{0, 1, 4, 9, 16, 25, 36, 49}");
  EXPECT_EQ(shown(at, "local", Format::hex).substr(0, 25), "{0x00000000, 0x00000001, ");
  at.thread.set(at["grid"], 1.0f, 4 * 5);
  EXPECT_EQ(shown(at, "grid"),
            "{{<not written>, <not written>, <not written>}, {<not written>, <not written>, 1}}");
  EXPECT_EQ(children(at, "local", 2, 2), (Strings{"[2] = 4 (local[2])", "[3] = 9 (local[3])"}));
  EXPECT_EQ(children(at, "local", 7, 5), (Strings{"[7] = 49 (local[7])"}));
  EXPECT_EQ(children(at, "grid", 1, 1)[0].substr(0, 5), "[1] =");
  EXPECT_EQ(shown(at, "share"), "{<not written> <64 times>}");
  EXPECT_EQ(shown(at, "dynamic"), "<int of unknown length>");
}

TEST(Value, LongArraysAreShownInPart) {
  AtMark at("all");
  for (unsigned i = 0; i < 64; ++i) at.thread.set(at["share"], static_cast<float>(i), 4 * i);
  EXPECT_TRUE(shown(at, "share").ends_with(", 30, 31, ... 64 in all}")) << shown(at, "share");
}

TEST(Value, PartlyWritten) {
  AtMark at("all");
  at.thread.set(at["n"], std::uint8_t{1});
  EXPECT_EQ(shown(at, "n"), "<partly not written>");
}

TEST(Value, PointersToFunctionsHaveTheirNames) {
  AtMark at("all");
  at.thread.set(at["change"], FakeThread::kFunction);
  EXPECT_EQ(shown(at, "change"), "0x1000000000 (twice)");
  EXPECT_EQ(shown(at, "change", Format::hex), "0x0000001000000000");
  at.thread.set(at["change"], std::uint64_t{0x20});
  EXPECT_EQ(shown(at, "change"), "0x20");
  at.thread.set(at["change"], std::uint64_t{0});
  EXPECT_EQ(shown(at, "change"), "0x0");
}

TEST(Value, PointersAndReferences) {
  AtMark at("all");
  at.thread.set(at["alias"], FakeThread::kLocal + 16);
  at.thread.write({ptx::Space::local, 16}, 21);
  at.thread.set(at["where"], FakeThread::kShared + 4);
  at.thread.write({ptx::Space::shared, 4}, 22);
  EXPECT_EQ(shown(at, "alias"), "21");
  EXPECT_EQ(shown(at, "where"), "0x70000004 (shared 0x4)");
  EXPECT_EQ(children(at, "where"), (Strings{"*where = 22 (*where)"}));
  at.thread.set(at["link"], 4);
  at.thread.set(at["link"], std::uint64_t{0}, 8);
  EXPECT_EQ(shown(at, "link"), "{value = 4, next = 0x0}");
  at.thread.set(at["points"], std::uint64_t{0x9000});
  EXPECT_EQ(children(at, "points", 1, 1),
            (Strings{"x = <global 0x9004 is not allocated> (points->x)"}));
}

// Before the first instruction that writes its register, a variable has no value, whatever the
// machine keeps in it.
TEST(Value, RegisterThatNothingHasWrittenYet) {
  AtMark at("hidden");
  at.thread.set(at["where"], std::uint64_t{0});
  at.thread.set(at["letter"], 'A');
  EXPECT_EQ(shown(at, "where"), "<not written>");
  EXPECT_EQ(shown(at, "letter"), "65 'A'");
}

TEST(Value, RemovedVariableIsSaidToBeRemoved) {
  AtMark at("loop");
  const std::uint32_t first = line_with(unoptimized_ptx(), ".entry _Z6kernel");
  const std::uint32_t last = line_with(unoptimized_ptx(), "ret;", first);
  for (std::uint32_t line = first; line < last; ++line) {
    at.thread.at.ptx_line = line;
    const std::string text = shown(at, "i");
    if (text == "<the compiler keeps it nowhere at this place>") return;
  }
  FAIL() << "i has a value everywhere";
}

TEST(FrameVariables, ListsArgumentsAndLocals) {
  AtMark at("hidden");
  const FrameVariables frame(at.module, at.thread);
  Strings arguments, locals;
  for (const NamedValue& each : frame.arguments()) arguments.push_back(each.name);
  for (const NamedValue& each : frame.locals()) locals.push_back(each.name + "|" + each.expression);
  EXPECT_EQ(arguments, (Strings{"points", "input", "n", "scale", "quad", "by_value"}));
  EXPECT_EQ(locals.front(), "t|t");
  EXPECT_EQ(std::ranges::count(locals, std::string("t|")), 1);  // hidden by the first
}

// A frame may stand for an inlined function and the one around it.
TEST(FrameVariables, InlinedFunctions) {
  AtMark at("inlined");
  at.thread.set(at["base"], 5);
  at.thread.set(at["t"], 6);
  const auto names = [&](std::size_t inlined, bool is_outermost) {
    const FrameVariables frame(at.module, at.thread, inlined, is_outermost);
    Strings all;
    for (const NamedValue& each : frame.arguments()) all.push_back(each.name);
    return all;
  };
  EXPECT_EQ(names(0, false), (Strings{"base"}));
  EXPECT_EQ(names(0, true).size(), 7u);
  EXPECT_EQ(names(1, true), (Strings{"points", "input", "n", "scale", "quad", "by_value"}));
  EXPECT_EQ(shown(at, "base"), "5");
  EXPECT_EQ(shown(at, "t"), "6");
}

TEST(FrameVariables, MembersOfThis) {
  AtMark at("method");
  at.thread.set(at["this"], FakeThread::kLocal + 32);
  at.thread.write({ptx::Space::local, 32}, 12);
  EXPECT_EQ(shown(at, "taken"), "12");
  EXPECT_EQ(children(at, "this"), (Strings{"taken = 12 (this->taken)"}));
}

// Optimised code: parameters by the signature, shared and global variables by what PTX says.
TEST(FrameVariables, OptimizedCode) {
  AtMark at("all", optimized_ptx());
  const std::string& kernel = at.thread.at.function;
  at.thread.symbols["_ZZ" + kernel.substr(2) + "E5share"] = {ptx::Space::shared, 0};
  at.thread.symbols[kernel + "_param_2"] = {ptx::Space::param, 16};
  at.thread.symbols["counter"] = {ptx::Space::global, 0x40};
  at.thread.write({ptx::Space::param, 16}, 6);
  at.thread.write({ptx::Space::shared, 4}, 1.5f);
  at.thread.write({ptx::Space::global, 0x40}, 7);
  const FrameVariables frame(at.module, at.thread);
  Strings arguments;
  for (const NamedValue& each : frame.arguments()) {
    arguments.push_back(each.name + " (" + each.value.type->name +
                        ") = " + text_of(each.value, at.thread));
  }
  EXPECT_EQ(arguments, (Strings{"param 0 (Point*) = <it has no address here>",
                                "param 1 (float*) = <it has no address here>", "param 2 (int) = 6",
                                "param 3 (__half) = <it has no address here>",
                                "param 4 (unsigned char[16]) = <it has no address here>",
                                "param 5 (unsigned char[48]) = <it has no address here>"}));
  EXPECT_EQ(frame.arguments()[2].expression, "*(@param int*)0x10");
  EXPECT_EQ(frame.find("share")->value.type->name, "float[64]");
  EXPECT_EQ(shown(at, "share").substr(0, 20), "{<not written>, 1.5,");
  EXPECT_EQ(frame.find("counter")->value.type->name, "int");
  EXPECT_EQ(frame.find("dynamic")->value.type->name, "int[]");
  EXPECT_EQ(frame.find("total")->value.type->name, "long long");
  EXPECT_EQ(shown(at, "counter"), "7");
  EXPECT_EQ(shown(at, "n"),
            "`n` is not described in the optimised build; `info registers` shows the registers, "
            "and --build unoptimized describes variables");
}

TEST(FrameVariables, ThoseOfLibrariesAreNotListed) {
  std::string text = optimized_ptx();
  const std::string_view before = ".address_size 64\n";
  text.insert(text.find(before) + before.size(),
              ".global .align 1 .b8 _ZN4cuda3std3__45__cpo5beginE[1];\n");
  AtMark at("all", text);
  Strings names;
  for (const NamedValue& each : FrameVariables(at.module, at.thread).globals()) {
    names.push_back(each.name);
  }
  EXPECT_EQ(std::ranges::count(names, "begin"), 0);
  EXPECT_EQ(std::ranges::count(names, "counter"), 1);
}

TEST(FrameVariables, DamagedDebugInformationLeavesTheRest) {
  std::string text = unoptimized_ptx();
  const std::size_t at_abbreviations = text.find(".b32 .debug_abbrev");
  text.replace(at_abbreviations, 18, ".b32 ,");
  AtMark at("all", text);
  EXPECT_EQ(at.module.debug_info(), nullptr);
  EXPECT_TRUE(at.module.problem().starts_with("t.ptx:")) << at.module.problem();
  at.thread.symbols["counter"] = {ptx::Space::global, 0x40};
  at.thread.write({ptx::Space::global, 0x40}, 7);
  EXPECT_EQ(shown(at, "counter"), "7");
  EXPECT_EQ(shown(at, "n"),
            "no variable `n`: " + at.module.problem() + "; `info registers` shows the registers");
}

TEST(Scalar, HalfRoundsToNearestEven) {
  EXPECT_EQ(half_of_float(1.0f), 0x3c00);
  EXPECT_EQ(half_of_float(65504.0f), 0x7bff);
  EXPECT_EQ(half_of_float(65519.0f), 0x7bff);
  EXPECT_EQ(half_of_float(65520.0f), 0x7c00);
  EXPECT_EQ(half_of_float(-0.0f), 0x8000);
  EXPECT_EQ(half_of_float(5.9604645e-8f), 0x0001);
  EXPECT_EQ(half_of_float(2.9802322e-8f), 0x0000);
  EXPECT_EQ(half_of_float(1.0f + 1.0f / 2048), 0x3c00);
  EXPECT_EQ(half_of_float(1.0f + 3.0f / 2048), 0x3c02);
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    EXPECT_EQ(half_of_float(float_of_half(static_cast<std::uint16_t>(bits))), bits);
  }
}

}  // namespace
}  // namespace warpcheck::debug
