#include "vgpu/check/order/thread_state.hpp"

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kVariables = 100;

// What a variable has released: one thread of block 1, until its tick `round`.
ReleasedClocks released_by(std::uint32_t variable, Tick round) {
  const ThreadTime time{variable, round, 0};
  ReleasedClocks clocks;
  clocks.grid.learn(1, 0, {&time, 1});
  return clocks;
}

void observe_all(ThreadState& self, Tick round) {
  for (std::uint32_t variable = 0; variable < kVariables; ++variable) {
    self.observe(variable, round * kVariables + variable, released_by(variable, round));
  }
}

void expect_all(const VectorClock& known, Tick round) {
  for (std::uint32_t variable = 0; variable < kVariables; ++variable) {
    EXPECT_EQ(known.of_block(1).ticks_of(variable), round) << variable;
  }
}

TEST(ThreadState, MergesWhatItHasObservedOfEachVariable) {
  ThreadState self;
  for (const Tick round : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    observe_all(self, round);
    expect_all(self.all_observed(), round);
  }
  EXPECT_LT(self.seen.size(), 4 * kVariables);
  EXPECT_TRUE(self.observed.is_empty());  // no fence has asked
}

TEST(ThreadState, AFenceFindsWhatWasObservedBeforeAndAfterAnotherFence) {
  ThreadState self;
  for (const Tick round : {1u, 2u, 3u}) {
    observe_all(self, round);
    self.fold();
    expect_all(self.observed.grid, round);
  }
  observe_all(self, 4);
  expect_all(self.all_observed(), 4);
}

}  // namespace
}  // namespace warpcheck::vgpu
