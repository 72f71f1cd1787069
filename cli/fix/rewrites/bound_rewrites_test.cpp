// Accesses that stay within their arrays.
#include "cli/fix/rewrites/bound_rewrites.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/fix/rewrites/rewrites_test_fixture.hpp"

namespace warpcheck {
namespace {

TEST(BoundedAccesses, AskEachBoundThatTheFunctionKnows) {
  const SourceTree tree = kernel_with("  a[2 * t] = 7;\n  if (t > 0) a[t] = 1;\n");
  EXPECT_EQ(applied(tree, bounded_accesses("k.cu", tree, statement_of(tree, 3))),
            (std::vector<std::string>{"  if (2 * t < n) a[2 * t] = 7;\n  if (t > 0) a[t] = 1;\n"}));
  EXPECT_EQ(applied(tree, bounded_accesses("k.cu", tree, statement_of(tree, 4))),
            (std::vector<std::string>{"  a[2 * t] = 7;\n  if (t > 0 && t < n) a[t] = 1;\n"}));
}

TEST(BoundedAccesses, ASharedArrayHasItsOwn) {
  const SourceTree tree =
      kernel_with("  __shared__ int s[64];\n  const int x = s[t];\n  s[n] = x;\n");
  EXPECT_EQ(applied(tree, bounded_accesses("k.cu", tree, statement_of(tree, 4))),
            (std::vector<std::string>{
                "  __shared__ int s[64];\n  const int x = (t < 64 ? s[t] : 0);\n  s[n] = x;\n"}));
}

TEST(BoundedVariables, AreThoseOfAnIndex) {
  const SourceTree tree = kernel_with("  if (x < n) a[y * n + x] = in[x];\n");
  EXPECT_EQ(applied(tree, bounded_variables("k.cu", tree, statement_of(tree, 3))),
            (std::vector<std::string>{"  if (x < n && x < n) a[y * n + x] = in[x];\n",
                                      "  if (x < n && y < n) a[y * n + x] = in[x];\n"}));
}

TEST(ShiftedComparisons, OfTheConditionsAround) {
  const SourceTree tree(
      "void f() {\n  for (int i = 0; i <= n; i <<= 1) {\n    a[i] = 1;\n  }\n}\n");
  const std::vector<Patch> patches =
      shifted_comparisons("k.cu", tree, tree.statements_at(3).back());
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_EQ(patches[0].what, (std::vector<std::string>{"< for <= in line 2"}));
}

TEST(ShiftedComparisons, OfAnEarlyEndAreTheOtherWay) {
  const SourceTree tree = kernel_with("  if (t > n) return;\n  a[t] = 1;\n");
  EXPECT_EQ(applied(tree, shifted_comparisons("k.cu", tree, statement_of(tree, 4))),
            (std::vector<std::string>{"  if (t >= n) return;\n  a[t] = 1;\n"}));
}

TEST(ExchangedBounds, OfTheConditionAroundOrOfAnEarlyEnd) {
  const SourceTree tree = kernel_with("  if (x < n && y + 1 < f(m)) a[y * n + x] = 1;\n");
  EXPECT_EQ(applied(tree, exchanged_bounds("k.cu", tree, statement_of(tree, 3))),
            std::vector<std::string>());  // f() may do something
  const SourceTree around = kernel_with("  if (x < n && y + 1 <= (m - 1)) a[y * n + x] = 1;\n");
  EXPECT_EQ(applied(around, exchanged_bounds("k.cu", around, statement_of(around, 3))),
            (std::vector<std::string>{"  if (x < (m - 1) && y + 1 <= n) a[y * n + x] = 1;\n"}));
  const SourceTree before =
      kernel_with("  if (x >= p->h || y >= w) return;\n  a[y * w + x] = 1;\n");
  EXPECT_EQ(
      applied(before, exchanged_bounds("k.cu", before, statement_of(before, 4))),
      (std::vector<std::string>{"  if (x >= w || y >= p->h) return;\n  a[y * w + x] = 1;\n"}));
}

TEST(ExchangedConnectives, OfTheConditionAroundOrOfAnEarlyEnd) {
  const SourceTree before = kernel_with("  if (x >= w && y >= h) return;\n  a[y * w + x] = 1;\n");
  EXPECT_EQ(applied(before, exchanged_connectives("k.cu", before, statement_of(before, 4))),
            (std::vector<std::string>{"  if (x >= w || y >= h) return;\n  a[y * w + x] = 1;\n"}));
  const SourceTree around = kernel_with("  if (x < w || y < h || z < d) a[z] = 1;\n");
  EXPECT_EQ(applied(around, exchanged_connectives("k.cu", around, statement_of(around, 3))),
            (std::vector<std::string>{"  if (x < w && y < h || z < d) a[z] = 1;\n",
                                      "  if (x < w || y < h && z < d) a[z] = 1;\n",
                                      "  if (x < w && y < h && z < d) a[z] = 1;\n"}));
  const SourceTree right = kernel_with("  if (x < w && y < h) a[y * w + x] = 1;\n");
  EXPECT_EQ(applied(right, exchanged_connectives("k.cu", right, statement_of(right, 3))),
            std::vector<std::string>());
}

TEST(BoundedAccesses, MayBeBelowZeroOrKnowBoundsOfObjectsAndConditions) {
  const SourceTree tree(
      "__global__ void k(Part p) {\n  if (t < kEnd) f();\n  p.out[t - 1] = p.size;\n}\n");
  EXPECT_EQ(patched_lines(tree, bounded_accesses("k.cu", tree, statement_of(tree, 3)), 3),
            (std::vector<std::string>{"  if (t - 1 >= 0) p.out[t - 1] = p.size;",
                                      "  if (t - 1 < p.size) p.out[t - 1] = p.size;",
                                      "  if (t - 1 < kEnd) p.out[t - 1] = p.size;"}));
}

TEST(BoundedBranches, HaveMoreInThem) {
  const SourceTree tree =
      kernel_with("  if (t < n) {\n    const int x = in[t + 1];\n    a[t] = x;\n  }\n");
  EXPECT_EQ(patched_lines(tree, bounded_branches("k.cu", tree, statement_of(tree, 4)), 3),
            (std::vector<std::string>{"  if (t < n && t + 1 < n) {"}));
}

TEST(OtherIndices, AreTheNearestOnes) {
  const SourceTree tree = kernel_with("  a[t] = in[n - t];\n");
  EXPECT_EQ(patched_lines(tree, other_indices("k.cu", tree, statement_of(tree, 3)), 3),
            (std::vector<std::string>{"  a[min(t, n - 1)] = in[n - t];",
                                      "  a[t] = in[min(n - t, n - 1)];",
                                      "  a[t] = in[max(n - t, 0)];", "  a[t] = in[n - t - 1];"}));
}

TEST(LargerArrays, HaveBothHalosFirst) {
  const SourceTree tree = kernel_with("  __shared__ int s[kSize + kHalo];\n  s[t + kHalo] = 0;\n");
  EXPECT_EQ(patched_lines(tree, larger_arrays("k.cu", tree, statement_of(tree, 4)), 3),
            (std::vector<std::string>{"  __shared__ int s[kSize + 2 * kHalo];",
                                      "  __shared__ int s[kSize + kHalo + 1];",
                                      "  __shared__ int s[kSize + kHalo + 2];"}));
}

TEST(LargerArrays, HaveAColumnMoreWhereOneLessStands) {
  const SourceTree tree = kernel_with("  __shared__ int s[8][T - 1];\n  s[t][0] = 0;\n");
  const auto lines = patched_lines(tree, larger_arrays("k.cu", tree, statement_of(tree, 4)), 3);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[2], "  __shared__ int s[8][T + 1];");
  EXPECT_EQ(lines[3], "  __shared__ int s[8][T];");
}

}  // namespace
}  // namespace warpcheck
