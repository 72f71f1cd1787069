#include "vgpu/cudart/beside/fiber.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace warpcheck::cudart {
namespace {

TEST(FunctionOnAStackOfItsOwn, IsLeftAndGoneOnWith) {
  Fiber fiber;
  std::string log;
  for (int round = 0; round < 2; ++round) {  // the stack serves again
    fiber.begin([&] {
      log += "a";
      fiber.leave();
      log += "b";
    });
    EXPECT_FALSE(fiber.go_on());
    log += "-";
    EXPECT_TRUE(fiber.go_on());
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
      fiber.leave();
    }
  });
  for (int i = 0; i < 3; ++i) std::thread([&] { EXPECT_FALSE(fiber.go_on()); }).join();
  EXPECT_TRUE(fiber.go_on());
  EXPECT_EQ(sum, 10.5);
}

TEST(FunctionOnAStackOfItsOwn, ThrowsWhereItGoesOn) {
  Fiber fiber;
  fiber.begin([&] {
    fiber.leave();
    throw std::runtime_error("it is over");
  });
  EXPECT_FALSE(fiber.go_on());
  EXPECT_THROW(fiber.go_on(), std::runtime_error);
}

}  // namespace
}  // namespace warpcheck::cudart
