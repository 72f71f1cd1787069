// Shared memory that a barrier of less than the block orders: the log of a phase
// (rows/row_log.hpp) follows that order, and cells get the rows in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"

namespace warpcheck::vgpu {
namespace {

class WarpOrderTest : public testing::Test {
 protected:
  static constexpr AccessKind kRead = AccessKind::read, kWrite = AccessKind::write;

  explicit WarpOrderTest(std::uint32_t threads = 64) {
    checker.reset(WarpModel::independent);
    program.synchronizes_threads = true;
    launch.start({1, 1, 1}, {threads, 1, 1});
    launch.start_block(0, 0, &shared);
  }
  // Lanes of a warp add to one word.
  void add(std::uint32_t warp, std::uint32_t pc, std::uint32_t word, std::uint32_t lanes = ~0u) {
    Access row = launch.access(AccessKind::atomic, shared, 0, warp, pc);
    row.mask = lanes;
    row.pattern = Pattern::uniform;
    row.offset.fill(4 * word);
    row.order = ptx::Order::relaxed;
    row.scope = ptx::Scope::cta;
    launch.emit(row);
  }
  void read(std::uint32_t warp, std::uint32_t pc, std::uint32_t word, std::uint32_t lanes = ~0u) {
    launch.uniform(kRead, shared, 0, warp, pc, word, lanes);
  }
  void write(std::uint32_t thread, std::uint32_t pc, std::uint32_t word) {
    launch.one(kWrite, shared, 0, thread, pc, word);
  }
  void meet(std::vector<WarpLanes> party) {
    checker.on_meeting({&program, launch.place(0, 0), party, party});
  }
  void sync(std::uint32_t warp, std::uint32_t lanes = ~0u) { meet({{warp, lanes}}); }

  // "earlier line / later line", sorted
  std::vector<std::string> races() {
    std::vector<std::string> lines;
    for (const Finding& finding : reporter.findings()) {
      lines.push_back(std::to_string(finding.accesses[0].line) + " / " +
                      std::to_string(finding.accesses[1].line));
    }
    std::ranges::sort(lines);
    return lines;
  }
  using Lines = std::vector<std::string>;

  Program program = fake_program();
  Reporter reporter;
  RaceChecker checker{reporter, race_row_functions(simd_level())};
  FakeLaunch launch{program, {&reporter, &checker}};
  FakeMemory shared{0, ptx::Space::shared, 4096, "s"};
};

// As the lanes of a warp that rank their keys.
TEST_F(WarpOrderTest, AWarpUsesAWordInTurns) {
  for (const std::uint32_t warp : {0u, 1u}) {
    write(32 * warp, 1, warp);
    for (int turn = 0; turn < 3; ++turn) {
      sync(warp);
      add(warp, 2, warp);
      sync(warp);
      read(warp, 3, warp);
      sync(warp);
      write(32 * warp + 7 + static_cast<std::uint32_t>(turn), 4, warp);
    }
  }
  EXPECT_EQ(races(), Lines{});
  write(32, 5, 0);
  EXPECT_EQ(races(), Lines{"104 / 105"});
}

TEST_F(WarpOrderTest, AMissingBarrierIsARace) {
  add(0, 1, 0);
  sync(0);
  read(0, 2, 0);
  write(3, 3, 0);
  EXPECT_EQ(races(), Lines{"102 / 103"});
}

TEST_F(WarpOrderTest, ABarrierOfSomeLanesOrdersThese) {
  add(0, 1, 0, 0xff);
  sync(0, 0xff);
  read(0, 2, 0, 0xff);
  EXPECT_EQ(races(), Lines{});
  read(0, 3, 0, 0xff00);
  EXPECT_EQ(races(), Lines{"101 / 103"});
}

TEST_F(WarpOrderTest, WarpsThatMeetOrderTheirAccesses) {
  add(0, 1, 0);
  meet({{0, ~0u}, {1, ~0u}});
  read(1, 2, 0);
  meet({{0, ~0u}, {1, ~0u}});
  write(5, 3, 0);
  EXPECT_EQ(races(), Lines{});
  read(1, 4, 0, 1);
  EXPECT_EQ(races(), Lines{"103 / 104"});
}

// A row that needs cells moves all rows of the log there.
TEST_F(WarpOrderTest, CellsGetTheRowsInTheirOrder) {
  write(0, 1, 0);
  sync(0);
  add(0, 2, 0);
  sync(0);
  write(1, 3, 0);
  add(1, 4, 1);
  sync(1);
  read(1, 5, 1);
  write(40, 6, 2);
  write(41, 7, 2);
  EXPECT_EQ(races(), Lines{"106 / 107"});
  sync(0);
  sync(1);
  read(0, 8, 0);
  write(33, 9, 1);
  EXPECT_EQ(races(), Lines{"106 / 107"});
  add(1, 10, 0);
  add(0, 11, 1);
  EXPECT_EQ(races(), (Lines{"103 / 110", "106 / 107", "108 / 110", "109 / 111"}));
}

// The log forgets rows whose words the same lanes have written again.
TEST_F(WarpOrderTest, ALongPhaseKeepsItsOrder) {
  for (int turn = 0; turn < 9000; ++turn) {
    launch.strided(kWrite, shared, 0, 0, 1, 8);
    if (turn % 100 != 0) continue;
    sync(0);
    add(0, 2, 9);
    sync(0);
  }
  EXPECT_EQ(races(), Lines{});
  read(1, 3, 9);
  EXPECT_EQ(races(), Lines{"101 / 103"});
}

class PartialWarpOrderTest : public WarpOrderTest {
 protected:
  PartialWarpOrderTest() : WarpOrderTest(40) {}
};

TEST_F(PartialWarpOrderTest, ThreadsThatDoNotExistAreNotWaitedFor) {
  add(1, 1, 0, 0xff);
  sync(1, 0xff);
  write(33, 2, 0);
  sync(1, 0xff);
  read(1, 3, 0, 0xff);
  EXPECT_EQ(races(), Lines{});
}

}  // namespace
}  // namespace warpcheck::vgpu
