// Release and acquire patterns (PTX ISA 8.8), one observation at a time.
#include "vgpu/check/order/sync_variables.hpp"

#include <gtest/gtest.h>

#include "vgpu/check/order/order_testing.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Order;
using ptx::Scope;

class SyncVariablesTest : public OrderTest {
 protected:
  // Performs a strong operation of one lane on a word of `flags`.
  Miss perform(const WarpPlace& place, unsigned lane, AccessKind kind, Order how,
               Scope scope = Scope::gpu, std::uint32_t offset = 0, bool is_reduction = false) {
    Access access;
    access.allocation = &flags.allocation();
    access.program = &program;
    access.place = place;
    access.space = ptx::Space::global;
    access.mask = 1u << lane;
    access.kind = kind;
    access.order = how;
    access.scope = scope;
    access.bytes = access.element_bytes = 4;
    access.offset[lane] = offset;
    StrongOperation operation;
    operation.access = &access;
    operation.lane = lane;
    operation.offset = offset;
    operation.bytes = 4;
    operation.reads = kind != AccessKind::write;
    operation.writes = kind != AccessKind::read;
    operation.may_acquire = !is_reduction;
    operation.block = order.launches().block_key(place);
    operation.fences = &order.threads().at(place, lane).fence;
    Miss miss;
    place_ = variables.perform(operation, miss);
    return miss;
  }
  Miss load(const WarpPlace& place, unsigned lane, Order how, Scope scope = Scope::gpu) {
    return perform(place, lane, AccessKind::read, how, scope);
  }
  void store(const WarpPlace& place, unsigned lane, Order how, Scope scope = Scope::gpu) {
    perform(place, lane, AccessKind::write, how, scope);
  }
  Miss add(const WarpPlace& place, unsigned lane, Order how, Scope scope = Scope::gpu) {
    return perform(place, lane, AccessKind::atomic, how, scope);
  }

  SyncVariables variables{order};
  ChainPlace place_;  // of the latest operation
};

TEST_F(SyncVariablesTest, ReleaseAndAcquireOrder) {
  start(2, 64);
  const Done before = act(at(0), 3), neighbour = act(at(0), 4);
  store(at(0), 3, Order::release);
  const Done after = act(at(0), 3);
  EXPECT_EQ(load(at(1), 5, Order::acquire).missed, Missed::nothing);
  EXPECT_TRUE(knows(at(1), 5, before));
  EXPECT_FALSE(knows(at(1), 5, neighbour));
  EXPECT_FALSE(knows(at(1), 5, after));
  EXPECT_FALSE(knows(at(1), 6, before));
}

TEST_F(SyncVariablesTest, BothSidesAreNeeded) {
  start(2, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::relaxed);
  const Miss miss = load(at(1), 5, Order::acquire);
  EXPECT_EQ(miss.missed, Missed::release);
  EXPECT_EQ(miss.writer_block, 0u);
  EXPECT_EQ(miss.writer_thread, 3u);
  EXPECT_FALSE(knows(at(1), 5, before));
  store(at(0), 3, Order::release);
  EXPECT_EQ(load(at(1), 5, Order::relaxed).missed, Missed::nothing);
  EXPECT_FALSE(knows(at(1), 5, before));
}

TEST_F(SyncVariablesTest, FencesCompleteThePatterns) {
  start(2, 64);
  const Done before = act(at(0), 3);
  fence(at(0), 1u << 3, Order::release);
  const Done between = act(at(0), 3);
  store(at(0), 3, Order::relaxed);
  EXPECT_EQ(load(at(1), 5, Order::relaxed).missed, Missed::nothing);
  EXPECT_FALSE(knows(at(1), 5, before));
  fence(at(1), 1u << 5, Order::release);
  EXPECT_FALSE(knows(at(1), 5, before));
  fence(at(1), 1u << 5, Order::acquire);
  EXPECT_TRUE(knows(at(1), 5, before));
  EXPECT_FALSE(knows(at(1), 5, between));
}

TEST_F(SyncVariablesTest, AFenceThatAcquiresReleasesNothing) {
  start(2, 64);
  const Done before = act(at(0), 3);
  fence(at(0), 1u << 3, Order::acquire);
  store(at(0), 3, Order::relaxed);
  EXPECT_EQ(load(at(1), 5, Order::acquire).missed, Missed::release);
  EXPECT_FALSE(knows(at(1), 5, before));
  fence(at(0), 1u << 3, Order::acq_rel);
  store(at(0), 3, Order::relaxed);
  EXPECT_EQ(load(at(1), 5, Order::acquire).missed, Missed::nothing);
  EXPECT_TRUE(knows(at(1), 5, before));
}

TEST_F(SyncVariablesTest, AFenceAcquiresWhatItsScopeReaches) {
  start(2, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release);
  load(at(1), 5, Order::relaxed);
  fence(at(1), 1u << 5, Order::acquire, Scope::cta);
  EXPECT_FALSE(knows(at(1), 5, before));
  load(at(0, 1), 5, Order::relaxed);
  fence(at(0, 1), 1u << 5, Order::acquire, Scope::cta);
  EXPECT_TRUE(knows(at(0, 1), 5, before));
  fence(at(1), 1u << 5, Order::acq_rel);
  EXPECT_TRUE(knows(at(1), 5, before));
}

TEST_F(SyncVariablesTest, ScopesMustIncludeEachOther) {
  start(2, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release, Scope::cta);
  EXPECT_EQ(load(at(1), 5, Order::acquire).missed, Missed::scope);
  EXPECT_FALSE(knows(at(1), 5, before));
  EXPECT_EQ(load(at(0, 1), 5, Order::acquire).missed, Missed::nothing);
  EXPECT_TRUE(knows(at(0, 1), 5, before));
}

TEST_F(SyncVariablesTest, AReleaseAtBlockScopeReachesItsBlock) {
  start(2, 64);
  const Done before = act(at(0), 3);
  fence(at(0), 1u << 3, Order::release, Scope::cta);
  store(at(0), 3, Order::relaxed);
  EXPECT_EQ(load(at(1), 5, Order::acquire).missed, Missed::release_scope);
  EXPECT_FALSE(knows(at(1), 5, before));
  EXPECT_EQ(load(at(0, 1), 5, Order::acquire).missed, Missed::nothing);
  EXPECT_TRUE(knows(at(0, 1), 5, before));
}

// 8.9.2: a chain of atomics passes a release on; a store ends it.
TEST_F(SyncVariablesTest, AtomicsPassAReleaseOn) {
  start(3, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release);
  const ChainPlace first = place_;
  add(at(1), 5, Order::relaxed);
  EXPECT_EQ(place_.chain, first.chain);
  EXPECT_EQ(place_.position, first.position + 1);
  const Done middle = act(at(1), 5);
  EXPECT_FALSE(knows(at(1), 5, before));
  load(at(2), 7, Order::acquire);
  EXPECT_TRUE(knows(at(2), 7, before));
  EXPECT_FALSE(knows(at(2), 7, middle));
  store(at(1), 6, Order::relaxed);
  EXPECT_NE(place_.chain, first.chain);
  EXPECT_EQ(load(at(2), 8, Order::acquire).missed, Missed::release);
  EXPECT_FALSE(knows(at(2), 8, before));
}

TEST_F(SyncVariablesTest, AChainNeedsScopesThatIncludeEachOther) {
  start(3, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release);
  add(at(1), 5, Order::relaxed, Scope::cta);
  EXPECT_EQ(load(at(2), 7, Order::acquire).missed, Missed::scope);
  EXPECT_FALSE(knows(at(2), 7, before));
}

TEST_F(SyncVariablesTest, AReductionAcquiresNothing) {
  start(2, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release);
  perform(at(1), 5, AccessKind::atomic, Order::acq_rel, Scope::gpu, 0, true);
  EXPECT_FALSE(knows(at(1), 5, before));
}

TEST_F(SyncVariablesTest, ALaterWriteOfTheReleasingThreadReleasesToo) {
  start(2, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release);
  const Done between = act(at(0), 3);
  store(at(0), 3, Order::relaxed);
  load(at(1), 5, Order::acquire);
  EXPECT_TRUE(knows(at(1), 5, before));
  EXPECT_FALSE(knows(at(1), 5, between));
}

TEST_F(SyncVariablesTest, AWeakWriteEndsWhatWasReleased) {
  start(2, 64);
  const Done before = act(at(0), 3);
  store(at(0), 3, Order::release);
  variables.overwrite(flags.allocation().id, 4, 4);  // the word behind
  variables.overwrite(flags.allocation().id, 2, 1);
  EXPECT_EQ(load(at(1), 5, Order::acquire).missed, Missed::nothing);
  EXPECT_FALSE(knows(at(1), 5, before));
  store(at(0), 3, Order::release);
  variables.overwrite(flags.allocation().id, 4, 4);
  load(at(1), 5, Order::acquire);
  EXPECT_TRUE(knows(at(1), 5, before));
}

TEST_F(SyncVariablesTest, KnowsWhereThereAreVariables) {
  start(2, 64);
  const std::uint32_t id = flags.allocation().id;
  load(at(0), 3, Order::acquire);
  EXPECT_TRUE(variables.is_empty(id));
  store(at(0), 3, Order::relaxed);
  EXPECT_FALSE(variables.is_empty(id));
  EXPECT_TRUE(variables.is_empty(id + 1));
  variables.forget(id);
  EXPECT_TRUE(variables.is_empty(id));
}

// 8.9.3, where it is forced: a fence.sc, a barrier, a write, a read, a barrier, a fence.sc.
TEST_F(SyncVariablesTest, FencesOfASequenceReachAcrossBarriers) {
  for (const Order second : {Order::sc, Order::acq_rel}) {
    order.reset(WarpModel::independent);
    variables.reset();
    start(2, 64);
    const Done before = act(at(0), 3);
    fence(at(0), 1u << 3, Order::sc);
    order.complete_barrier(at(0));
    store(at(0), 9, Order::relaxed);
    load(at(1), 5, Order::relaxed);
    order.complete_barrier(at(1));
    EXPECT_FALSE(knows(at(1, 1), 7, before));
    fence(at(1, 1), 1u << 7, second);
    EXPECT_EQ(knows(at(1, 1), 7, before), second == Order::sc);
    EXPECT_FALSE(knows(at(1, 1), 8, before));
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
