// Threads that end early, and barriers that they pass by.
#include "cli/fix/rewrites/early_ends.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cli/fix/rewrites/rewrites_test_fixture.hpp"

namespace warpcheck {
namespace {

std::string postponed(const std::string& lines, const std::string& barrier) {
  const SourceTree tree = kernel_with(lines);
  const std::size_t node = statement_of(tree, tree.line_of(tree.text().find(barrier)));
  const auto texts = applied(tree, postponed_ends("k.cu", tree, node));
  return texts.empty() ? "" : texts.front();
}

TEST(PostponedEnds, OfThreadsOfTheGridLieBehindItsLastBarrier) {
  const auto returns = [](const std::string& between) {
    return postponed("  if (t >= n) return;\n" + between + "  grid.sync();\n  a[t] = 1;\n", "grid");
  };
  const std::string begin = "  const bool takes_part = !(t >= n);\n";
  const std::string end = "  grid.sync();\n  if (!takes_part) return;\n  a[t] = 1;\n";
  EXPECT_EQ(returns(""), begin + end);
  EXPECT_EQ(returns("  const int next = t + 1;\n  a[t] = in[next];\n"),
            begin + "  const int next = t + 1;\n  if (takes_part) a[t] = in[next];\n" + end);
  EXPECT_EQ(returns("  const int value = in[t];\n"),
            begin + "  int value{};\n  if (takes_part) value = in[t];\n" + end);
  EXPECT_EQ(returns("  const auto value = in[t];\n"), "");
  EXPECT_EQ(returns("  if (t == 0) __syncthreads();\n"), "");
}

TEST(PostponedEnds, OfARoundLieBehindItsLastBarrier) {
  const std::string head = "  for (int base = 0; base < n; base += 64) {\n";
  EXPECT_EQ(postponed(head + "    if (base + t >= n) continue;\n    s[t] = in[t];\n"
                             "    __syncthreads();  // first\n    if (t > 0) a[t] = s[t - 1];\n"
                             "    __syncthreads();\n  }\n",
                      "__sync"),
            head +
                "    const bool takes_part = !(base + t >= n);\n    if (takes_part) s[t] = in[t];\n"
                "    __syncthreads();  // first\n    if (takes_part && t > 0) a[t] = s[t - 1];\n"
                "    __syncthreads();\n  }\n");
  EXPECT_EQ(postponed(head + "    if (base + t >= n) { continue; }\n    __syncthreads();\n"
                             "    a[t] = 0;\n  }\n",
                      "__sync"),
            head +
                "    const bool takes_part = !(base + t >= n);\n    __syncthreads();\n"
                "    if (!takes_part) continue;\n    a[t] = 0;\n  }\n");
  EXPECT_EQ(
      postponed(head + "    if (base + t >= n) break;\n    __syncthreads();\n  }\n", "__sync"), "");
}

}  // namespace
}  // namespace warpcheck
