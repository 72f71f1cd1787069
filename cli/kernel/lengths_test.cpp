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

std::vector<Sample> samples_of(const std::function<std::int64_t(const Numbers&)>& extent);

KernelDescription kernel_of_numbers() {
  KernelDescription kernel;
  for (const char* const name : {"n", "m", "k"}) {
    kernel.scalars.push_back({name, ElementType::i32, {}, {0, 100}});
  }
  return kernel;
}

std::string length(const std::function<std::int64_t(const Numbers&)>& extent) {
  return fitted_length(kernel_of_numbers(), samples_of(extent)).length.text();
}

std::vector<Sample> samples_of(const std::function<std::int64_t(const Numbers&)>& extent) {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < 40; ++i) {
    const Numbers numbers{i * 7 % 41, i * 11 % 29 + 1, i * 5 % 13 + 2, i % 3 + 1};
    KernelInput input;
    input.integers = {numbers.n, numbers.m, numbers.k};
    input.floats = {0, 0, 0};
    input.launch = {Dim3(numbers.blocks), Dim3(32), 0};
    samples.push_back({input, extent(numbers)});
  }
  return samples;
}

// most: with data that lead farthest; plain: with zeros
FittedLength length_by_data(const std::function<std::int64_t(const Numbers&)>& most,
                            const std::function<std::int64_t(const Numbers&)>& plain) {
  return fitted_length_by_data(kernel_of_numbers(), samples_of(most), samples_of(plain), 64);
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

TEST(Lengths, OfSquareMatricesAreSquaresOfTheGrid) {
  const auto square = [](const Numbers& x) { return x.blocks * x.blocks; };
  EXPECT_EQ(length(square), "gridDim.x * gridDim.x");
  EXPECT_EQ(length([](const Numbers& x) { return x.threads() * x.threads(); }),
            "gridDim.x * blockDim.x * gridDim.x * blockDim.x");
  const auto is_needed = [&](const char* text) {
    return is_needed_by_most(kernel_of_numbers(), Expression(text), samples_of(square));
  };
  EXPECT_TRUE(is_needed("gridDim.x * gridDim.x"));
  EXPECT_FALSE(is_needed("gridDim.x * 3"));
}

TEST(Lengths, OfARowForEachBlockFollowTheGrid) {
  EXPECT_EQ(length([](const Numbers& x) { return x.blocks * x.m; }), "m * gridDim.x");
  EXPECT_EQ(length([](const Numbers& x) { return (x.blocks - 1) * x.m + x.k; }),
            "(gridDim.x - 1) * m + k");
}

TEST(Lengths, HaveAHaloOrOneElementMore) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n + 1; }), "n + 1");
  EXPECT_EQ(length([](const Numbers& x) { return x.n + 2 * x.k; }), "n + 2 * k");
  EXPECT_EQ(length([](const Numbers& x) { return x.n + x.k; }), "n + k");
}

// n + k bounds them, too, and runs of a small k need all of it.
TEST(Lengths, OfAHaloThatEndsSomewhereHaveAConstant) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n + std::min<std::int64_t>(x.k, 5); }), "n + 5");
}

TEST(Lengths, OfWindowsAreSumsLessOne) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n + x.k - 1; }),
            "n + k - 1 > 0 ? n + k - 1 : 0");
}

TEST(Lengths, OfMatricesWithoutTheirBorderAreThoseOfTheWhole) {
  const auto inner = [](std::int64_t planes, const Numbers& x) {
    return planes * x.m * x.k - x.k - 1;
  };
  EXPECT_EQ(length([&](const Numbers& x) { return inner(x.n + 1, x); }), "(n + 1) * m * k");
  EXPECT_EQ(length([&](const Numbers& x) { return x.n < 3 ? 0 : inner(x.n, x); }), "m * n * k");
  EXPECT_EQ(length([&](const Numbers& x) { return x.n < 3 ? 0 : inner(x.n - 1, x); }), "n * m * k");
}

TEST(Lengths, OfSharedMemoryCountElementsOfATile) {
  const auto bytes = [](const std::function<std::int64_t(const Numbers&)>& extent) {
    const auto found = fitted_bytes(kernel_of_numbers(), samples_of(extent));
    return found ? found->text() : "";
  };
  EXPECT_EQ(bytes([](const Numbers&) { return std::int64_t{0}; }), "0");
  EXPECT_EQ(bytes([](const Numbers& x) { return 4 * x.n; }), "n * 4");
  EXPECT_EQ(bytes([](const Numbers& x) { return 4 * (32 + x.k - 1); }), "(blockDim.x + k - 1) * 4");
  EXPECT_EQ(bytes([](const Numbers& x) { return 8 * (32 + 2 * x.k); }), "(blockDim.x + 2 * k) * 8");
  EXPECT_EQ(bytes([](const Numbers& x) { return 4 * (32 + 2 * x.k) * (x.m + 2 * x.k); }),
            "((m + 2 * k) * (blockDim.x + 2 * k)) * 4");
  EXPECT_EQ(bytes([](const Numbers& x) { return x.n * x.n * x.m % 977 + 3 * x.k; }), "");
}

TEST(Lengths, OfPitchedMatricesEndInTheLastRow) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n > 0 ? (x.n - 1) * x.m + x.k : 0; }),
            "n > 0 ? (n - 1) * m + k : 0");
}

TEST(Lengths, OfBatchesAndBordersAreProducts) {
  EXPECT_EQ(length([](const Numbers& x) { return x.n * x.m * x.blocks; }), "n * m * gridDim.x");
  EXPECT_EQ(length([](const Numbers& x) { return x.blocks * x.m * x.m * x.k; }),
            "m * m * k * gridDim.x");
  EXPECT_EQ(length([](const Numbers& x) { return (x.n + 2 * x.k) * (x.m + 2 * x.k); }),
            "(n + 2 * k) * (m + 2 * k)");
  EXPECT_EQ(length([](const Numbers& x) { return (2 * x.k + 1) * (2 * x.k + 1) * x.m; }),
            "(2 * k + 1) * (2 * k + 1) * m");
  EXPECT_EQ(length([](const Numbers& x) { return (x.n / 2) * (x.m / 2); }), "(n / 2) * (m / 2)");
  EXPECT_EQ(length([](const Numbers& x) { return x.n * (x.n + 1) / 2; }), "n * (n + 1) / 2");
  EXPECT_EQ(length([](const Numbers& x) { return (x.blocks - 1) * x.n * x.m + x.k; }),
            "(gridDim.x - 1) * n * m + k");
}

TEST(Lengths, ThatNoFunctionNeedsAreNotKnown) {
  const auto any = [](const Numbers& x) { return x.n * x.n * x.m % 977 + 3 * x.k; };
  EXPECT_FALSE(fitted_length(kernel_of_numbers(), samples_of(any)).is_known);
  // Three runs that touched something.
  const auto few = [](const Numbers& x) { return x.n > 38 ? x.n * x.m : 0; };
  EXPECT_FALSE(fitted_length(kernel_of_numbers(), samples_of(few)).is_known);
  const auto size = [](const Numbers& x) { return x.n * x.m; };
  EXPECT_TRUE(fitted_length(kernel_of_numbers(), samples_of(size)).is_known);
}

TEST(Lengths, ThatDependOnNothingAreNumbers) {
  EXPECT_EQ(length([](const Numbers&) { return 1; }), "1");
  EXPECT_EQ(length([](const Numbers& x) { return x.n > 3 ? 256 : 0; }), "256");
  EXPECT_EQ(length([](const Numbers&) { return 0; }), "0");
}

TEST(Lengths, OfBordersAndGroupsAreThoseOfTheWhole) {
  EXPECT_EQ(length([](const Numbers& x) { return std::max<std::int64_t>(0, x.n - 1); }), "n");
  EXPECT_EQ(length([](const Numbers& x) { return (x.n + 3) / 4; }), "(n + 3) / 4");
}

TEST(Lengths, OfWhatDataLeadToFollowTheirRange) {
  const auto nothing = [](const Numbers&) { return std::int64_t{0}; };
  const auto one = [](const Numbers& x) { return std::int64_t{x.n > 0}; };
  EXPECT_EQ(length_by_data([](const Numbers& x) { return x.n > 0 ? 64 : 0; }, one).length.text(),
            "64");
  EXPECT_EQ(length_by_data([](const Numbers& x) { return 64 * x.m; }, nothing).length.text(),
            "m * 64");
  EXPECT_EQ(length_by_data([](const Numbers& x) { return x.n + 63; }, nothing).length.text(),
            "n + 63");
  EXPECT_EQ(length_by_data([](const Numbers& x) { return std::min<std::int64_t>(64, x.n); }, one)
                .length.text(),
            "n");
  const FittedLength longer =
      length_by_data([](const Numbers& x) { return std::max<std::int64_t>(64, 3 * x.n); },
                     [](const Numbers& x) { return 3 * x.n; });
  EXPECT_EQ(longer.length.text(), "(n * 3) > 64 ? (n * 3) : 64");
  EXPECT_TRUE(longer.is_known);
  // A size guards the indices, and few runs come to its end.
  const auto guarded = [&](std::int64_t rows_more) {
    return length_by_data(
               [=](const Numbers& x) {
                 const std::int64_t rows = x.n % 4 == 0 ? x.n + rows_more : (x.n + 1) / 2;
                 return rows * x.m * x.k;
               },
               [](const Numbers& x) { return x.m * x.k; })
        .length.text();
  };
  EXPECT_EQ(guarded(0), "n * m * k");
  EXPECT_EQ(guarded(1), "m * k + n * m * k");
  // Few runs that come to the array: any size is near.
  EXPECT_EQ(length_by_data([](const Numbers& x) { return x.n > 37 ? x.k + 41 : 0; }, nothing)
                .length.text(),
            "64");
  const FittedLength unknown =
      length_by_data([](const Numbers& x) { return 5000 + x.n * x.n * x.m % 977; },
                     [](const Numbers& x) { return std::int64_t{x.n > 0}; });
  EXPECT_FALSE(unknown.is_known);
}

}  // namespace
}  // namespace warpcheck
