#include "vgpu/check/order/thread_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "vgpu/check/order/order_testing.hpp"

namespace warpcheck::vgpu {
namespace {

using Before = ThreadOrder::Before;

class ThreadOrderTest : public OrderTest {};
class LockstepOrderTest : public OrderTest {
 protected:
  LockstepOrderTest() : OrderTest(WarpModel::lockstep) {}
};

TEST_F(ThreadOrderTest, ProgramOrderIsThatOfOneLane) {
  start(1, 64);
  const Done done = act(at(0), 3);
  EXPECT_TRUE(knows(at(0), 3, done));
  EXPECT_FALSE(knows(at(0), 4, done));
  EXPECT_FALSE(knows(at(0, 1), 3, done));
}

TEST_F(LockstepOrderTest, ProgramOrderIsThatOfTheWarp) {
  start(1, 64);
  const Done done = act(at(0), 3);
  EXPECT_TRUE(knows(at(0), 4, done));
  EXPECT_FALSE(knows(at(0, 1), 3, done));
  EXPECT_EQ(order.before(done.segment, done.segment, at(0)), Before::all_lanes);
}

TEST_F(ThreadOrderTest, ABarrierOrdersItsBlockAlone) {
  start(2, 64);
  const Done done = act(at(0), 3), other = act(at(1), 3);
  order.complete_barrier(at(0));
  const Done behind = act(at(0), 3);
  EXPECT_NE(behind.segment, done.segment);
  EXPECT_TRUE(knows(at(0, 1), 31, done));
  EXPECT_FALSE(knows(at(0, 1), 31, other));
  EXPECT_FALSE(knows(at(0, 1), 31, behind));
  EXPECT_FALSE(knows(at(1), 0, done));
  EXPECT_EQ(order.before(done.segment, behind.segment, at(0)), Before::all_lanes);
  EXPECT_EQ(order.before(other.segment, behind.segment, at(0)), Before::no_lane);
}

TEST_F(ThreadOrderTest, ABarrierHandsOnWhatOneThreadHasLearned) {
  start(2, 64);
  const Done done = act(at(0), 3);
  const Moment moment = order.threads().release(at(0), 3);
  order.threads().learn(at(1), 5, order.threads().clock_of(moment, at(0), 3));
  EXPECT_TRUE(knows(at(1), 5, done));
  EXPECT_FALSE(knows(at(1, 1), 6, done));
  order.complete_barrier(at(1));
  EXPECT_TRUE(knows(at(1, 1), 6, done));
  const Done later = act(at(0), 3);
  order.complete_barrier(at(1));
  EXPECT_FALSE(knows(at(1), 5, later));
}

TEST_F(ThreadOrderTest, WhoLearnsAReleaseKnowsWhatCameBeforeIt) {
  start(2, 64);
  const Done before = act(at(0), 3), neighbour = act(at(0), 4);
  const Moment moment = order.threads().release(at(0), 3);
  const Done after = act(at(0), 3);
  EXPECT_NE(after.segment, before.segment);
  const Done mine = act(at(1, 1), 9);
  order.threads().learn(at(1, 1), 9, order.threads().clock_of(moment, at(0), 3));
  EXPECT_TRUE(knows(at(1, 1), 9, before));
  EXPECT_FALSE(knows(at(1, 1), 9, neighbour));
  EXPECT_FALSE(knows(at(1, 1), 9, after));
  EXPECT_FALSE(knows(at(1, 1), 8, before));
  const Done now = act(at(1, 1), 9);
  EXPECT_NE(now.segment, mine.segment);  // it has learned something
  EXPECT_EQ(order.before(before.segment, now.segment, at(1, 1)), Before::some_lanes);
}

TEST_F(ThreadOrderTest, LanesThatMeetKnowEachOther) {
  start(1, 64);
  const Done inside = act(at(0), 3), outside = act(at(0), 20);
  meet(at(0), 0x0000ffff);
  EXPECT_TRUE(knows(at(0), 0, inside));
  EXPECT_FALSE(knows(at(0), 0, outside));
  EXPECT_FALSE(knows(at(0), 20, inside));
  EXPECT_FALSE(knows(at(0, 1), 0, inside));
  meet(at(0), ~0u);
  EXPECT_TRUE(knows(at(0), 0, outside));
  EXPECT_TRUE(knows(at(0), 20, inside));
  EXPECT_FALSE(knows(at(0), 20, act(at(0), 1)));
}

TEST_F(ThreadOrderTest, AWholeWarpThatMeetsKeepsOneState) {
  start(1, 64);
  const Done done = act(at(0), 3);
  meet(at(0), ~0u);
  EXPECT_TRUE(order.threads().are_alike(at(0), ~0u));
  EXPECT_TRUE(knows(at(0), 30, done));
  const Done now = act(at(0), 3);
  EXPECT_EQ(order.before(done.segment, now.segment, at(0)), Before::all_lanes);
}

// The last warp of a block may have fewer lanes than 32.
TEST_F(ThreadOrderTest, AllLanesOfASmallWarpAreAllLanes) {
  start(1, 40);
  const WarpLanes both[] = {{0, ~0u}, {1, 0xff}}, consumer[] = {{0, ~0u}};
  const Done small = act(at(0, 1));
  WarpPlace barrier = at(0);
  barrier.warp = 1;  // its number
  order.meet({.program = &program, .place = barrier, .arrived = both, .released = consumer});
  EXPECT_EQ(order.before(small.segment, act(at(0)).segment, at(0)), Before::all_lanes);
  const Done whole = act(at(0));
  meet(at(0, 1), 0xff);
  EXPECT_EQ(order.before(whole.segment, act(at(0, 1)).segment, at(0, 1)), Before::no_lane);
}

// bar.arrive passes on what came before it.
TEST_F(ThreadOrderTest, AnArrivalPassesOnWhatCameBeforeItAlone) {
  start(1, 64);
  const WarpLanes producer[] = {{0, ~0u}}, both[] = {{0, ~0u}, {1, ~0u}}, consumer[] = {{1, ~0u}};
  WarpPlace barrier = at(0);
  barrier.warp = 1;  // its number
  const Done before = act(at(0), 3), own = act(at(0, 1), 3);
  order.meet({.program = &program, .place = barrier, .arrived = producer, .released = {}});
  const Done after = act(at(0), 3);
  order.meet({.program = &program, .place = barrier, .arrived = both, .released = consumer});
  EXPECT_TRUE(knows(at(0, 1), 8, before));
  EXPECT_TRUE(knows(at(0, 1), 8, own));
  EXPECT_FALSE(knows(at(0, 1), 8, after));
  EXPECT_FALSE(knows(at(0), 3, own));  // it has not waited
}

// A block that ends may leave arrivals at a barrier that is never complete.
TEST_F(ThreadOrderTest, AnArrivalEndsWithItsBlock) {
  start(2, 64);
  const WarpLanes producer[] = {{0, ~0u}}, both[] = {{0, ~0u}, {1, ~0u}}, consumer[] = {{1, ~0u}};
  WarpPlace barrier = at(0);
  barrier.warp = 1;  // its number
  order.meet({.program = &program, .place = barrier, .arrived = producer, .released = {}});
  WarpPlace next = at(0);
  next.block = barrier.block = 1;
  order.begin_block(next);
  const Done before = act(next, 3);
  order.meet({.program = &program, .place = barrier, .arrived = both, .released = consumer});
  next.warp = 1;
  EXPECT_TRUE(knows(next, 8, before));
}

TEST_F(ThreadOrderTest, LaunchesAreOrderedUnlessItIsSaid) {
  start(1, 32);
  const Done first = act(at(0), 1);
  start(1, 32);
  const Done second = act(at(0), 1);
  EXPECT_TRUE(knows(at(0), 0, first));
  const std::array<std::uint32_t, 1> unordered{1};
  start(1, 32, unordered);
  EXPECT_TRUE(knows(at(0), 0, first));
  EXPECT_FALSE(knows(at(0), 1, second));
}

TEST_F(ThreadOrderTest, ALaunchFromTheDeviceKnowsWhatItsThreadDid) {
  start(1, 32);
  const Done done = act(at(0), 4), other = act(at(0), 5);
  order.launch_from({.program = &program, .place = at(0), .lane = 4, .number = 9});
  const Done after = act(at(0), 4);
  LaunchShape child;
  child.program = &program;
  child.block = {32, 1, 1};
  child.launched_as = 9;
  const std::array<std::uint32_t, 1> unordered{0};
  order.begin_launch(child, unordered);
  order.begin_block(at(0));
  EXPECT_TRUE(knows(at(0), 17, done));
  EXPECT_FALSE(knows(at(0), 17, other));
  EXPECT_FALSE(knows(at(0), 17, after));
}

// What belongs to a launch comes back with it.
TEST_F(ThreadOrderTest, ASuspendedLaunchGoesOnWithWhatItKnew) {
  start(2, 64);
  const Done done = act(at(0), 3);
  meet(at(0), 0xff);
  order.complete_barrier(at(1));
  const Tick phase = order.threads().phase_of(at(1));
  order.suspend();
  start(1, 32);
  const std::array<std::uint32_t, 1> suspended{0};
  order.begin_beside(suspended);
  EXPECT_EQ(order.launches().first_block(), 2u);
  EXPECT_TRUE(order.launches().have_overlapped());
  // The host has seen what the launch had done when it requested this one.
  EXPECT_TRUE(knows(at(0), 0, done));
  const Done beside = act(at(0), 0);
  order.suspend();
  order.resume(0);
  EXPECT_EQ(order.launches().current(), 0u);
  EXPECT_EQ(order.launches().first_block(), 0u);
  EXPECT_EQ(order.threads().phase_of(at(1)), phase);
  EXPECT_TRUE(knows(at(0), 0, done));
  EXPECT_FALSE(knows(at(0), 20, done));
  EXPECT_FALSE(knows(at(0), 0, beside));
  const Done unaware = act(at(0), 0);
  const std::array<std::uint32_t, 1> signal{1};
  order.learn_of(signal);
  EXPECT_TRUE(knows(at(0), 0, beside));
  EXPECT_NE(act(at(0), 0).segment, unaware.segment);
  const Done later = act(at(0), 3);
  order.suspend();
  order.resume(1);
  EXPECT_TRUE(knows(at(0), 0, done));
  EXPECT_FALSE(knows(at(0), 0, later));
}

TEST_F(ThreadOrderTest, SegmentsKeepTheirOrderWhenOthersAreForgotten) {
  start(2, 32);
  std::vector<Done> kept;
  for (int i = 0; i < 4; ++i) {
    const Done done = act(at(0), 2);
    if (i % 2 == 0) kept.push_back(done);
    order.threads().release(at(0), 2);
  }
  const Moment moment = order.threads().release(at(0), 2);
  order.threads().learn(at(1), 0, order.threads().clock_of(moment, at(0), 2));
  const Done after = act(at(0), 2);
  std::vector<bool> live(order.segments().count());
  for (const Done& done : kept) live[done.segment] = true;
  const std::uint32_t before = order.segments().count();
  const std::vector<SegmentId> renewed = order.forget_segments(std::move(live));
  EXPECT_LT(order.segments().count(), before);
  for (const Done& done : kept) EXPECT_TRUE(knows(at(1), 0, {renewed[done.segment], 2}));
  EXPECT_FALSE(knows(at(1), 0, {renewed[after.segment], 2}));
  EXPECT_EQ(act(at(0), 2).segment, renewed[after.segment]);  // a segment in progress stays
}

TEST_F(ThreadOrderTest, ThePlaceInTheBlockOfAPartialWarpIsThatOfItsThreads) {
  start(1, 40);
  EXPECT_EQ(order.threads().warps(), 2u);
  EXPECT_EQ(order.threads().lanes_of(0), ~0u);
  EXPECT_EQ(order.threads().lanes_of(1), 0xffu);
  EXPECT_TRUE(order.threads().are_alike(at(0, 1), 0xff));
  EXPECT_FALSE(order.threads().are_alike(at(0, 1), 0x7f));
  order.threads().release(at(0, 1), 2);
  EXPECT_FALSE(order.threads().are_alike(at(0, 1), 0xff));
}

class EarlyLaunchesTest : public OrderTest {
 protected:
  void control(const WarpPlace& place, std::uint32_t lanes, bool waits) {
    Fence fence;
    fence.program = &program;
    fence.place = place;
    fence.mask = lanes;
    fence.waits_for_grid = waits;
    fence.lets_grid_begin = !waits;
    order.control_grids(fence);
  }
};

TEST_F(EarlyLaunchesTest, AThreadThatHasWaitedComesAfterThePreviousLaunch) {
  start(1, 32);
  const Done done = act(at(0), 3);
  order.end_block(at(0));
  start(1, 32, {}, 0);
  EXPECT_FALSE(knows(at(0), 0, done));
  EXPECT_TRUE(order.launches().early().is_open_at_start(0));
  control(at(0), 0x0f, true);
  EXPECT_TRUE(knows(at(0), 0, done));
  EXPECT_FALSE(knows(at(0), 8, done));
  order.complete_barrier(at(0));
  EXPECT_TRUE(knows(at(0), 8, done));
}

TEST_F(EarlyLaunchesTest, ALaunchThatNeverWaitsLeavesTheOneBeforeOpen) {
  start(1, 32);
  const Done first = act(at(0), 3);
  start(1, 32, {}, 0);
  start(1, 32, {}, 1);
  const std::vector<std::uint32_t> open{1, 0};
  EXPECT_EQ(order.launches().early().open_at_start(), open);
  EXPECT_TRUE(order.launches().early().is_open_after_wait(0));
  control(at(0), ~0u, true);
  EXPECT_FALSE(knows(at(0), 3, first));  // launch 1 did not wait for it
}

TEST_F(EarlyLaunchesTest, ABlockThatWaitsBeforeItTriggersClosesTheLaunchBefore) {
  for (const bool waits_first : {true, false}) {
    order.reset(WarpModel::independent);
    start(1, 32);
    start(2, 32, {}, 0);
    for (const std::uint32_t block : {0u, 1u}) {
      if (waits_first && block == 1) control(at(block), ~0u, true);
      control(at(block), ~0u, false);
      if (!waits_first && block == 1) control(at(block), ~0u, true);
      order.end_block(at(block));
    }
    EXPECT_EQ(order.launches().early().before(), 0u);
    start(1, 32, {}, 1);
    EXPECT_TRUE(order.launches().early().has_let(1));
    EXPECT_EQ(order.launches().early().is_open_at_start(0), !waits_first);
    EXPECT_FALSE(order.launches().early().is_open_after_wait(0));
  }
}

TEST(LaunchShapes, ClustersAreBlocksThatLieTogether) {
  LaunchOrder order;
  order.reset();
  LaunchShape shape;
  shape.grid = {4, 4, 1};
  shape.cluster = {2, 2, 1};
  order.begin({}, {}, ptx::kNone);
  order.begin(shape, {}, ptx::kNone);
  EXPECT_EQ(order.first_block(), 1u);
  EXPECT_TRUE(order.has_clusters());
  EXPECT_EQ(order.cluster_of(1 + 0), 1u);
  EXPECT_EQ(order.cluster_of(1 + 5), 1u);
  EXPECT_EQ(order.cluster_of(1 + 2), 1u + 2);
  EXPECT_EQ(order.cluster_of(1 + 13), 1u + 8);
  EXPECT_EQ(order.cluster_of(0), 0u);  // of another launch
  EXPECT_EQ(order.reach_of(ptx::Scope::cluster), Reach::cluster);
  EXPECT_EQ(order.reach_of(ptx::Scope::cta), Reach::block);
  EXPECT_EQ(order.reach_of(ptx::Scope::gpu), Reach::grid);
}

TEST(LaunchShapes, TheScopeOfADeviceReachesTheDevice) {
  LaunchOrder order;
  order.reset();
  for (const unsigned device : {0u, 1u}) {
    LaunchShape shape;
    shape.grid = {2, 1, 1};
    shape.device = device;
    shape.devices = 2;
    order.begin(shape, {}, ptx::kNone);
  }
  EXPECT_EQ(order.reach_of(ptx::Scope::gpu), Reach::cluster);
  EXPECT_EQ(order.reach_of(ptx::Scope::sys), Reach::grid);
  EXPECT_EQ(order.reach_of(ptx::Scope::cluster), Reach::block);
  EXPECT_EQ(order.group_of(0), order.group_of(1));
  EXPECT_NE(order.group_of(1), order.group_of(2));
  EXPECT_EQ(order.group_of(3), 1u);
}

}  // namespace
}  // namespace warpcheck::vgpu
