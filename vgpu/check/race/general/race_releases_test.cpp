// Which releases of a thread the reader of a flag acquires, where the thread has released several
// times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Order;
using ptx::Scope;

class RaceReleases : public testing::Test {
 protected:
  RaceReleases() {
    checker.reset(WarpModel::independent);
    program.synchronizes_threads = true;
    launch.start({2, 1, 1}, {64, 1, 1});
    for (std::uint32_t block = 0; block < 2; ++block) {
      launch.start_block(block, block, block == 0 ? &shared : nullptr);
    }
  }
  // Thread 0 of a warp makes a strong access to g[1].
  void flag(AccessKind kind, std::uint32_t block, std::uint32_t warp, Order order, Scope scope) {
    launch.strong(kind, global, block, 32 * warp, 10 + warp, 1, order, scope);
  }
  void fence(std::uint32_t block, std::uint32_t warp, Order order) {
    launch.fence(block, warp, 1, order);
  }
  void data(AccessKind kind, std::uint32_t block, std::uint32_t warp) {
    launch.one(kind, global, block, 32 * warp, 1, 0);
  }
  // The narrow scopes let the accesses to the flag race, too.
  std::ptrdiff_t races_of_data() {
    return std::ranges::count_if(reporter.findings(), [](const Finding& finding) {
      return finding.accesses[0].line == 101;
    });
  }

  Program program = fake_program();
  Reporter reporter;
  RaceChecker checker{reporter, race_row_functions(simd_level())};
  FakeLaunch launch{program, {&reporter, &checker}};
  FakeMemory shared{0, ptx::Space::shared, 4096, "s"};
  FakeMemory global{1, ptx::Space::global, 4096, "g"};
};

// The first release reaches further than the second one.  An atomic of the same block that reaches
// as far reads the second.
TEST_F(RaceReleases, ALaterReleaseOfANarrowScopeHidesNoWiderOne) {
  data(AccessKind::write, 0, 0);
  flag(AccessKind::write, 0, 0, Order::release, Scope::gpu);
  flag(AccessKind::write, 0, 0, Order::release, Scope::cta);
  flag(AccessKind::atomic, 0, 1, Order::relaxed, Scope::gpu);
  flag(AccessKind::read, 1, 0, Order::acquire, Scope::gpu);
  data(AccessKind::read, 1, 0);
  EXPECT_EQ(races_of_data(), 0);
}

TEST_F(RaceReleases, AReleaseOfANarrowScopeReachesNoOtherBlock) {
  data(AccessKind::write, 0, 0);
  flag(AccessKind::write, 0, 0, Order::release, Scope::cta);
  flag(AccessKind::atomic, 0, 1, Order::relaxed, Scope::gpu);
  flag(AccessKind::read, 1, 0, Order::acquire, Scope::gpu);
  data(AccessKind::read, 1, 0);
  EXPECT_EQ(races_of_data(), 1);
}

TEST_F(RaceReleases, AFenceOfAWideScopeCountsBesideAReleaseOfANarrowOne) {
  data(AccessKind::write, 0, 0);
  fence(0, 0, Order::acq_rel);
  flag(AccessKind::write, 0, 0, Order::release, Scope::cta);
  flag(AccessKind::atomic, 0, 1, Order::relaxed, Scope::gpu);
  flag(AccessKind::read, 1, 0, Order::acquire, Scope::gpu);
  data(AccessKind::read, 1, 0);
  EXPECT_EQ(races_of_data(), 0);
}

// The order of fence.sc hands on only what came before the first of them, whatever the thread has
// released since by other fences: the fence of block 1 is of another thread than the read.
TEST_F(RaceReleases, AnotherFenceAfterAFenceScIsNoFenceSc) {
  fence(0, 0, Order::sc);
  data(AccessKind::write, 0, 0);
  fence(0, 0, Order::acq_rel);
  flag(AccessKind::write, 0, 0, Order::relaxed, Scope::gpu);
  flag(AccessKind::read, 1, 0, Order::relaxed, Scope::gpu);
  launch.barrier(1);
  fence(1, 1, Order::sc);
  data(AccessKind::read, 1, 1);
  EXPECT_EQ(races_of_data(), 1);
}

TEST_F(RaceReleases, AFenceScBeforeTheFlagIsOne) {
  data(AccessKind::write, 0, 0);
  fence(0, 0, Order::sc);
  flag(AccessKind::write, 0, 0, Order::relaxed, Scope::gpu);
  flag(AccessKind::read, 1, 0, Order::relaxed, Scope::gpu);
  launch.barrier(1);
  fence(1, 1, Order::sc);
  data(AccessKind::read, 1, 1);
  EXPECT_EQ(races_of_data(), 0);
}

TEST_F(RaceReleases, TheFenceOrderThatAFenceHasTakenIsHandedOnByBarriers) {
  data(AccessKind::write, 0, 0);
  fence(0, 0, Order::sc);
  flag(AccessKind::write, 0, 0, Order::relaxed, Scope::gpu);
  flag(AccessKind::read, 1, 0, Order::relaxed, Scope::gpu);
  fence(1, 0, Order::sc);
  launch.barrier(1);
  data(AccessKind::read, 1, 1);
  EXPECT_EQ(races_of_data(), 0);
}

// A thread that polls records the same again and again (repeated_polls.hpp).
TEST_F(RaceReleases, AThreadThatPollsLongFindsTheReleaseThatComesAtLast) {
  data(AccessKind::write, 0, 0);
  for (int i = 0; i < 5; ++i) flag(AccessKind::read, 1, 0, Order::relaxed, Scope::gpu);
  flag(AccessKind::write, 0, 0, Order::release, Scope::gpu);
  for (int i = 0; i < 5; ++i) flag(AccessKind::read, 1, 0, Order::relaxed, Scope::gpu);
  fence(1, 0, Order::acquire);
  data(AccessKind::read, 1, 0);
  EXPECT_EQ(races_of_data(), 0);
}

TEST_F(RaceReleases, AThreadThatPollsLongRacesWithAPlainStore) {
  for (int i = 0; i < 5; ++i) flag(AccessKind::read, 1, 0, Order::relaxed, Scope::gpu);
  EXPECT_EQ(reporter.findings().size(), 0u);
  launch.strided(AccessKind::write, global, 0, 0, 2);
  EXPECT_EQ(reporter.findings().size(), 1u);
  reporter.reset();
  for (int i = 0; i < 5; ++i) flag(AccessKind::read, 1, 1, Order::relaxed, Scope::gpu);
  EXPECT_EQ(reporter.findings().size(), 1u);
}

}  // namespace
}  // namespace warpcheck::vgpu
