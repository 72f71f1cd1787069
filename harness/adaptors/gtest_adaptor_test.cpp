#include "harness/adaptors/gtest_adaptor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace warpcheck {
namespace {

TEST(RunCapturing, PassesWhatPasses) {
  std::vector<std::string> failures;
  EXPECT_TRUE(capture_expectations(
      [] {
        EXPECT_EQ(1, 1);
        SUCCEED();
      },
      failures));
  EXPECT_TRUE(failures.empty());
}

TEST(RunCapturing, KeepsEachFailureFromTheTest) {
  std::vector<std::string> failures{"earlier"};
  const int line = __LINE__ + 2;
  const auto body = [] {
    EXPECT_EQ(1, 2) << "first";
    ASSERT_TRUE(false) << "second";
    ADD_FAILURE() << "never reached";
  };
  EXPECT_FALSE(capture_expectations(body, failures));
  ASSERT_EQ(failures.size(), 3U);
  EXPECT_EQ(failures[0], "earlier");
  EXPECT_EQ(failures[1], __FILE__ ":" + std::to_string(line + 0) +
                             ": Expected equality of these values:\n  1\n  2\nfirst");
  EXPECT_NE(failures[2].find("second"), std::string::npos);
  EXPECT_FALSE(HasFailure());
}

TEST(RunCapturing, CapturesOtherThreads) {
  std::vector<std::string> failures;
  const auto body = [] { std::thread([] { ADD_FAILURE() << "elsewhere"; }).join(); };
  EXPECT_FALSE(capture_expectations(body, failures));
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("elsewhere"), std::string::npos);
}

TEST(RunCapturing, Nests) {
  std::vector<std::string> outer;
  std::vector<std::string> inner;
  const auto body = [&] {
    EXPECT_FALSE(capture_expectations([] { ADD_FAILURE() << "inner"; }, inner));
    ADD_FAILURE() << "outer";
  };
  EXPECT_FALSE(capture_expectations(body, outer));
  EXPECT_EQ(inner.size(), 1U);
  EXPECT_EQ(outer.size(), 1U);
}

TEST(RunCapturing, LetsExceptionsThroughAndRestoresTheReporter) {
  std::vector<std::string> failures;
  EXPECT_THROW(capture_expectations([] { throw std::runtime_error("x"); }, failures),
               std::runtime_error);
  EXPECT_FALSE(capture_expectations([] { ADD_FAILURE(); }, failures));
}

TEST(RunCapturing, RefusesToSkip) {
  std::vector<std::string> failures;
  EXPECT_FALSE(capture_expectations([] { GTEST_SKIP(); }, failures));
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("GTEST_SKIP inside a property"), std::string::npos);
}

}  // namespace
}  // namespace warpcheck
