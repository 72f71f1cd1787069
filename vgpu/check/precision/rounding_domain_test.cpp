// The bound of running error analysis: it holds the error of every calculation in float, and does
// not excuse sums in half.
#include "vgpu/check/precision/rounding_domain.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

struct RoundedNumber {
  double computed = 0;
  RoundingDomain::Operand operand{};
};

std::uint64_t rounded_bits(double value, Type type) {
  if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return exact::pack(exact::format_of(type),
                     exact::unpack(exact::kF64, std::bit_cast<std::uint64_t>(value)),
                     ptx::Rounding::rn);
}

class RoundingMachine {
 public:
  explicit RoundingMachine(Type declared) : domain_(declared) {
    program_.code.resize(1);
    program_.sources.resize(1);
  }
  static RoundedNumber number(double x, Type type = Type::f32) {
    const std::uint64_t bits = rounded_bits(x, type);
    return {float_of_bits(bits, type), {true, *RoundingDomain::constant(bits, type), bits}};
  }
  // computed: what the machine has, before it is rounded to the type
  RoundedNumber run(Opcode opcode, Type type, double computed, std::vector<RoundedNumber> sources,
                    ptx::Modifiers modifiers = {}) {
    modifiers.type = type;
    std::vector<RoundingDomain::Operand> operands;
    for (const RoundedNumber& one : sources) operands.push_back(one.operand);
    const Type from = opcode == Opcode::cvt_ ? operands[0].value.type : type;
    const std::uint64_t bits = rounded_bits(computed, type);
    const ShadowOperation operation{opcode, &modifiers, from, type};
    const auto value = domain_.apply({&program_, 0, {}, 0}, operation, operands, &bits);
    EXPECT_TRUE(value) << ptx::name_of(opcode);
    return {float_of_bits(bits, type), {false, value.value_or(RoundingDomain::Value{}), bits}};
  }
  RoundedNumber add(const RoundedNumber& a, const RoundedNumber& b, Type type = Type::f32) {
    return run(Opcode::add_, type, a.computed + b.computed, {a, b});
  }
  RoundedNumber mul(const RoundedNumber& a, const RoundedNumber& b) {
    return run(Opcode::mul_, Type::f32, a.computed * b.computed, {a, b});
  }
  RoundedNumber div(const RoundedNumber& a, const RoundedNumber& b) {
    return run(Opcode::div_, Type::f32, a.computed / b.computed, {a, b});
  }
  RoundedNumber converted(const RoundedNumber& a, Type type) {
    return run(Opcode::cvt_, type, a.computed, {a});
  }
  RoundingDomain& domain() { return domain_; }

 private:
  Program program_;
  RoundingDomain domain_;
};

double error_of(const RoundedNumber& number) {
  return magnitude(DoubleDouble{number.computed, 0} - number.operand.value.exact);
}
double bound_of(const RoundedNumber& number) { return number.operand.value.bound; }

TEST(RoundingDomain, TheBoundHoldsTheErrorOfSumsProductsQuotientsAndRoots) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> numbers(-4, 4);
  for (int round = 0; round < 500; ++round) {
    RoundingMachine machine(Type::f32);
    RoundedNumber sum = RoundingMachine::number(0), squares = RoundingMachine::number(1);
    for (int i = 0; i < 20; ++i) {
      const RoundedNumber x = RoundingMachine::number(numbers(random));
      sum = machine.add(sum, machine.div(x, RoundingMachine::number(3)));
      squares = machine.add(squares, machine.mul(x, x));
    }
    const RoundedNumber root =
        machine.run(Opcode::sqrt_, Type::f32, std::sqrt(squares.computed), {squares});
    const RoundedNumber result = machine.div(sum, root);
    EXPECT_LE(error_of(result), bound_of(result));
    // 20 quotients and sums of up to 27, a root, a quotient: no wild overestimate.
    EXPECT_LE(bound_of(result), 1000 * 0x1p-24);
  }
}

TEST(RoundingDomain, WhatIsNotRoundedHasNoBound) {
  RoundingMachine machine(Type::f32);
  RoundedNumber sum = RoundingMachine::number(0);
  for (int i = 1; i <= 100; ++i) sum = machine.add(sum, RoundingMachine::number(i));
  EXPECT_EQ(sum.computed, 5050);
  EXPECT_EQ(bound_of(sum), 0);
}

TEST(RoundingDomain, SumsInHalfAreNoExcuseWhereFloatIsDeclared) {
  for (const Type declared : {Type::f32, Type::f16}) {
    RoundingMachine machine(declared);
    RoundedNumber sum = RoundingMachine::number(0, Type::f16);
    for (int i = 0; i < 40; ++i)
      sum = machine.add(sum, RoundingMachine::number(1.0 / 3, Type::f16), Type::f16);
    EXPECT_EQ(error_of(sum) <= bound_of(sum), declared == Type::f16);
  }
}

TEST(RoundingDomain, AHalfThatIsStoredIsAnExcuseAndAnAccumulatorIsNot) {
  for (const int stores : {1, 40}) {
    RoundingMachine machine(Type::f32);
    RoundedNumber sum = RoundingMachine::number(0);
    for (int i = 0; i < 40; ++i) {
      sum = machine.add(sum, RoundingMachine::number(1.0 / 3));
      if (i >= stores) continue;
      sum = machine.converted(machine.converted(sum, Type::f16), Type::f32);
    }
    EXPECT_EQ(error_of(sum) <= bound_of(sum), stores == 1) << stores;
  }
}

// As expf() of the toolkit: the whole part of x / ln 2 is rounded by a large constant.
TEST(RoundingDomain, ALargeConstantThatMakesWholeNumbersIsAStep) {
  RoundingMachine machine(Type::f32);
  const RoundedNumber x = machine.div(RoundingMachine::number(10), RoundingMachine::number(3));
  const double magic = 0x1.8p23 + 1;
  const RoundedNumber whole = machine.add(x, RoundingMachine::number(magic));
  EXPECT_EQ(bound_of(whole), 0);
  const RoundedNumber part = machine.add(whole, RoundingMachine::number(-magic));
  EXPECT_EQ(part.computed, 3);
  EXPECT_EQ(bound_of(part), 0);
}

TEST(RoundingDomain, InfinitiesOfTheDataAreExactAndOverflowsAreNot) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  RoundingMachine machine(Type::f32);
  const RoundedNumber third = machine.div(RoundingMachine::number(1), RoundingMachine::number(3));
  const RoundedNumber masked = machine.add(RoundingMachine::number(-kInfinite), third);
  EXPECT_EQ(masked.computed, -kInfinite);
  EXPECT_EQ(bound_of(masked), 0);
  const RoundedNumber power = machine.run(Opcode::ex2_, Type::f32, 0, {masked});
  EXPECT_EQ(bound_of(power), 0);

  const RoundedNumber huge =
      machine.mul(RoundingMachine::number(0x1p100), RoundingMachine::number(0x1p100));
  EXPECT_EQ(bound_of(huge), kInfinite);
  const RoundedNumber small = machine.div(RoundingMachine::number(1), huge);
  EXPECT_LE(error_of(small), bound_of(small));
  const RoundedNumber wrong = machine.div(RoundingMachine::number(0x1p100), huge);
  EXPECT_GT(error_of(wrong), bound_of(wrong));
}

}  // namespace
}  // namespace warpcheck::vgpu
