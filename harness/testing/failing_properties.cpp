// Properties that fail on purpose.  rapidcheck_adaptor_test runs this program as a child, with its
// own RC_PARAMS, and reads its output.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "harness/adaptors/gtest_adaptor.hpp"
#include "harness/adaptors/rapidcheck_adaptor.hpp"
#include "harness/generators/generators.hpp"

namespace failing {

struct Range {
  int low = 0;
  int high = 0;
};
FIELDS(Range, low, high);

warpcheck::Gen<Range> generator_of(const Range*) {
  const warpcheck::Gen<Range> gen = [](warpcheck::Draw& draw) {
    const int low = draw(warpcheck::integers<int>(0, 1000));
    return Range{low, draw(warpcheck::integers<int>(low, 1000))};
  };
  return gen.within([](const Range& range) { return 0 <= range.low && range.low <= range.high; });
}

namespace {

using warpcheck::Draw;
using warpcheck::Gen;
using warpcheck::integers;
using warpcheck::sizes;
using warpcheck::vectors;

RC_GTEST_PROP(Plain, SizeBelow33, ()) {
  const int n = *sizes({.min = 5, .max = 10'000});
  RC_ASSERT(n < 33);
}

RC_GTEST_PROP(Plain, FewLargeElements, ()) {
  const auto values = *vectors(sizes({.max = 100}), integers<int>());
  RC_ASSERT(std::count_if(values.begin(), values.end(), [](int x) { return x > 100; }) < 3);
}

// Has no domain, so its choices are shrunk.
RC_GTEST_PROP(Plain, MappedStaysInItsImage, ()) {
  const int even = *map(integers<int>(0, 100'000), [](int x) { return 2 * x; });
  RC_ASSERT(even % 2 == 0);
  RC_ASSERT(even <= 100);
}

RC_GTEST_PROP(Plain, ArbitraryStruct, (const Range& range)) {
  RC_ASSERT(range.high < range.low + 10);
}

RC_GTEST_PROP(Plain, DrawsRapidChecksGenerators, ()) {
  const Gen<int> third = [](Draw& draw) { return draw(rc::gen::inRange(0, 1000)) / 3; };
  RC_ASSERT(*third < 334);
  RC_ASSERT(*third < 50);
}

// Passes; prints how often its body ran and the sizes that it saw.
RC_GTEST_PROP(Plain, Counts, ()) {
  static int runs = 0;
  static int largest = 0;
  largest = std::max(largest, *sizes({.max = 1'000'000}));
  std::cout << "run " << ++runs << " largest " << largest << "\n";
}

TEST(ForAll, ExpectFailsAndShrinks) {
  warpcheck::for_all(vectors(sizes({.max = 100}), integers<int>(0, 1000)),
                     [](const std::vector<int>& values) {
                       EXPECT_LT(std::accumulate(values.begin(), values.end(), 0), 500);
                       EXPECT_NE(values.size(), 77U);
                     });
}

void assert_below_33(int n) { ASSERT_LT(n, 33); }

TEST(ForAll, AssertInAHelperFailsAndShrinks) {
  warpcheck::for_all(sizes({.max = 10'000}), [](int n) {
    SCOPED_TRACE("the helper");
    assert_below_33(n);
  });
}

TEST(ForAll, ExceptionFailsAndShrinks) {
  warpcheck::for_all(sizes({.max = 10'000}), [](int n) {
    if (n > 64) throw std::runtime_error("too long");
  });
}

TEST(ForAll, Passes) {
  warpcheck::for_all(sizes({.max = 10'000}), [](int n) { EXPECT_GE(n, 0); });
}

}  // namespace
}  // namespace failing
