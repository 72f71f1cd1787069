// Records of rows in place of cells (cell_lines.hpp).  The same random executions, with and without
// lines, must give the same findings.
#include "vgpu/check/race/general/cells/cell_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using Part = CellLines::Part;
using Seen = std::tuple<SegmentId, std::uint32_t, int, bool>;  // segment, cells, lane, write

constexpr auto kNever = [](const Part&, const Part&) { return false; };
constexpr auto kAlways = [](const Part&, const Part&) { return true; };

class Lines : public testing::Test {
 protected:
  Lines() { lines.allocate(256); }
  std::vector<Seen> seen() {
    std::vector<Seen> all;
    lines.for_each_record([&](const Part& part) {
      all.emplace_back(part.segment, part.cells, part.lane, part.write);
    });
    return all;
  }
  // Adds a row of all lanes; returns whether all of it was added.
  template <typename ComesBefore>
  bool add(SegmentId segment, std::int64_t first, bool write, ComesBefore comes_before,
           std::uint32_t bytes = 4, std::uint32_t mask = ~0u) {
    return lines.for_each_line(CellLines::row_of(first, mask, bytes),
                               {.segment = segment, .write = write},
                               [&](CellLines::Line& line, const Part& part) {
                                 return lines.add(line, part, comes_before);
                               });
  }
  CellLines lines;
};

TEST_F(Lines, KeepTheRowsThatALaterOneDoesNotReplace) {
  EXPECT_TRUE(add(1, 0, true, kNever));
  EXPECT_TRUE(add(2, 0, false, kAlways));
  EXPECT_EQ(seen(), (std::vector<Seen>{{1, ~0u, 0, true}, {2, ~0u, 0, false}}));
  EXPECT_TRUE(add(3, 0, false, kAlways));  // replaces the read
  EXPECT_EQ(seen(), (std::vector<Seen>{{1, ~0u, 0, true}, {3, ~0u, 0, false}}));
  EXPECT_TRUE(add(4, 0, true, kAlways, 4, 0xff));  // replaces both in eight cells
  EXPECT_EQ(seen(),
            (std::vector<Seen>{{1, ~0xffu, 0, true}, {3, ~0xffu, 0, false}, {4, 0xff, 0, true}}));
}

TEST_F(Lines, LeaveARowThatMayRaceToTheCells) {
  EXPECT_TRUE(add(1, 0, true, kNever));
  EXPECT_FALSE(add(2, 0, false, kNever));
  EXPECT_FALSE(add(2, 0, true, kNever));
  EXPECT_TRUE(add(3, 128, false, kNever));
  EXPECT_TRUE(add(4, 128, false, kNever));  // reads do not race with each other
  EXPECT_FALSE(add(5, 128, true, kNever));
  EXPECT_EQ(seen(), (std::vector<Seen>{{1, ~0u, 0, true}, {3, ~0u, 0, false}, {4, ~0u, 0, false}}));
}

TEST_F(Lines, DivideARowThatDoesNotBeginWithALine) {
  EXPECT_TRUE(add(1, 120, false, kNever));
  EXPECT_TRUE(add(2, -8, false, kNever, 4, 0xffff'fffc));
  EXPECT_EQ(seen(), (std::vector<Seen>{{1, 0xc000'0000, -30, false},
                                       {2, 0x3fff'ffff, 2, false},
                                       {1, 0x3fff'ffff, 2, false}}));
}

TEST_F(Lines, GiveWideLanesSeveralCells) {
  EXPECT_TRUE(add(1, 64, false, kNever, 8, 0x0001'8001));
  EXPECT_EQ(seen(), (std::vector<Seen>{{1, 0x3'0000, -8, false}, {1, 0x3'c000, 8, false}}));
}

TEST_F(Lines, DeferAtomicsWhereNothingElseMatters) {
  constexpr auto kEarlier = [](SegmentId segment) { return segment == 1; };
  CellLines::Line& line = lines.line_at(0);
  EXPECT_TRUE(add(1, 0, true, kNever, 4, 0xff));
  EXPECT_TRUE(lines.may_defer(line, 0x10f, 4, kEarlier));
  CellLines::defer(line, 0x10f, 4);
  EXPECT_TRUE(lines.may_defer(line, 0x10f, 4, kEarlier));
  EXPECT_FALSE(lines.may_defer(line, 0x300, 8, kEarlier));  // of another size
  EXPECT_FALSE(add(1, 0, true, kAlways, 4, 0xff));          // cells of atomics
  EXPECT_TRUE(add(2, 0, true, kAlways, 4, 0xff00'0000));
  EXPECT_FALSE(lines.may_defer(line, 1u << 24, 4, kEarlier));
  lines.leave(line);
  EXPECT_FALSE(lines.may_defer(line, 1, 4, kEarlier));
  EXPECT_EQ(seen(), std::vector<Seen>{});
}

TEST_F(Lines, AddPastAccessesInTheOrderOfTheirLaunches) {
  Segments segments;
  segments.reset();
  const SegmentId first = segments.past(0, 7, 0), second = segments.past(1, 9, 0);
  CellLines::Line& line = lines.line_at(0);
  const auto add_past = [&](SegmentId segment, unsigned cell, unsigned lane, bool write) {
    const auto of_cell_0 =
        static_cast<std::int16_t>(static_cast<int>(lane) - static_cast<int>(cell));
    return lines.add_past(
        line, {.segment = segment, .cells = 1u << cell, .lane = of_cell_0, .write = write},
        segments);
  };
  EXPECT_TRUE(add_past(second, 3, 3, false));
  EXPECT_TRUE(add_past(second, 4, 4, false));
  EXPECT_TRUE(add_past(first, 8, 2, true));  // two cells of each lane
  EXPECT_TRUE(add_past(first, 9, 2, true));
  EXPECT_TRUE(add_past(first, 10, 3, true));
  EXPECT_FALSE(add_past(second, 10, 3, true));  // two writes of one cell
  EXPECT_EQ(seen(), (std::vector<Seen>{{first, 0x700, -2, true}, {second, 0x18, 0, false}}));
  EXPECT_EQ(lines.records_of(line)[0].cells_log2, 1);
}

TEST_F(Lines, HoldTheReadsOfManyWarps) {
  for (SegmentId segment = 1; segment <= 128; ++segment) {
    EXPECT_TRUE(add(segment, 0, false, kNever));
  }
  EXPECT_FALSE(add(129, 0, false, kNever));
  EXPECT_EQ(seen().size(), 128u);
  lines.leave(lines.line_at(0));
  EXPECT_TRUE(add(130, 128, false, kNever));
  EXPECT_EQ(seen(), (std::vector<Seen>{{130, ~0u, 0, false}}));
}

// Random launches of two checkers, one of which keeps cells alone.
class Executions {
 public:
  static constexpr std::uint32_t kBlocks = 4, kWarps = 2, kWords = 160, kOwnWords = 20,
                                 kCopyPc = 30, kLastPc = 100;

  Executions(std::uint64_t seed, WarpModel model, const EpochLimits& limits)
      : random_(seed),
        with_lines_(reporter, race_row_functions(simd_level()), limits),
        with_cells_(other_reporter, race_row_functions(simd_level()),
                    {.segments = limits.segments, .has_lines = false}) {
    with_lines_.reset(model);
    with_cells_.reset(model);
    program_.synchronizes_threads = true;
    program_.data_reads.assign(program_.code.size(), false);
    own_percent_ = chance(50) ? 100 : 50;
    begins_alike_ = chance(50);
    write_percent_ = 5 + below(60);
    atomic_percent_ = chance(50) ? 0 : 20;
    tile_percent_ = chance(65) ? 0 : 50;
    copy_percent_ = chance(75) ? 0 : 30;
    shape_tile();
  }

  // The last launch is unordered with all others and writes every word, each at a line of its own,
  // so it shows which words have records.
  void run() {
    const std::uint32_t count = 1 + below(3);
    for (std::uint32_t launch = 0; launch < count; ++launch) {
      launch_.start({kBlocks, 1, 1}, {40, 1, 1}, some_before(launch, 15));
      for (std::uint32_t block = 0; block < kBlocks; ++block) {
        launch_.start_block(block, block, &shared_[block]);
      }
      for (std::uint32_t steps = 5 + below(60); steps > 0; --steps) step();
    }
    launch_.start({1, 1, 1}, {40, 1, 1}, some_before(count, 100));
    launch_.start_block(0, 0, &shared_[0]);
    for (std::uint32_t word = 0; word < kWords; word += 3) {
      Access row = launch_.access(AccessKind::write, global_, 0, 0, kLastPc + word, 4);
      row.mask = 1;
      row.offset.fill(4 * word);
      launch_.emit(row);
    }
  }

  Reporter reporter, other_reporter;

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  std::vector<std::uint32_t> some_before(std::uint32_t launch, std::uint32_t percent) {
    std::vector<std::uint32_t> some;
    for (std::uint32_t earlier = 0; earlier < launch; ++earlier) {
      if (chance(percent)) some.push_back(earlier);
    }
    return some;
  }

  void step() {
    const std::uint32_t block = below(kBlocks), warp = below(kWarps), what = below(100);
    if (what < 80) return access(block, warp);
    if (what < 87) return message(block, warp);
    if (what < 90) return end_copies(block, warp);
    if (what < 97) return launch_.barrier(block);
    Fence fence = fence_of(block, warp);
    with_lines_.on_fence(fence);
    with_cells_.on_fence(fence);
  }

  std::uint32_t mask(std::uint32_t warp) {
    const std::uint32_t all = warp == 0 ? ~0u : 0xff;
    if (chance(60)) return all;
    const std::uint32_t some = static_cast<std::uint32_t>(random_()) & all;
    return some == 0 ? 1 : some;
  }

  void shape_tile() {
    tile_lanes_ = 2u << below(4);
    tile_gap_ = chance(tile_percent_) ? 1 + below(3) : 0;
  }

  // Rows begin in the words that belong to the warp, or to another one.
  void access(std::uint32_t block, std::uint32_t warp) {
    const std::uint32_t owner = chance(own_percent_) ? block * kWarps + warp : below(8);
    const bool is_atomic = chance(atomic_percent_);
    const AccessKind kind = is_atomic                ? AccessKind::atomic
                            : chance(write_percent_) ? AccessKind::write
                                                     : AccessKind::read;
    const std::uint32_t bytes = begins_alike_ || chance(70) ? 4 : is_atomic || chance(50) ? 8 : 16;
    const std::uint32_t pc =
        1 + (block * kWarps + warp) * 3 + static_cast<std::uint32_t>(kind);  // tells the warp
    Access row = launch_.access(kind, global_, block, warp, pc, static_cast<std::uint8_t>(bytes));
    row.mask = mask(warp);
    row.pattern = is_atomic && chance(30) ? Pattern::scattered : Pattern::strided;
    const std::uint32_t begin = (owner * kOwnWords + (begins_alike_ ? 0 : below(8))) * 4 / bytes;
    const std::uint32_t end = own_percent_ == 100 ? (owner + 1) * kOwnWords : kWords;
    const bool is_mixed = row.pattern == Pattern::scattered;
    if (!begins_alike_) shape_tile();
    if (tile_gap_ != 0 && !is_atomic) row.pattern = Pattern::scattered;  // a tile
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t in_tile = lane + (is_atomic ? 0 : lane / tile_lanes_ * tile_gap_);
      row.offset[lane] = (begin + (is_mixed ? below(4) : in_tile)) * bytes;
      if (row.offset[lane] + bytes > 4 * end) row.mask &= ~(1u << lane);
    }
    if (row.mask == 0) return;
    if (kind == AccessKind::read && chance(copy_percent_)) {
      row.asynchronous = true;
      row.pc += kCopyPc;
    }
    if (is_atomic) {
      row.order = ptx::Order::relaxed;
      row.scope = ptx::Scope::gpu;
      program_.code[pc].kind = InstrKind::atomic;
      program_.code[pc].opcode = ptx::Opcode::red_;
    }
    launch_.emit(row);
  }

  // The warp closes its group of copies, and waits for some groups or not.
  void end_copies(std::uint32_t block, std::uint32_t warp) {
    CopyCommit commit;
    commit.program = &program_;
    commit.place = launch_.place(block, warp);
    commit.mask = warp == 0 ? ~0u : 0xff;
    CopyWait wait;
    wait.program = commit.program;
    wait.place = commit.place;
    wait.mask = chance(70) ? commit.mask : 1;
    wait.groups_left = below(2);
    const bool waits = chance(60);
    for (RaceChecker* checker : {&with_lines_, &with_cells_}) {
      checker->on_copy_commit(commit);
      if (waits) checker->on_copy_wait(wait);
    }
  }

  Fence fence_of(std::uint32_t block, std::uint32_t warp) {
    Fence fence;
    fence.program = &program_;
    fence.place = launch_.place(block, warp);
    fence.mask = warp == 0 ? ~0u : 0xff;
    fence.order = ptx::Order::acq_rel;
    fence.scope = ptx::Scope::gpu;
    return fence;
  }
  // A fence, an atomic on a flag by some lanes, and a fence: the lanes learn what others released.
  void message(std::uint32_t block, std::uint32_t warp) {
    const Fence fence = fence_of(block, warp);
    with_lines_.on_fence(fence);
    with_cells_.on_fence(fence);
    Access flag = launch_.access(AccessKind::atomic, flag_, block, warp, 90);
    program_.code[90].kind = InstrKind::atomic;
    program_.code[90].opcode = ptx::Opcode::atom_;
    flag.mask = chance(50) ? fence.mask : 1;
    flag.pattern = Pattern::uniform;
    flag.offset.fill(0);
    flag.order = ptx::Order::relaxed;
    flag.scope = ptx::Scope::gpu;
    launch_.emit(flag);
    with_lines_.on_fence(fence);
    with_cells_.on_fence(fence);
  }

  std::mt19937_64 random_;
  RaceChecker with_lines_, with_cells_;
  Program program_ = fake_program(300);
  FakeLaunch launch_{program_, {&reporter, &with_lines_, &other_reporter, &with_cells_}};
  std::array<FakeMemory, kBlocks> shared_{
      FakeMemory{0, ptx::Space::shared, 64, "s"}, FakeMemory{1, ptx::Space::shared, 64, "t"},
      FakeMemory{2, ptx::Space::shared, 64, "u"}, FakeMemory{3, ptx::Space::shared, 64, "v"}};
  FakeMemory global_{4, ptx::Space::global, 4 * kWords, "g"};
  FakeMemory flag_{5, ptx::Space::global, 64, "f"};
  bool begins_alike_ = false;  // the rows of a warp, so that its lanes keep their words
  std::uint32_t own_percent_ = 0, write_percent_ = 0, atomic_percent_ = 0, tile_percent_ = 0,
                copy_percent_ = 0;
  std::uint32_t tile_lanes_ = 32, tile_gap_ = 0;  // of a row of a tile, and words between rows
};

// Returns the lines of the last launch that race with an earlier access, and 0 if other accesses
// race.  Lists of cells also keep reads that come before other reads, which lines do not, so which
// of the earlier accesses is named may differ.
std::set<std::uint32_t> lines_of(const std::vector<Finding>& findings) {
  std::set<std::uint32_t> lines;
  for (const Finding& finding : findings) {
    const std::uint32_t line = finding.accesses.back().line;
    lines.insert(line < 100 + Executions::kLastPc ? 0 : line);
  }
  return lines;
}

class CellLinesTest : public testing::TestWithParam<WarpModel> {};

TEST_P(CellLinesTest, SayWhatCellsSay) {
  std::size_t silent = 0, told = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Executions executions(seed, GetParam(), {.segments = seed % 3 == 0 ? 3 : 1u << 21});
    executions.run();
    ASSERT_EQ(lines_of(executions.reporter.findings()),
              lines_of(executions.other_reporter.findings()))
        << "seed " << seed;
    const bool races_before_last = lines_of(executions.reporter.findings()).contains(0);
    ++(races_before_last ? told : silent);
  }
  EXPECT_GT(silent, 50);
  EXPECT_GT(told, 200);
}

INSTANTIATE_TEST_SUITE_P(Models, CellLinesTest,
                         testing::Values(WarpModel::independent, WarpModel::lockstep),
                         [](const auto& test) {
                           return test.param == WarpModel::lockstep ? "lockstep" : "independent";
                         });

}  // namespace
}  // namespace warpcheck::vgpu
