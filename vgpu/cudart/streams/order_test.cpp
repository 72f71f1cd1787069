#include "vgpu/cudart/streams/order.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace warpcheck::cudart {
namespace {

OperationSet up_to(std::initializer_list<Stamp> stamps) {
  OperationSet set;
  for (const Stamp& stamp : stamps) set.add(stamp);
  return set;
}

TEST(RunLogOfOperations, ShowsWhatHasBecomeKnown) {
  RunLog<int> log;
  for (const unsigned position : {1u, 2u, 4u}) log.add({0, position}, static_cast<int>(position));
  log.add({5, 1}, 50);
  const auto news = [&](const OperationSet& before, const OperationSet& now) {
    std::vector<int> values;
    log.visit_new(before, now, [&](int value) { values.push_back(value); });
    return values;
  };
  const OperationSet some = up_to({{0, 1}}), more = up_to({{0, 3}, {5, 1}});
  EXPECT_EQ(news({}, some), (std::vector{1}));
  EXPECT_EQ(news(some, more), (std::vector{2, 50}));
  EXPECT_EQ(news(more, some), std::vector<int>{});
  EXPECT_EQ(news(more, up_to({{0, 4}})), (std::vector{4}));
}

}  // namespace
}  // namespace warpcheck::cudart
