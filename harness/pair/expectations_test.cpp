#include "harness/pair/expectations.hpp"

#include <gtest/gtest.h>

#include "harness/pair/source_path.hpp"

namespace warpcheck {

void body_with_own_expectations(int a, int b);

namespace {

std::vector<std::string> failures_of(int a, int b) {
  std::vector<std::string> failures;
  const bool passed = capture_expectations([&] { body_with_own_expectations(a, b); }, failures);
  EXPECT_EQ(passed, failures.empty());
  for (std::string& failure : failures) {
    const std::size_t colon = failure.find(':');
    failure = repository_path(failure.substr(0, colon)) + failure.substr(colon);
  }
  return failures;
}

TEST(OwnExpectations, AreCapturedWithTheirPlaceAndMessage) {
  using Failures = std::vector<std::string>;
  EXPECT_EQ(failures_of(1, 1), Failures{});
  EXPECT_EQ(failures_of(2, -1),
            (Failures{"harness/testing/own_expectations.cpp:8: a == b does not hold\na is 2",
                      "harness/testing/own_expectations.cpp:9: b > 0 is false"}));
  EXPECT_EQ(failures_of(3, 3),
            Failures{"harness/testing/own_expectations.cpp:11: a != 3 does not hold"});
}

TEST(OwnExpectations, AnAssertionEndsTheBody) {
  const auto failures = failures_of(11, 11);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0],
            "harness/testing/own_expectations.cpp:10: a < 10 does not hold\ntoo large");
}

}  // namespace
}  // namespace warpcheck
