// `warpcheck fix -- PROGRAM` as a user runs it: the patch is applied, the program built again, and
// silent.
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

}  // namespace
