// The loops of every instruction set of the host, compared with each other and with scalars.
#include "vgpu/machine/matrix/matrix_loops.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/simd.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kDepth = 16, kColumns = 8;

std::vector<const MatrixLoops*> loops_of_host() {
  std::vector<const MatrixLoops*> loops{&baseline::kMatrixLoops};
  if (simd_level() != "baseline") loops.push_back(&avx2::kMatrixLoops);
  if (simd_level() == "avx512") loops.push_back(&avx512::kMatrixLoops);
  return loops;
}

class MatrixLoopsTest : public ::testing::Test {
 protected:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  // An f16's significand with an exponent from `lowest` on, or zero.
  float element(int lowest, unsigned exponents, unsigned zeros_in_eight) {
    if (below(8) < zeros_in_eight) return below(2) == 0 ? 0.0f : -0.0f;
    const auto significand = static_cast<float>(1024 + below(1024)) * (below(2) == 0 ? 1 : -1);
    return std::ldexp(significand, lowest + static_cast<int>(below(exponents)) - 10);
  }

  std::mt19937_64 random_{1};
};

TEST_F(MatrixLoopsTest, SumsInFloatsAreThoseInDoubles) {
  for (int trial = 0; trial < 3'000; ++trial) {
    const auto zeros = static_cast<unsigned>(trial % 3 * 4);  // none, half, all
    const auto spread = 1 + below(40);
    const int lowest = -45 + static_cast<int>(below(40));
    const std::uint32_t rows = 1 + below(4), columns = 8 * (1 + below(4));
    const int kept_bits = below(2) == 0 ? 25 : 13;
    std::vector<float> a(rows * kDepth), b(kDepth * columns), c(rows * columns);
    for (float& x : a) x = element(lowest, spread, zeros == 8 ? 7 : zeros);
    for (float& x : b) x = element(lowest, spread, zeros);
    for (float& x : c) x = element(2 * lowest - 30, 2 * spread + 60, zeros);
    for (const MatrixLoops* loops : loops_of_host()) {
      std::vector<int> of_a(a.size()), of_b(b.size()), of_c(c.size());
      const auto find = [&](const std::vector<float>& from, int least, std::vector<int>& to) {
        return loops->find_exponents(from.data(), static_cast<std::uint32_t>(from.size()), least,
                                     to.data());
      };
      const ExponentBounds bounds_a = find(a, -14, of_a), bounds_b = find(b, -14, of_b);
      const ExponentBounds bounds_c = find(c, -126, of_c);
      ASSERT_TRUE(are_narrow(bounds_a, bounds_b, bounds_c));
      const std::uint32_t end = 1 + below(kDepth);
      const RowsProduct<float> product{.a = a.data(),
                                       .a_exponents = of_a.data(),
                                       .b = b.data(),
                                       .b_exponents = of_b.data(),
                                       .c = c.data(),
                                       .c_exponents = of_c.data(),
                                       .first = below(end),
                                       .end = end,
                                       .rows = rows,
                                       .depth = kDepth,
                                       .columns = columns,
                                       .kept_bits = kept_bits};
      std::vector<double> narrow(c.size()), wide(c.size());
      loops->add_up_narrow(product, narrow.data());
      baseline::kMatrixLoops.add_up(product, wide.data());
      for (std::uint32_t i = 0; i < c.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(narrow[i]), std::bit_cast<std::uint64_t>(wide[i]))
            << "trial " << trial << ", element " << i << " of " << rows << " x " << columns;
      }
    }
  }
}

// Sums of numbers with few bits, and of numbers with one bit too many.
TEST_F(MatrixLoopsTest, SumsOfFewBitsAreThoseWithTruncation) {
  int exact_trials = 0;
  for (int trial = 0; trial < 3'000; ++trial) {
    const std::uint32_t rows = 1 + below(5), columns = 8 * (1 + below(4));
    const int spread = 1 + static_cast<int>(below(5)), of_c = static_cast<int>(below(24));
    const auto number = [&](int bits) {
      if (below(4) == 0) return below(2) == 0 ? 0.0f : -0.0f;
      const auto whole = static_cast<float>(below(1u << bits));
      return std::ldexp(below(2) == 0 ? whole : -whole, static_cast<int>(below(2)) - 3);
    };
    std::vector<float> a(rows * kDepth), b(kDepth * columns), c(rows * columns);
    for (float& x : a) x = number(spread);
    for (float& x : b) x = below(3) == 0 ? 0.0f : number(spread);
    for (float& x : c) x = number(of_c);
    for (const MatrixLoops* loops : loops_of_host()) {
      std::vector<int> of_a(a.size() + 8), of_b(b.size()), exponents_of_c(c.size());
      const auto find = [&](const std::vector<float>& from, std::vector<int>& to) {
        return loops->find_exponents(from.data(), static_cast<std::uint32_t>(from.size()), -126,
                                     to.data());
      };
      const ExponentBounds bounds_a = find(a, of_a), bounds_b = find(b, of_b),
                           bounds_c = find(c, exponents_of_c);
      if (!are_exact(bounds_a, bounds_b, bounds_c, kDepth)) continue;
      ++exact_trials;
      const RowsProduct<float> product{.a = a.data(),
                                       .a_exponents = of_a.data(),
                                       .b = b.data(),
                                       .b_exponents = of_b.data(),
                                       .c = c.data(),
                                       .c_exponents = exponents_of_c.data(),
                                       .first = 0,
                                       .end = kDepth,
                                       .rows = rows,
                                       .depth = kDepth,
                                       .columns = columns,
                                       .kept_bits = 25};
      std::vector<double> sums(c.size());
      std::vector<std::uint32_t> bits(c.size()), expected(c.size());
      loops->add_up_exactly(product, bits.data());
      baseline::kMatrixLoops.add_up(product, sums.data());
      ASSERT_TRUE(
          loops->round({}, sums.data(), static_cast<std::uint32_t>(sums.size()), expected.data()));
      ASSERT_EQ(bits, expected) << "trial " << trial;
    }
  }
  EXPECT_GT(exact_trials, 1'000);
}

TEST_F(MatrixLoopsTest, ExactSumsNeedRoomForAllBits) {
  const ExponentBounds few{0, 3, 0}, more{0, 3, -12};
  EXPECT_TRUE(are_exact(few, few, few, 16));
  EXPECT_TRUE(are_exact(few, few, {0, 18, 0}, 16));
  EXPECT_FALSE(are_exact(few, few, {0, 19, 0}, 16)) << "the sum may need 25 bits";
  EXPECT_FALSE(are_exact(more, few, few, 16));
  EXPECT_TRUE(are_exact({}, few, few, 16)) << "all products are zero";
}

TEST_F(MatrixLoopsTest, ElementsThatFloatsCannotMultiplyExactlyAreNotNarrow) {
  const ExponentBounds ones{0, 0};
  EXPECT_TRUE(are_narrow(ones, ones, ones));
  EXPECT_TRUE(are_narrow({-50, 62}, {-50, 63}, {-126, 127}));
  EXPECT_FALSE(are_narrow({-51, 0}, {-50, 0}, ones));
  EXPECT_FALSE(are_narrow({0, 63}, {0, 63}, ones));
  EXPECT_FALSE(are_narrow(ones, ones, {0, kNotFinite}));
  EXPECT_TRUE(are_narrow({}, {}, {})) << "zeros only";
}

TEST_F(MatrixLoopsTest, SumsAreRoundedAsNumbersAre) {
  for (int trial = 0; trial < 3'000; ++trial) {
    const bool to_half = trial % 2 == 0;
    std::array<double, kColumns> sums;
    for (double& sum : sums) {
      sum = std::ldexp(static_cast<double>(random_() >> 34), to_half ? -44 : -60);
      sum = std::ldexp(below(2) == 0 ? sum : -sum, static_cast<int>(below(to_half ? 29 : 200)));
      if (below(9) == 0) sum = below(2) == 0 ? 0.0 : -0.0;
    }
    for (const MatrixLoops* loops : loops_of_host()) {
      std::array<std::uint32_t, kColumns> bits;
      if (!loops->round({0, to_half}, sums.data(), kColumns, bits.data())) continue;
      for (std::uint32_t n = 0; n < kColumns; ++n) {
        const auto number = exact::unpack(exact::kF64, std::bit_cast<std::uint64_t>(sums[n]));
        const std::uint64_t expected = exact::pack(to_half ? exact::kF16 : exact::kF32, number,
                                                   to_half ? ptx::Rounding::rn : ptx::Rounding::rz);
        ASSERT_EQ(bits[n], expected) << sums[n];
      }
    }
  }
}

TEST_F(MatrixLoopsTest, SumsThatAreNoNormalNumbersAreLeftToTheCaller) {
  for (const MatrixLoops* loops : loops_of_host()) {
    for (const double sum : {0x1p-127, 0x1p128, -0x1p-15, 0x1p16,
                             std::numeric_limits<double>::infinity(), std::nan("")}) {
      const bool to_half = std::abs(sum) == 0x1p-15 || sum == 0x1p16;
      std::array<double, kColumns> sums{1, 2, sum, 3};
      std::array<std::uint32_t, kColumns> bits;
      EXPECT_FALSE(loops->round({0, to_half}, sums.data(), kColumns, bits.data())) << sum;
    }
  }
}

TEST_F(MatrixLoopsTest, DoublesAreFused) {
  for (const MatrixLoops* loops : loops_of_host()) {
    if (loops->add_up_doubles == nullptr) continue;
    std::array<double, 4> a;
    std::array<double, 4 * kColumns> b;
    std::array<double, kColumns> sums;
    for (double& x : a) x = std::ldexp(static_cast<double>(random_()), -64) - 0.5;
    for (double& x : b) x = std::ldexp(static_cast<double>(random_()), -64) - 0.5;
    for (double& x : sums) x = std::ldexp(static_cast<double>(random_()), -64) - 0.5;
    std::array<double, kColumns> expected = sums;
    for (std::uint32_t n = 0; n < kColumns; ++n) {
      for (std::uint32_t k = 0; k < 4; ++k) {
        expected[n] = std::fma(a[k], b[k * kColumns + n], expected[n]);
      }
    }
    EXPECT_TRUE(loops->add_up_doubles(a.data(), b.data(), 4, kColumns, sums.data()));
    EXPECT_EQ(sums, expected);
    a[1] = std::numeric_limits<double>::infinity();
    b[kColumns] = 0;
    EXPECT_FALSE(loops->add_up_doubles(a.data(), b.data(), 4, kColumns, sums.data()));
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
