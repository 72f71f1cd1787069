// `warpcheck fix` on recorded cases of published defects: the patch applies, and what it makes
// compiles; where there is none, that is said.
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

class FixCommand : public ShellTest {
 protected:
  Outcome fix(const std::string& name, const std::string& options = "--trials 200") const {
    return run("fix " + options + " " WARPCHECK_SOURCE_DIR "/fuzz/cases/" + name);
  }

  // Applies what was printed to a copy of the kernels, and compiles the file; returns its text.
  [[nodiscard]] std::string patched(const Outcome& fixed, const std::string& file) const {
    std::ofstream(directory_ / "fix.out") << fixed.out;
    EXPECT_EQ(
        shell("cp -r " WARPCHECK_SOURCE_DIR "/kernels . && patch -p1 --fuzz=0 < fix.out").status,
        0);
    const Outcome compiled = shell(WARPCHECK_NVCC " -ptx -std=c++20 -I. -o /dev/null " + file);
    EXPECT_EQ(compiled.status, 0) << compiled.out;
    return read(file);
  }
};

TEST_F(FixCommand, AStatementThatReadsAndWritesIsDivided) {
  const Outcome fixed = fix("scan_hillis_steele_published/2ac5.case");
  EXPECT_EQ(fixed.status, 0) << fixed.out;
  EXPECT_NE(fixed.out.find("FIXED scan_hillis_steele_published\n"), std::string::npos);
  EXPECT_NE(fixed.out.find("and 200 trials of the pair: no finding"), std::string::npos);
  EXPECT_NE(fixed.out.find("barriers 2 -> 4"), std::string::npos);
  const std::string text = patched(fixed, "kernels/specimens/scan_hillis_steele.cu");
  EXPECT_NE(text.find("    const auto value = (t >= distance && t < n) ? share[t - distance] : 0;\n"
                      "    __syncthreads();\n"
                      "    if (t >= distance && t < n) share[t] += value;\n"),
            std::string::npos)
      << text;
}

TEST_F(FixCommand, FlagsGetTheFencesOfBothSides) {
  const Outcome fixed = fix("message_passing_unfenced/3bb6.case");
  EXPECT_EQ(fixed.status, 0) << fixed.out;
  const std::string text = patched(fixed, "kernels/specimens/weak/communication.cu");
  EXPECT_NE(text.find("    __threadfence();\n    shared->flag[0] = 1;\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  while (shared->flag[0] == 0) {\n  }\n  __threadfence();\n"),
            std::string::npos)
      << text;
}

// The experiments of the case name a pair of fences; no other change is compiled.
TEST_F(FixCommand, WhatExperimentsNameIsTriedFirst) {
  const Outcome fixed = fix("look_back_scan_unfenced/5953.case");
  EXPECT_EQ(fixed.status, 0) << fixed.out;
  EXPECT_NE(fixed.out.find("  1 change tried; "), std::string::npos) << fixed.out;
  const std::string text = patched(fixed, "kernels/specimens/weak/communication.cu");
  EXPECT_NE(text.find("    while (shared->flag[block - 1] == 0) {\n    }\n    __threadfence();\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  __threadfence();\n  shared->flag[block] = 1;\n"), std::string::npos)
      << text;
}

TEST_F(FixCommand, SaysThatThereIsNoPatch) {
  const Outcome wrong = fix("reduce_max_published/998d.case");
  EXPECT_EQ(wrong.status, 1) << wrong.out;
  EXPECT_EQ(wrong.out.find("+++"), std::string::npos);
  EXPECT_EQ(
      wrong.out,
      "no patch for reduce_max_published: no change of device code is known for what fails\n");
}

TEST_F(FixCommand, SaysWhatCannotBe) {
  expect_one_line_error(run("fix none.case"), "cannot read none.case: No such file");
  expect_one_line_error(fix("scan_hillis_steele_published/2ac5.case", "--build make"),
                        "--build needs --apply");
}

}  // namespace
