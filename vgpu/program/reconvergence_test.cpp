#include "vgpu/program/reconvergence.hpp"

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

using Order = std::vector<std::uint32_t>;

TEST(ReconvergenceOrder, OfNothingIsNothing) { EXPECT_EQ(reconvergence_order({}), Order{}); }

TEST(ReconvergenceOrder, PutsTheJoinAfterBothArms) {
  // 0 -> {1, 2} -> 3; the join comes first in the text.
  EXPECT_EQ(reconvergence_order({{2, 3}, {}, {1}, {1}}).back(), 1u);
}

TEST(ReconvergenceOrder, KeepsALoopTogetherBeforeItsExit) {
  // 0 -> 1 (header) -> {4 (exit), 2}; 2 -> 3 -> 1; the exit must never precede the body.
  const Order order = reconvergence_order({{1}, {4, 2}, {3}, {1}, {}});
  EXPECT_EQ(order, (Order{0, 1, 2, 3, 4}));
}

TEST(ReconvergenceOrder, NestedLoops) {
  // outer 1..5, inner 2..3, exit 6
  const Order order = reconvergence_order({{1}, {2, 6}, {3, 4}, {2}, {5}, {1}, {}});
  EXPECT_EQ(order, (Order{0, 1, 2, 3, 4, 5, 6}));
}

TEST(ReconvergenceOrder, LeavesOutWhatCannotBeReached) {
  EXPECT_EQ(reconvergence_order({{2}, {2}, {}}), (Order{0, 2}));
}

TEST(ReconvergenceOrder, TakesIrreducibleGraphs) {
  // 0 -> {1, 2}; 1 <-> 2; 2 -> 3
  const Order order = reconvergence_order({{1, 2}, {2}, {1, 3}, {}});
  EXPECT_EQ(order.size(), 4u);
  EXPECT_EQ(order.front(), 0u);
  EXPECT_EQ(order.back(), 3u);
}

}  // namespace
}  // namespace warpcheck::vgpu
