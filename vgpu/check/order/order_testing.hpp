// Helpers for tests of happens-before: threads do something in a segment, and the test asks who
// knows it later.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/order/sync_variables.hpp"
#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class OrderTest : public testing::Test {
 protected:
  explicit OrderTest(WarpModel model = WarpModel::independent) { order.reset(model); }

  // What one lane does until it releases or learns something.
  struct Done {
    SegmentId segment = 0;
    unsigned lane = 0;
  };

  // Begins a launch, all blocks of which are resident; block b is in slot b.
  void start(std::uint32_t blocks, std::uint32_t threads,
             std::span<const std::uint32_t> unordered = {}, std::uint32_t early_after = ptx::kNone,
             Dim3 cluster = {}) {
    LaunchShape shape;
    shape.program = &program;
    shape.grid = {blocks, 1, 1};
    shape.block = {threads, 1, 1};
    shape.cluster = cluster;
    order.begin_launch(shape, unordered, early_after);
    for (std::uint32_t block = 0; block < blocks; ++block) order.begin_block(at(block));
  }
  static WarpPlace at(std::uint32_t block, std::uint32_t warp = 0) {
    return {.block = block, .warp = warp, .slot = block, .phase = 0};
  }
  Done act(const WarpPlace& place, unsigned lane = 0) {
    return {order.segment_of(place, false), lane};
  }
  // Returns whether it comes before what a lane does now.
  bool knows(const WarpPlace& place, unsigned lane, const Done& done) {
    return order.before(done.segment, done.lane, place, lane);
  }
  // The lanes of one warp meet at bar.warp.sync.
  void meet(const WarpPlace& place, std::uint32_t lanes) {
    const WarpLanes all[] = {{place.warp, lanes}};
    order.meet({.program = &program, .place = place, .arrived = all, .released = all});
  }
  void fence(const WarpPlace& place, std::uint32_t lanes, ptx::Order kind,
             ptx::Scope scope = ptx::Scope::gpu) {
    order.fences().fence(
        {.program = &program, .place = place, .mask = lanes, .order = kind, .scope = scope});
  }

  Program program = fake_program();
  ThreadOrder order;
  FakeMemory flags{7, ptx::Space::global, 256, "flags"};
};

}  // namespace warpcheck::vgpu
