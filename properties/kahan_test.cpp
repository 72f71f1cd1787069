// Compensated sums of special numbers, where exactly the naive sums leave their bound, and the
// accuracy of both.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/device.hpp"
#include "harness/trial/engine.hpp"
#include "kernels/kahan/kahan_matmul.hpp"
#include "properties/float_values.hpp"
#include "properties/run_case.hpp"
#include "reference/exact_sum.hpp"
#include "reference/kahan.hpp"

namespace warpcheck {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr std::uint32_t kGpuNan = 0x7fffffff;

Json sum_of(const Floats& values, int block = 1) {
  return {{"in", to_json(values)},
          {"launch", {{"grid", {1, 1, 1}}, {"block", {block, 1, 1}}, {"shared_bytes", 0}}}};
}

Json product_of(int n, const Floats& a, const Floats& b) {
  return {{"n", n}, {"a", to_json(a)}, {"b", to_json(b)}};
}

// The output of the pair's kernel, in a trial of its own.
template <class Number>
std::vector<Number> output_of(std::string_view pair, const Json& input) {
  const Case a_case = case_of(pair, input);
  AnyOutput output;
  const TrialResult result =
      virtual_gpu().run({}, [&] { output = a_case.pair->run_kernel(a_case.input); });
  EXPECT_EQ(result.refusals, std::vector<std::string>{});
  return *static_cast<const std::vector<Number>*>(output.get());
}

std::uint32_t sum_bits(const Floats& values, int block = 1) {
  return std::bit_cast<std::uint32_t>(output_of<float>("kahan_sum", sum_of(values, block))[0]);
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(KahanSum, OfSpecialNumbers) {
  EXPECT_EQ(sum_bits({}), bits(0));
  EXPECT_EQ(sum_bits({-0.0F}), bits(0.0F));
  EXPECT_EQ(sum_bits({1, std::bit_cast<float>(0xffc12345U)}), kGpuNan);
  EXPECT_EQ(sum_bits({1, kInfinity}), bits(kInfinity));
  EXPECT_EQ(sum_bits({kInfinity, 1}), kGpuNan);
  EXPECT_EQ(sum_bits({kInfinity, 1}, 2), kGpuNan);
  EXPECT_EQ(sum_bits({1, kInfinity}, 2), bits(kInfinity));
  EXPECT_EQ(sum_bits({kLargest, kLargest}), bits(kInfinity));
  EXPECT_EQ(sum_bits({kLargest, kLargest, -kLargest}), kGpuNan);
}

TEST(KahanSum, OfSubnormalsIsExactUnlessTheyAreFlushed) {
  const Json tiny = sum_of({0x1p-149F, 0x1p-130F, 0x1p-126F});
  EXPECT_EQ(output_of<float>("kahan_sum", tiny)[0], 0x1p-149F + 0x1p-130F + 0x1p-126F);
  EXPECT_EQ(output_of<double>("kahan_sum_contracted", tiny)[0], 0x1p-149 + 0x1p-130 + 0x1p-126);
  EXPECT_EQ(output_of<double>("kahan_sum_fast_math", tiny)[0], 0x1p-126);
  // A subnormal difference of normal numbers.
  const Json close = sum_of({0x1.8p-126F, -0x1p-126F});
  EXPECT_EQ(output_of<float>("kahan_sum", close)[0], 0x1p-127F);
  EXPECT_EQ(output_of<double>("kahan_sum_fast_math", close)[0], 0);
}

TEST(KahanMatmul, OfSpecialNumbers) {
  const auto first = [](const Floats& a, const Floats& b) {
    return bits(output_of<float>("kahan_matmul", product_of(2, a, b))[0]);
  };
  EXPECT_EQ(first({0, 1, 0, 0}, {kInfinity, 0, 1, 0}), kGpuNan);  // 0 * inf
  EXPECT_EQ(first({kInfinity, 1, 0, 0}, {1, 0, 1, 0}), kGpuNan);  // inf, and then another term
  EXPECT_EQ(first({1, kInfinity, 0, 0}, {1, 0, 1, 0}), bits(kInfinity));
  EXPECT_EQ(first({kLargest, kLargest, 0, 0}, {2, 0, -2, 0}), kGpuNan);  // the exact element is 0
  EXPECT_EQ(first({kNan, 0, 0, 0}, {1, 0, 1, 0}), kGpuNan);
  EXPECT_EQ(first({0x1p-100F, 0, 0, 0}, {0x1p-49F, 0, 0, 0}), bits(0x1p-149F));
}

TEST(KahanMatmul, FastMathReadsSubnormalsAsZeros) {
  // Scaled up again the product would be 1: no bound relative to it could hold.
  const Json input = product_of(1, {0x1p-127F}, {0x1p127F});
  EXPECT_EQ(output_of<float>("kahan_matmul", input)[0], 1);
  EXPECT_EQ(output_of<double>("kahan_matmul_contracted", input)[0], 1);
  EXPECT_EQ(output_of<double>("kahan_matmul_fast_math", input)[0], 0);
}

TEST(KahanMatmul, MeasuresItselfByTheVirtualClock) {
  const auto cycles_of = [](int n) {
    std::vector<clock_t> cycles;
    const TrialResult result = virtual_gpu().run({}, [&] {
      Device device;
      const Floats ones(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1);
      const auto factor = device.upload(ones);
      auto product = device.array<float>(ones.size());
      auto times = device.array<clock_t>(static_cast<std::size_t>(kahan_matmul_blocks(n)));
      device.check(kahan_matmul(factor.data(), factor.data(), product.data(), n, times.data()));
      cycles = times.download();
    });
    EXPECT_TRUE(result.findings.empty());
    return cycles;
  };
  EXPECT_EQ(cycles_of(0), std::vector<clock_t>{});
  ASSERT_EQ(cycles_of(1).size(), 1U);
  ASSERT_EQ(cycles_of(17).size(), 2U);
  EXPECT_EQ(cycles_of(17), cycles_of(17));
  EXPECT_GT(cycles_of(17)[0], cycles_of(1)[0]);
}

// --- the naive twins -----------------------------------------------------------------------------

std::string mismatch_of(std::string_view pair, const Json& input, const Settings& settings) {
  const Verdict verdict = run_case(case_of(pair, input, settings));
  std::string text;
  for (const vgpu::Finding& finding : verdict.findings) {
    EXPECT_EQ(finding.kind, vgpu::FindingKind::mismatch);
    text += finding.message;
  }
  return text;
}

TEST(NaiveSum, LeavesTheBoundAtItsFourthRounding) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(mismatch_of("naive_sum", sum_of({0x1p24F, 1, 1, 1, 1}), settings),
              "out[0] = 16777216, reference 16777220 (2 ulps, 1.3 times the bound)");
    EXPECT_EQ(mismatch_of("naive_sum", sum_of({0x1p24F, 1, 1, 1}), settings), "");
    EXPECT_EQ(mismatch_of("kahan_sum_contracted", sum_of({0x1p24F, 1, 1, 1, 1}), settings), "");
    EXPECT_EQ(mismatch_of("kahan_sum", sum_of({0x1p24F, 1, 1, 1, 1}), settings), "");
  }
}

TEST(NaiveMatmul, LeavesTheBoundAtItsFourthRounding) {
  const auto product = [](int n) {
    Floats a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0), b = a;
    for (int k = 0; k < n; ++k) {
      a[static_cast<std::size_t>(k)] = k == 0 ? 0x1p24F : 1;
      b[static_cast<std::size_t>(k) * static_cast<std::size_t>(n)] = 1;
    }
    return product_of(n, a, b);
  };
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(mismatch_of("naive_matmul", product(5), settings),
              "out[0] = 16777216, reference 16777220 (2 ulps, 1.3 times the bound)");
    EXPECT_EQ(mismatch_of("naive_matmul", product(4), settings), "");
    EXPECT_EQ(mismatch_of("kahan_matmul_contracted", product(5), settings), "");
    EXPECT_EQ(mismatch_of("kahan_matmul_tiled_contracted", product(5), settings), "");
  }
}

// --- the published report ------------------------------------------------------------------------

// Matrices of numbers between 0 and 1, as the published program intends.
TEST(KahanMatmul, HasTheSmallerErrorsOfThePublishedReport) {
  constexpr int kRows = 64;
  std::mt19937 random(1);
  const auto matrix = [&] {
    Floats values(kRows * kRows);
    for (float& value : values) value = static_cast<float>(random() >> 8) * 0x1p-24F;
    return values;
  };
  const Floats a = matrix(), b = matrix();
  const Doubles exact = reference::exact_matmul(a, b, kRows);
  const Json input = product_of(kRows, a, b);
  const auto kahan = reference::relative_errors(output_of<float>("kahan_matmul", input), exact);
  const Doubles wide = output_of<double>("naive_matmul", input);
  const auto naive = reference::relative_errors(Floats(wide.begin(), wide.end()), exact);
  EXPECT_NEAR(kahan.max, 6.888e-8, 1e-11);
  EXPECT_NEAR(kahan.average, 2.249e-8, 1e-11);
  EXPECT_NEAR(naive.max, 3.876e-7, 1e-10);
  EXPECT_NEAR(naive.average, 9.236e-8, 1e-11);
}

}  // namespace
}  // namespace warpcheck
