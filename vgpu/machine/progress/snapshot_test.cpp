// A look-ahead leaves nothing behind, and calls its own observers alone.
#include "vgpu/machine/progress/snapshot.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "vgpu/program/program.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {
namespace {

class Counter final : public Observer {
 public:
  void on_trap(const Trap& /*trap*/) override { ++traps; }
  int traps = 0;
};

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() {
    request_.program = &program_;
    request_.grid = request_.block = {1, 1, 1};
    launch_.begin(request_, WarpModel::independent, policy_, {});
    own_list_.add(own_);
    launch_.begin_observers(own_list_, false, false);
    ahead_list_.add(ahead_);
    ahead_observers_.list = &ahead_list_;
    slot_.warps.resize(2);
    for (Warp& warp : slot_.warps) {
      warp.fragments.assign({.pc = 3, .mask = 1, .callers = {}});
      warp.words.reset(64);
    }
    launch_.pass_time(5);
    launch_.count_fault();
  }
  void fail() { launch_.halt(Trap{}); }
  std::byte& word_of(std::size_t warp) { return *slot_.warps[warp].words.data(); }

  DeviceMemory memory_;
  Allocation* allocation_ = memory_.allocate(64);
  Program program_;
  Launch request_;
  DefaultPolicy policy_;
  RunningLaunch launch_{memory_};
  ClusterBarriers cluster_barriers_{launch_};
  Counter own_, ahead_;
  ObserverList own_list_, ahead_list_;
  Observers ahead_observers_;
  Slot slot_;
};

TEST_F(SnapshotTest, OnlyTheObserversOfTheLookAheadAreCalledUntilItEnds) {
  {
    const Snapshot snapshot(launch_, cluster_barriers_, ahead_observers_);
    fail();
  }
  EXPECT_EQ(ahead_.traps, 1);
  EXPECT_EQ(own_.traps, 0);
  fail();
  EXPECT_EQ(ahead_.traps, 1);
  EXPECT_EQ(own_.traps, 1);
}

TEST_F(SnapshotTest, TheOutcomeIsCountedAnewAndRestored) {
  {
    const Snapshot snapshot(launch_, cluster_barriers_, ahead_observers_);
    EXPECT_EQ(launch_.outcome().faults, 0u);
    EXPECT_EQ(snapshot.time_ahead(), 5u);
    fail();
    launch_.pass_time(100);
  }
  EXPECT_EQ(launch_.outcome().faults, 1u);
  EXPECT_EQ(launch_.outcome().end, Outcome::End::completed);
  EXPECT_EQ(launch_.time_ahead(), 5u);
}

TEST_F(SnapshotTest, SavedWarpsMemoryAndBarriersAreRestored) {
  cluster_barriers_.begin_cluster(0, 32);
  std::memset(allocation_->data, 7, 4);
  {
    Snapshot snapshot(launch_, cluster_barriers_, ahead_observers_);
    snapshot.save(slot_, 1, 1);
    slot_.phase = 7;
    for (Warp& warp : slot_.warps) {
      warp.fragments.clear();
      warp.accesses = 9;
    }
    word_of(0) = word_of(1) = std::byte{1};
    cluster_barriers_.begin_cluster(0, 64);
    Access access;
    access.allocation = allocation_;
    access.bytes = 4;
    snapshot.changes().add(access, 0);
    std::memset(allocation_->data, 1, 4);
  }
  EXPECT_EQ(slot_.phase, 0u);
  EXPECT_EQ(slot_.warps[1].fragments.size(), 1u);
  EXPECT_EQ(slot_.warps[1].accesses, 0u);
  EXPECT_EQ(word_of(1), std::byte{0});
  EXPECT_EQ(allocation_->data[0], std::byte{7});
  EXPECT_EQ(cluster_barriers_.state_of(0).live_lanes, 32u);
  // The other warp was not saved, because it was not to run.
  EXPECT_TRUE(slot_.warps[0].fragments.empty());
  EXPECT_EQ(word_of(0), std::byte{1});
}

TEST_F(SnapshotTest, ABlockIsSavedOnceUntilItIsRestored) {
  Snapshot snapshot(launch_, cluster_barriers_, ahead_observers_);
  snapshot.save(slot_, 0, 2);
  slot_.phase = 1;
  snapshot.save(slot_, 0, 2);
  slot_.phase = 2;
  snapshot.restore();
  EXPECT_EQ(slot_.phase, 0u);
  slot_.phase = 3;
  snapshot.save(slot_, 0, 2);
  slot_.phase = 4;
  snapshot.restore();
  EXPECT_EQ(slot_.phase, 3u);
}

}  // namespace
}  // namespace warpcheck::vgpu
