// Which operations have a rule in exact arithmetic, and for which numbers.
#include "vgpu/check/exact/exact_domain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;
using Result = std::optional<ExactValue>;

struct Machine {
  ExactNumbers numbers{7};
  ExactDomain domain{numbers};

  Result apply(Opcode opcode, Type type, const std::vector<ExactValue>& values,
               ptx::Modifiers modifiers = {}) {
    std::vector<ShadowOperand<ExactValue>> operands;
    for (const ExactValue& value : values) operands.push_back({false, value, 0});
    const ShadowOperation operation{opcode, &modifiers, type, type};
    Result result = domain.apply({}, operation, operands, nullptr);
    if (result) result->format = Type::none;
    return result;
  }
};

// The sum of the bits of two floats is not the bits of their sum, and the greater one as a signed
// integer is not the greater float.
TEST(ExactDomain, BitsOfFloatsAreNoNumbers) {
  Machine machine;
  const ExactValue a = machine.numbers.new_float(), b = machine.numbers.new_float();
  EXPECT_EQ(machine.apply(Opcode::add_, Type::f32, {a, b}), machine.numbers.add(a, b));
  EXPECT_NE(machine.apply(Opcode::max_, Type::f32, {a, b}), std::nullopt);
  for (const Opcode opcode : {Opcode::add_, Opcode::sub_, Opcode::mul_, Opcode::max_, Opcode::min_})
    EXPECT_EQ(machine.apply(opcode, Type::s32, {a, b}), std::nullopt) << static_cast<int>(opcode);
  for (const Opcode opcode : {Opcode::neg_, Opcode::not_})
    EXPECT_EQ(machine.apply(opcode, Type::s32, {a}), std::nullopt) << static_cast<int>(opcode);
  const ShadowComparison<ExactValue> as_integers{ptx::Compare::gt, Type::s32, a, b, true};
  EXPECT_EQ(machine.domain.select({}, as_integers, a, b), std::nullopt);
  const ShadowComparison<ExactValue> as_floats{ptx::Compare::gt, Type::f32, a, b, true};
  EXPECT_EQ(machine.domain.select({}, as_floats, a, b),
            machine.apply(Opcode::max_, Type::f32, {a, b}));
}

TEST(ExactDomain, IntegersAreNoFloats) {
  Machine machine;
  const ExactValue a = machine.numbers.new_integer(32), b = machine.numbers.new_integer(32);
  EXPECT_EQ(machine.apply(Opcode::add_, Type::u32, {a, b}), machine.numbers.add(a, b));
  for (const Opcode opcode : {Opcode::add_, Opcode::mul_, Opcode::max_})
    EXPECT_EQ(machine.apply(opcode, Type::f32, {a, b}), std::nullopt) << static_cast<int>(opcode);
  EXPECT_EQ(machine.apply(Opcode::neg_, Type::f32, {a}), std::nullopt);
}

// Of the same numbers, what rounds or saturates makes the same, whatever it is.
TEST(ExactDomain, RoundingAndSaturationAreFunctions) {
  Machine machine;
  const ExactValue a = machine.numbers.new_float(), b = machine.numbers.new_float();
  ptx::Modifiers saturates;
  saturates.sat = true;
  const Result sum = machine.apply(Opcode::add_, Type::f32, {a, b}, saturates);
  ASSERT_NE(sum, std::nullopt);
  EXPECT_EQ(machine.apply(Opcode::add_, Type::f32, {a, b}, saturates), sum);
  EXPECT_NE(machine.apply(Opcode::add_, Type::f32, {a, a}, saturates), sum);
  EXPECT_NE(machine.apply(Opcode::add_, Type::f32, {a, b}), sum);
  EXPECT_NE(machine.apply(Opcode::mul_, Type::f32, {a, b}, saturates), sum);
  const ExactValue one = machine.numbers.float_of(1), half = machine.numbers.float_of(0.5);
  EXPECT_EQ(machine.apply(Opcode::add_, Type::f32, {one, half}, saturates), std::nullopt);
}

// Halves are no bfloats, whatever their number is, and words are no double words.
TEST(ExactDomain, ValuesKnowTheTypeOfTheirBits) {
  Machine machine;
  ExactValue a = machine.numbers.new_float();
  a.format = Type::f32;
  ptx::Modifiers none;
  const std::vector<ShadowOperand<ExactValue>> operands{{false, a, 0}};
  const Result half =
      machine.domain.apply({}, {Opcode::cvt_, &none, Type::f32, Type::f16}, operands, nullptr);
  ASSERT_NE(half, std::nullopt);
  EXPECT_TRUE(half->is_number(a));
  EXPECT_EQ(ExactDomain::type_of(*half), Type::f16);
  for (const Type type : {Type::f16, Type::b16, Type::u16})
    EXPECT_TRUE(is_of_type<ExactDomain>(*half, type));
  for (const Type type : {Type::bf16, Type::f32, Type::b32})
    EXPECT_FALSE(is_of_type<ExactDomain>(*half, type));
  EXPECT_TRUE(is_of_type<ExactDomain>(a, Type::tf32));
  EXPECT_FALSE(is_of_type<ExactDomain>(machine.numbers.new_integer(32), Type::s64));
  EXPECT_TRUE(is_of_type<ExactDomain>(machine.numbers.new_integer(32), Type::u32));
  ExactValue other = a;
  other.format = Type::bf16;
  const ShadowComparison<ExactValue> any{ptx::Compare::gt, Type::f32, a, a, true};
  EXPECT_EQ(machine.domain.select({}, any, *half, other), std::nullopt);
  EXPECT_EQ(ExactDomain::widened(*half), std::nullopt);
  EXPECT_EQ(ExactDomain::widened(other)->format, Type::f32);
}

// 0.0 and -0.0 are equal, and their bits are not, so what a selection of the two makes is data.
TEST(ExactDomain, EqualFloatsMayHaveOtherBits) {
  Machine machine;
  const ExactValue x = machine.numbers.new_float();
  const ExactValue zero = *machine.domain.constant(0, Type::f32);
  const ExactValue negative = *machine.domain.constant(0x80000000, Type::f32);
  ASSERT_TRUE(zero == negative);
  const ShadowComparison<ExactValue> greater{ptx::Compare::gt, Type::f32, x, zero, true};
  EXPECT_TRUE(ExactDomain::is_data(*machine.domain.select({}, greater, zero, negative)));
  const ExactValue one = machine.numbers.integer_of(1, 32);
  EXPECT_FALSE(ExactDomain::is_data(*machine.domain.select({}, greater, one, one)));
}

// What a NaN is compared with does not matter, so the comparison is none of data.
TEST(ExactDomain, NothingIsLessThanANaN) {
  Machine machine;
  const ExactValue x = machine.numbers.new_float();
  const ExactValue nan = *machine.domain.constant(0x7fc00000, Type::f32);
  ptx::Modifiers modifiers;
  modifiers.compare = ptx::Compare::gt;
  const ShadowOperation setp{Opcode::setp_, &modifiers, Type::f32, Type::pred};
  const std::vector<ShadowOperand<ExactValue>> with_nan{{false, x, 0}, {true, nan, 0}};
  EXPECT_TRUE(machine.domain.compare({}, setp, with_nan, false));
  const std::vector<ShadowOperand<ExactValue>> with_data{{false, x, 0}, {false, x, 0}};
  EXPECT_FALSE(machine.domain.compare({}, setp, with_data, false));
}

// A number is no infinity, and a power is above 0, whatever the data is.  The outcome must be the
// kernel's: with an infinity as data it is another.
TEST(ExactDomain, WhatAllFiniteDataShowsIsNoDecision) {
  Machine machine;
  ExactNumbers& numbers = machine.numbers;
  const auto is_decided = [&](const ExactValue& a, ptx::Compare compare, const ExactValue& b,
                              bool outcome) {
    ptx::Modifiers modifiers;
    modifiers.compare = compare;
    const ShadowOperation setp{Opcode::setp_, &modifiers, Type::f32, Type::pred};
    return machine.domain.compare({}, setp, {{{false, a, 0}, {false, b, 0}}}, outcome);
  };
  using ptx::Compare;
  const ExactValue x = numbers.new_float(), y = numbers.new_float();
  const ExactValue infinity = numbers.float_of(INFINITY), zero = numbers.float_of(0);
  const ExactValue power = *numbers.function("exp2", x), one = numbers.float_of(1);
  const ExactValue greatest = *numbers.extremum(ExactNumbers::Extremum::greatest, true, x, y);
  EXPECT_TRUE(is_decided(x, Compare::eq, infinity, false));
  EXPECT_FALSE(is_decided(x, Compare::eq, infinity, true));
  EXPECT_TRUE(is_decided(greatest, Compare::gt, *numbers.negative(infinity), true));
  EXPECT_TRUE(is_decided(power, Compare::gt, zero, true));
  EXPECT_TRUE(is_decided(*numbers.add(power, power), Compare::neu, zero, true));
  EXPECT_TRUE(is_decided(*numbers.negative(power), Compare::ge, zero, false));
  EXPECT_TRUE(is_decided(*numbers.divide(x, power), Compare::lt, infinity, true));
  EXPECT_TRUE(is_decided(*numbers.function("sqrt", power), Compare::nan, power, false));
  EXPECT_TRUE(is_decided(*numbers.absolute(x), Compare::lt, zero, false));
  for (const ExactValue& unknown :
       {x, greatest, *numbers.add(power, x), *numbers.add(power, *numbers.negative(power)),
        *numbers.multiply(power, x), *numbers.absolute(x)}) {
    for (const Compare compare : {Compare::gt, Compare::eq, Compare::leu})
      for (const bool outcome : {false, true})
        EXPECT_FALSE(is_decided(unknown, compare, zero, outcome));
  }
  EXPECT_FALSE(is_decided(power, Compare::lt, one, true));
  EXPECT_FALSE(is_decided(power, Compare::lt, one, false));
  for (const ExactValue& undefined :
       {*numbers.divide(one, x), *numbers.divide(power, *numbers.absolute(x)),
        *numbers.function("sqrt", x), *numbers.function("log2", x),
        *numbers.function("log2", *numbers.absolute(x)),
        *numbers.function("exp2", *numbers.divide(one, x)), *numbers.function("mine", power)}) {
    for (const Compare compare : {Compare::eq, Compare::ne, Compare::nan, Compare::num})
      for (const bool outcome : {false, true})
        EXPECT_FALSE(is_decided(undefined, compare, infinity, outcome));
  }
}

TEST(ExactDomain, ModifiersThatChangeNumbersAreKnown) {
  Machine machine;
  const ExactValue a = machine.numbers.new_float(), b = machine.numbers.new_float();
  ptx::Modifiers absolute, clamps;
  absolute.absolute = true;
  clamps.out_of_bounds = true;
  EXPECT_EQ(machine.apply(Opcode::min_, Type::f32, {a, b}, absolute), std::nullopt);
  EXPECT_EQ(machine.apply(Opcode::fma_, Type::f16, {a, b, a}, clamps), std::nullopt);
}

// 1 of 16 bits and 1 of 32 bits are other functions of a comparison.
TEST(ExactDomain, IndicatorsHaveAWidth) {
  Machine machine;
  const ExactValue a = machine.numbers.new_float(), b = machine.numbers.new_float();
  EXPECT_EQ(machine.numbers.indicator("gt", a, b, 16)->bits, 16);
  EXPECT_EQ(machine.numbers.indicator("gt", a, b, 32)->bits, 32);
}

}  // namespace
}  // namespace warpcheck::vgpu
