#include "vgpu/check/race/row_log.hpp"

#include <gtest/gtest.h>

#include <array>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kBytes = 4096;
constexpr bool kRead = false, kWrite = true;

// All lanes of `warp`, one word a lane from `cell` on.
RowLog::Row row_of(std::uint32_t warp, std::int32_t cell, bool write, std::uint32_t mask = ~0u) {
  return {.cell = cell, .mask = mask, .warp = warp, .write = write};
}

class RowLogTest : public testing::Test {
 protected:
  RowLogTest() { log_.begin(kBytes); }
  bool take(const RowLog::Row& row, std::uint64_t ordered_threads = kOrderedInThread) {
    return log_.take(row, ordered_threads);
  }
  RowLog log_;
};

TEST_F(RowLogTest, TakesReadsThatMeet) {
  EXPECT_TRUE(take(row_of(0, 0, kRead)));
  EXPECT_TRUE(take(row_of(1, 1, kRead)));
  EXPECT_EQ(log_.rows().size(), 2U);
}

TEST_F(RowLogTest, TakesAWriteNextToAllOthers) {
  EXPECT_TRUE(take(row_of(0, 0, kRead)));
  EXPECT_TRUE(take(row_of(1, 32, kWrite)));
  EXPECT_FALSE(take(row_of(2, 63, kRead)));
  EXPECT_TRUE(take(row_of(2, 64, kRead)));
}

TEST_F(RowLogTest, TakesWhatAThreadDoesInItsOwnCell) {
  EXPECT_TRUE(take(row_of(3, 5, kRead)));
  EXPECT_TRUE(take(row_of(3, 5, kWrite)));
  EXPECT_FALSE(take(row_of(3, 6, kWrite)));                  // the neighbour's
  EXPECT_TRUE(take(row_of(3, 6, kWrite), kOrderedInWarp));   // which a lockstep warp orders
  EXPECT_FALSE(take(row_of(4, 5, kWrite), kOrderedInWarp));  // but not another warp
}

TEST_F(RowLogTest, InactiveLanesTouchNothing) {
  EXPECT_TRUE(take(row_of(0, 0, kWrite, 0x0000ffff)));
  EXPECT_TRUE(take(row_of(1, 0, kWrite, 0xffff0000)));
  // Lanes before the memory are inactive: lane 31 alone reads cell 0, which warp 0 has written.
  EXPECT_FALSE(take(row_of(1, -31, kRead, 1u << 31)));
  EXPECT_TRUE(take(row_of(0, -31, kRead, 1u << 31), kOrderedInWarp));
}

TEST_F(RowLogTest, KnowsTheWordsOfWideRows) {
  for (const std::uint8_t log2 : {1, 2}) {
    log_.begin(kBytes);
    RowLog::Row wide = row_of(0, 8, kWrite, 0x80000001);
    wide.cells_log2 = log2;
    EXPECT_TRUE(take(wide));
    const std::int32_t words = 1 << log2;
    const auto touches = [&](std::int32_t cell) { return !take(row_of(1, cell, kWrite, 1)); };
    EXPECT_FALSE(touches(7));
    for (std::int32_t i = 0; i < words; ++i) EXPECT_TRUE(touches(8 + i)) << i;
    EXPECT_FALSE(touches(8 + words));
    for (std::int32_t i = 0; i < words; ++i) EXPECT_TRUE(touches(8 + 31 * words + i)) << i;
    EXPECT_FALSE(touches(8 + 32 * words));
  }
}

TEST_F(RowLogTest, AUniformWriteOfManyThreadsIsNone) {
  RowLog::Row row = row_of(0, 4, kWrite);
  row.uniform = true;
  EXPECT_FALSE(take(row));
  row.mask = 1u << 7;
  EXPECT_TRUE(take(row));
}

TEST_F(RowLogTest, EndsWhenItIsFullAndBeginsAnew) {
  int taken = 0;
  while (take(row_of(0, 0, kRead))) ++taken;
  EXPECT_EQ(taken, 2048);
  log_.close();
  EXPECT_FALSE(log_.is_open());
  EXPECT_EQ(log_.rows().size(), 2048U);
  log_.begin(kBytes);
  EXPECT_TRUE(log_.is_open());
  EXPECT_TRUE(log_.rows().empty());
  EXPECT_TRUE(take(row_of(1, 0, kWrite)));
}

TEST_F(RowLogTest, LooksThroughItselfOnlySoOften) {
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(take(row_of(0, 0, i % 2 == 1)));
  EXPECT_FALSE(take(row_of(0, 0, kWrite)));
}

// Where lanes that follow each other cease to do so, at each level of the host.
TEST(RowRuns, BeginWhereALaneIsNotBehindTheLast) {
  std::array<std::uint32_t, 32> tile{}, halves{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    tile[lane] = lane / 12 * 100 + lane % 12 * 4;
    halves[lane] = lane / 16 * 64;
  }
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    const RunsFn runs = race_row_functions(name_of(level)).runs;
    EXPECT_EQ(runs(tile.data(), ~0u, 4), 0x01001001u) << name_of(level);
    EXPECT_EQ(runs(halves.data(), ~0u, 0), 0x00010001u) << name_of(level);
    EXPECT_EQ(runs(tile.data(), 0x0000ff30, 4), 0x00001110u) << name_of(level);  // 8 follows 5
    EXPECT_EQ(runs(halves.data(), 1u << 31, 0), 1u << 31) << name_of(level);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
