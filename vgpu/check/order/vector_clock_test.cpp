#include "vgpu/check/order/vector_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {
namespace {

TEST(VectorClock, KnowsNothingAtFirst) {
  const VectorClock clock;
  EXPECT_TRUE(clock.is_empty());
  EXPECT_EQ(clock.of_block(0).phases, 0u);
  EXPECT_EQ(clock.of_block(1u << 31).ticks_of(3), 0u);
}

TEST(VectorClock, APhaseOfTheBlockReplacesWhatItSaysOfItsThreads) {
  VectorClock clock;
  const std::array times{ThreadTime{1, 4, 2}, ThreadTime{7, 5, kAnyPhase}};
  clock.learn(40, 0, times);
  EXPECT_EQ(clock.of_block(40).ticks_of(1), 4u);
  EXPECT_EQ(clock.of_block(40).ticks_of(2), 0u);
  clock.learn(40, 3, {});
  EXPECT_EQ(clock.of_block(40).phases, 3u);
  EXPECT_EQ(clock.of_block(40).ticks_of(1), 0u);
  EXPECT_EQ(clock.of_block(40).ticks_of(7), 5u);  // no phase affects it
  EXPECT_EQ(clock.of_block(41).phases, 0u);
}

TEST(VectorClock, NeighboursOfWhichTheSameIsKnownAreOneElement) {
  VectorClock clock;
  const std::array times{ThreadTime{0, 4, kAnyPhase}, ThreadTime{1, 4, kAnyPhase},
                         ThreadTime{2, 4, kAnyPhase, 30}};
  clock.learn(7, 0, times);
  EXPECT_EQ(clock.of_block(7).threads.size(), 1u);
  const ThreadTime later{8, 5, kAnyPhase, 8};
  clock.learn(7, 0, {&later, 1});
  const auto known = clock.of_block(7).threads;
  EXPECT_EQ(std::vector(known.begin(), known.end()),
            (std::vector<ThreadTime>{
                {0, 4, kAnyPhase, 8}, {8, 5, kAnyPhase, 8}, {16, 4, kAnyPhase, 16}}));
}

TEST(VectorClock, LearningWhatIsKnownChangesNothing) {
  VectorClock clock;
  for (const std::uint32_t block : {0u, 17u, 300u, 70'000u}) clock.learn(block, block + 2, {});
  const VectorClock before = clock;
  clock.learn(300, 5, {});
  EXPECT_TRUE(clock.is_same(before));
  VectorClock less;
  less.learn(17, 1, {});
  clock.join(less);
  EXPECT_TRUE(clock.is_same(before));
  less.join(clock);
  EXPECT_TRUE(less.is_same(before));
  clock.learn(300, 303, {});
  EXPECT_FALSE(clock.is_same(before));
  EXPECT_EQ(before.of_block(300).phases, 302u);
}

// Compares joins with maps of the greatest numbers.  Clocks share what they say alike, and no
// change of one may show in another.
TEST(VectorClock, JoinsAreTheLargestOfBoth) {
  using Phases = std::map<BlockKey, Tick>;
  using Ticks = std::map<std::pair<BlockKey, std::uint32_t>, Tick>;
  struct Pair {
    VectorClock clock;
    Phases phases;
    Ticks ticks;
  };
  std::mt19937 random(1);
  constexpr std::uint32_t kThreads = 6;
  constexpr Tick kLate = Tick{1} << 40;  // times and blocks beyond 32 bits
  const std::array<BlockKey, 8> blocks{0,           1, 15, 16, 300, 5'000'000, BlockKey{1} << 33,
                                       ~BlockKey{0}};
  std::vector<Pair> pairs(4);
  for (int step = 0; step < 2'000; ++step) {
    Pair& one = pairs[random() % pairs.size()];
    const BlockKey block = blocks[random() % blocks.size()];
    switch (random() % 4) {
      case 0: {
        const Tick phase = random() % 1'000 + random() % 2 * kLate;
        one.clock.learn(block, phase, {});
        one.phases[block] = std::max(one.phases[block], phase);
        break;
      }
      case 1: {
        const auto first = static_cast<std::uint32_t>(random() % kThreads);
        const ThreadTime time{first, random() % 5 + random() % 2 * kLate, kAnyPhase,
                              static_cast<std::uint32_t>(1 + random() % (kThreads - first))};
        one.clock.learn(block, 0, {&time, 1});
        for (std::uint32_t thread = first; thread < time.end(); ++thread) {
          Tick& ticks = one.ticks[{block, thread}];
          ticks = std::max(ticks, time.ticks);
        }
        break;
      }
      case 2: one = pairs[random() % pairs.size()]; break;
      default: {
        const Pair other = pairs[random() % pairs.size()];
        one.clock.join(other.clock);
        for (const auto& [key, phase] : other.phases) {
          one.phases[key] = std::max(one.phases[key], phase);
        }
        for (const auto& [key, ticks] : other.ticks) {
          one.ticks[key] = std::max(one.ticks[key], ticks);
        }
        break;
      }
    }
    for (Pair& each : pairs) {
      for (const BlockKey at : blocks) {
        ASSERT_EQ(each.clock.of_block(at).phases, each.phases[at]) << step;
        for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
          ASSERT_EQ(each.clock.of_block(at).ticks_of(thread), (each.ticks[{at, thread}])) << step;
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
