// Rows of global memory that the race checker stores as rows (row_lines.hpp): their conversion to
// cells, and random executions that must give the same findings with and without stored rows.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/check/race/race_testing.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kMegabyte = 1u << 20, kLines = kMegabyte / 128;

// A row of warp `warp` of the first block; its lane 0 accesses `cell`.
RaceRow row_at(std::int64_t cell, std::uint32_t warp, bool write, unsigned cells_log2 = 0) {
  RaceRow row;
  row.epoch = kLaunchUnit + warp * kOrderedInWarp;
  row.ordered_threads = kOrderedInThread;
  row.cell = cell;
  row.pc = 7 + warp;
  row.mask = ~0u;
  row.offset_shift = 2;
  row.cells_log2 = static_cast<std::uint8_t>(cells_log2);
  row.exclusive = write;
  return row;
}

// "class cells thread pc" for each run of cells that one row has left, in the order of threads.
std::vector<std::string> seen_in(Shadow& shadow) {
  shadow.all_to_cells();
  struct Run {
    unsigned access_class;
    std::uint32_t begin, end;
    Epoch first, last;
    std::uint32_t pc;
  };
  std::vector<Run> runs;
  shadow.for_each_record(
      [&](unsigned access_class, std::uint32_t byte, std::uint32_t, Epoch epoch, std::uint32_t pc) {
        const std::uint32_t cell = byte / 4;
        const bool goes_on = !runs.empty() && runs.back().access_class == access_class &&
                             runs.back().end == cell && runs.back().pc == pc &&
                             epoch - runs.back().last <= 1;
        if (!goes_on) runs.push_back({access_class, cell, cell, epoch, epoch, pc});
        runs.back().end = cell + 1;
        runs.back().last = epoch;
      });
  std::vector<std::string> lines;
  for (const Run& run : runs) {
    const char* const kind = run.access_class == kWeakWrite  ? "write "
                             : run.access_class == kWeakRead ? "read "
                                                             : "update ";
    lines.push_back(kind + std::to_string(run.begin) + "-" + std::to_string(run.end - 1) + " by " +
                    std::to_string(thread_of(run.first)) + "-" +
                    std::to_string(thread_of(run.last)) + " at " + std::to_string(run.pc));
  }
  return lines;
}

class RowLinesTest : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;
  RowLinesTest() { shadow.begin({1, 1, true}, kMegabyte); }
  bool take(const RaceRow& row, Pattern pattern) {
    return shadow.take_row(row, pattern, row.exclusive ? kWeakWrite : kWeakRead);
  }
  bool update(const RaceRow& row, Pattern pattern = Pattern::strided) {
    return shadow.takes_rows(kUpdate) && shadow.take_row(row, pattern, kUpdate);
  }
  static constexpr unsigned kUpdate =
      AccessClass{.write = true, .strong = true, .size_log2 = 2, .atomic = true}.index();
  Shadow shadow;
};

TEST_F(RowLinesTest, ARowThatOneWarpWroteIsOneRecord) {
  for (std::uint32_t line = 0; line < kLines; ++line) {
    EXPECT_TRUE(take(row_at(line * 32, line % 8, true), Pattern::strided));
  }
  EXPECT_EQ(shadow.host_bytes(), kLines * sizeof(RowLines::Line));
  EXPECT_EQ(sizeof(RowLines::Line), 32u);
}

TEST_F(RowLinesTest, RowsThatLieAcrossLinesAreCellsOfTheirThreads) {
  EXPECT_TRUE(take(row_at(30, 0, true), Pattern::strided));
  EXPECT_TRUE(take(row_at(100, 1, true, 1), Pattern::strided));
  EXPECT_TRUE(take(row_at(300, 2, true, 2), Pattern::strided));
  RaceRow some = row_at(-4, 3, false);  // lanes 0 to 3 lie before the allocation
  some.mask = 0x0fff'fff0;
  EXPECT_TRUE(take(some, Pattern::strided));
  EXPECT_EQ(seen_in(shadow), (Lines{"read 0-23 by 100-123 at 10", "write 30-61 by 0-31 at 7",
                                    "write 100-163 by 32-63 at 8", "write 300-427 by 64-95 at 9"}));
}

TEST_F(RowLinesTest, ALaterWriteReplacesWhatItCoversOfAnEarlierOne) {
  RaceRow first = row_at(0, 0, true), second = row_at(16, 0, true);
  second.epoch += kPhaseUnit;
  EXPECT_TRUE(take(first, Pattern::strided));
  EXPECT_TRUE(take(second, Pattern::strided));
  EXPECT_EQ(seen_in(shadow), (Lines{"write 0-15 by 0-15 at 7", "write 16-47 by 0-31 at 7"}));
}

// Lists the last read of each cell, and then the reads that it has displaced.
TEST_F(RowLinesTest, AReadDisplacesThatOfAnotherThread) {
  EXPECT_TRUE(take(row_at(0, 0, false), Pattern::strided));
  EXPECT_TRUE(take(row_at(8, 1, false), Pattern::strided));
  EXPECT_EQ(seen_in(shadow),
            (Lines{"read 0-7 by 0-7 at 7", "read 8-39 by 32-63 at 8", "read 8-31 by 8-31 at 7"}));
}

TEST_F(RowLinesTest, TheFirstAndTheLastLaneStandForAUniformRead) {
  EXPECT_TRUE(take(row_at(33, 1, false), Pattern::uniform));
  EXPECT_EQ(seen_in(shadow), (Lines{"read 33-33 by 63-63 at 8", "read 33-33 by 32-32 at 8"}));
}

TEST_F(RowLinesTest, WhatMayRaceIsLeftToTheCells) {
  EXPECT_TRUE(take(row_at(0, 0, true), Pattern::strided));
  EXPECT_FALSE(take(row_at(16, 1, true), Pattern::strided));
  EXPECT_FALSE(take(row_at(16, 1, false), Pattern::strided));
  EXPECT_FALSE(take(row_at(1, 0, false), Pattern::strided));
  EXPECT_FALSE(take(row_at(0, 0, true, 1), Pattern::strided));  // another cell size
  EXPECT_FALSE(take(row_at(64, 0, true), Pattern::uniform));    // lanes overlap with each other
  EXPECT_TRUE(take(row_at(0, 0, true), Pattern::strided));
}

// A line with too many rows is converted to cells until the period ends; later rows are stored
// again.
TEST_F(RowLinesTest, LinesWithTooManyRowsAreCells) {
  const auto read = [&](std::int64_t cell) {
    return take(row_at(cell, 0, false), Pattern::uniform);
  };
  for (std::int64_t cell = 0; cell < 3; ++cell) EXPECT_TRUE(read(cell));
  EXPECT_FALSE(read(3));
  shadow.to_cells(row_at(3, 0, false), Pattern::uniform);
  EXPECT_FALSE(read(0));
  EXPECT_TRUE(read(32));
  shadow.begin({2, 1, true}, kMegabyte);
  EXPECT_TRUE(read(0));
}

// A member of an array of structs of seven words: lanes 2 to 31 of the first warp, all of the next.
TEST_F(RowLinesTest, LanesAtTheDistanceOfALineAreOneRecord) {
  ASSERT_TRUE(shadow.suits(7));
  RaceRow first = row_at(3 - 2 * 7, 0, true);
  first.mask = ~3u;
  EXPECT_TRUE(shadow.take_row_apart(first, kWeakWrite));
  EXPECT_TRUE(shadow.take_row_apart(row_at(3 + 30 * 7, 1, true), kWeakWrite));
  EXPECT_FALSE(shadow.take_row_apart(row_at(3, 1, false), kWeakRead));  // may race
  EXPECT_FALSE(take(row_at(0, 0, false), Pattern::strided));            // lies otherwise
  EXPECT_TRUE(take(row_at(9, 1, false), Pattern::uniform));
  std::vector<std::string> expected{"read 9-9 by 63-63 at 8", "read 9-9 by 32-32 at 8"};
  for (std::int64_t lane = 2; lane < 64; ++lane) {
    const std::string at = std::to_string(3 + 7 * (lane - 2)), by = std::to_string(lane);
    expected.push_back("write " + at + "-" + at + " by " + by + "-" + by + " at " +
                       (lane < 32 ? "7" : "8"));
  }
  EXPECT_EQ(seen_in(shadow), expected);
}

// The distance changes for the first row of a period, once enough rows did not fit.
TEST_F(RowLinesTest, TheDistanceFollowsTheRows) {
  ASSERT_TRUE(take(row_at(0, 0, true), Pattern::strided));
  for (std::uint32_t i = 0; i < kLines; ++i) EXPECT_FALSE(shadow.suits(8));
  EXPECT_FALSE(shadow.suits(8));
  shadow.begin({2, 2, true}, kMegabyte);
  EXPECT_TRUE(shadow.suits(8));
  EXPECT_FALSE(shadow.suits(1));
  EXPECT_FALSE(shadow.suits(kMegabyte / 4 / 32 + 1));  // no line would be full
  EXPECT_EQ(seen_in(shadow), (Lines{"write 0-31 by 0-31 at 7"}));
}

// Updates replace updates as reads replace reads.  Reads and writes of an earlier launch remain
// beside them.
TEST_F(RowLinesTest, AnUpdateDisplacesThatOfAnotherThread) {
  EXPECT_TRUE(take(row_at(0, 2, true), Pattern::strided));
  EXPECT_TRUE(take(row_at(32, 2, false), Pattern::strided));
  EXPECT_FALSE(update(row_at(0, 0, false)));  // this launch has weak accesses
  shadow.begin({2, 2, true}, kMegabyte);
  const auto later = [](RaceRow row) {
    row.epoch += kLaunchUnit;
    return row;
  };
  EXPECT_TRUE(update(later(row_at(0, 0, false))));
  EXPECT_TRUE(update(later(row_at(8, 1, false))));
  EXPECT_FALSE(shadow.takes_rows(kWeakRead));
  EXPECT_EQ(seen_in(shadow),
            (Lines{"read 32-63 by 64-95 at 9", "write 0-31 by 64-95 at 9", "update 0-7 by 0-7 at 7",
                   "update 8-39 by 32-63 at 8", "update 8-31 by 8-31 at 7"}));
}

// Such updates may race with each other.
TEST_F(RowLinesTest, UpdatesOfABlocksScopeOrOfAnotherSizeAreLeftToTheCells) {
  const auto takes = [&](unsigned size_log2, bool narrow) {
    return shadow.takes_rows(AccessClass{
        .write = true, .strong = true, .size_log2 = size_log2, .narrow = narrow, .atomic = true}
                                 .index());
  };
  EXPECT_FALSE(takes(2, true));
  EXPECT_TRUE(update(row_at(0, 0, false)));
  EXPECT_TRUE(takes(2, false));
  EXPECT_FALSE(takes(3, false));
}

// One checker that stores rows, and one that has only cells.
struct Engines {
  Reporter reporter, other_reporter;
  RaceChecker checker, other;
  explicit Engines(EpochLimits limits)
      : checker(reporter, race_row_functions("baseline"), limits),
        other(other_reporter, race_row_functions("baseline"), without_rows(limits)) {}
  static EpochLimits without_rows(EpochLimits limits) {
    limits.has_rows = false;
    limits.queue_chunks = 0;
    return limits;
  }
  void reset(WarpModel model) {
    for (Reporter* each : {&reporter, &other_reporter}) each->reset();
    for (RaceChecker* each : {&checker, &other}) each->reset(model);
  }
};

// Random launches of a few blocks, mostly with rows of global memory and mostly ordered.
class Launches {
 public:
  static constexpr std::uint32_t kBlocks = 3, kWarps = 2, kBytes = 4096;

  Launches(std::uint64_t seed, Engines& engines) : random_(seed), engines_(engines) {
    rare_percent_ = chance(50) ? 0 : below(20);
    write_percent_ = chance(50) ? 5 : 40;
    barrier_percent_ = below(30);
    offsets_ = chance(50) ? 3 : 40;
    is_tidy_ = chance(50);
    distance_ = chance(50) ? 2 + below(4) : 0;
  }

  void run() {
    engines_.reset(chance(70) ? WarpModel::independent : WarpModel::lockstep);
    std::uint32_t begin = 0;  // of the launches that later ones may be unordered with
    for (std::uint32_t launch = 0, count = 1 + below(8); launch < count; ++launch) {
      const bool is_alone = chance(20);
      if (is_alone) begin = launch;
      std::vector<std::uint32_t> unordered;
      for (std::uint32_t earlier = begin; earlier < launch; ++earlier) {
        if (chance(3)) unordered.push_back(earlier);
      }
      if (is_alone) begin = launch + 1;
      const std::uint32_t blocks = chance(30) ? 1 : kBlocks;
      update_percent_ = chance(30) ? 60 + below(41) : 0;
      is_narrow_ = chance(30);
      launch_.start({blocks, 1, 1}, {kWarps * 32, 1, 1}, unordered, is_alone);
      for (std::uint32_t block = 0; block < blocks; ++block) launch_.start_block(block, block);
      for (std::uint32_t steps = 3 + below(40); steps > 0; --steps) step(below(blocks));
    }
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

  void step(std::uint32_t block) {
    if (chance(barrier_percent_)) return launch_.barrier(block);
    const bool is_rare = chance(rare_percent_);
    const bool is_update = chance(update_percent_);
    const bool is_atomic = is_update || (is_rare && chance(30));
    const auto kind = is_atomic                ? AccessKind::atomic
                      : chance(write_percent_) ? AccessKind::write
                                               : AccessKind::read;
    constexpr std::array<std::uint8_t, 6> kWide{4, 4, 4, 8, 16, 4}, kNarrow{1, 1, 1, 2, 8, 1},
        kRareSizes{4, 4, 4, 8, 1, 2};
    const auto& sizes = is_rare ? kRareSizes : is_narrow_ ? kNarrow : kWide;
    const std::uint8_t bytes = is_update && chance(5) ? 8 : is_atomic ? 4 : sizes[below(6)];
    Access access = launch_.access(kind, global_, block, below(kWarps),
                                   3 * below(8) + static_cast<std::uint32_t>(kind), bytes);
    if (is_update && chance(3)) access.scope = ptx::Scope::cta;
    choose_lanes(access);
    if (is_tidy_ && kind != AccessKind::read && !is_update) choose_own_line(access);
    tell(access);
  }

  void choose_lanes(Access& access) {
    access.mask = chance(70) ? ~0u : static_cast<std::uint32_t>(random_()) | 1u;
    const std::uint32_t first = below(offsets_) * (chance(80) ? 32 / access.bytes : 1);
    const std::uint32_t shape = below(8);
    access.pattern = shape < 5    ? Pattern::strided
                     : shape == 5 ? Pattern::uniform
                                  : Pattern::scattered;
    const std::uint32_t width = shape == 6 ? 16 : 1 + below(12), gap = below(40);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t element = shape < 5    ? first + lane
                                    : shape == 5 ? first
                                                 : first + lane / width * gap + lane % width;
      access.offset[lane] = element * access.bytes % (is_tidy_ ? kBytes / 2 : kBytes);
    }
    if (shape < 5 && access.offset[31] < access.offset[0]) access.pattern = Pattern::scattered;
    if (distance_ != 0 && chance(60)) choose_members(access);
  }

  // Chooses a member of the structs of a warp, mostly of its own ones.
  void choose_members(Access& access) {
    const std::uint32_t warp = access.place.block * kWarps + access.place.warp,
                        size = 4 * distance_;
    if (size % access.bytes != 0) access.bytes = access.element_bytes = 4;
    access.pattern = Pattern::scattered;
    const std::uint32_t member = below(size / access.bytes) * access.bytes,
                        first = chance(is_tidy_ ? 99 : 80) ? 32 * warp : below(64);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      access.offset[lane] = ((first + lane) * size + member) % kBytes;
    }
  }

  // Chooses the warp's own line in the half of the memory that no warp reads.
  void choose_own_line(Access& access) const {
    const std::uint32_t warp = access.place.block * kWarps + access.place.warp;
    access.bytes = access.element_bytes = is_narrow_ ? 1 : 4;
    access.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      access.offset[lane] = kBytes / 2 + access.bytes * (kWarpLanes * warp + lane);
    }
  }

  // Reports the access as a row where the machine would.
  void tell(Access& access) {
    const bool is_row = access.kind != AccessKind::atomic &&
                        (access.pattern != Pattern::scattered || access.mask == ~0u);
    for (RaceChecker* checker : {&engines_.checker, &engines_.other}) {
      const RowAccess row{.allocation = access.allocation,
                          .place = access.place,
                          .pc = access.pc,
                          .mask = access.mask,
                          .first = access.offset[0],
                          .space = access.space,
                          .kind = access.kind,
                          .pattern = access.pattern,
                          .bytes = access.bytes,
                          .element_bytes = access.bytes,
                          .offsets = access.offset.data()};
      if (!is_row || !checker->takes_row(row)) checker->on_access(access);
    }
  }

  std::mt19937_64 random_;
  Engines& engines_;
  Program program_ = fake_program();
  FakeLaunch launch_{
      program_, {&engines_.reporter, &engines_.checker, &engines_.other_reporter, &engines_.other}};
  FakeMemory global_{0, ptx::Space::global, kBytes, "g"};
  std::uint32_t rare_percent_, write_percent_, barrier_percent_, offsets_, update_percent_ = 0;
  std::uint32_t distance_;  // in words, of structs; 0: there are none
  bool is_tidy_;
  bool is_narrow_ = false;  // most accesses of the launch are of bytes
};

TEST(RowLinesOracleTest, RowsAndCellsGiveTheSameFindings) {
  for (const EpochLimits& limits :
       {EpochLimits{}, EpochLimits{.launches = 6, .phases = 4, .queue_chunks = 1}}) {
    Engines engines(limits);  // thousands of launches old at the end
    std::size_t racy = 0;
    constexpr std::uint64_t kTraces = 600;
    for (std::uint64_t seed = 0; seed < kTraces; ++seed) {
      Launches(seed, engines).run();
      ASSERT_EQ(engines.reporter.findings(), engines.other_reporter.findings()) << "seed " << seed;
      racy += engines.reporter.findings().empty() ? 0 : 1;
    }
    EXPECT_GT(racy, kTraces / 10);
    EXPECT_LT(racy, kTraces * 9 / 10);
  }
}

// Room for the rows of a few launches.
class SmallRoomTest : public RaceTest {
 protected:
  SmallRoomTest() : RaceTest(WarpModel::independent, {.queue_chunks = 1}) {}
  // Returns how many of a hundred launches' rows were looked at in cells.
  std::uint64_t in_cells(bool are_alone) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      launch.start({2, 1, 1}, {32, 1, 1}, {}, are_alone);
      launch.start_block(1, 0);
      Access row = launch.access(kRead, global, 1, 0, 1);
      row.mask = ~0u;
      row.pattern = Pattern::scattered;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) row.offset[lane] = lane * lane * 4;
      launch.emit(row);
    }
    return checker.work().in_cells;
  }
};

TEST_F(SmallRoomTest, RowsWaitForNothingOnceEverythingComesAfterThem) {
  EXPECT_GT(in_cells(false), 50u);
  checker.reset(WarpModel::independent);
  EXPECT_EQ(in_cells(true), 0u);
  launch.one(kWrite, global, 0, 0, 2, 4);  // the reads of its own launch still wait
  EXPECT_EQ(summary(), (Lines{"read 101 / write 102"}));
}

}  // namespace
}  // namespace warpcheck::vgpu
