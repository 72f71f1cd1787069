#include "vgpu/text/nearest_word.hpp"

#include <gtest/gtest.h>

namespace warpcheck {
namespace {

TEST(NearestWord, IsAskedForIfItIsNear) {
  EXPECT_EQ(is_it("chek", {"hunt", "check", "shrink"}), " (is it 'check'?)");
  EXPECT_EQ(is_it("hutn", {"hunt", "check", "shrink"}), " (is it 'hunt'?)");
  EXPECT_EQ(is_it("frobnicate", {"hunt", "check", "shrink"}), "");
  EXPECT_EQ(is_it("n", {"list"}), "");
  EXPECT_EQ(is_it("aa", {"ab", "ac"}), " (is it 'ab'?)");  // the first of the nearest
  EXPECT_EQ(is_it("check", {}), "");
  EXPECT_EQ(is_it("--ouput", {"--jobs", "--output"}), " (is it '--output'?)");
  EXPECT_EQ(is_it("--bogus", {"--jobs", "--output"}), "");
}

}  // namespace
}  // namespace warpcheck
