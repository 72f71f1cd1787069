#include "vgpu/machine/memory/known_bits.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace warpcheck::vgpu {
namespace {

constexpr unsigned kBitsOfNumber = 3;
constexpr std::uint64_t kOnesOfNumber = (1u << kBitsOfNumber) - 1;

// All values that a number of three bits may have.
std::vector<std::uint64_t> values_of(const Known& known) {
  std::set<std::uint64_t> values;
  for (std::uint64_t i = 0; i <= kOnesOfNumber; ++i) {
    values.insert((known.value & ~known.undefined) | (i & known.undefined));
  }
  return {values.begin(), values.end()};
}

template <typename Visit>  // visit(a, b)
void for_each_pair(Visit visit) {
  for (std::uint64_t bits = 0; bits < 1u << 4 * kBitsOfNumber; ++bits) {
    visit(Known{bits & kOnesOfNumber, bits >> kBitsOfNumber & kOnesOfNumber},
          Known{bits >> 2 * kBitsOfNumber & kOnesOfNumber,
                bits >> 3 * kBitsOfNumber & kOnesOfNumber});
  }
}

// Returns the bits that differ between the results of all values.
template <typename Operation>
std::uint64_t differing(const Known& a, const Known& b, Operation operation) {
  std::uint64_t ones = 0, zeros = 0;
  for (const std::uint64_t x : values_of(a)) {
    for (const std::uint64_t y : values_of(b)) {
      ones |= operation(x, y);
      zeros |= ~operation(x, y);
    }
  }
  return ones & zeros & kOnesOfNumber;
}

TEST(KnownBits, SumsAndProductsHideNoBitThatMayDiffer) {
  for_each_pair([](const Known& a, const Known& b) {
    const auto check = [&](std::uint64_t undefined, auto operation) {
      const std::uint64_t missed = differing(a, b, operation) & ~undefined;
      ASSERT_EQ(missed, 0u) << a.value << '?' << a.undefined << ' ' << b.value << '?'
                            << b.undefined;
    };
    check(undefined_of_sum(a, b), [](std::uint64_t x, std::uint64_t y) { return x + y; });
    check(undefined_of_difference(a, b), [](std::uint64_t x, std::uint64_t y) { return x - y; });
    check(undefined_of_product(a, b), [](std::uint64_t x, std::uint64_t y) { return x * y; });
  });
}

TEST(KnownBits, ACarryEndsWhereAZeroIsKnown) {
  EXPECT_EQ(undefined_of_sum({0b0000, 0b0001}, {0b0001}), 0b0011u);
  EXPECT_EQ(undefined_of_sum({0b0000, 0b0001}, {0b0100}), 0b0001u);
  EXPECT_EQ(undefined_of_product({0, 0b0001}, {0b0100}), 0b0100u) << "a shift";
  const CarriedSum sum = carried_sum({0b1110, 0b0001}, {0b0001}, {}, 4);
  EXPECT_EQ(sum.bits, 0b1111u);
  EXPECT_TRUE(carried_sum({0b1111}, {0, 0b0001}, {}, 4).carry);
  EXPECT_FALSE(carried_sum({0b0111}, {0, 0b0001}, {}, 4).carry);
}

TEST(KnownBits, AComparisonIsDecidedIfAllValuesGiveOneResult) {
  for_each_pair([](const Known& a, const Known& b) {
    const auto check = [&](ptx::Compare compare, auto holds) {
      std::set<bool> results;
      for (const std::uint64_t x : values_of(a)) {
        for (const std::uint64_t y : values_of(b)) results.insert(holds(x, y));
      }
      ASSERT_EQ(decides(compare, a, b), results.size() == 1)
          << a.value << '?' << a.undefined << ' ' << b.value << '?' << b.undefined;
    };
    check(ptx::Compare::lt, [](std::uint64_t x, std::uint64_t y) { return x < y; });
    check(ptx::Compare::hs, [](std::uint64_t x, std::uint64_t y) { return x >= y; });
    check(ptx::Compare::le, [](std::uint64_t x, std::uint64_t y) { return x <= y; });
    check(ptx::Compare::hi, [](std::uint64_t x, std::uint64_t y) { return x > y; });
    check(ptx::Compare::eq, [](std::uint64_t x, std::uint64_t y) { return x == y; });
    check(ptx::Compare::ne, [](std::uint64_t x, std::uint64_t y) { return x != y; });
  });
}

}  // namespace
}  // namespace warpcheck::vgpu
