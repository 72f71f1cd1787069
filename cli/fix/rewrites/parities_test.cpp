// Waits for phases, and the parities that they name.
#include "cli/fix/rewrites/parities.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/fix/rewrites/rewrites_test_fixture.hpp"

namespace warpcheck {
namespace {

std::vector<std::string> parities(const std::string& lines) {
  const SourceTree tree = kernel_with(lines);
  return applied(tree, other_parities("k.cu", tree));
}

TEST(OtherParities, OfALoopFlip) {
  const std::string head = "#pragma unroll 1\n  for (int i = 0; i < n; ++i) {\n";
  EXPECT_EQ(parities(head + "    wait(&bar, 0);\n    a[t] += i;\n  }\n"),
            (std::vector<std::string>{
                "  unsigned phase = 0;\n" + head +
                    "    wait(&bar, phase);\n    phase ^= 1;\n    a[t] += i;\n  }\n",
                head + "    wait(&bar, 1);\n    a[t] += i;\n  }\n"}));
  EXPECT_EQ(parities(head + "    while (!try_wait(bar, 1)) {\n    }\n  }\n").front(),
            "  unsigned phase = 1;\n" + head +
                "    while (!try_wait(bar, phase)) {\n    }\n    phase ^= 1;\n  }\n");
  EXPECT_EQ(parities(head + "    asm(\"mbarrier.try_wait.parity.b64 [%0], %1;\" :: \"r\"(bar), "
                            "\"r\"(0));\n  }\n")
                .size(),
            2U);
}

TEST(OtherParities, OfARingAreThoseOfItsRounds) {
  EXPECT_EQ(parities("  for (int i = 0; i < n; ++i) wait(full[i % 4], 0);\n").front(),
            "  for (int i = 0; i < n; ++i) wait(full[i % 4], (i / 4) & 1);\n");
  EXPECT_EQ(parities("  for (int i = 0; i < n; ++i) wait(full[i % 4], (i / 4) & 1);\n"),
            (std::vector<std::string>{
                "  for (int i = 0; i < n; ++i) wait(full[i % 4], ((i / 4) & 1) ^ 1);\n"}));
}

TEST(OtherParities, OfAVariableFlipBehindTheWait) {
  EXPECT_EQ(parities("  wait(bar, phase);\n  a[t] = 1;\n").front(),
            "  wait(bar, phase);\n  phase ^= 1;\n  a[t] = 1;\n");
  EXPECT_TRUE(parities("  wait(bar);\n  wait(0);\n  arrive(bar, 1);\n").empty());
}

}  // namespace
}  // namespace warpcheck
