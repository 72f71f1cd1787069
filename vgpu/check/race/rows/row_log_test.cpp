#include "vgpu/check/race/rows/row_log.hpp"

#include <gtest/gtest.h>

#include <array>

#include "vgpu/check/race/race_class.hpp"
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

class RowLogRunsTest : public RowLogTest {
 protected:
  // Two halves of a warp, from `first` and `second` on.
  bool take_halves(bool write, bool uniform, std::uint32_t first, std::uint32_t second) {
    std::array<std::uint32_t, 32> offsets{};
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      offsets[lane] = 4 * ((lane < 16 ? first : second) + (uniform ? 0 : lane % 16));
    }
    return log_.take_runs({.mask = ~0u, .warp = 1, .write = write, .uniform = uniform},
                          offsets.data(), 0x00010001, kOrderedInThread);
  }
};

TEST_F(RowLogRunsTest, EachRunIsARow) {
  for (int i = 0; i < 2; ++i) {  // in a log that has to grow, and in one that need not
    log_.begin(kBytes);
    EXPECT_TRUE(take_halves(kRead, false, 0, 0));
    EXPECT_TRUE(take_halves(kRead, true, 64, 90));
    ASSERT_EQ(log_.rows().size(), 4U);
    EXPECT_EQ(log_.rows()[1].cell, -16);
    EXPECT_EQ(log_.rows()[1].mask, 0xffff'0000u);
    EXPECT_EQ(log_.rows()[3].cell, 90);
    EXPECT_TRUE(log_.rows()[3].uniform);
    EXPECT_FALSE(take(row_of(0, 15, kWrite, 1)));
    EXPECT_TRUE(take(row_of(0, 16, kWrite, 1)));
    EXPECT_FALSE(take(row_of(0, 90, kWrite, 1)));
  }
}

TEST_F(RowLogRunsTest, AllOfThemOrNone) {
  for (int i = 0; i < 2; ++i) {
    log_.begin(kBytes);
    EXPECT_TRUE(take(row_of(0, 40, kRead, 1)));
    EXPECT_FALSE(take_halves(kWrite, false, 0, 40));
    EXPECT_FALSE(take_halves(kWrite, false, 100, 108));  // which meet each other
    EXPECT_EQ(log_.rows().size(), 1U);
    EXPECT_TRUE(take_halves(kWrite, false, 16, 0));
    EXPECT_FALSE(take(row_of(0, 31, kRead, 1)));
  }
}

class RowLogUpdatesTest : public RowLogTest {
 protected:
  static constexpr unsigned kClass =
      AccessClass{.write = true, .strong = true, .atomic = true}.index();
  // All lanes of warp 1 at every `step`-th word.
  static Access atomics(std::uint32_t step, std::uint8_t bytes = 4) {
    Access access;
    access.kind = AccessKind::atomic;
    access.place.warp = 1;
    access.mask = ~0u;
    access.bytes = access.element_bytes = bytes;
    access.pattern = Pattern::scattered;
    for (std::uint32_t lane = 0; lane < 32; ++lane) access.offset[lane] = 4 * step * lane;
    return access;
  }
};

TEST_F(RowLogUpdatesTest, MeetEachOtherAndNobodyElse) {
  EXPECT_TRUE(log_.take_updates(atomics(2), kClass));
  EXPECT_TRUE(log_.take_updates(atomics(4), kClass));
  ASSERT_EQ(log_.updates().size(), 2U);
  EXPECT_EQ(log_.updates()[1].offset[31], 4U * 4 * 31);
  EXPECT_EQ(log_.updates()[1].warp, 1U);
  EXPECT_EQ(log_.updates()[1].access_class, kClass);
  EXPECT_FALSE(take(row_of(2, 62, kRead, 1)));
  EXPECT_TRUE(take(row_of(2, 61, kRead, 1)));
  EXPECT_FALSE(take(row_of(2, 124, kWrite, 1)));
  EXPECT_TRUE(take(row_of(2, 126, kWrite, 1)));
  EXPECT_TRUE(log_.take_updates(atomics(2), kClass));
  EXPECT_FALSE(log_.take_updates(atomics(7), kClass));  // one of which would be at 126
  log_.begin(kBytes);
  EXPECT_TRUE(log_.updates().empty());
  EXPECT_TRUE(take(row_of(2, 62, kRead, 1)));
}

TEST_F(RowLogUpdatesTest, AreOfOneSize) {
  EXPECT_FALSE(log_.take_updates(atomics(2, 2), kClass));
  EXPECT_TRUE(log_.take_updates(atomics(2, 8), kClass));
  EXPECT_FALSE(log_.take_updates(atomics(2, 4), kClass));
  EXPECT_FALSE(take(row_of(2, 63, kRead, 1)));  // the second word of the last
  EXPECT_TRUE(take(row_of(2, 64, kRead, 1)));
}

TEST_F(RowLogUpdatesTest, OfVectorsAndCopiesAreNone) {
  Access vector = atomics(4, 8);
  vector.element_bytes = 4;
  EXPECT_FALSE(log_.take_updates(vector, kClass));
  Access copy = atomics(4);
  copy.asynchronous = true;
  EXPECT_FALSE(log_.take_updates(copy, kClass));
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
    const auto expect = [&](const LaneRuns& found, std::uint32_t begins, std::uint32_t count) {
      EXPECT_EQ(found.begins, begins) << name_of(level);
      EXPECT_EQ(found.count, count) << name_of(level);
    };
    expect(runs(tile.data(), ~0u, 4), 0x01001001u, 3);
    expect(runs(halves.data(), ~0u, 0), 0x00010001u, 2);
    expect(runs(tile.data(), 0x0000ff30, 4), 0x00001110u, 3);  // 8 follows 5
    expect(runs(halves.data(), 1u << 31, 0), 1u << 31, 1);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
