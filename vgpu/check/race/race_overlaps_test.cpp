// Numbers in progress at the same time: one is suspended in the middle while others run.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/check/race/race_testing.hpp"

namespace warpcheck::vgpu {
namespace {

using Numbers = std::vector<std::uint32_t>;

// The first launch is checked by epochs or, if the parameter says so, by the general engine.
class OverlapTest : public RaceTest, public testing::WithParamInterface<bool> {
 protected:
  OverlapTest() {
    program.synchronizes_threads = GetParam();
    start(2, 64, 2);
  }
  // A launch of the other program begins beside `suspended`.
  void start_other(const Numbers& suspended, const Numbers& unordered) {
    checker.begins_beside(suspended);
    other.start({2, 1, 1}, {64, 1, 1}, unordered);
    for (std::uint32_t block : {0u, 1u}) other.start_block(block, block, &other_shared);
  }
  void resume(std::uint32_t number, const Numbers& known = {}) { checker.resumes({number, known}); }
  void end(Program& of) {
    Sync sync;
    sync.kind = Sync::Kind::kernel_end;
    sync.program = &of;
    checker.on_sync(sync);
  }

  Program other_program = fake_program();
  FakeLaunch other{other_program, {&reporter, &checker}};
  FakeMemory other_shared{2, ptx::Space::shared, 4096, "t"};
};

INSTANTIATE_TEST_SUITE_P(Engines, OverlapTest, testing::Bool());

TEST_P(OverlapTest, ALaunchRacesWithWhatTheSuspendedOneHasDoneAndDoesLater) {
  launch.one(kWrite, global, 1, 40, 1, 0);
  start_other({0}, {0});
  other.one(kRead, global, 0, 3, 2, 0);
  other.one(kRead, global, 0, 3, 3, 1);
  other.one(kWrite, global, 0, 3, 4, 2);
  end(other_program);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 102"}));
  resume(0);
  launch.one(kWrite, global, 1, 40, 5, 1);
  launch.one(kRead, global, 1, 40, 6, 2);
  EXPECT_EQ(summary(),
            (Lines{"write 101 / read 102", "read 103 / write 105", "write 104 / read 106"}));
}

TEST_P(OverlapTest, ThreadsKeepTheirOrderAcrossASuspension) {
  launch.one(kWrite, global, 0, 0, 1, 0);
  launch.one(kWrite, shared, 0, 0, 2, 0);
  launch.barrier(0);
  launch.one(kWrite, global, 0, 0, 3, 1);
  launch.one(kWrite, shared, 0, 0, 4, 1);
  start_other({0}, {0});
  other.one(kWrite, other_shared, 0, 0, 5, 0);
  other.barrier(0);
  other.one(kRead, other_shared, 0, 40, 6, 0);
  resume(0);
  launch.one(kRead, global, 0, 40, 7, 0);  // after the barrier
  launch.one(kRead, shared, 0, 40, 8, 0);
  launch.one(kRead, global, 0, 0, 9, 1);  // in the same thread
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 0, 40, 10, 1);
  launch.one(kRead, shared, 0, 40, 11, 1);
  EXPECT_EQ(summary(), (Lines{"write 103 / read 110", "write 104 / read 111"}));
  launch.barrier(0);
  launch.one(kWrite, global, 0, 10, 12, 1);
  launch.one(kWrite, shared, 0, 10, 13, 1);
  EXPECT_EQ(summary().size(), 2u);
  launch.one(kRead, global, 1, 0, 14, 1);  // another block
  EXPECT_EQ(summary().back(), "write 112 / read 114");
}

TEST_P(OverlapTest, ThreadsOfALaunchBesideAnotherAreChecked) {
  start_other({0}, {0});
  other.one(kWrite, other_shared, 0, 0, 1, 0);
  other.one(kRead, other_shared, 0, 40, 2, 0);
  other.one(kWrite, global, 0, 0, 3, 0);
  other.one(kRead, global, 1, 0, 4, 0);
  EXPECT_EQ(summary(), (Lines{"write 101 / read 102", "write 103 / read 104"}));
}

// A copy, or the host, tells the suspended launch of what other launches have done until then.
TEST_P(OverlapTest, ASignalOrdersWhatWasDoneBefore) {
  start_other({0}, {0});
  other.one(kWrite, global, 0, 0, 1, 0);
  resume(0, {1});
  launch.one(kRead, global, 0, 0, 2, 0);
  launch.one(kWrite, global, 0, 0, 3, 1);
  EXPECT_EQ(summary(), Lines{});
  resume(1);
  other.one(kWrite, global, 0, 0, 4, 2);
  end(other_program);
  resume(0);
  launch.one(kRead, global, 0, 0, 5, 2);
  EXPECT_EQ(summary(), (Lines{"write 104 / read 105"}));
}

// The host has seen a flag of the suspended launch before it requested the other one.
TEST_P(OverlapTest, ALaunchMayKnowWhatTheSuspendedOneHasDone) {
  launch.one(kWrite, global, 0, 0, 1, 0);
  start_other({0}, {});
  other.one(kRead, global, 0, 0, 2, 0);
  resume(0);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kWrite, global, 0, 0, 3, 1);
  launch.one(kWrite, global, 0, 0, 4, 0);
  resume(1);
  other.one(kRead, global, 0, 0, 5, 1);
  EXPECT_EQ(summary(), (Lines{"read 102 / write 104", "write 103 / read 105"}));
}

// Acquire and release work between launches in progress.
TEST_P(OverlapTest, AFlagBetweenLaunchesOrdersThem) {
  constexpr auto kScope = ptx::Scope::gpu;
  start_other({0}, {0});
  other.one(kWrite, global, 0, 0, 1, 0);
  other.strong(kWrite, global, 0, 0, 2, 8, ptx::Order::release, kScope);
  other.one(kWrite, global, 0, 0, 3, 1);
  resume(0);
  launch.strong(kRead, global, 1, 0, 4, 8, ptx::Order::acquire, kScope);
  launch.one(kRead, global, 1, 0, 5, 0);
  EXPECT_EQ(summary(), Lines{});
  launch.one(kRead, global, 1, 0, 6, 1);
  EXPECT_EQ(summary(), (Lines{"write 103 / read 106"}));
}

// Deferred atomics (deferred_atomics.hpp) of one launch meet accesses of the other.
TEST_P(OverlapTest, AtomicsOfBothAreCompared) {
  launch.strong(kAtomic, global, 0, 0, 1, 0, ptx::Order::relaxed, ptx::Scope::gpu);
  start_other({0}, {0});
  other.strong(kAtomic, global, 1, 0, 2, 0, ptx::Order::relaxed, ptx::Scope::gpu);
  resume(0);
  launch.strong(kAtomic, global, 1, 0, 3, 0, ptx::Order::relaxed, ptx::Scope::gpu);
  EXPECT_EQ(summary(), Lines{});
  resume(1);
  other.one(kRead, global, 0, 0, 4, 0);
  EXPECT_EQ(summary(),
            (Lines{"atomic 101 / read 104", "atomic 102 / read 104", "atomic 103 / read 104"}));
}

// Numbers that come later are compared with both, in whatever order those went on.
TEST_P(OverlapTest, LaterLaunchesAreComparedWithAll) {
  for (const std::uint32_t element : {0u, 1u}) launch.one(kRead, global, 0, 0, 1, element);
  start_other({0}, {0});
  for (const std::uint32_t element : {0u, 1u}) other.one(kRead, global, 0, 0, 2, element);
  resume(0);
  for (const std::uint32_t element : {0u, 1u}) launch.one(kRead, global, 1, 0, 3, element);
  end(program);
  end(other_program);
  const std::array<std::uint32_t, 1> second{1};
  launch.start({1, 1, 1}, {32, 1, 1}, second);
  launch.start_block(0);
  launch.one(kWrite, global, 0, 0, 4, 0);
  EXPECT_EQ(summary(), (Lines{"read 102 / write 104"}));
  end(program);
  launch.start({1, 1, 1}, {32, 1, 1});
  launch.start_block(0);
  launch.one(kWrite, global, 0, 0, 5, 1);
  EXPECT_EQ(summary(), (Lines{"read 102 / write 104"}));
}

}  // namespace
}  // namespace warpcheck::vgpu
