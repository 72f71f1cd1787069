#include "vgpu/cudart/launch/sparse_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace warpcheck::cudart {
namespace {

bool has(const std::vector<std::uint32_t>& blocks, std::uint32_t block) {
  return std::ranges::binary_search(blocks, block);
}

TEST(SparseBlocks, AreTheEndsAndThoseAroundPowersOfTwo) {
  const auto blocks = sparse_blocks(Dim3((1u << 23) + 5), Dim3(256), {});
  EXPECT_TRUE(std::ranges::is_sorted(blocks));
  EXPECT_LT(blocks.size(), 150U);
  for (const std::uint32_t block : {0u, 1u, (1u << 23) - 1, 1u << 23, (1u << 23) + 4}) {
    EXPECT_TRUE(has(blocks, block)) << block;
  }
  EXPECT_FALSE(has(blocks, 5'000'000));
  EXPECT_EQ(blocks.back(), (1u << 23) + 4);
}

TEST(SparseBlocks, CrossWherePowersOfTwoAreNoMultiplesOfTheBlock) {
  // Thread 2^31 is in block 11,184,810 of blocks of 192.
  const auto blocks = sparse_blocks(Dim3(12'000'000), Dim3(192), {});
  EXPECT_TRUE(has(blocks, (1u << 31) / 192));
  EXPECT_TRUE(has(blocks, (1u << 31) / 192 + 1));
}

TEST(SparseBlocks, CrossWhereARowTimesAPitchDoes) {
  const std::uint32_t pitch = 50'000;
  const Dim3 grid(1, 60'000);
  const std::uint32_t row = (1u << 31) / pitch;  // 42,949
  EXPECT_TRUE(has(sparse_blocks(grid, Dim3(256), {pitch}), row));
  EXPECT_FALSE(has(sparse_blocks(grid, Dim3(256), {}), row));
}

TEST(SparseBlocks, FactorsAreNumbersOfTheParametersAndNoHalvesOfAddresses) {
  std::vector<std::byte> parameters(32);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(parameters.data() + at, &value, sizeof value);
  };
  put(0, std::uint64_t{0xefe'1234'5600});  // an address
  put(8, std::uint32_t{50'000});
  put(16, std::uint64_t{3'000'000'000});
  put(24, std::uint32_t{70});  // a struct of two
  put(28, std::uint32_t{90});
  const std::vector<vgpu::Parameter> layout{{0, 8, 8}, {8, 4, 4}, {16, 8, 8}, {24, 8, 4}};
  EXPECT_EQ(possible_factors(layout, parameters),
            (std::vector<std::uint64_t>{70, 90, 50'000, 3'000'000'000}));
}

TEST(SparseBlocks, OfASmallGridAreAllOfIt) {
  EXPECT_EQ(sparse_blocks(Dim3(2, 2), Dim3(32), {}), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace warpcheck::cudart
