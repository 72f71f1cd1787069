#include "vgpu/cudart/streams/idle_progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace warpcheck::cudart {
namespace {

using namespace std::chrono_literals;

// A host that is looked at every 20 ms.
class IdlenessTest : public testing::Test {
 protected:
  IdlenessTest() { idleness_.begin_again(0ns, 0ns); }
  //   used, lacked: since the last look
  bool look(std::chrono::nanoseconds used, std::chrono::nanoseconds lacked = 0ns,
            std::chrono::nanoseconds after = 20ms) {
    now_ += after;
    used_ += used;
    lacked_ += lacked;
    return idleness_.is_idle({now_, used_, calls_, polls_});
  }
  void run() { idleness_.begin_again(now_, used_); }

  std::uint64_t calls_ = 0;
  bool polls_ = false, can_run_ = false;

 private:
  std::chrono::nanoseconds now_{0}, used_{0}, lacked_{0};
  Idleness idleness_{[this] { return can_run_ ? std::nullopt : std::optional(lacked_); }};
};

TEST_F(IdlenessTest, AHostThatSleepsIsIdle) {
  EXPECT_TRUE(look(4ms));
  run();
  EXPECT_TRUE(look(0ms));
}

TEST_F(IdlenessTest, AHostWithoutAProcessorDoesNotSleep) {
  EXPECT_FALSE(look(1ms, 19ms));
  EXPECT_FALSE(look(0ms, 5ms));
  EXPECT_FALSE(look(2ms, 3ms));
  EXPECT_TRUE(look(2ms, 2ms));
}

TEST_F(IdlenessTest, AHostThatCanRunDoesNotSleep) {
  can_run_ = true;
  EXPECT_FALSE(look(0ms));
  can_run_ = false;
  EXPECT_FALSE(look(0ms, 0ms)) << "the wait before is not known";
  EXPECT_TRUE(look(0ms));
}

TEST_F(IdlenessTest, WhatTheHostLackedBeforeALookThatDidNotAskIsNotKnown) {
  EXPECT_FALSE(look(20ms, 500ms));
  EXPECT_FALSE(look(1ms, 0ms));
  EXPECT_TRUE(look(1ms, 0ms));
}

TEST_F(IdlenessTest, AHostThatHasMadeACallIsNotIdle) {
  ++calls_;
  EXPECT_FALSE(look(0ms));
  EXPECT_TRUE(look(0ms));
}

TEST_F(IdlenessTest, AHostThatPollsIsIdle) {
  polls_ = true;
  EXPECT_TRUE(look(20ms));
}

TEST_F(IdlenessTest, AHostThatComputesForASecondIsIdle) {
  for (int i = 1; i < 50; ++i) ASSERT_FALSE(look(20ms)) << i;
  EXPECT_TRUE(look(20ms));
  run();
  EXPECT_FALSE(look(20ms));
}

TEST_F(IdlenessTest, ASecondCountsAfterTheLastCall) {
  EXPECT_FALSE(look(900ms, 0ms, 900ms));
  ++calls_;
  EXPECT_FALSE(look(900ms, 0ms, 900ms));
  EXPECT_FALSE(look(900ms, 0ms, 900ms));
  EXPECT_TRUE(look(100ms, 0ms, 100ms));
}

TEST_F(IdlenessTest, AHostThatComputesSlowlyNeedsASecondOfAProcessor) {
  EXPECT_FALSE(look(500ms, 0ms, 3s));
  EXPECT_TRUE(look(500ms, 0ms, 3s));
}

TEST_F(IdlenessTest, ManyThreadsThatComputeNeedASecondOfTheClock) {
  EXPECT_FALSE(look(8s, 0ms, 900ms));
  EXPECT_TRUE(look(8s, 0ms, 100ms));
}

}  // namespace
}  // namespace warpcheck::cudart
