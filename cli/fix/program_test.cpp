// `warpcheck fix -- PROGRAM` as a user runs it: the patch is applied, the program built again, and
// silent.
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

constexpr const char* kSource = R"(
namespace {
__global__ void reversed(const int* in, int* out, int n) {
  __shared__ int share[64];
  const int t = threadIdx.x;
  if (t < n) share[t] = in[t];
  if (t < n) out[t] = share[n - 1 - t];
}
}  // namespace

int main() {
  constexpr int n = 64;
  int host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  reversed<<<1, n>>>(in, out, n);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return host[0] != n - 1;
}
)";
constexpr const char* kBuild = WARPCHECK_NVCC " -lineinfo -arch=compute_75 -o reverse reverse.cu";

class FixProgram : public ShellTest {
 protected:
  void SetUp() override {
    std::ofstream(directory_ / "reverse.cu") << kSource;
    const Outcome built = shell(kBuild);
    ASSERT_EQ(built.status, 0) << built.out;
  }
};

TEST_F(FixProgram, IsPatchedAndBuiltAndSilent) {
  const Outcome fixed =
      run(std::string("fix --runs 2 --apply --build '") + kBuild + "' -- ./reverse");
  EXPECT_EQ(fixed.status, 0) << fixed.out;
  EXPECT_NE(fixed.out.find("FIXED ./reverse\n  __syncthreads(); after line 6\n"), std::string::npos)
      << fixed.out;
  EXPECT_NE(fixed.out.find("\n    8 runs of the program"), std::string::npos) << fixed.out;
  EXPECT_NE(fixed.out.find("\n--- a/reverse.cu\n+++ b/reverse.cu\n"), std::string::npos);
  EXPECT_NE(fixed.out.find("the built program shows nothing in 2 runs\n"), std::string::npos)
      << fixed.out;
  EXPECT_NE(read("reverse.cu").find("  if (t < n) share[t] = in[t];\n  __syncthreads();\n"),
            std::string::npos);
  const Outcome clean = run("fix --runs 2 -- ./reverse");
  EXPECT_EQ(clean.status, 1);
  EXPECT_EQ(clean.out, "no patch for ./reverse: 2 runs of it show nothing\n");
}

// An experiment by hand: the race is gone with a barrier in the device code.
TEST_F(FixProgram, RunsWithEditsOfItsDeviceCode) {
  std::ofstream(directory_ / "edits.json")
      << R"([{"insert": "bar.sync 0;", "after": {"file": "reverse.cu", "line": 6}}])";
  std::ofstream(directory_ / "none.json") << R"([{"remove": {"file": "reverse.cu", "line": 99}}])";
  EXPECT_EQ(run("exec -- ./reverse").status, 66);
  const Outcome edited = run("exec --edits edits.json -- ./reverse");
  EXPECT_EQ(edited.status, 0) << edited.out;
  const Outcome none = run("exec --edits none.json -- ./reverse");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.out.find("the edits change nothing"), std::string::npos) << none.out;
  expect_one_line_error(run("exec --edits no.json -- ./reverse"), "cannot read no.json");
}

// --- experiments with copies of a program ------------------------------------------------------

// Experiments need landlock(7), from its version 3 on.
class Experiments : public FixProgram {
 protected:
  void SetUp() override {
    if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) < 3)
      GTEST_SKIP() << "this system cannot keep experiments from changing files";
    FixProgram::SetUp();
  }
};

TEST_F(Experiments, ExecNamesTheChangeWithWhichAllFindingsVanish) {
  const Outcome found = run("exec --json r.json --sarif r.sarif --html r.html -- ./reverse");
  EXPECT_EQ(found.status, 66);
  const std::string sentence =
      "with __syncthreads() after reverse.cu:6, this program has no findings";
  EXPECT_NE(found.out.find("=========   " + sentence + "\n=========   and 1 consequence:\n"),
            std::string::npos)
      << found.out;
  EXPECT_NE(found.out.find("2 errors of 1 cause"), std::string::npos) << found.out;
  for (const char* const file : {"r.json", "r.sarif", "r.html"})
    EXPECT_NE(read(file).find(sentence), std::string::npos) << file;
  EXPECT_NE(read("r.json").find(R"("grouped_by": "experiment")"), std::string::npos);
  EXPECT_NE(read("r.json").find(R"("consequence_of")"), std::string::npos);
}

TEST_F(Experiments, ExecSaysWhereFindingsAreGroupedByRules) {
  const Outcome none = run("exec --causes 0 --json r.json -- ./reverse");
  EXPECT_EQ(none.out.find("this program has no findings"), std::string::npos) << none.out;
  EXPECT_EQ(read("r.json").find(R"("causes")"), std::string::npos);
  const Outcome few =
      run("exec --causes 1 --json r.json --sarif r.sarif --html r.html -- ./reverse");
  EXPECT_EQ(few.status, 66);
  const std::string why =
      "findings are grouped by rules, no change was tried: a second run would take more steps than "
      "they may";
  EXPECT_NE(few.out.find("========= " + why), std::string::npos) << few.out;
  for (const char* const file : {"r.json", "r.sarif", "r.html"})
    EXPECT_NE(read(file).find(why), std::string::npos) << file;
  const Outcome some = run("exec --causes 300000 -- ./reverse");
  EXPECT_NE(some.out.find("the budget of steps for experiments was used up "), std::string::npos)
      << some.out;
}

// A program that appends to a file runs for the user once.
TEST_F(Experiments, WriteNoFiles) {
  std::string source = kSource;
  source.insert(source.find("  return host[0]"),
                "  FILE* const file = fopen(\"log\", \"a\");\n  if (file != nullptr) {\n"
                "    fputs(\"ran\\n\", file);\n    fclose(file);\n  }\n");
  std::ofstream(directory_ / "reverse.cu") << "#include <cstdio>\n" << source;
  ASSERT_EQ(shell(kBuild).status, 0);
  const Outcome found = run("exec -- ./reverse");
  EXPECT_NE(found.out.find("this program has no findings"), std::string::npos) << found.out;
  EXPECT_EQ(read("log"), "ran\n");
}

TEST_F(Experiments, OrdersAreNeededOrNot) {
  const Outcome failing = run("orders -- ./reverse");
  EXPECT_EQ(failing.status, 2);
  EXPECT_NE(failing.out.find("./reverse fails as it is: data-race"), std::string::npos)
      << failing.out;
  std::string source = kSource;
  source.insert(source.find("  if (t < n) out"),
                "  __syncthreads();\n  int v = share[t];\n"
                "  __syncthreads();\n  if (n < 0) out[0] = v;\n");
  std::ofstream(directory_ / "reverse.cu") << source;
  ASSERT_EQ(shell(kBuild).status, 0);
  const Outcome judged = run("orders --runs 2 --json orders.json --html orders.html -- ./reverse");
  EXPECT_EQ(judged.status, 1) << judged.out;
  EXPECT_NE(judged.out.find("./reverse: 2 orders: "), std::string::npos) << judged.out;
  EXPECT_NE(judged.out.find("executed 2 times, "), std::string::npos) << judged.out;
  EXPECT_NE(read("orders.html").find("<b class=\"redundant\">redundant</b> bar.sync removed"),
            std::string::npos);
}

// Its data are others in each process.
constexpr const char* kTwoStreams = R"(
#include <unistd.h>

__global__ void doubled(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

int main() {
  int *a, *b, *c, host[32];
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  cudaMalloc(&c, sizeof host);
  cudaMemset(a, getpid() % 100, sizeof host);
  cudaMemset(b, 1, sizeof host);
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  doubled<<<1, 32, 0, one>>>(a, b);
  doubled<<<1, 32, 0, two>>>(b, c);
  cudaDeviceSynchronize();
  cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
  return 0;
}
)";

TEST_F(FixProgram, HostCodeIsPatched) {
  std::ofstream(directory_ / "reverse.cu") << kTwoStreams;
  ASSERT_EQ(shell(kBuild).status, 0);
  const Outcome fixed =
      run(std::string("fix --runs 2 --apply --build '") + kBuild + "' -- ./reverse");
  EXPECT_EQ(fixed.status, 0) << fixed.out;
  EXPECT_NE(fixed.out.find("FIXED ./reverse\n  a wait of stream two for stream one after line "),
            std::string::npos)
      << fixed.out;
  EXPECT_NE(fixed.out.find("\n    4 runs of the program"), std::string::npos) << fixed.out;
  EXPECT_NE(fixed.out.find("the built program shows nothing in 2 runs\n"), std::string::npos)
      << fixed.out;
  EXPECT_NE(read("reverse.cu").find("  cudaStreamWaitEvent(two, done, 0);\n"), std::string::npos);
}

TEST_F(FixProgram, WhatHostCodeLacksIsNamedWhereItCannotBeBuiltAgain) {
  std::ofstream(directory_ / "reverse.cu") << kTwoStreams;
  ASSERT_EQ(shell(kBuild).status, 0);
  const Outcome named = run("fix --runs 2 --nvcc --no-such-option -- ./reverse");
  EXPECT_EQ(named.status, 0) << named.out;
  EXPECT_NE(named.out.find("HOST CODE of ./reverse\n  it lacks an order of the streams "
                           "(cudaStreamWaitEvent(), or one stream) between "),
            std::string::npos)
      << named.out;
  EXPECT_NE(named.out.find("4 runs without a finding"), std::string::npos) << named.out;
}

}  // namespace
