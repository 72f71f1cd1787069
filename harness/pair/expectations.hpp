// EXPECT_* and ASSERT_* for the bodies of properties.
//
// If GoogleTest is installed, they are GoogleTest's.  A build without it (fuzzing services bring
// their own C++ library) defines WARPCHECK_NO_GTEST and gets the few that this header defines.
#pragma once

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace warpcheck {

// Runs `body` once; appends "file:line: message" to `failures` for every expectation that failed in
// it, and reports none of them to GoogleTest.  Returns whether it passed.  Exceptions pass through.
// A skip (GTEST_SKIP) counts as a failure with its own message: inputs to which a property does not
// apply must be excluded by the generator's domain.
bool capture_expectations(const std::function<void()>& body, std::vector<std::string>& failures);

// Counts every expectation that is evaluated, failed or not, in this process.
std::uint64_t expectations_evaluated();
int count_expectation() noexcept;  // returns 0

// A failed expectation; its destructor records it, with the text that was streamed into it.
class FailedExpectation {
 public:
  FailedExpectation(const char* file, int line, const char* text);
  ~FailedExpectation();
  FailedExpectation(const FailedExpectation&) = delete;
  FailedExpectation& operator=(const FailedExpectation&) = delete;
  template <class T>
  FailedExpectation& operator<<(const T& value) {
    streamed_ << value;
    return *this;
  }
  // Lets ASSERT_* return from the enclosing body.
  struct Return {
    // No result, because the expression is returned from functions that return void.
    // NOLINTNEXTLINE(misc-unconventional-assign-operator)
    void operator=(const FailedExpectation&) const {}
  };

 private:
  std::string text_;
  std::ostringstream streamed_;
};

}  // namespace warpcheck

#if !defined(WARPCHECK_NO_GTEST)
#include <gtest/gtest.h>
// GoogleTest does not report an expectation that held, but each of its macros begins with this one:
// `switch (0) case 0: default:`.
#undef GTEST_AMBIGUOUS_ELSE_BLOCKER_
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_       \
  switch (::warpcheck::count_expectation()) \
  case 0:                                   \
  default:
#else

// The switch prevents a following else from belonging to the macro's if.
#define WARPCHECK_EXPECT_OR(condition)      \
  switch (::warpcheck::count_expectation()) \
  case 0:                                   \
  default:                                  \
    if (condition)                          \
      static_cast<void>(0);                 \
    else
#define WARPCHECK_EXPECT(condition, text) \
  WARPCHECK_EXPECT_OR(condition)::warpcheck::FailedExpectation(__FILE__, __LINE__, text)
#define WARPCHECK_ASSERT(condition, text)           \
  WARPCHECK_EXPECT_OR(condition)                    \
  return ::warpcheck::FailedExpectation::Return() = \
             ::warpcheck::FailedExpectation(__FILE__, __LINE__, text)

#define EXPECT_TRUE(a) WARPCHECK_EXPECT(a, #a " is false")
#define EXPECT_FALSE(a) WARPCHECK_EXPECT(!(a), #a " is true")
#define EXPECT_EQ(a, b) WARPCHECK_EXPECT((a) == (b), #a " == " #b " does not hold")
#define EXPECT_NE(a, b) WARPCHECK_EXPECT((a) != (b), #a " != " #b " does not hold")
#define EXPECT_LT(a, b) WARPCHECK_EXPECT((a) < (b), #a " < " #b " does not hold")
#define EXPECT_LE(a, b) WARPCHECK_EXPECT((a) <= (b), #a " <= " #b " does not hold")
#define EXPECT_GT(a, b) WARPCHECK_EXPECT((a) > (b), #a " > " #b " does not hold")
#define EXPECT_GE(a, b) WARPCHECK_EXPECT((a) >= (b), #a " >= " #b " does not hold")
#define ASSERT_TRUE(a) WARPCHECK_ASSERT(a, #a " is false")
#define ASSERT_FALSE(a) WARPCHECK_ASSERT(!(a), #a " is true")
#define ASSERT_EQ(a, b) WARPCHECK_ASSERT((a) == (b), #a " == " #b " does not hold")
#define ASSERT_NE(a, b) WARPCHECK_ASSERT((a) != (b), #a " != " #b " does not hold")
#define ASSERT_LT(a, b) WARPCHECK_ASSERT((a) < (b), #a " < " #b " does not hold")
#define ASSERT_LE(a, b) WARPCHECK_ASSERT((a) <= (b), #a " <= " #b " does not hold")
#define ASSERT_GT(a, b) WARPCHECK_ASSERT((a) > (b), #a " > " #b " does not hold")
#define ASSERT_GE(a, b) WARPCHECK_ASSERT((a) >= (b), #a " >= " #b " does not hold")
#endif
