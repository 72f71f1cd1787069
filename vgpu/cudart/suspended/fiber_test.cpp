#include "vgpu/cudart/suspended/fiber.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace warpcheck::cudart {
namespace {

TEST(FunctionOnAStackOfItsOwn, IsLeftAndGoneOnWith) {
  Fiber fiber;
  std::string log;
  for (int round = 0; round < 2; ++round) {  // the stack is reused
    fiber.begin([&] {
      log += "a";
      fiber.suspend();
      log += "b";
    });
    EXPECT_FALSE(fiber.resume());
    log += "-";
    EXPECT_TRUE(fiber.resume());
  }
  EXPECT_EQ(log, "a-ba-b");
}

TEST(FunctionOnAStackOfItsOwn, GoesOnInAnotherThread) {
  Fiber fiber;
  double sum = 0;
  fiber.begin([&] {
    double own = 1.5;
    for (int i = 0; i < 3; ++i, own *= 2) {
      sum += own;
      fiber.suspend();
    }
  });
  for (int i = 0; i < 3; ++i) std::thread([&] { EXPECT_FALSE(fiber.resume()); }).join();
  EXPECT_TRUE(fiber.resume());
  EXPECT_EQ(sum, 10.5);
}

TEST(FunctionOnAStackOfItsOwn, ThrowsWhereItGoesOn) {
  Fiber fiber;
  fiber.begin([&] {
    fiber.suspend();
    throw std::runtime_error("it is over");
  });
  EXPECT_FALSE(fiber.resume());
  EXPECT_THROW(fiber.resume(), std::runtime_error);
}

}  // namespace
}  // namespace warpcheck::cudart
