// Which operations have a rule in exact arithmetic, and for which numbers.
#include "vgpu/check/exact/exact_domain.hpp"

#include <gtest/gtest.h>

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
    return domain.apply({}, operation, operands, nullptr);
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

}  // namespace
}  // namespace warpcheck::vgpu
