#include "vgpu/check/exact/exact_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace warpcheck::vgpu {
namespace {

using Extremum = ExactNumbers::Extremum;

TEST(PrimeField, KnowsPrimes) {
  EXPECT_TRUE(PrimeField::is_prime((std::uint64_t{1} << 61) - 1));
  EXPECT_FALSE(PrimeField::is_prime((std::uint64_t{1} << 59) - 1));
  EXPECT_FALSE(PrimeField::is_prime(3'215'031'751));  // a strong pseudoprime to 2, 3, 5 and 7
  EXPECT_EQ(PrimeField(90).prime(), 97u);
}

TEST(PrimeField, ValuesOfDoublesAreRational) {
  const PrimeField field((std::uint64_t{1} << 60) + 12'345);
  const std::uint64_t half = field.value_of(0.5);
  EXPECT_EQ(field.add(half, half), 1u);
  EXPECT_EQ(field.value_of(-3), field.prime() - 3);
  EXPECT_EQ(field.product(field.value_of(0x1p-1074), field.value_of(0x1p1000)),
            field.value_of(0x1p-74));
}

// 61 is prime, so x^61 + x^5 + x^2 + x + 1 is irreducible modulo 2 if x^(2^61) is x there, and
// neither 0 nor 1 is a root of it.
TEST(GaloisRing, ItsPolynomialIsIrreducible) {
  const GaloisElement x = galois_bits(2);
  GaloisElement power = x;
  for (unsigned i = 0; i < kGaloisDegree; ++i) power = modulo(product(power, power), 1);
  EXPECT_EQ(power, x);
}

TEST(GaloisRing, CountsModulo64Bits) {
  EXPECT_EQ(product(galois_integer(~std::uint64_t{0}), galois_integer(2)),
            galois_integer(~std::uint64_t{0} - 1));
  EXPECT_EQ(sum(negative(galois_bits(5)), galois_bits(5)), GaloisElement{});
}

class ExactNumbersTest : public testing::Test {
 protected:
  ExactNumbers numbers{7};
  ExactValue a = numbers.new_float(), b = numbers.new_float(), c = numbers.new_float();
  ExactValue i = numbers.new_integer(32), j = numbers.new_integer(32);
};

TEST_F(ExactNumbersTest, SumsOfFloatsAreAssociative) {
  EXPECT_TRUE(
      numbers.are_equal(*numbers.add(*numbers.add(a, b), c), *numbers.add(a, *numbers.add(b, c))));
  EXPECT_FALSE(numbers.are_equal(*numbers.add(a, b), *numbers.add(a, c)));
  EXPECT_FALSE(numbers.are_equal(*numbers.add(a, b), *numbers.multiply(a, b)));
}

TEST_F(ExactNumbersTest, QuotientsCancel) {
  EXPECT_TRUE(numbers.are_equal(*numbers.multiply(*numbers.divide(a, b), b), a));
  const ExactValue third = *numbers.divide(numbers.float_of(1), numbers.float_of(3));
  EXPECT_TRUE(
      numbers.are_equal(*numbers.multiply(third, numbers.float_of(3)), numbers.float_of(1)));
  EXPECT_FALSE(numbers.divide(a, numbers.float_of(0)));
}

// A difference that random integers show only every other time is always seen.
TEST_F(ExactNumbersTest, IntegersDifferByTheirHighestBit) {
  const ExactValue half = numbers.integer_of(std::uint64_t{1} << 31, 32);
  for (int round = 0; round < 100; ++round) {
    const ExactValue x = numbers.new_integer(32);
    EXPECT_FALSE(numbers.are_equal(*numbers.add(i, *numbers.multiply(half, x)), i));
  }
  EXPECT_TRUE(
      numbers.are_equal(*numbers.multiply(*numbers.multiply(half, numbers.integer_of(2, 32)), i),
                        numbers.integer_of(0, 32)));
}

TEST_F(ExactNumbersTest, IntegersOfOtherWidthsAreOtherNumbers) {
  const ExactValue wide = numbers.new_integer(64);
  EXPECT_FALSE(numbers.add(wide, i));
  EXPECT_TRUE(
      numbers.are_equal(*numbers.narrowed(*numbers.add(wide, wide), 32),
                        *numbers.multiply(*numbers.narrowed(wide, 32), numbers.integer_of(2, 64))));
  EXPECT_FALSE(numbers.add(a, i));
}

TEST_F(ExactNumbersTest, AMaximumIsThatOfASet) {
  const auto greatest = [&](const ExactValue& x, const ExactValue& y) {
    return *numbers.extremum(Extremum::greatest, true, x, y);
  };
  EXPECT_TRUE(
      numbers.are_equal(greatest(greatest(a, b), c), greatest(c, greatest(b, greatest(a, b)))));
  EXPECT_FALSE(numbers.are_equal(greatest(a, b), greatest(greatest(a, b), c)));
  const ExactValue low = numbers.float_of(-std::numeric_limits<double>::infinity());
  EXPECT_TRUE(numbers.are_equal(greatest(low, a), a));
  const ExactValue none = numbers.float_of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(numbers.are_equal(greatest(none, a), a));
  const ExactValue least = *numbers.extremum(Extremum::least, true, a, b);
  EXPECT_FALSE(numbers.are_equal(least, greatest(a, b)));
  const ExactValue smallest = numbers.integer_of(0x80000000, 32);
  EXPECT_TRUE(numbers.are_equal(greatest(smallest, i), i));
  EXPECT_FALSE(numbers.are_equal(*numbers.extremum(Extremum::greatest, false, smallest, i), i));
}

TEST_F(ExactNumbersTest, FunctionsAreKnownByTheirArguments) {
  const ExactValue one = *numbers.function("sin", *numbers.add(a, b));
  EXPECT_TRUE(numbers.are_equal(one, *numbers.function("sin", *numbers.add(b, a))));
  EXPECT_FALSE(numbers.are_equal(one, *numbers.function("cos", *numbers.add(a, b))));
  EXPECT_TRUE(numbers.are_equal(*numbers.absolute(a), *numbers.absolute(*numbers.negative(a))));
}

TEST_F(ExactNumbersTest, TheErrorGrowsWithWhatIsCompared) {
  EXPECT_EQ(numbers.error(), 0);
  static_cast<void>(numbers.are_equal(a, *numbers.multiply(a, b)));
  EXPECT_EQ(numbers.error(), 2 * std::ldexp(1.0, -60));
}

TEST(ExactPowersTest, PowersOfSumsAreProducts) {
  ExactNumbers numbers(7, ExactPowers::of_expf);
  const ExactValue a = numbers.new_float(), b = numbers.new_float();
  const auto power = [&](const ExactValue& of) { return *numbers.power_of_two(of); };
  const ExactValue sum = *numbers.add(a, b), product = *numbers.multiply(power(a), power(b));
  EXPECT_TRUE(numbers.are_equal(power(sum), product));
  EXPECT_TRUE(numbers.are_equal(power(*numbers.add(a, *numbers.negative(a))), numbers.float_of(1)));
  EXPECT_FALSE(numbers.are_equal(power(*numbers.multiply(a, b)), product));
  EXPECT_FALSE(numbers.are_equal(power(sum), *numbers.add(power(a), power(b))));
  EXPECT_FALSE(numbers.are_equal(power(a), a));
  const ExactValue half = *numbers.multiply(numbers.float_of(0.5), a);
  EXPECT_TRUE(numbers.are_equal(*numbers.multiply(power(half), power(half)), power(a)));
  EXPECT_FALSE(numbers.are_equal(*numbers.power_of_two(a, 1), power(a)));
  // Powers of powers are others.
  EXPECT_FALSE(
      numbers.are_equal(power(power(sum)), *numbers.multiply(power(power(a)), power(power(b)))));
  EXPECT_TRUE(numbers.are_equal(power(power(sum)), power(product)));
}

}  // namespace
}  // namespace warpcheck::vgpu
