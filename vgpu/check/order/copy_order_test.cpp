// The order of asynchronous copies, of mbarriers and of fences between proxies.
#include "vgpu/check/order/copy_order.hpp"

#include <gtest/gtest.h>

#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/order/order_testing.hpp"
#include "vgpu/check/order/proxy_fences.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Scope;

class CopyOrderTest : public OrderTest {
 protected:
  Done copy(const WarpPlace& place, unsigned lane) { return {order.segment_of(place, true), lane}; }
  Done bulk(const WarpPlace& place, unsigned lane, bool reads) {
    return {order.copies().segment_of_group(place, reads), lane};
  }
  void commit(const WarpPlace& place, std::uint32_t lanes, bool is_bulk = false) {
    order.copies().commit({.program = &program, .place = place, .mask = lanes, .bulk = is_bulk});
  }
  void wait(const WarpPlace& place, std::uint32_t lanes, std::uint32_t left) {
    order.copies().wait({.program = &program, .place = place, .mask = lanes, .groups_left = left});
  }
  void wait_bulk(const WarpPlace& place, std::uint32_t lanes, bool reads_only) {
    CopyWait wait;
    wait.program = &program;
    wait.place = place;
    wait.mask = lanes;
    wait.bulk = true;
    wait.reads_only = reads_only;
    order.copies().wait(wait);
  }
};

TEST_F(CopyOrderTest, ACopyIsInTheOrderOfNoThreadUntilItIsWaitedFor) {
  start(1, 64);
  const Done first = copy(at(0), 3);
  EXPECT_FALSE(knows(at(0), 3, first));
  commit(at(0), 1u << 3);
  const Done second = copy(at(0), 3);
  EXPECT_NE(second.segment, first.segment);
  commit(at(0), 1u << 3);
  wait(at(0), 1u << 3, 2);
  EXPECT_FALSE(knows(at(0), 3, first));
  wait(at(0), 1u << 3, 1);
  EXPECT_TRUE(knows(at(0), 3, first));
  EXPECT_FALSE(knows(at(0), 3, second));
  EXPECT_FALSE(knows(at(0), 4, first));
  wait(at(0), 1u << 3, 0);
  EXPECT_TRUE(knows(at(0), 3, second));
}

// The wait of one warp orders what each warp of the warpgroup has done before it closed the group.
TEST_F(CopyOrderTest, AWaitForProductsKnowsWhatTheWarpgroupDidBeforeThem) {
  program.code[0].kind = InstrKind::group_pending;
  start(1, 128);
  const Done before = act(at(0, 3), 7);
  for (std::uint32_t warp = 0; warp < 4; ++warp) commit(at(0, warp), ~0u);
  const Done behind = act(at(0, 3), 7);
  EXPECT_FALSE(knows(at(0, 1), 5, before));
  wait(at(0, 1), ~0u, 1);
  EXPECT_FALSE(knows(at(0, 1), 5, before));
  wait(at(0, 1), ~0u, 0);
  EXPECT_TRUE(knows(at(0, 1), 5, before));
  EXPECT_FALSE(knows(at(0, 1), 5, behind));
  EXPECT_FALSE(knows(at(0, 2), 5, before));
}

// Lanes that wait together learn only of their own copies, before and after it is written down.
TEST_F(CopyOrderTest, LanesThatWaitTogetherKnowTheirOwnCopies) {
  start(1, 64);
  const Done third = copy(at(0), 3);
  commit(at(0), ~0u);
  wait(at(0), ~0u, 0);
  EXPECT_TRUE(knows(at(0), 3, third));
  EXPECT_FALSE(knows(at(0), 4, third));
  EXPECT_FALSE(knows(at(0, 1), 3, third));
}

TEST_F(CopyOrderTest, ABarrierTellsAllThreadsOfCopiesThatWereWaitedFor) {
  start(1, 64);
  const Done waited = copy(at(0), 3), open = copy(at(0, 1), 3);
  commit(at(0), ~0u);
  commit(at(0, 1), ~0u);
  wait(at(0), ~0u, 0);
  order.complete_barrier(at(0));
  EXPECT_TRUE(knows(at(0, 1), 9, waited));
  EXPECT_FALSE(knows(at(0, 1), 3, open));  // a barrier alone orders no copies
  EXPECT_FALSE(knows(at(0), 9, open));
}

TEST_F(CopyOrderTest, TheReadsOfBulkCopiesCanBeWaitedForAlone) {
  start(1, 32);
  const Done read = bulk(at(0), 3, true), write = bulk(at(0), 3, false);
  commit(at(0), 1u << 3, true);
  wait_bulk(at(0), 1u << 3, true);
  EXPECT_TRUE(knows(at(0), 3, read));
  EXPECT_FALSE(knows(at(0), 3, write));
  wait_bulk(at(0), 1u << 3, false);
  EXPECT_TRUE(knows(at(0), 3, write));
  EXPECT_FALSE(knows(at(0), 4, read));
}

class BarrierObjects : public CopyOrderTest {
 protected:
  using Kind = BarrierObject::Kind;
  BarrierObject event(Kind kind, const WarpPlace& place, std::uint32_t lanes,
                      std::uint64_t phase = 0) {
    BarrierObject event;
    event.kind = kind;
    event.program = &program;
    event.place = place;
    event.mask = lanes;
    event.allocation = &flags.allocation();
    event.offset = 16;
    event.phase = phase;
    return event;
  }
  // The object lies in the shared memory of block 0.
  void pass(const BarrierObject& one) { objects.pass(one, 0); }
  void arrive(const WarpPlace& place, std::uint32_t lanes, std::uint64_t phase = 0) {
    pass(event(Kind::arrive, place, lanes, phase));
  }
  void wait_phase(const WarpPlace& place, std::uint32_t lanes, std::uint64_t phase = 0) {
    pass(event(Kind::wait, place, lanes, phase));
  }
  BarrierObjectOrder objects{order};
};

TEST_F(BarrierObjects, AWaitAcquiresWhatArrived) {
  start(1, 64);
  const Done before = act(at(0), 3), absent = act(at(0), 4);
  arrive(at(0), 1u << 3);
  const Done after = act(at(0), 3);
  wait_phase(at(0, 1), 1u << 6);
  EXPECT_TRUE(knows(at(0, 1), 6, before));
  EXPECT_FALSE(knows(at(0, 1), 6, absent));
  EXPECT_FALSE(knows(at(0, 1), 6, after));
  EXPECT_FALSE(knows(at(0, 1), 7, before));
}

TEST_F(BarrierObjects, AWarpThatArrivesTogetherIsKnownAsAWhole) {
  start(1, 64);
  const Done before = act(at(0), 30);
  arrive(at(0), ~0u);
  wait_phase(at(0, 1), ~0u);
  EXPECT_TRUE(knows(at(0, 1), 0, before));
  EXPECT_TRUE(order.threads().are_alike(at(0, 1), ~0u));
}

TEST_F(BarrierObjects, AWaitForAnEarlierPhaseAcquiresNothingOfTheNext) {
  start(1, 64);
  const Done first = act(at(0), 3);
  arrive(at(0), 1u << 3, 0);
  const Done second = act(at(0), 4);
  arrive(at(0), 1u << 4, 1);
  wait_phase(at(0, 1), 1u << 6, 0);
  EXPECT_TRUE(knows(at(0, 1), 6, first));
  EXPECT_FALSE(knows(at(0, 1), 6, second));
  wait_phase(at(0, 1), 1u << 6, 1);
  EXPECT_TRUE(knows(at(0, 1), 6, second));
}

TEST_F(BarrierObjects, ScopesMatterBetweenBlocksAndOnlyThere) {
  start(2, 32, {}, ptx::kNone, {2, 1, 1});
  const Done far = act(at(1), 3);
  BarrierObject remote = event(Kind::arrive, at(1), 1u << 3);
  pass(remote);  // at block scope
  BarrierObject wait_far = event(Kind::wait, at(0), 1u << 6);
  wait_far.scope = Scope::cluster;
  pass(wait_far);
  EXPECT_FALSE(knows(at(0), 6, far));
  EXPECT_TRUE(objects.is_before_awaited(far.segment, 3, at(0), 6));
  EXPECT_FALSE(objects.is_before_awaited(far.segment, 3, at(0), 7));
  remote.scope = Scope::cluster;
  pass(remote);
  wait_phase(at(0), 1u << 6);  // at block scope
  EXPECT_FALSE(knows(at(0), 6, far));
  pass(wait_far);
  EXPECT_TRUE(knows(at(0), 6, far));
}

TEST_F(BarrierObjects, ARelaxedWaitIsCompletedByAFence) {
  start(1, 64);
  const Done before = act(at(0), 3);
  arrive(at(0), 1u << 3);
  BarrierObject relaxed = event(Kind::wait, at(0, 1), 1u << 6);
  relaxed.relaxed = true;
  pass(relaxed);
  EXPECT_FALSE(knows(at(0, 1), 6, before));
  EXPECT_FALSE(objects.is_before_barrier(before.segment, 3, at(0, 1)));
  objects.complete_barrier(at(0));
  EXPECT_TRUE(objects.is_before_barrier(before.segment, 3, at(0, 1)));
  fence(at(0, 1), 1u << 6, ptx::Order::acquire, Scope::cta);
  EXPECT_TRUE(knows(at(0, 1), 6, before));
}

TEST_F(BarrierObjects, ARelaxedArrivalReleasesWhatAFenceHasReleased) {
  start(1, 64);
  const Done before = act(at(0), 3);
  fence(at(0), 1u << 3, ptx::Order::release, Scope::cta);
  const Done between = act(at(0), 3);
  BarrierObject relaxed = event(Kind::arrive, at(0), 1u << 3);
  relaxed.relaxed = true;
  pass(relaxed);
  wait_phase(at(0, 1), 1u << 6);
  EXPECT_TRUE(knows(at(0, 1), 6, before));
  EXPECT_FALSE(knows(at(0, 1), 6, between));
}

TEST_F(BarrierObjects, CopiesThatAnObjectCountsAreKnownByItsWait) {
  start(1, 64);
  const CopyOrder::Object object{0, 16}, other{0, 32};
  const Done counted{order.copies().segment_of_object(at(0), object, true), 0};
  const Done uncounted{order.copies().segment_of_object(at(0), other, true), 0};
  EXPECT_EQ(objects.wait_for(counted.segment, 0, at(0, 1)), BarrierObjectOrder::Wait::none);
  BarrierObject done = event(Kind::arrive, at(0), 1);
  done.completes = true;
  pass(done);
  const Done later{order.copies().segment_of_object(at(0), object, true), 0};
  wait_phase(at(0, 1), 1u << 6);
  EXPECT_TRUE(knows(at(0, 1), 6, counted));
  EXPECT_FALSE(knows(at(0, 1), 6, uncounted));
  EXPECT_FALSE(knows(at(0, 1), 6, later));
  EXPECT_EQ(objects.wait_for(counted.segment, 0, at(0, 1)), BarrierObjectOrder::Wait::acquired);
}

// cp.async.mbarrier.arrive: the copies of the thread until now, and nothing else that it did.
TEST_F(BarrierObjects, AnArrivalForCopiesReleasesThoseAlone) {
  start(1, 64);
  const Done copied = copy(at(0), 3), plain = act(at(0), 3);
  BarrierObject for_copies = event(Kind::arrive, at(0), 1u << 3);
  for_copies.for_copies = true;
  pass(for_copies);
  wait_phase(at(0, 1), 1u << 6);
  EXPECT_TRUE(knows(at(0, 1), 6, copied));
  EXPECT_FALSE(knows(at(0, 1), 6, plain));
}

TEST_F(BarrierObjects, AnObjectThatIsInitialisedAgainKnowsNothing) {
  start(1, 64);
  const Done before = act(at(0), 3);
  arrive(at(0), 1u << 3);
  VectorClock seen;
  wait_phase(at(0), 1u << 3);
  objects.add_seen(flags.allocation().id, seen);
  EXPECT_TRUE(order.knows(seen, before.segment, 3));
  pass(event(Kind::init, at(0), 1));
  wait_phase(at(0, 1), 1u << 6);
  EXPECT_FALSE(knows(at(0, 1), 6, before));
}

class ProxyFencesTest : public CopyOrderTest {
 protected:
  void fence_proxy(const WarpPlace& place, std::uint32_t lanes, ptx::Space space) {
    proxies.add(
        {.program = &program, .place = place, .mask = lanes, .proxy = true, .space = space});
  }
  ProxyFences proxies{order};
};

TEST_F(ProxyFencesTest, LieBetweenAWriteAndACopyInTheOrderOfTheirThreads) {
  start(1, 64);
  const Done write = act(at(0), 3);
  const auto lies_between = [&](const WarpPlace& place, unsigned lane, ptx::Space space) {
    return proxies.lies_between(write.segment, 3, place, lane, space);
  };
  EXPECT_FALSE(lies_between(at(0), 3, ptx::Space::shared));
  fence_proxy(at(0), 1u << 3, ptx::Space::shared);
  EXPECT_TRUE(lies_between(at(0), 3, ptx::Space::shared));
  EXPECT_FALSE(lies_between(at(0), 3, ptx::Space::global));
  EXPECT_FALSE(lies_between(at(0, 1), 0, ptx::Space::shared));  // the fence does not come before
  order.complete_barrier(at(0));
  EXPECT_TRUE(lies_between(at(0, 1), 0, ptx::Space::shared));
}

TEST_F(ProxyFencesTest, MayBeOfTheThreadThatCopies) {
  start(1, 64);
  const Done write = act(at(0), 3);
  fence_proxy(at(0, 1), 1u << 0, ptx::Space::generic);  // too early
  order.complete_barrier(at(0));
  EXPECT_FALSE(proxies.lies_between(write.segment, 3, at(0, 1), 0, ptx::Space::global));
  fence_proxy(at(0, 1), 1u << 0, ptx::Space::generic);
  EXPECT_TRUE(proxies.lies_between(write.segment, 3, at(0, 1), 0, ptx::Space::global));
}

}  // namespace
}  // namespace warpcheck::vgpu
