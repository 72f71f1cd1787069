// Errors of the parser, and its bounds for texts of any origin.
#include <gtest/gtest.h>

#include <string>

#include "vgpu/ptx/parser_testing.hpp"

namespace warpcheck::ptx {
namespace {

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

}  // namespace
}  // namespace warpcheck::ptx
