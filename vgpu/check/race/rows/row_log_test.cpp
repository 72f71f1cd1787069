#include "vgpu/check/race/rows/row_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kBytes = 4096;
constexpr bool kRead = false, kWrite = true;

// A row of all lanes of `warp`, one word for each lane, beginning at `cell`.
RowLog::Row row_of(std::uint32_t warp, std::int32_t cell, bool write, std::uint32_t mask = ~0u) {
  return {.cell = cell, .mask = mask, .warp = warp, .write = write};
}

class RowLogTest : public testing::Test {
 protected:
  RowLogTest() { begin(); }
  void begin(std::uint64_t ordered_threads = kOrderedInThread) {
    log_.begin(kBytes, ordered_threads);
  }
  bool take(const RowLog::Row& row) { return log_.take(row); }
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
  EXPECT_TRUE(take(row_of(3, 5, kRead)));
  EXPECT_FALSE(take(row_of(3, 6, kWrite)));  // a cell of the neighbour
  EXPECT_FALSE(take(row_of(3, 6, kRead)));
  EXPECT_TRUE(take(row_of(3, 5, kWrite, 0xff00ff)));
}

TEST_F(RowLogTest, TakesWhatALockstepWarpDoes) {
  begin(kOrderedInWarp);
  EXPECT_TRUE(take(row_of(3, 5, kRead)));
  EXPECT_TRUE(take(row_of(3, 6, kWrite)));
  EXPECT_FALSE(take(row_of(4, 5, kWrite)));
  RowLog::Row uniform = row_of(3, 7, kWrite);
  uniform.uniform = true;
  EXPECT_TRUE(take(uniform));
  uniform.warp = 2;
  EXPECT_FALSE(take(uniform));
}

TEST_F(RowLogTest, KnowsWhetherAThreadIsTheOnlyOneToRead) {
  EXPECT_TRUE(take(row_of(0, 0, kRead)));
  EXPECT_TRUE(take(row_of(1, 16, kRead)));
  EXPECT_TRUE(take(row_of(0, 0, kWrite, 0xffff)));
  EXPECT_FALSE(take(row_of(0, 0, kWrite, 0x10000)));  // another warp has read this cell as well
  EXPECT_FALSE(take(row_of(1, 16, kWrite, 1)));
  EXPECT_TRUE(take(row_of(2, 16, kRead, 1)));
  EXPECT_TRUE(take(row_of(1, 16, kWrite, 0xffff0000)));
}

TEST_F(RowLogTest, ForgetsMarksOfEarlierPhases) {
  for (int phase = 0; phase < 40; ++phase) {
    begin();
    const auto warp = static_cast<std::uint32_t>(phase % 32);
    EXPECT_TRUE(take(row_of(warp, 1, kWrite))) << phase;
    EXPECT_TRUE(take(row_of((warp + 1) % 32, 100, phase % 3 == 0))) << phase;
  }
}

TEST_F(RowLogTest, TakesScatteredLanes) {
  std::array<std::uint32_t, 32> offsets{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = 4 * (lane * 33 % 32 * 3);
  RowLog::Row row = row_of(1, 0, kRead);
  row.scattered = true;
  EXPECT_TRUE(log_.take(row, offsets.data()));
  row.write = true;
  EXPECT_TRUE(log_.take(row, offsets.data()));
  ASSERT_EQ(log_.rows().size(), 2U);
  EXPECT_EQ(log_.offsets_of(log_.rows()[1]), offsets);
  EXPECT_TRUE(take(row_of(2, 4, kWrite, 0b11)));   // between lanes
  EXPECT_FALSE(take(row_of(2, 4, kRead, 0b100)));  // word 6 belongs to lane 2
  offsets[7] = offsets[8];
  EXPECT_FALSE(log_.take(row, offsets.data()));  // lanes overlap with each other
}

// Lanes 0 and 1, 2 and 3 ... read halves of one word; lane 31 reads one alone.
TEST_F(RowLogTest, TakesLanesThatReadPartsOfAWord) {
  std::array<std::uint32_t, 32> offsets{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = 2 * lane;
  offsets[31] = 64;
  RowLog::Row row = row_of(1, 0, kRead);
  row.scattered = true;
  for (const bool in_lockstep : {false, true}) {
    begin(in_lockstep ? kOrderedInWarp : kOrderedInThread);
    RowLog::Row own = row_of(1, 16 - 31, kWrite, 1u << 31);  // word 16 by lane 31
    EXPECT_TRUE(take(own));
    EXPECT_TRUE(log_.take(row, offsets.data()));
    EXPECT_TRUE(take(own));                                 // nobody else has read it
    EXPECT_EQ(take(row_of(1, 0, kWrite, 1)), in_lockstep);  // word 0: lane 1 has read it, too
    EXPECT_FALSE(take(row_of(2, 0, kWrite, 1u << 5)));      // of another warp
    EXPECT_TRUE(take(row_of(2, 0, kRead, 1u << 5)));
    begin(in_lockstep ? kOrderedInWarp : kOrderedInThread);
    EXPECT_TRUE(take(row_of(1, 4, kWrite, 1)));              // word 4 by lane 0
    EXPECT_EQ(log_.take(row, offsets.data()), in_lockstep);  // lanes 8 and 9 read it
    begin(in_lockstep ? kOrderedInWarp : kOrderedInThread);
    EXPECT_TRUE(take(row_of(2, 4, kWrite, 1)));
    EXPECT_FALSE(log_.take(row, offsets.data()));
  }
}

TEST_F(RowLogTest, InactiveLanesTouchNothing) {
  EXPECT_TRUE(take(row_of(0, 0, kWrite, 0x0000ffff)));
  EXPECT_TRUE(take(row_of(1, 0, kWrite, 0xffff0000)));
  // Lanes before the memory are inactive: lane 31 alone reads cell 0, which warp 0 has written.
  EXPECT_FALSE(take(row_of(1, -31, kRead, 1u << 31)));
  EXPECT_FALSE(take(row_of(0, -31, kRead, 1u << 31)));
  EXPECT_TRUE(take(row_of(0, 0, kRead, 1)));
}

TEST_F(RowLogTest, KnowsTheWordsOfWideRows) {
  for (const std::uint8_t log2 : {1, 2}) {
    begin();
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

// Lanes of `warp` that access neighbouring parts of words, from byte `first` on.
RowAccess parts_of(std::uint32_t warp, std::uint32_t first, bool write, std::uint32_t mask = ~0u,
                   std::uint8_t bytes = 2) {
  RowAccess row;
  row.place.warp = warp;
  row.first = first;
  row.mask = mask;
  row.kind = write ? AccessKind::write : AccessKind::read;
  row.bytes = row.element_bytes = bytes;
  return row;
}

TEST_F(RowLogTest, PartsOfAWordMarkTheWord) {
  EXPECT_TRUE(log_.take(parts_of(0, 0, kRead)));
  EXPECT_TRUE(log_.take(parts_of(1, 2, kRead)));
  EXPECT_TRUE(log_.take(parts_of(1, 128, kWrite, 1)));
  EXPECT_EQ(log_.rows().back().bytes(), 2U);
  EXPECT_EQ(log_.offsets_of(log_.rows().back())[0], 128U);
  EXPECT_FALSE(log_.take(parts_of(1, 0, kWrite, 1)));
  EXPECT_FALSE(log_.take(parts_of(1, 129, kRead, 2, 1)));  // lane 1, byte 130
  EXPECT_FALSE(take(row_of(2, 32, kRead, 1)));
  EXPECT_TRUE(take(row_of(2, 33, kWrite, 1)));
}

TEST_F(RowLogTest, NoRowTouchesTheWordsOfACopy) {
  Access copy;
  copy.bytes = 16;
  copy.mask = 1;
  copy.offset[0] = 64;
  EXPECT_TRUE(log_.mark_copy(copy));
  EXPECT_TRUE(log_.mark_copy(copy));
  EXPECT_FALSE(take(row_of(0, 16, kRead, 1)));
  EXPECT_FALSE(take(row_of(0, 19, kWrite, 1)));
  EXPECT_FALSE(log_.take(parts_of(0, 70, kRead, 1)));
  EXPECT_TRUE(take(row_of(0, 20, kWrite, 1)));
  copy.offset[0] = 80;
  EXPECT_FALSE(log_.mark_copy(copy));
  begin();
  EXPECT_TRUE(take(row_of(0, 16, kRead, 1)));
}

TEST_F(RowLogTest, EndsWhenItIsFullAndBeginsAnew) {
  int taken = 0;
  while (take(row_of(0, 0, kRead))) ++taken;
  EXPECT_EQ(taken, 8192);
  log_.close();
  EXPECT_FALSE(log_.is_open());
  EXPECT_EQ(log_.rows().size(), 8192U);
  begin();
  EXPECT_TRUE(log_.is_open());
  EXPECT_TRUE(log_.rows().empty());
  EXPECT_TRUE(take(row_of(1, 0, kWrite)));
}

TEST_F(RowLogTest, ForgetsWhatTheSameLanesHaveWrittenAgain) {
  ThreadOrder order;
  Access like;
  ASSERT_TRUE(take(row_of(2, 64, kWrite)));
  ASSERT_TRUE(take(row_of(1, 32, kWrite)));
  ASSERT_TRUE(take(row_of(3, 96, kRead)));
  for (std::uint32_t round = 0; round < 20'000; ++round) {
    ASSERT_TRUE(take(row_of(1, 32, kWrite, 0xffff))) << round;
    ASSERT_TRUE(take(row_of(1, 32, kRead, 0xffff))) << round;
    log_.settle(like, order, [&](const WarpPlace&) { return 1 + round; });
  }
  const auto has = [&](std::int32_t cell, bool write, std::uint32_t mask, std::uint32_t segment) {
    return std::ranges::any_of(log_.rows(), [&](const RowLog::Row& row) {
      return row.cell == cell && row.write == write && row.mask == mask && row.segment == segment;
    });
  };
  EXPECT_TRUE(has(64, kWrite, ~0u, 1));
  EXPECT_TRUE(has(96, kRead, ~0u, 1));
  EXPECT_TRUE(has(32, kWrite, ~0u, 1));  // of half of the words the only write
  EXPECT_TRUE(has(32, kWrite, 0xffff, 20'000));
  EXPECT_TRUE(has(32, kRead, 0xffff, 20'000));
  EXPECT_FALSE(has(32, kWrite, 0xffff, 1));
  EXPECT_FALSE(take(row_of(2, 32, kWrite)));
  EXPECT_FALSE(take(row_of(1, 64, kRead)));
}

class RowLogUpdatesTest : public RowLogTest {
 protected:
  // Atomics by all lanes of warp 1 on every `step`-th word.
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
  EXPECT_TRUE(log_.take_updates(atomics(2)));
  EXPECT_TRUE(log_.take_updates(atomics(4)));
  ASSERT_EQ(log_.updates().size(), 2U);
  EXPECT_EQ(log_.updates()[1].offset[31], 4U * 4 * 31);
  EXPECT_EQ(log_.updates()[1].warp, 1U);
  EXPECT_EQ(log_.updates()[1].bytes, 4);
  EXPECT_FALSE(take(row_of(2, 62, kRead, 1)));
  EXPECT_TRUE(take(row_of(2, 61, kRead, 1)));
  EXPECT_FALSE(take(row_of(2, 124, kWrite, 1)));
  EXPECT_TRUE(take(row_of(2, 126, kWrite, 1)));
  EXPECT_TRUE(log_.take_updates(atomics(2)));
  EXPECT_FALSE(log_.take_updates(atomics(7)));  // one of the words would be 126
  begin();
  EXPECT_TRUE(log_.updates().empty());
  EXPECT_TRUE(take(row_of(2, 62, kRead, 1)));
}

TEST_F(RowLogUpdatesTest, AreOfOneSize) {
  EXPECT_FALSE(log_.take_updates(atomics(2, 2)));
  EXPECT_TRUE(log_.take_updates(atomics(2, 8)));
  EXPECT_FALSE(log_.take_updates(atomics(2, 4)));
  EXPECT_FALSE(take(row_of(2, 63, kRead, 1)));  // the second word of the last atomic
  EXPECT_TRUE(take(row_of(2, 64, kRead, 1)));
}

TEST_F(RowLogUpdatesTest, OfVectorsAndCopiesAreNone) {
  Access vector = atomics(4, 8);
  vector.element_bytes = 4;
  EXPECT_FALSE(log_.take_updates(vector));
  Access copy = atomics(4);
  copy.asynchronous = true;
  EXPECT_FALSE(log_.take_updates(copy));
}

// Finds the lanes that do not continue the run of their predecessor, with each instruction set of
// the host.
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
    expect(runs(tile.data(), 0x0000ff30, 4), 0x00001110u, 3);  // word 8 follows word 5
    expect(runs(halves.data(), 1u << 31, 0), 1u << 31, 1);
  }
}

TEST(RowRuns, LanesOfOneWordBeginTogether) {
  std::array<std::uint32_t, 32> bytes{}, halves{}, scattered{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    bytes[lane] = 2 + lane;             // the first word has two lanes
    halves[lane] = lane / 16 * 64 + 2;  // two words
    scattered[lane] = lane * 8;
  }
  scattered[31] = scattered[30] + 3;
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    const auto new_words = race_row_functions(name_of(level)).new_words;
    EXPECT_EQ(new_words(bytes.data()), 0x44444445u) << name_of(level);
    EXPECT_EQ(new_words(halves.data()), 0x00010001u) << name_of(level);
    EXPECT_EQ(new_words(scattered.data()), 0x7fffffffu) << name_of(level);
  }
}

// With each instruction set, rows are looked at and marked as lane after lane.
TEST(OrderedRows, AreMarkedAsIfLanesCameInTurn) {
  constexpr std::uint64_t kLane = std::uint64_t{1} << OrderedRow::kLaneShift,
                          kKinds = std::uint64_t{1} << OrderedRow::kKindsShift;
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  for (int round = 0; round < 2'000; ++round) {
    std::array<std::uint32_t, OrderedRow::kKnown> known{1};
    for (unsigned i = 0; i < known.size(); ++i) {
      if (below(2) == 0) known[i] = static_cast<std::uint32_t>(8 * (1 + below(2)) + i);
    }
    std::vector<std::uint64_t> words(below(2) == 0 ? 20 : 200);
    for (std::uint64_t& word : words) {
      if (below(3) == 0) continue;
      const std::uint64_t segment = below(4) == 0 ? below(24) : known[below(known.size())];
      word = segment | below(33) * kLane | (1 + below(7)) * kKinds;
    }
    std::array<std::uint32_t, 32> offset{};
    const bool are_neighbours = words.size() == 200 && below(4) == 0;
    const std::uint64_t first = below(160);
    for (unsigned lane = 0; lane < offset.size(); ++lane) {
      const std::uint64_t word = are_neighbours                         ? first + lane
                                 : words.size() == 200 && below(8) != 0 ? 6 * lane
                                                                        : below(words.size());
      offset[lane] = static_cast<std::uint32_t>(4 * word + below(4));
    }
    // Neighbours but for two lanes that meet.
    if (are_neighbours && below(4) == 0) offset[1 + below(30)] = offset[1 + below(30)];
    const std::uint64_t actors = below(4) == 0 ? 0 : ~std::uint64_t{0};
    const std::uint64_t mark = 30 | 2 * kKinds;
    const std::uint32_t mask = below(2) == 0 ? ~0u : static_cast<std::uint32_t>(random() | 1);
    std::uint32_t unordered = 0, met = 0;
    std::vector<std::uint64_t> after = words;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const std::uint64_t word = words[offset[lane] / 4];
      const std::uint64_t segment = word % kLane;
      const bool is_known = segment != 0 && known[segment % known.size()] == segment;
      if (word != 0 && !is_known) unordered |= 1u << lane;
      for (unsigned later = lane + 1; later < 32 && actors != 0; ++later) {
        const bool meets = (mask >> later & 1) != 0 && offset[later] / 4 == offset[lane] / 4;
        if (meets) met |= 1u << lane;
      }
      std::uint64_t& marked = after[offset[lane] / 4];
      marked = marked / kKinds * kKinds | mark | (lane & actors) * kLane;
    }
    for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
      if (level > host_simd_level()) continue;
      const RaceRowFunctions& functions = race_row_functions(name_of(level));
      std::vector<std::uint64_t> marked = words;
      OrderedRow row{marked.data(), offset.data(), known.data(), mark, actors, mask, mask};
      OrderedLanes lanes = functions.mark_ordered(row);
      ASSERT_EQ(lanes.unordered, unordered) << name_of(level) << ' ' << round;
      if (unordered != 0) {
        ASSERT_EQ(marked, words) << name_of(level) << ' ' << round;
        row.unsure = mask & ~unordered;
        lanes = functions.mark_ordered(row);
        ASSERT_EQ(lanes.unordered, 0U) << name_of(level) << ' ' << round;
      }
      ASSERT_EQ(lanes.met, met) << name_of(level) << ' ' << round;
      ASSERT_EQ(marked, after) << name_of(level) << ' ' << round;
    }
  }
}

// Volatile loads and stores of one word a lane.
class StrongRows : public RowLogTest {
 protected:
  StrongRows() {
    program_.code.resize(2);
    program_.code[0].kind = InstrKind::load;
    program_.code[1].kind = InstrKind::store;
    order_.reset(WarpModel::independent);
    LaunchShape shape;
    shape.program = &program_;
    shape.grid = {1, 1, 1};
    shape.block = {64, 1, 1};
    order_.begin_launch(shape);
    order_.begin_block({});
  }
  bool take_strong(std::uint32_t warp, std::uint32_t cell, bool write, std::uint32_t mask = ~0u) {
    Access access;
    access.program = &program_;
    access.place.warp = warp;
    access.pc = write ? 1 : 0;
    access.kind = write ? AccessKind::write : AccessKind::read;
    access.order = ptx::Order::volatile_;
    access.bytes = access.element_bytes = 4;
    access.mask = mask;
    access.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) access.offset[lane] = 4 * (cell + lane);
    return AtomicLog::takes(access) &&
           log_.take_strong(access, order_.segment_of(access.place, false), order_);
  }
  Program program_;
  ThreadOrder order_;
};

TEST_F(StrongRows, AreTakenInWordsOfTheirThreads) {
  EXPECT_TRUE(take_strong(0, 0, kWrite));
  EXPECT_TRUE(take_strong(0, 0, kRead));
  EXPECT_TRUE(take_strong(1, 32, kWrite));
  EXPECT_TRUE(take_strong(0, 64, kRead));
  EXPECT_TRUE(take_strong(1, 80, kRead));
  EXPECT_EQ(log_.atomics().rows(), 5U);
  EXPECT_FALSE(take_strong(0, 1, kRead, 1));  // a word of the next lane
}

TEST_F(StrongRows, AreNotTakenInWordsThatOthersReadOrWrite) {
  EXPECT_TRUE(take_strong(0, 0, kRead));
  EXPECT_TRUE(take_strong(1, 0, kRead));
  EXPECT_FALSE(take_strong(1, 0, kWrite, 1));
  begin();
  EXPECT_TRUE(take_strong(0, 0, kWrite));  // another phase
  EXPECT_FALSE(take_strong(1, 31, kRead, 1));
}

TEST_F(StrongRows, ShareNoWordWithOtherRows) {
  EXPECT_TRUE(take_strong(0, 0, kRead));
  EXPECT_TRUE(take(row_of(0, 32, kRead)));
  EXPECT_FALSE(take(row_of(0, 31, kRead, 1)));
  begin();
  EXPECT_TRUE(take(row_of(0, 0, kRead)));
  EXPECT_FALSE(take_strong(0, 31, kRead));
}

// The code that records atomics looks at no marks.
TEST_F(StrongRows, KeepMachineCodeFromNotingAtomics) {
  program_.code[0].kind = InstrKind::atomic;
  Access atomic;
  atomic.program = &program_;
  atomic.kind = AccessKind::atomic;
  atomic.bytes = atomic.element_bytes = 4;
  atomic.mask = 1;
  EXPECT_TRUE(log_.take_strong(atomic, order_.segment_of({}, false), order_));
  EXPECT_TRUE(take(row_of(0, 32, kRead)));
  begin();
  log_.let_record(true, true);
  EXPECT_NE(log_.record().update_limit, nullptr);
  program_.code[0].kind = InstrKind::load;
  EXPECT_TRUE(take_strong(0, 0, kRead));
  EXPECT_EQ(log_.record().update_limit, nullptr);
  EXPECT_NE(log_.record().limit, nullptr);
}

}  // namespace
}  // namespace warpcheck::vgpu
