#include "vgpu/check/counters/memory_counters.hpp"

#include <gtest/gtest.h>

#include "vgpu/check/fake_launch.hpp"

namespace warpcheck::vgpu {
namespace {

class MemoryCountersTest : public testing::Test {
 protected:
  // The counts of the instruction at `pc`, which must have run.
  MemoryCounts at(std::uint32_t pc) {
    for (const CountedInstr& one : counters.counts()) {
      if (one.place == pc) return one.counts;
    }
    ADD_FAILURE() << "pc " << pc << " was not executed";
    return {};
  }
  void run(std::uint32_t from, std::uint32_t to, std::uint32_t lanes = ~0u) {
    std::vector<InstrTally> tally(program.code.size() + 1);
    tally[from].add_run(lanes, 1);
    tally[to].add_run(lanes, -1);
    counters.on_tally(program, tally);
  }

  Program program = fake_program(16);
  MemoryCounters counters;
  FakeLaunch launch{program, {&counters}};
  FakeMemory global{1, ptx::Space::global, 65'536};
  FakeMemory shared{2, ptx::Space::shared, 8192};
  FakeMemory local{3, ptx::Space::local, 8192};
};

TEST_F(MemoryCountersTest, AnInstructionIsExecutedAsOftenAsRunsPassIt) {
  launch.start({1, 1, 1}, {32, 1, 1});
  run(0, 4);
  run(2, 4, 0xff);
  std::vector<InstrTally> tally(program.code.size() + 1);
  tally[3].divergences = 1;
  counters.on_tally(program, tally);
  EXPECT_EQ(at(1).executions, 1u);
  EXPECT_EQ(at(1).lanes, 32u);
  EXPECT_EQ(at(2).executions, 2u);
  EXPECT_EQ(at(3).lanes, 40u);
  EXPECT_EQ(at(3).divergences, 1u);
  EXPECT_EQ(counters.counts().size(), 4u);
  EXPECT_EQ(counters.counts()[3].line, 103u);
  EXPECT_EQ(counters.counts()[3].ptx, "op3");
}

TEST_F(MemoryCountersTest, SectorsAndWavefrontsAreThoseOfTheSpace) {
  launch.start({1, 1, 1}, {32, 1, 1});
  run(0, 8);
  launch.strided(AccessKind::read, global, 0, 0, 1);
  launch.strided(AccessKind::write, global, 0, 0, 2, 1);
  launch.strided(AccessKind::read, shared, 0, 0, 3);
  launch.strided(AccessKind::read, local, 0, 0, 4);
  EXPECT_EQ(at(1).sectors, 4u);
  EXPECT_EQ(at(1).excess_sectors(), 0u);
  EXPECT_EQ(at(2).sectors, 5u);
  EXPECT_EQ(at(2).excess_sectors(), 1u);
  EXPECT_EQ(at(3).wavefronts, 1u);
  EXPECT_EQ(at(3).requests, 0u);
  EXPECT_EQ(at(4).local_bytes, 128u);
  EXPECT_EQ(counters.total().requests, 2u);
}

TEST_F(MemoryCountersTest, AtomicsOnOneAddressContend) {
  launch.start({1, 1, 1}, {32, 1, 1});
  run(0, 8);
  launch.uniform(AccessKind::atomic, global, 0, 0, 1, 5);
  launch.strided(AccessKind::atomic, global, 0, 0, 2);
  EXPECT_EQ(at(1).contended, 31u);
  EXPECT_EQ(at(2).contended, 0u);
}

TEST_F(MemoryCountersTest, ARowCountsAsItsLanes) {
  launch.start({1, 1, 1}, {32, 1, 1});
  run(0, 8);
  RowAccess row{.allocation = &global.allocation(),
                .place = {},
                .pc = 1,
                .mask = ~1u,
                .first = 28,
                .space = ptx::Space::global,
                .bytes = 4,
                .element_bytes = 4};
  counters.on_rows(program, {&row, 1});
  EXPECT_EQ(at(1).sectors, 4u);
  row.mask = ~0u;
  counters.on_rows(program, {&row, 1});
  EXPECT_EQ(at(1).sectors, 9u);
  // An access that repeats the last one is numbered, one that begins elsewhere in a sector is not.
  row.first = 60;
  counters.on_rows(program, {&row, 1});
  EXPECT_EQ(at(1).sectors, 14u);
  row.first = 64;
  counters.on_rows(program, {&row, 1});
  EXPECT_EQ(at(1).sectors, 18u);
  row.pattern = Pattern::uniform;
  counters.on_rows(program, {&row, 1});
  EXPECT_EQ(at(1).sectors, 19u);
  EXPECT_EQ(at(1).requests, 5u);
}

TEST_F(MemoryCountersTest, TalliedRowsCountAsReportedOnes) {
  for (const ptx::Space space : {ptx::Space::global, ptx::Space::shared}) {
    for (const auto kind : {InstrKind::load, InstrKind::store}) {
      for (const std::uint8_t vector : {1, 2, 4}) {
        Instr& instr = program.code[vector];
        instr.kind = kind;
        instr.modifiers.space = space;
        instr.modifiers.type = ptx::Type::u32;
        instr.modifiers.vector = vector;
        const std::uint8_t bytes = 4 * vector;
        std::vector<InstrTally> tally(program.code.size() + 1);
        tally[0].add_run(~0u, 1);
        tally[8].add_run(~0u, -1);
        MemoryCounters reported, tallied;
        reported.on_tally(program, tally);
        const auto report = [&](std::uint32_t first, Pattern pattern, int times) {
          const FakeMemory& memory = space == ptx::Space::global ? global : shared;
          const RowAccess row{
              .allocation = &memory.allocation(),
              .place = {},
              .pc = vector,
              .mask = ~0u,
              .first = first,
              .space = space,
              .kind = kind == InstrKind::load ? AccessKind::read : AccessKind::write,
              .pattern = pattern,
              .bytes = bytes,
              .element_bytes = 4};
          for (int i = 0; i < times; ++i) reported.on_rows(program, {&row, 1});
        };
        report(64, Pattern::strided, 3);
        report(64 + 16, Pattern::strided, space == ptx::Space::global ? 5 : 0);
        report(48, Pattern::uniform, 7);
        tally[vector].rows = 3;
        tally[vector].shifted_rows = space == ptx::Space::global ? 5 : 0;
        tally[vector].uniform_rows = 7;
        tallied.on_tally(program, tally);
        EXPECT_EQ(tallied.counts(), reported.counts());
      }
    }
  }
}

TEST_F(MemoryCountersTest, CountsOfAProgramThatIsGoneStay) {
  launch.start({1, 1, 1}, {32, 1, 1});
  run(0, 2);
  program.native = std::shared_ptr<NativeTier>(std::shared_ptr<void>(), nullptr);
  std::vector<CountedInstr> more = counters.counts(), twice = more;
  merge(twice, more);
  ASSERT_EQ(twice.size(), 2u);
  EXPECT_EQ(twice[0].counts.executions, 2u);
  more[0].line = 7;
  merge(twice, more);
  EXPECT_EQ(twice.size(), 3u);
}

}  // namespace
}  // namespace warpcheck::vgpu
