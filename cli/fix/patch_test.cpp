// Patches as text: edits and unified diffs.
#include "cli/fix/patch.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck {
namespace {

std::string numbered(int last) {
  std::string text;
  for (int i = 1; i <= last; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(Patch, EditsTextInSeveralPlaces) {
  EXPECT_EQ(edited_text("abcdef", {{.at = 1, .removed = 2, .text = "X"},
                                   {.at = 6, .removed = 0, .text = "!"}}),
            "aXdef!");
}

TEST(Patch, PatchesThatChangeTheSameBytesCannotBeJoined) {
  Patch first, second, third;
  first.files["a"] = {{.at = 4, .removed = 4, .text = "x"}};
  second.files["a"] = {{.at = 6, .removed = 0, .text = "y"}};
  third.files["a"] = {{.at = 8, .removed = 0, .text = "z"}};
  EXPECT_FALSE(Patch(first).add(second));
  EXPECT_FALSE(Patch(first).add(first));
  EXPECT_TRUE(first.add(third));
  EXPECT_EQ(first.files.at("a").size(), 2u);
}

TEST(UnifiedDiff, HasThreeLinesOfContext) {
  std::string after = numbered(9);
  after.insert(after.find("6\n"), "new\n");
  EXPECT_EQ(unified_diff("d/f.cu", numbered(9), after),
            "--- a/d/f.cu\n+++ b/d/f.cu\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, FarChangesAreHunksOfTheirOwn) {
  std::string after = "0\n" + numbered(20);
  after.replace(after.find("20\n"), 3, "end");
  EXPECT_EQ(unified_diff("f", numbered(20), after),
            "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"
            "@@ -17,4 +18,4 @@\n 17\n 18\n 19\n-20\n+end\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, NearChangesShareAHunk) {
  std::string after = numbered(8);
  after.replace(after.find("2\n"), 1, "x");
  after.replace(after.find("7\n"), 1, "y");
  EXPECT_EQ(unified_diff("f", numbered(8), after),
            "--- a/f\n+++ b/f\n@@ -1,8 +1,8 @@\n 1\n-2\n+x\n 3\n 4\n 5\n 6\n-7\n+y\n 8\n");
}

TEST(UnifiedDiff, OfEqualTextsIsEmpty) { EXPECT_EQ(unified_diff("f", "a\n", "a\n"), ""); }

}  // namespace
}  // namespace warpcheck
