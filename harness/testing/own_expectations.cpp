// A body whose expectations are not GoogleTest's, for expectations_test.cpp.
#define WARPCHECK_NO_GTEST
#include "harness/pair/expectations.hpp"

namespace warpcheck {

void body_with_own_expectations(int a, int b) {
  EXPECT_EQ(a, b) << "a is " << a;
  EXPECT_TRUE(b > 0);
  ASSERT_LT(a, 10) << "too large";
  EXPECT_NE(a, 3);
}

}  // namespace warpcheck
