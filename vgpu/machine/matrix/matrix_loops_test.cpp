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
    std::array<float, kDepth> a;
    std::array<float, kDepth * kColumns> b;
    std::array<float, kColumns> c;
    for (float& x : a) x = element(lowest, spread, zeros == 8 ? 7 : zeros);
    for (float& x : b) x = element(lowest, spread, zeros);
    for (float& x : c) x = element(2 * lowest - 30, 2 * spread + 60, zeros);
    for (const MatrixLoops* loops : loops_of_host()) {
      std::array<int, kDepth> of_a;
      std::array<int, kDepth * kColumns> of_b;
      std::array<int, kColumns> of_c;
      const ExponentBounds bounds_a = loops->find_exponents(a.data(), kDepth, -14, of_a.data());
      const ExponentBounds bounds_b =
          loops->find_exponents(b.data(), kDepth * kColumns, -14, of_b.data());
      const ExponentBounds bounds_c = loops->find_exponents(c.data(), kColumns, -126, of_c.data());
      ASSERT_TRUE(are_narrow(bounds_a, bounds_b, bounds_c));
      const RowProduct<float> product{a.data(),    of_a.data(), b.data(), of_b.data(), c.data(),
                                      of_c.data(), 0,           kDepth,   kColumns,    25};
      std::array<double, kColumns> narrow, wide;
      loops->add_up_narrow(product, narrow.data());
      baseline::kMatrixLoops.add_up(product, wide.data());
      for (std::uint32_t n = 0; n < kColumns; ++n) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(narrow[n]), std::bit_cast<std::uint64_t>(wide[n]))
            << "trial " << trial << ", column " << n;
      }
    }
  }
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
