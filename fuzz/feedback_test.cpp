#include "fuzz/feedback.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::fuzz {
namespace {

using vgpu::AccessKind;

// A launch of hand-made events.
class FeedbackTest : public testing::Test {
 protected:
  FeedbackTest() {
    program_.kernel = "k";
    shared_.id = 3;
    shared_.space = ptx::Space::shared;
    shared_.bytes = 4096;
  }

  void access(AccessKind kind, std::uint32_t pc, std::uint32_t block, std::uint32_t warp,
              std::initializer_list<std::pair<unsigned, std::uint32_t>> lane_offsets,
              std::uint8_t bytes = 4) {
    vgpu::Access access;
    access.allocation = &shared_;
    access.program = &program_;
    access.place.block = block;
    access.place.warp = warp;
    access.pc = pc;
    access.space = shared_.space;
    access.kind = kind;
    access.bytes = bytes;
    for (const auto& [lane, offset] : lane_offsets) {
      access.mask |= 1u << lane;
      access.offset[lane] = offset;
    }
    feedback_.on_access(access);
  }
  void sync(vgpu::Sync::Kind kind) {
    vgpu::Sync sync;
    sync.kind = kind;
    sync.program = &program_;
    sync.shared = &shared_;
    sync.grid = {3, 1, 1};
    sync.block = {33, 1, 1};
    feedback_.on_sync(sync);
  }

  // Returns the nonzero counters by index, and clears them.
  std::map<std::size_t, int> take() {
    std::map<std::size_t, int> taken;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (counters_[i] != 0) taken[i] = counters_[i];
    }
    std::ranges::fill(counters_, std::uint8_t{0});
    return taken;
  }
  // The single counter that a read at pc 20 of `lane` in (block, warp) increments.
  std::size_t read_by(std::uint32_t block, std::uint32_t warp, unsigned lane) {
    take();
    access(AccessKind::read, 20, block, warp, {{lane, 0}});
    const auto taken = take();
    EXPECT_EQ(taken.size(), 1u);
    return taken.empty() ? 0 : taken.begin()->first;
  }

  std::vector<std::uint8_t> counters_ = std::vector<std::uint8_t>(kCounters);
  Feedback feedback_{counters_};
  vgpu::Program program_;
  vgpu::Allocation shared_;
};

TEST_F(FeedbackTest, RefusesAnotherNumberOfCounters) {
  std::vector<std::uint8_t> few(kCounters - 1);
  EXPECT_THROW(Feedback{few}, std::invalid_argument);
}

TEST_F(FeedbackTest, EdgesAndReadsHaveTheirOwnCounters) {
  feedback_.on_edge(1, 2, program_);
  const auto edge = take();
  ASSERT_EQ(edge.size(), 1u);
  EXPECT_LT(edge.begin()->first, kEdgeCounters);
  access(AccessKind::read, 1, 0, 0, {{0, 0}});
  const auto read = take();
  ASSERT_EQ(read.size(), 1u);
  EXPECT_GE(read.begin()->first, kEdgeCounters);
}

TEST_F(FeedbackTest, AnEdgeIsItsKernelFromAndTo) {
  vgpu::Program other;
  other.kernel = "other";
  feedback_.on_edge(1, 2, program_);
  feedback_.on_edge(1, 2, program_);
  feedback_.on_edge(1, 3, program_);
  feedback_.on_edge(2, 2, program_);
  feedback_.on_edge(1, 2, other);
  const auto taken = take();
  EXPECT_EQ(taken.size(), 4u);
  EXPECT_TRUE(std::ranges::any_of(taken, [](const auto& entry) { return entry.second == 2; }));
}

TEST_F(FeedbackTest, CountersSaturate) {
  for (int i = 0; i < 1000; ++i) feedback_.on_edge(1, 2, program_);
  EXPECT_EQ(take().begin()->second, 255);
}

TEST_F(FeedbackTest, AWriteAloneCountsNothing) {
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  EXPECT_TRUE(take().empty());
}

TEST_F(FeedbackTest, ARelationIsPartOfThePair) {
  access(AccessKind::write, 10, 1, 1, {{7, 0}});
  const std::size_t lane = read_by(1, 1, 7);
  const std::size_t warp = read_by(1, 1, 8);
  const std::size_t block = read_by(1, 0, 7);
  const std::size_t grid = read_by(0, 1, 7);
  const std::vector<std::size_t> all{lane, warp, block, grid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]) << i << ' ' << j;
  }
  EXPECT_EQ(read_by(1, 1, 31), warp);
  EXPECT_EQ(read_by(1, 31, 0), block);
  EXPECT_EQ(read_by(9, 9, 9), grid);
}

TEST_F(FeedbackTest, TheLastWriteIsTheOneSeen) {
  const std::size_t initial = read_by(0, 0, 0);
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  const std::size_t first = read_by(0, 0, 0);
  access(AccessKind::write, 11, 0, 0, {{0, 0}});
  const std::size_t second = read_by(0, 0, 0);
  EXPECT_NE(initial, first);
  EXPECT_NE(first, second);
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  EXPECT_EQ(read_by(0, 0, 0), first);
}

TEST_F(FeedbackTest, AnAtomicReadsAndThenWrites) {
  access(AccessKind::atomic, 10, 0, 0, {{0, 0}});
  EXPECT_EQ(take().size(), 1u);
  const std::size_t after_atomic = read_by(0, 0, 0);
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  EXPECT_EQ(read_by(0, 0, 0), after_atomic);
}

TEST_F(FeedbackTest, AtomicLanesOfOneRowSeeEachOther) {
  access(AccessKind::atomic, 10, 0, 0, {{0, 0}, {1, 0}, {2, 0}});
  // Lane 0 saw the initial value; lanes 1 and 2 both saw another lane of the warp.
  EXPECT_EQ(take().size(), 2u);
}

TEST_F(FeedbackTest, LanesOfARowThatSeeTheSameCountOnce) {
  access(AccessKind::write, 10, 0, 0, {{0, 0}, {1, 4}, {2, 8}, {3, 12}});
  access(AccessKind::read, 20, 0, 0, {{0, 0}, {1, 4}, {2, 8}, {3, 12}});
  const auto row = take();
  ASSERT_EQ(row.size(), 1u);
  EXPECT_EQ(row.begin()->second, 1);
  access(AccessKind::read, 20, 0, 0, {{0, 0}, {1, 4}});
  access(AccessKind::read, 20, 0, 0, {{2, 8}});
  const auto rows = take();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.begin()->first, row.begin()->first);
  EXPECT_EQ(rows.begin()->second, 2);
}

TEST_F(FeedbackTest, AWideReadSeesEveryWord) {
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  access(AccessKind::write, 11, 0, 0, {{0, 12}});
  access(AccessKind::read, 20, 0, 0, {{0, 0}}, 16);
  EXPECT_EQ(take().size(), 3u);  // pc 10, initial (twice in a row: once), pc 11
}

TEST_F(FeedbackTest, ABlockStartForgetsItsSharedMemory) {
  const std::size_t initial = read_by(0, 0, 0);
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  EXPECT_NE(read_by(0, 0, 0), initial);
  sync(vgpu::Sync::Kind::block_start);
  EXPECT_EQ(read_by(0, 0, 0), initial);
}

TEST_F(FeedbackTest, ATrialForgetsAllWritesButNoCounters) {
  const std::size_t initial = read_by(0, 0, 0);
  access(AccessKind::write, 10, 0, 0, {{0, 0}});
  feedback_.on_edge(1, 2, program_);
  feedback_.reset();
  EXPECT_EQ(take().size(), 1u);
  EXPECT_EQ(read_by(0, 0, 0), initial);
}

TEST_F(FeedbackTest, KernelsDoNotShareSites) {
  const std::size_t here = read_by(0, 0, 0);
  program_.kernel = "other";
  sync(vgpu::Sync::Kind::kernel_start);
  EXPECT_NE(read_by(0, 0, 0), here);
}

TEST_F(FeedbackTest, KnowsTheShapeOfTheTrial) {
  EXPECT_TRUE(feedback_.shape().launches.empty());
  sync(vgpu::Sync::Kind::kernel_start);
  access(AccessKind::read, 1, 0, 0, {{0, 0}, {1, 0}});
  access(AccessKind::write, 2, 0, 0, {{0, 0}});
  access(AccessKind::read, 1, 2, 1, {{0, 0}});
  sync(vgpu::Sync::Kind::kernel_start);
  ASSERT_EQ(feedback_.shape().launches.size(), 2u);
  const TrialShape::Launch& first = feedback_.shape().launches.front();
  EXPECT_EQ(first.blocks, 3u);
  EXPECT_EQ(first.warps_per_block, 2u);
  EXPECT_EQ(first.accesses_max, 2u);
  EXPECT_EQ(feedback_.shape().launches.back().accesses_max, 0u);
  feedback_.reset();
  EXPECT_TRUE(feedback_.shape().launches.empty());
}

TEST_F(FeedbackTest, LocalMemoryIsNotWatched) {
  shared_.space = ptx::Space::local;
  access(AccessKind::read, 20, 0, 0, {{0, 0}});
  EXPECT_TRUE(take().empty());
}

}  // namespace
}  // namespace warpcheck::fuzz
