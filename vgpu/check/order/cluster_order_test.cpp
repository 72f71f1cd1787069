#include "vgpu/check/order/cluster_order.hpp"

#include <gtest/gtest.h>

#include "vgpu/check/order/order_testing.hpp"

namespace warpcheck::vgpu {
namespace {

class ClusterOrderTest : public OrderTest {
 protected:
  // Two clusters of two blocks.
  ClusterOrderTest() { start(4, 64, {}, ptx::kNone, {2, 1, 1}); }
  ClusterBarrier event(ClusterBarrier::Kind kind, const WarpPlace& place, std::uint32_t lanes,
                       std::uint64_t phase, bool relaxed) {
    return {.kind = kind,
            .program = &program,
            .place = place,
            .mask = lanes,
            .phase = phase,
            .relaxed = relaxed};
  }
  void arrive(const WarpPlace& place, std::uint32_t lanes, std::uint64_t phase = 0,
              bool relaxed = false) {
    clusters.pass(event(ClusterBarrier::Kind::arrive, place, lanes, phase, relaxed));
  }
  void wait(const WarpPlace& place, std::uint32_t lanes, std::uint64_t phase = 0) {
    clusters.pass(event(ClusterBarrier::Kind::wait, place, lanes, phase, false));
  }
  ClusterOrder clusters{order};
};

TEST_F(ClusterOrderTest, AWaitComesAfterTheArrivalsOfItsCluster) {
  const Done before = act(at(0), 3), other = act(at(2), 3);
  arrive(at(0), ~0u);
  const Done after = act(at(0), 3);
  arrive(at(2), ~0u);
  wait(at(1, 1), 1u << 6);
  EXPECT_TRUE(knows(at(1, 1), 6, before));
  EXPECT_FALSE(knows(at(1, 1), 6, after));
  EXPECT_FALSE(knows(at(1, 1), 6, other));
  EXPECT_FALSE(knows(at(1, 1), 7, before));
}

TEST_F(ClusterOrderTest, AWaitForAPhaseAcquiresNothingOfTheNext) {
  const Done first = act(at(0), 3);
  arrive(at(0), 1u << 3, 0);
  const Done second = act(at(0), 3);
  arrive(at(0), 1u << 3, 1);
  wait(at(1), 1, 0);
  EXPECT_TRUE(knows(at(1), 0, first));
  EXPECT_FALSE(knows(at(1), 0, second));
  wait(at(1), 1, 1);
  EXPECT_TRUE(knows(at(1), 0, second));
}

TEST_F(ClusterOrderTest, ARelaxedArrivalPassesOnWhatAFenceHasReleased) {
  const Done before = act(at(0), 3);
  arrive(at(0), 1u << 3, 0, true);
  wait(at(1), 1, 0);
  EXPECT_FALSE(knows(at(1), 0, before));
  fence(at(0), 1u << 3, ptx::Order::release, ptx::Scope::cluster);
  const Done between = act(at(0), 3);
  arrive(at(0), 1u << 3, 1, true);
  wait(at(1), 1, 1);
  EXPECT_TRUE(knows(at(1), 0, before));
  EXPECT_FALSE(knows(at(1), 0, between));
}

TEST_F(ClusterOrderTest, AFenceOfTheBlockReleasesNothingToTheCluster) {
  const Done before = act(at(0), 3);
  fence(at(0), 1u << 3, ptx::Order::release, ptx::Scope::cta);
  arrive(at(0), 1u << 3, 0, true);
  wait(at(1), 1, 0);
  EXPECT_FALSE(knows(at(1), 0, before));
}

TEST_F(ClusterOrderTest, AFenceOfInitialisationsReleasesThoseAlone) {
  const Done init = act(at(0), 3);
  clusters.fence_object_inits({.program = &program, .place = at(0), .mask = 1u << 3});
  arrive(at(0), 1u << 3, 0, true);
  EXPECT_FALSE(clusters.knows_init(init.segment, 3, at(1), 0));
  wait(at(1), 1, 0);
  EXPECT_TRUE(clusters.knows_init(init.segment, 3, at(1), 0));
  EXPECT_FALSE(clusters.knows_init(init.segment, 3, at(1), 1));
  EXPECT_FALSE(clusters.knows_init(init.segment, 4, at(1), 0));
  EXPECT_FALSE(knows(at(1), 0, init));
}

}  // namespace
}  // namespace warpcheck::vgpu
