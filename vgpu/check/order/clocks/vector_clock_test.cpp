#include "vgpu/check/order/clocks/vector_clock.hpp"

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
  EXPECT_EQ(clock.of_block(17).phases, 19u);  // computes the clock
  const VectorClock before = clock;
  clock.learn(300, 5, {});
  EXPECT_TRUE(clock.is_same(before));
  VectorClock less;
  less.learn(17, 1, {});
  EXPECT_EQ(less.of_block(17).phases, 1u);
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

// Threads of 40 blocks release to and acquire from random variables, and clocks are asked rarely,
// so they consist of many nodes.  What each should know is kept in plain arrays.
class LazyClocks {
 public:
  explicit LazyClocks(std::size_t threads, std::size_t variables)
      : threads_(threads), variables_(variables) {
    for (Known& one : threads_) one.ticks.resize(threads);
    for (Known& one : variables_) one.ticks.resize(threads);
  }
  void release(std::size_t thread, std::size_t variable) {
    Known& self = threads_[thread];
    Known moment = self;
    const Tick tick = ++ticks_;
    const ThreadTime time{number_of(thread), tick, 0};
    moment.clock.learn(block_of(thread), 0, {&time, 1});
    moment.ticks[thread] = tick;
    variables_[variable].join(moment);
  }
  void acquire(std::size_t thread, std::size_t variable) {
    threads_[thread].join(variables_[variable]);
  }
  // A thread tells itself, as lanes that meet do.
  void advance(std::size_t thread) {
    const Tick tick = ++ticks_;
    const ThreadTime time{number_of(thread), tick, 0};
    threads_[thread].clock.learn(block_of(thread), 0, {&time, 1});
    threads_[thread].ticks[thread] = tick;
  }
  // Parts may only say what is true, and all of them together must say all of it.
  void check_parts(std::size_t thread, std::size_t other) {
    const Known& self = threads_[thread];
    Tick found = 0;
    const bool are_all = self.clock.visit_parts(block_of(other), [&](const auto& part) {
      found = std::max(found, part.ticks_of(number_of(other)));
      return false;
    });
    EXPECT_LE(found, self.ticks[other]);
    if (are_all) EXPECT_EQ(found, self.ticks[other]);
    answered_ += are_all;
    ++asked_;
  }
  void check(std::size_t thread) {
    const Known& self = threads_[thread];
    for (std::size_t other = 0; other < threads_.size(); ++other) {
      const auto known = self.clock.of_block(block_of(other));
      ASSERT_EQ(known.ticks_of(number_of(other)), self.ticks[other]) << thread << " of " << other;
    }
    EXPECT_TRUE(self.clock.is_computed());
  }
  void check_all() {
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) check(thread);
  }
  [[nodiscard]] std::size_t answered() const { return answered_; }
  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] bool is_computed(std::size_t thread) const {
    return threads_[thread].clock.is_computed();
  }

 private:
  struct Known {
    VectorClock clock;
    std::vector<Tick> ticks;  // by thread
    void join(const Known& other) {
      clock.join(other.clock);
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        ticks[i] = std::max(ticks[i], other.ticks[i]);
      }
    }
  };
  static constexpr std::size_t kBlocks = 40;
  static BlockKey block_of(std::size_t thread) { return thread % kBlocks * 3; }
  static std::uint32_t number_of(std::size_t thread) {
    return static_cast<std::uint32_t>(thread / kBlocks);
  }

  std::vector<Known> threads_, variables_;
  Tick ticks_ = 0;
  std::size_t answered_ = 0, asked_ = 0;
};

void run_at_random(LazyClocks& clocks, std::size_t threads, std::size_t variables, int steps,
                   unsigned checks_one_in) {
  std::mt19937 random(7);
  for (int step = 0; step < steps; ++step) {
    const std::size_t thread = random() % threads, variable = random() % variables;
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: clocks.release(thread, variable); break;
      case 3: clocks.advance(thread); break;
      case 4: clocks.check_parts(thread, random() % threads); break;
      default: clocks.acquire(thread, variable);
    }
    if (random() % checks_one_in == 0) clocks.check(thread);
  }
  clocks.check_all();
}

TEST(VectorClock, ClocksThatAreRarelyAskedKnowTheSame) {
  for (const auto& [threads, variables, checks_one_in] :
       {std::array{3u, 2u, 1'000u}, std::array{6u, 40u, 50u}, std::array{200u, 60u, 500u},
        std::array{200u, 60u, 20'000u}}) {
    LazyClocks clocks(threads, variables);
    run_at_random(clocks, threads, variables, 20'000, checks_one_in);
    EXPECT_GT(clocks.answered(), 0u);
    EXPECT_LE(clocks.answered(), clocks.asked());
  }
}

TEST(VectorClock, BeyondTheMostNodesEachJoinIsComputed) {
  const std::int64_t before = VectorClock::set_pending_max(500);
  {
    LazyClocks clocks(100, 30);
    run_at_random(clocks, 100, 30, 20'000, 5'000);
  }
  VectorClock::set_pending_max(before);
}

VectorClock clock_of_thread(std::uint32_t thread, Tick tick) {
  VectorClock clock;
  const ThreadTime time{thread % 256, tick, 0};
  clock.learn(thread / 256, 0, {&time, 1});
  return clock;
}

// A variable that many threads release and nobody acquires.
TEST(VectorClock, WhatASoleOwnerJoinsIsAddedInPlace) {
  VectorClock clock;
  for (std::uint32_t thread = 0; thread < 3'000; ++thread) {
    clock.join(clock_of_thread(thread, thread + 1));
    EXPECT_TRUE(thread < 40 || clock.is_computed()) << thread;
  }
  for (std::uint32_t thread = 0; thread < 3'000; ++thread) {
    ASSERT_EQ(clock.of_block(thread / 256).ticks_of(thread % 256), thread + 1);
  }
}

// A variable that many threads release, and of which each keeps what it has observed.
TEST(VectorClock, ALargeClockIsCopiedLessOften) {
  constexpr std::uint32_t kThreads = 20'000;
  VectorClock clock;
  std::vector<VectorClock> observed;
  std::ptrdiff_t computed = 0;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    clock.join(clock_of_thread(thread, thread + 1));
    computed += clock.is_computed() ? 1 : 0;
    observed.push_back(clock);
  }
  EXPECT_GE(computed, 4);
  EXPECT_LE(computed, 20);
  for (const std::uint32_t version : {0u, 31u, 100u, 5'000u, kThreads - 1}) {
    EXPECT_EQ(observed[version].of_block(version / 256).ticks_of(version % 256), version + 1);
    const std::uint32_t next = version + 1;
    EXPECT_EQ(observed[version].of_block(next / 256).ticks_of(next % 256), 0u);
    EXPECT_EQ(observed[version].of_block(0).ticks_of(0), 1u);
  }
}

// A lock that few threads take again and again is a long chain of few nodes.
TEST(VectorClock, AChainOfFewNodesIsComputedByItself) {
  LazyClocks clocks(4, 1);
  bool was_computed = false;
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t thread = static_cast<std::size_t>(round) % 4;
    clocks.acquire(thread, 0);
    clocks.release(thread, 0);
    was_computed |= clocks.is_computed(thread);
  }
  EXPECT_TRUE(was_computed);
  clocks.check_all();
}

TEST(VectorClock, TheLatestReleasesAreFoundFirst) {
  const auto chain_of = [](BlockKey first) {
    VectorClock chain;
    for (Tick tick = 1; tick <= 30; ++tick) {
      VectorClock moment = chain;
      const ThreadTime time{static_cast<std::uint32_t>(tick), tick, 0};
      moment.learn(first + tick, 0, {&time, 1});
      chain.join(moment);
    }
    return chain;
  };
  VectorClock clock = chain_of(0);
  clock.join(chain_of(100));
  const auto finds = [&](BlockKey first, Tick tick) {
    bool is_found = false;
    const bool is_answered = clock.visit_parts(first + tick, [&](const auto& part) {
      return is_found = part.ticks_of(static_cast<std::uint32_t>(tick)) == tick;
    });
    return is_answered && is_found;
  };
  EXPECT_TRUE(finds(100, 30));
  EXPECT_TRUE(finds(100, 1));
  EXPECT_TRUE(finds(0, 30));
  EXPECT_FALSE(finds(0, 1));  // too far back
  EXPECT_FALSE(clock.is_computed());
  EXPECT_EQ(clock.of_block(1).ticks_of(1), 1u);
  EXPECT_TRUE(finds(0, 1));
}

TEST(ThreadTimes, OfNeighboursThatAreAlikeBecomeOne) {
  std::vector<ThreadTime> times{{64, 3, 1, 32}, {0, 3, 1, 32}, {96, 4, 1, 1}, {32, 3, 1, 32}};
  arrange(times);
  EXPECT_EQ(times, (std::vector<ThreadTime>{{0, 3, 1, 96}, {96, 4, 1, 1}}));
}

}  // namespace
}  // namespace warpcheck::vgpu
