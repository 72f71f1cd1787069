// First values of shared and local variables.
#include "cli/fix/rewrites/first_values.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/fix/rewrites/rewrites_test_fixture.hpp"

namespace warpcheck {
namespace {

TEST(InitialValues, AreOfSharedAndLocalVariables) {
  const SourceTree tree = kernel_with("  __shared__ int sum;\n  int x;\n  a[0] = sum + x;\n");
  EXPECT_EQ(applied(tree, initial_values("k.cu", tree, statement_of(tree, 5), "sum", false)),
            (std::vector<std::string>{
                "  __shared__ int sum;\n  if (threadIdx.x == 0) sum = 0;\n  __syncthreads();\n"
                "  int x;\n  a[0] = sum + x;\n",
                "  __shared__ int sum;\n  int x = 0;\n  a[0] = sum + x;\n",
                "  __shared__ int sum;\n  int x = -2147483647 - 1;\n  a[0] = sum + x;\n",
                "  __shared__ int sum;\n  int x = 2147483647;\n  a[0] = sum + x;\n",
                "  __shared__ int sum;\n  int x = 1;\n  a[0] = sum + x;\n",
                "  __shared__ int sum;\n  int x = -1;\n  a[0] = sum + x;\n"}));
}

// Where nothing shows that a value is wrong, the one that the variable's use leaves as it is.
TEST(InitialValues, FollowTheUse) {
  const auto first = [](const std::string& declaration, const std::string& use) {
    const SourceTree tree = kernel_with("  " + declaration + "\n  " + use + "\n");
    const std::vector<std::string> lines =
        patched_lines(tree, initial_values("k.cu", tree, statement_of(tree, 4), "best", true), 3);
    return lines.size() == 1 ? lines.front() : "";
  };
  EXPECT_EQ(first("int best;", "if (in[t] > best) best = in[t];"), "  int best = -2147483647 - 1;");
  EXPECT_EQ(first("int best;", "if (best > in[t]) { best = in[t]; }"), "  int best = 2147483647;");
  EXPECT_EQ(first("float best;", "best = fmaxf(best, in[t]);"), "  float best = -INFINITY;");
  EXPECT_EQ(first("int best;", "best = in[t] < best ? in[t] : best;"), "  int best = 2147483647;");
  EXPECT_EQ(first("unsigned best;", "best *= in[t];"), "  unsigned best = 1;");
  EXPECT_EQ(first("int best;", "best += in[t];"), "  int best = 0;");
  EXPECT_EQ(first("__shared__ int best;", "atomicMin(&best, in[t]);"), "  __shared__ int best;");
}

}  // namespace
}  // namespace warpcheck
