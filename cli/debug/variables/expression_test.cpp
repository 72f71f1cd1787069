#include "cli/debug/variables/expression.hpp"

#include "cli/debug/variables/fake_thread.hpp"
#include "cli/debug/variables/ptx_testing.hpp"

namespace warpcheck::debug {
namespace {

// The value of an expression with its type, "int 3", or its error.
std::string result_of(const AtMark& at, std::string_view text, Format format = Format::natural) {
  const FrameVariables frame(at.module, at.thread);
  try {
    const Value value = Expression(text, at.module).evaluate(frame);
    return value.type->name + " " + text_of(value, at.thread, format);
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

std::string result_of(std::string_view text) {
  static const AtMark kAt("all");
  return result_of(kAt, text);
}

TEST(Expression, IntegerLiteralsHaveTheFirstTypeThatFits) {
  EXPECT_EQ(result_of("2147483647"), "int 2147483647");
  EXPECT_EQ(result_of("2147483648"), "long 2147483648");
  EXPECT_EQ(result_of("0x80000000"), "unsigned int 2147483648");
  EXPECT_EQ(result_of("0xffffffffffffffff"), "unsigned long 18446744073709551615");
  EXPECT_EQ(result_of("010"), "int 8");
  EXPECT_EQ(result_of("0b101u"), "unsigned int 5");
  EXPECT_EQ(result_of("1ll"), "long long 1");
  EXPECT_EQ(result_of("1ul"), "unsigned long 1");
  EXPECT_EQ(result_of("9223372036854775808"),
            "column 20: the number fits no signed type: write u behind it");
}

TEST(Expression, OtherLiterals) {
  EXPECT_EQ(result_of("1.5"), "double 1.5");
  EXPECT_EQ(result_of("1.5f"), "float 1.5");
  EXPECT_EQ(result_of("1e3"), "double 1000");
  EXPECT_EQ(result_of(".5"), "double 0.5");
  EXPECT_EQ(result_of("'A'"), "char 65 'A'");
  EXPECT_EQ(result_of("'\\n'"), "char 10");
  EXPECT_EQ(result_of("'\\xff'"), "char -1");
  EXPECT_EQ(result_of("true"), "bool true");
}

TEST(Expression, EnumeratorsAreValues) {
  EXPECT_EQ(result_of("green"), "Color green");
  EXPECT_EQ(result_of("Mode::on == 3"), "bool true");
  EXPECT_EQ(result_of("blue - red == 6"), "bool true");
  EXPECT_EQ(result_of("p.color == yellow"),
            "column 12: no variable `yellow` in scope; `info locals` lists those that are");
}

TEST(Expression, ACastToAnUnknownTypeNamesIt) {
  EXPECT_EQ(result_of("(Tile*)where"), "column 2: no type `Tile`");
}

TEST(Expression, Precedence) {
  EXPECT_EQ(result_of("1 + 2 * 3"), "int 7");
  EXPECT_EQ(result_of("(1 + 2) * 3"), "int 9");
  EXPECT_EQ(result_of("10 - 4 - 3"), "int 3");
  EXPECT_EQ(result_of("1 << 2 + 1"), "int 8");
  EXPECT_EQ(result_of("6 & 3 == 3"), "int 0");
  EXPECT_EQ(result_of("1 | 2 ^ 3 & 1"), "int 3");
  EXPECT_EQ(result_of("0 || 1 && 0"), "bool false");
  EXPECT_EQ(result_of("1 ? 2 : 0 ? 3 : 4"), "int 2");
  EXPECT_EQ(result_of("-7 / 2"), "int -3");
  EXPECT_EQ(result_of("-7 % 2"), "int -1");
  EXPECT_EQ(result_of("!0 + ~1"), "int -1");
}

TEST(Expression, UsualArithmeticConversions) {
  EXPECT_EQ(result_of("-1 < 0u"), "bool false");
  EXPECT_EQ(result_of("-1 < 0"), "bool true");
  EXPECT_EQ(result_of("-1l < 0u"), "bool true");
  EXPECT_EQ(result_of("1u - 2"), "unsigned int 4294967295");
  EXPECT_EQ(result_of("1u - 2l"), "long -1");
  EXPECT_EQ(result_of("1ul - 2ll"), "unsigned long long 18446744073709551615");
  EXPECT_EQ(result_of("'a' + 'b'"), "int 195");
  EXPECT_EQ(result_of("true + true"), "int 2");
  EXPECT_EQ(result_of("(short)1 << 1"), "int 2");
  EXPECT_EQ(result_of("(unsigned char)255 + 1"), "int 256");
  EXPECT_EQ(result_of("2147483647 + 1"), "int -2147483648");
  EXPECT_EQ(result_of("1 / 2.0f"), "float 0.5");
  EXPECT_EQ(result_of("0.1f + 0.2f"), "float 0.3");
  EXPECT_EQ(result_of("0.1 + 0.2"), "double 0.30000000000000004");
  EXPECT_EQ(result_of("16777217 + 0.0f"), "float 16777216");
  EXPECT_EQ(result_of("1 ? 1 : 2.5"), "double 1");
  EXPECT_EQ(result_of("-8 >> 1"), "int -4");
  EXPECT_EQ(result_of("-8u >> 28"), "unsigned int 15");
}

TEST(Expression, Casts) {
  EXPECT_EQ(result_of("(int)2.9"), "int 2");
  EXPECT_EQ(result_of("(unsigned char)300"), "unsigned char 44 ','");
  EXPECT_EQ(result_of("(signed char)200"), "signed char -56");
  EXPECT_EQ(result_of("(bool)0.5"), "bool true");
  EXPECT_EQ(result_of("(float)16777217"), "float 16777216");
  EXPECT_EQ(result_of("(half)0.1f"), "__half 0.099975586");
  EXPECT_EQ(result_of("(bfloat16)1.01f"), "__nv_bfloat16 1.0078125");
  EXPECT_EQ(result_of("(long unsigned int)-1"), "unsigned long 18446744073709551615");
  EXPECT_EQ(result_of("(int)3e10"), "column 1: 30000000000 does not fit int");
  EXPECT_EQ(result_of("(int)(0.0 / 0.0)"), "column 1: NaN does not fit int");
  EXPECT_EQ(result_of("sizeof(Point)"), "unsigned long 48");
  EXPECT_EQ(result_of("sizeof(deep::Pair)"), "unsigned long 4");
  EXPECT_EQ(result_of("sizeof(float*)"), "unsigned long 8");
  EXPECT_EQ(result_of("sizeof share"), "unsigned long 256");
}

TEST(Expression, UndefinedOperationsAreErrors) {
  EXPECT_EQ(result_of("1 / 0"), "column 3: division by zero");
  EXPECT_EQ(result_of("1 % 0"), "column 3: division by zero");
  EXPECT_EQ(result_of("1 << 32"), "column 3: a shift of 32 bits by 32 is undefined");
  EXPECT_EQ(result_of("1 >> -1"), "column 3: a shift of 32 bits by -1 is undefined");
  EXPECT_EQ(result_of("(-2147483647 - 1) / -1"), "int -2147483648");
  EXPECT_EQ(result_of("1.0 / 0"), "double inf");
  EXPECT_EQ(result_of("1.5 & 1"), "column 5: '&' needs integers");
  EXPECT_EQ(result_of("~1.5"), "column 1: '~' needs an integer");
}

TEST(Expression, SyntaxErrorsSayWhereAndWhatIsExpected) {
  EXPECT_EQ(result_of(""), "column 1: expected a value, found the end");
  EXPECT_EQ(result_of("1 +"), "column 4: expected a value, found the end");
  EXPECT_EQ(result_of("(1 + 2"), "column 7: expected ')', found the end");
  EXPECT_EQ(result_of("a[1"), "column 4: expected ']', found the end");
  EXPECT_EQ(result_of("1 2"), "column 3: expected an operator or the end, found '2'");
  EXPECT_EQ(result_of("1 + )"), "column 5: expected a value, found ')'");
  EXPECT_EQ(result_of("p."), "column 3: expected the name of a member, found the end");
  EXPECT_EQ(result_of("1 ? 2"), "column 6: expected ':', found the end");
  EXPECT_EQ(result_of("n(3)"), "column 2: an expression cannot call a function");
  EXPECT_EQ(result_of("n = 3"), "column 3: an expression cannot assign; '==' compares");
  EXPECT_EQ(result_of("n += 3"), "column 3: expressions do not assign");
  EXPECT_EQ(result_of("12ab"),
            "column 3: expected a digit, or u, l or ll behind the number, found 'ab'");
  EXPECT_EQ(result_of("(@nowhere int*)0"),
            "column 3: expected global, shared, local, const, param or generic, found 'nowhere'");
  EXPECT_EQ(result_of("(@shared int)0"),
            "column 13: expected '*': only pointers have a space, found ')'");
  EXPECT_EQ(result_of(std::string(5000, '(')), "column 251: the expression is nested too deeply");
}

TEST(Expression, BuiltInVariablesAndRegisters) {
  EXPECT_EQ(result_of("threadIdx.x"), "unsigned int 5");
  EXPECT_EQ(result_of("blockIdx.x * blockDim.x + threadIdx.x"), "unsigned int 133");
  EXPECT_EQ(result_of("threadIdx"), "uint3 {x = 5, y = 0, z = 0}");
  EXPECT_EQ(result_of("warpSize"), "int 32");
  EXPECT_EQ(result_of("%tid.x"), "unsigned int 5");
  AtMark at("all");
  at.thread.registers["%r9"] = {7, 0, ptx::Type::b32};
  at.thread.registers["%f1"] = {0x3fc00000, 0, ptx::Type::f32};
  at.thread.registers["%p1"] = {1, 0, ptx::Type::pred};
  EXPECT_EQ(result_of(at, "%r9 %4"), "unsigned int 3");
  EXPECT_EQ(result_of(at, "%f1"), "float 1.5");
  EXPECT_EQ(result_of(at, "%p1"), "bool true");
  EXPECT_EQ(result_of(at, "%r99"),
            "column 1: the function has no register %r99; `info registers` lists them");
}

TEST(Expression, VariablesOfTheProgram) {
  AtMark at("all");
  at.thread.set(at["n"], 40);
  at.thread.set(at["t"], 5);
  at.thread.set(at["counter"], 8);
  at.thread.set(at["share"], 2.5f, 5 * 4);
  at.thread.set(at["local"], 9, 3 * 4);
  at.thread.set(at["deep::total"], std::int64_t{77});
  EXPECT_EQ(result_of(at, "n + counter"), "int 48");
  EXPECT_EQ(result_of(at, "share[t]"), "float 2.5");
  EXPECT_EQ(result_of(at, "*(share + t) * 2"), "float 5");
  EXPECT_EQ(result_of(at, "5[share]"),
            "column 3: expected an integer as index, found @shared float*");
  EXPECT_EQ(result_of(at, "deep::total"), "long long 77");
  EXPECT_EQ(result_of(at, "total"), "long long 77");
  EXPECT_EQ(result_of(at, "nothing"),
            "column 1: no variable `nothing` in scope; `info locals` lists those that are");
  EXPECT_EQ(result_of(at, "&local[3] - &local[1]"), "long 2");
  EXPECT_EQ(result_of(at, "&n"), "@param int* param 0x200");
  EXPECT_EQ(result_of(at, "&t"), "column 1: `t` is in the register " +
                                     at["t"].location.register_name + " and has no address");
}

TEST(Expression, PointersAndStructures) {
  AtMark at("all");
  const Address links = {ptx::Space::global, 0x100};
  at.thread.set(at["points"], std::uint64_t{0x100});
  at.thread.write(links, 11);
  at.thread.write({ptx::Space::global, 0x130}, 12);
  at.thread.write({ptx::Space::global, 0x134}, 1.25f);
  at.thread.write({ptx::Space::global, 0x15c}, 0b101'0101u << 3 | 0b110u);
  EXPECT_EQ(result_of(at, "points->id"), "int 11");
  EXPECT_EQ(result_of(at, "points[1].id"), "int 12");
  EXPECT_EQ(result_of(at, "(points + 1)->x"), "float 1.25");
  EXPECT_EQ(result_of(at, "points[1].flags"), "unsigned int 6");
  EXPECT_EQ(result_of(at, "points[1].rest - 100"), "int -15");
  EXPECT_EQ(result_of(at, "points[1].Base.id"), "int 12");
  EXPECT_EQ(result_of(at, "points"), "Point* 0x100 (global)");
  EXPECT_EQ(result_of(at, "*(int*)points"), "int 11");
  EXPECT_EQ(result_of(at, "*(@global float*)0x134"), "float 1.25");
  EXPECT_EQ(result_of(at, "points.id"), "column 7: `points` is Point*: write `points->id`");
  at.thread.set(at["change"], FakeThread::kFunction);
  EXPECT_EQ(result_of(at, "change"), "int (*)(int) 0x1000000000 (twice)");
  EXPECT_EQ(result_of(at, "*change"), "int (int) 0x1000000000 (twice)");
  EXPECT_EQ(result_of(at, "p[0]"),
            "column 2: `p` is neither an array nor a pointer: its type is Point");
  EXPECT_EQ(result_of(at, "p->id"), "column 2: `p` is Point: write `p.id`");
  EXPECT_EQ(result_of(at, "n->id"), "column 2: `n` is int: int has no members");
  EXPECT_EQ(result_of(at, "grid.id"), "column 5: `grid` is float[2][3]: float has no members");
  EXPECT_EQ(result_of(at, "points->z"),
            "column 7: Point has no member `z`; it has Base, x, y, weights, color, flags, rest");
  EXPECT_EQ(result_of(at, "((@global float (*)[2])0x130)[0][1]"), "float 1.25");
  EXPECT_EQ(result_of(at, "((float (*)[2])0x130)[0][1]"), "float 1.25");
  EXPECT_EQ(result_of(at, "(float (*)[2][3])points"), "float (*)[2][3] 0x100 (global)");
  EXPECT_EQ(result_of(at, "sizeof(float (*)[2])"), "unsigned long 8");
  EXPECT_EQ(result_of(at, "(float (*)[x])points"),
            "column 12: expected a number of elements, found 'x'");
  EXPECT_EQ(result_of(at, "&points[1].flags"),
            "column 1: `points[1].flags` is a bit field and has no address");
  EXPECT_EQ(result_of(at, "points == 0"), "bool false");
  EXPECT_EQ(result_of(at, "&share[0] == 0"), "bool false");
  EXPECT_EQ(result_of(at, "points && !points == false"), "bool true");
}

TEST(Expression, ElementsFromAPlaceOn) {
  AtMark at("all");
  at.thread.set(at["input"], std::uint64_t{0x100});
  for (unsigned i = 0; i < 3; ++i) {
    at.thread.write({ptx::Space::global, 0x100 + 4 * i}, static_cast<float>(i));
  }
  EXPECT_EQ(result_of(at, "*input @ 3"), "const float[3] {0, 1, 2}");
  EXPECT_EQ(result_of(at, "input[1]@2"), "const float[2] {1, 2}");
  EXPECT_EQ(result_of(at, "(*input@3)[2] * 2"), "float 4");
  EXPECT_EQ(result_of(at, "*input @ 0"),
            "column 10: expected a number of elements from 1 to 268435456");
  EXPECT_EQ(result_of(at, "t @ 2"), "column 1: `t` is not in memory, so nothing follows it");
}

// A pointer of the program is generic; an address of this language has a space.
TEST(Expression, SpacesOfPointers) {
  AtMark at("all");
  at.thread.set(at["where"], FakeThread::kLocal + 8);
  at.thread.write({ptx::Space::local, 8}, 5);
  EXPECT_EQ(result_of(at, "*where"), "int 5");
  EXPECT_EQ(result_of(at, "where == (@local int*)8"), "bool true");
  EXPECT_EQ(result_of(at, "(@local int*)where"), "@local int* local 0x8");
  EXPECT_EQ(result_of(at, "(@shared int*)where"),
            "column 1: `where` points at local memory, not at shared memory");
  EXPECT_EQ(result_of(at, "(char*)share"), "@shared char* shared 0x0");
  EXPECT_EQ(result_of(at, "*(@shared int*)0x2000"), "int <shared 0x2000 is not allocated>");
  EXPECT_EQ(result_of(at, "1 + *(@shared int*)0x2000"),
            "column 5: `*(@shared int*)0x2000` has no value: shared 0x2000 is not allocated");
}

TEST(Expression, WhatIsNotWrittenIsNotMadeUp) {
  AtMark at("all");
  at.thread.set(at["n"], 3);
  EXPECT_EQ(result_of(at, "t"), "const int <not written>");
  EXPECT_EQ(result_of(at, "t + 1"), "int <not written>");
  EXPECT_EQ(result_of(at, "t == 1 && n == 4"), "bool false");
  EXPECT_EQ(result_of(at, "n == 3 || t"), "bool true");
  EXPECT_EQ(result_of(at, "n == 4 || t"), "bool <not written>");
  EXPECT_EQ(result_of(at, "share[t]"), "column 7: `t` is not written");
  EXPECT_EQ(result_of(at, "*where"), "column 1: `where` is not written, so it points nowhere");
  const FrameVariables frame(at.module, at.thread);
  EXPECT_TRUE(Expression("n == 3", at.module).is_true(frame));
  EXPECT_FALSE(Expression("n > 3", at.module).is_true(frame));
  try {
    (void)Expression("t > 3", at.module).is_true(frame);
    FAIL();
  } catch (const ExpressionError& error) {
    EXPECT_STREQ(error.what(), "column 1: `t > 3` depends on what the program has not written");
  }
}

// Parsed once, an expression follows the frame that it is evaluated in.
TEST(Expression, IsEvaluatedManyTimes) {
  AtMark at("hidden");
  const Expression expression("t * 2", at.module);
  const FrameVariables frame(at.module, at.thread);
  for (const int t : {1, 5, 99}) {
    at.thread.set(at["t"], t);
    EXPECT_EQ(text_of(expression.evaluate(frame), at.thread), std::to_string(2 * t));
  }
}

}  // namespace
}  // namespace warpcheck::debug
