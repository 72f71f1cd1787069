#include "cli/kernel/lengths.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace warpcheck {
namespace {

// A kernel of integers n, m and k, in blocks of 32.
struct Numbers {
  std::int64_t n, m, k, blocks;
  [[nodiscard]] std::int64_t threads() const { return blocks * 32; }
};

std::string length(const std::function<std::int64_t(const Numbers&)>& extent) {
  KernelDescription kernel;
  for (const char* const name : {"n", "m", "k"}) {
    kernel.scalars.push_back({name, ElementType::i32, {}, {0, 100}});
  }
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < 40; ++i) {
    const Numbers numbers{i * 7 % 41, i * 11 % 29 + 1, i * 5 % 13 + 2, i % 3 + 1};
    KernelInput input;
    input.integers = {numbers.n, numbers.m, numbers.k};
    input.floats = {0, 0, 0};
    input.launch = {Dim3(numbers.blocks), Dim3(32), 0};
    samples.push_back({input, extent(numbers)});
  }
  return fitted_length(kernel, samples).text();
}

TEST(Lengths, OfGuardedKernelsAreTheirGuards) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n; }), "n");
  EXPECT_EQ(length([](const Numbers& x) { return std::min(x.n, x.threads()); }), "n");
  EXPECT_EQ(length([](const Numbers& x) { return x.n * x.m; }), "n * m");
  EXPECT_EQ(length([](const Numbers& x) { return 4 * x.n; }), "n * 4");
  EXPECT_EQ(length([](const Numbers& x) { return x.n * x.m * x.k; }), "n * m * k");
}

TEST(Lengths, OfUnguardedKernelsAreTheirThreads) {
  EXPECT_EQ(length([](const Numbers& x) { return x.threads(); }), "gridDim.x * blockDim.x");
  EXPECT_EQ(length([](const Numbers& x) { return x.blocks; }), "gridDim.x");
}

TEST(Lengths, HaveAHaloOrOneElementMore) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n + 1; }), "n + 1");
  EXPECT_EQ(length([](const Numbers& x) { return x.n + 2 * x.k; }), "n + 2 * k");
  EXPECT_EQ(length([](const Numbers& x) { return x.n + x.k; }), "n + k");
}

TEST(Lengths, OfPitchedMatricesEndInTheLastRow) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n > 0 ? (x.n - 1) * x.m + x.k : 0; }),
            "n > 0 ? (n - 1) * m + k : 0");
}

TEST(Lengths, ThatDependOnNothingAreNumbers) {
  EXPECT_EQ(length([](const Numbers&) { return 1; }), "1");
  EXPECT_EQ(length([](const Numbers& x) { return x.n > 3 ? 256 : 0; }), "256");
  EXPECT_EQ(length([](const Numbers&) { return 0; }), "0");
}

}  // namespace
}  // namespace warpcheck
