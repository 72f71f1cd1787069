#include "model/relation.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace warpcheck::model {
namespace {

TEST(Relation, ClosureIsWhatStepsReach) {
  Relation steps(128);
  steps.add(0, 63);
  steps.add(63, 64);
  steps.add(64, 127);
  const Relation all = steps.closure();
  EXPECT_TRUE(all.contains(0, 127) && all.contains(63, 127));
  EXPECT_FALSE(all.contains(127, 0));
  EXPECT_TRUE(steps.acyclic());
  steps.add(127, 0);
  EXPECT_FALSE(steps.acyclic());
}

TEST(Relation, APairAddedToAClosedOneKeepsItClosed) {
  Relation steps(8), grown(8);
  const std::initializer_list<std::pair<unsigned, unsigned>> pairs{
      {0, 1}, {4, 5}, {1, 4}, {5, 7}, {2, 0}};
  for (const auto& [from, to] : pairs) {
    steps.add(from, to);
    grown.add_to_closed(from, to);
  }
  EXPECT_TRUE((grown - steps.closure()).empty());
  EXPECT_TRUE((steps.closure() - grown).empty());
}

TEST(Relation, CompositionAndInverse) {
  Relation first(4), second(4);
  first.add(0, 1);
  second.add(1, 2);
  EXPECT_TRUE(first.then(second).contains(0, 2));
  EXPECT_FALSE(first.then(second).contains(1, 2));
  EXPECT_TRUE(first.or_none_then(second).contains(1, 2));
  EXPECT_TRUE(first.inverse().contains(1, 0));
  EXPECT_TRUE(first.then(first).empty());
}

}  // namespace
}  // namespace warpcheck::model
