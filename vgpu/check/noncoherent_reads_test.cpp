// Random launches, compared with a record of each byte.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/fake_launch.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kMemoryBytes = 1024, kWrites = 8;  // pcs below kWrites write

class NoncoherentReads : public testing::Test {
 protected:
  NoncoherentReads() {
    for (std::uint32_t pc = kWrites; pc < program.code.size(); ++pc) {
      program.code[pc].modifiers.noncoherent = true;
    }
    checker->reset(WarpModel::independent);
  }

  // Reports an access as the machine does.
  void tell(Access& access) {
    RowAccess row;
    row.allocation = access.allocation;
    row.place = access.place;
    row.pc = access.pc;
    row.mask = access.mask;
    row.space = access.space;
    row.kind = access.kind;
    row.pattern = access.pattern;
    row.bytes = access.bytes;
    row.offsets = access.offset.data();
    row.first = access.offset[0];
    if (access.kind == AccessKind::atomic || !checker->takes_row(row)) checker->on_access(access);
  }

  Access random_access(std::mt19937& random) {
    const auto draw = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    const std::uint32_t pc = draw(2 * kWrites);
    const AccessKind kind = pc >= kWrites ? AccessKind::read
                            : pc == 0     ? AccessKind::atomic
                                          : AccessKind::write;
    const auto bytes = static_cast<std::uint8_t>(1u << draw(5));
    Access access = launch.access(kind, memory, draw(2), draw(2), pc, bytes);
    access.mask = draw(2) == 0 ? ~0u : static_cast<std::uint32_t>(random() | 1u << draw(32));
    access.pattern = std::array{Pattern::strided, Pattern::uniform, Pattern::scattered}[draw(3)];
    const std::uint32_t places = kMemoryBytes / bytes;
    const std::uint32_t first = draw(places - 31);
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t at = access.pattern == Pattern::strided     ? first + lane
                               : access.pattern == Pattern::scattered ? draw(places)
                                                                      : first;
      access.offset[lane] = at * bytes;
    }
    return access;
  }

  Program program = fake_program(2 * kWrites);
  Reporter reporter;
  std::unique_ptr<Checker> checker = make_noncoherent_reads_checker(reporter);
  FakeLaunch launch{program, {&reporter, checker.get()}};
  FakeMemory memory{1, ptx::Space::global, kMemoryBytes, "g"};
};

// Of each word, the last thread that wrote there, and the written bytes.
struct WrittenWord {
  AccessSide side;
  std::set<std::uint32_t> bytes;
};

TEST_F(NoncoherentReads, FindsWhatARecordOfEachByteFinds) {
  std::mt19937 random(20);
  std::size_t found = 0;
  for (int trial = 0; trial < 500; ++trial) {
    reporter.reset();
    launch.start({2, 1, 1}, {64, 1, 1});
    for (std::uint32_t block : {0u, 1u}) launch.start_block(block, block);
    std::map<std::uint32_t, WrittenWord> words;
    // By the pcs: both sides of the first finding.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<AccessSide>> expected;
    for (int i = 0; i < 12; ++i) {
      Access access = random_access(random);
      tell(access);
      for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
        if ((access.mask >> lane & 1) == 0) continue;
        const AccessSide side = reporter.side(role_name(access.kind), program, access.pc,
                                              thread_of(access.place, lane));
        const WrittenWord* read = nullptr;
        for (std::uint32_t at = access.offset[lane]; at < access.offset[lane] + access.bytes;
             ++at) {
          if (access.kind != AccessKind::read) {
            words[at / 4].side = side;
            words[at / 4].bytes.insert(at);
          } else if (read == nullptr && words[at / 4].bytes.contains(at)) {
            read = &words[at / 4];
          }
        }
        if (read == nullptr) continue;
        expected.try_emplace({read->side.instruction, access.pc}, std::vector{read->side, side});
      }
    }
    ASSERT_EQ(reporter.findings().size(), expected.size()) << trial;
    for (const Finding& finding : reporter.findings()) {
      EXPECT_EQ(finding.kind, FindingKind::data_race);
      EXPECT_EQ(finding.lack, Lack::coherent_read);
      const auto sides =
          expected.find({finding.accesses[0].instruction, finding.accesses[1].instruction});
      ASSERT_NE(sides, expected.end()) << trial;
      EXPECT_EQ(finding.accesses, sides->second) << trial;
    }
    found += expected.size();
  }
  EXPECT_GT(found, 500u);
}

TEST_F(NoncoherentReads, EarlierLaunchesAndOtherMemoryDoNotCount) {
  FakeMemory other{2, ptx::Space::global, kMemoryBytes, "h"};
  launch.start({1, 1, 1}, {64, 1, 1});
  launch.start_block(0, 0);
  launch.strided(AccessKind::write, memory, 0, 0, 1);
  launch.strided(AccessKind::read, other, 0, 0, kWrites);
  launch.strided(AccessKind::read, memory, 0, 0, kWrites, 32);
  EXPECT_TRUE(reporter.findings().empty());
  launch.start({1, 1, 1}, {64, 1, 1});
  launch.start_block(0, 0);
  launch.strided(AccessKind::read, memory, 0, 0, kWrites);
  EXPECT_TRUE(reporter.findings().empty());
  launch.strided(AccessKind::write, memory, 0, 0, 1);
  EXPECT_TRUE(reporter.findings().empty());
  launch.strided(AccessKind::read, memory, 0, 0, kWrites);
  EXPECT_EQ(reporter.findings().size(), 1u);
}

// Other memory may get the id of freed memory.
TEST_F(NoncoherentReads, FreedMemoryIsForgotten) {
  launch.start({1, 1, 1}, {64, 1, 1});
  launch.start_block(0, 0);
  launch.strided(AccessKind::write, memory, 0, 0, 1);
  checker->on_free(memory.allocation());
  launch.strided(AccessKind::read, memory, 0, 0, kWrites);
  EXPECT_TRUE(reporter.findings().empty());
}

}  // namespace
}  // namespace warpcheck::vgpu
