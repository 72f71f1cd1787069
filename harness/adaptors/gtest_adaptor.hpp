// EXPECT_* and ASSERT_* inside a property's body: a failed one fails that execution of the body.
//
// GoogleTest records a failed expectation in the current test at once and continues.  A property
// runs its body hundreds of times, and again while shrinking, and only the failure of the final,
// shrunk input may reach the test.  So the failures of each execution are captured.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/adaptors/rapidcheck_adaptor.hpp"
#include "harness/input/draw.hpp"
#include "harness/pair/expectations.hpp"

namespace warpcheck {

// Fails the current RapidCheck case with these messages.
[[noreturn]] void fail_property(const std::vector<std::string>& failures);

// Checks `body` for values of `generator` with RapidCheck, honouring RC_PARAMS; a failure is
// shrunk, and reported to GoogleTest once.  Call inside a TEST:
//
//   TEST(Reverse, TwiceYieldsTheOriginal) {
//     for_all(vectors(sizes(), integers<int>()), [](const std::vector<int>& values) {
//       EXPECT_EQ(reversed(reversed(values)), values);
//     });
//   }
template <class T>
void for_all(const Gen<T>& generator, std::type_identity_t<std::function<void(const T&)>> body) {
  rc::detail::checkGTest([=] {
    const T value = *to_rapidcheck(generator);
    std::vector<std::string> failures;
    if (!capture_expectations([&] { body(value); }, failures)) fail_property(failures);
  });
}

}  // namespace warpcheck
