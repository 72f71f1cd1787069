#include "harness/shrink/equal_integers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpcheck {
namespace {

std::vector<std::string> lowerings(const std::string& input) {
  std::vector<std::string> offered;
  for_each_lowering_of_equals(Json::parse(input), [&](const Json& lowered) {
    offered.push_back(lowered.dump());
    return false;
  });
  return offered;
}

TEST(EqualIntegers, AreLoweredTogetherWhereverTheyAre) {
  EXPECT_EQ(lowerings(R"({"edges":[{"a":1,"b":3},{"a":0,"b":3}],"nodes":4})"),
            (std::vector<std::string>{R"({"edges":[{"a":1,"b":0},{"a":0,"b":0}],"nodes":4})",
                                      R"({"edges":[{"a":1,"b":1},{"a":0,"b":1}],"nodes":4})",
                                      R"({"edges":[{"a":1,"b":2},{"a":0,"b":2}],"nodes":4})"}));
}

TEST(EqualIntegers, TheGreatestComesFirst) {
  EXPECT_EQ(
      lowerings(R"([2,2,3,3])"),
      (std::vector<std::string>{"[2,2,0,0]", "[2,2,1,1]", "[2,2,2,2]", "[0,0,3,3]", "[1,1,3,3]"}));
}

TEST(EqualIntegers, NothingElseIsLowered) {
  EXPECT_TRUE(
      lowerings(R"({"once":7,"ones":[1,1],"negative":[-5,-5],"floats":[2.5,2.5]})").empty());
}

TEST(EqualIntegers, EndsWhenALoweringIsAccepted) {
  int offered = 0;
  EXPECT_TRUE(for_each_lowering_of_equals(Json::parse("[9,9]"), [&](const Json& lowered) {
    ++offered;
    return lowered[0] == 4;
  }));
  EXPECT_EQ(offered, 5);
}

}  // namespace
}  // namespace warpcheck
