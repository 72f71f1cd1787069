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
  std::vector<std::byte> parameters(16);
  const std::uint32_t pitch = 50'000;
  std::memcpy(parameters.data() + 8, &pitch, sizeof pitch);
  const Dim3 grid(1, 60'000);
  const std::uint32_t row = (1u << 31) / pitch;  // 42,949
  EXPECT_TRUE(has(sparse_blocks(grid, Dim3(256), parameters), row));
  EXPECT_FALSE(has(sparse_blocks(grid, Dim3(256), {}), row));
}

TEST(SparseBlocks, OfASmallGridAreAllOfIt) {
  EXPECT_EQ(sparse_blocks(Dim3(2, 2), Dim3(32), {}), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace warpcheck::cudart
