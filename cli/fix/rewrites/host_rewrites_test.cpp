// Host code as text, and changes of what it asks of the device.
#include "cli/fix/rewrites/host_rewrites.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/fix/rewrites/rewrites_test_fixture.hpp"
#include "cli/fix/rewrites/uploads.hpp"

namespace warpcheck {
namespace {

const std::string kFile = "k.cu";

SourceTree host_with(const std::string& lines) {
  return SourceTree("int main() {\n" + lines + "}\n");
}

TEST(HostCalls, AreCallsAndLaunchesOfTheHost) {
  const SourceTree tree(
      "__global__ void k(int* p) { cudaDeviceSynchronize(); }\n"
      "int main() {\n  CHECK(cudaMalloc(&p, n * (a + b)));\n  k<int><<<n / 32, 32, 0, "
      "s>>>(p);\n}\n");
  const HostCalls calls = host_calls(kFile, tree);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].name, "cudaMalloc");
  EXPECT_EQ(calls[0].argument(1), "n * (a + b)");
  EXPECT_EQ(stream_of(calls[0]), "");
  EXPECT_EQ(calls[1].name, "k");
  EXPECT_TRUE(calls[1].is_launch);
  EXPECT_EQ(stream_of(calls[1]), "s");
}

TEST(WaitsOfHost, ComeBehindWhatAStreamGets) {
  const SourceTree tree = host_with("  k<<<1, 32, 0, s>>>(p);\n  use(p);\n");
  EXPECT_EQ(
      patched_lines(tree, waits_of_host(host_calls(kFile, tree)), 3),
      (std::vector<std::string>{"  cudaStreamSynchronize(s);", "  cudaDeviceSynchronize();"}));
}

TEST(WaitsOfStreams, UseEventsThatAreRecorded) {
  const SourceTree tree =
      host_with("  k<<<1, 32, 0, s>>>(p);\n  cudaEventRecord(e, s);\n  k<<<1, 32, 0, t>>>(p);\n");
  const HostCalls calls = host_calls(kFile, tree);
  const std::vector<Patch> patches = waits_of_streams(calls, {calls[0]}, {calls[2]});
  EXPECT_EQ(patched_lines(tree, patches, 4),
            (std::vector<std::string>{"  cudaStreamWaitEvent(t, e, 0);", "  cudaEvent_t done;"}));
}

TEST(LaterFrees, ComeBehindTheLastUse) {
  const SourceTree tree = host_with("  cudaFree(p);\n  k<<<1, 32>>>(p);\n  end();\n  return 0;\n");
  const std::vector<Patch> patches = later_frees(host_calls(kFile, tree));
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(edited_text(tree.text(), patches[0].files.at(kFile)),
            "int main() {\n  k<<<1, 32>>>(p);\n  cudaFree(p);\n  end();\n  return 0;\n}\n");
}

TEST(SingleFrees, LeaveOneOut) {
  const SourceTree tree = host_with("  cudaFree(p);\n  cudaFree(q);\n  cudaFree(p);\n");
  const std::vector<Patch> patches = single_frees(host_calls(kFile, tree));
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(edited_text(tree.text(), patches[0].files.at(kFile)),
            "int main() {\n  cudaFree(p);\n  cudaFree(q);\n}\n");
}

TEST(Sizes, AreInBytesAndThoseOfTheAllocation) {
  const SourceTree tree = host_with("  cudaMalloc(&p, 4 * n);\n  cudaMemcpy(p, q, n, kind);\n");
  const HostCalls calls = host_calls(kFile, tree);
  EXPECT_EQ(patched_lines(tree, other_sizes(calls), 3),
            (std::vector<std::string>{
                "  cudaMemcpy(p, q, n, kind);", "  cudaMemcpy(p, q, n * sizeof(*p), kind);",
                "  cudaMemcpy(p, q, n, kind);", "  cudaMemcpy(p, q, 4 * n, kind);"}));
  EXPECT_EQ(patched_lines(tree, zeroed_allocations(calls), 3),
            (std::vector<std::string>{"  cudaMemset(p, 0, 4 * n);"}));
}

TEST(Sizes, OfAnAllocationMayBeLarger) {
  const auto sizes = [](const std::string& size) {
    const SourceTree tree = host_with("  cudaMalloc(&p, " + size + ");\n");
    return patched_lines(tree, other_sizes(host_calls(kFile, tree)), 2);
  };
  EXPECT_EQ(sizes("n * sizeof(int)"),
            (std::vector<std::string>{"  cudaMalloc(&p, (n + 1) * sizeof(int));"}));
  EXPECT_EQ(sizes("all.bytes() / 2"),
            (std::vector<std::string>{"  cudaMalloc(&p, (all.bytes() / 2) * sizeof(*p));",
                                      "  cudaMalloc(&p, all.bytes());"}));
}

TEST(LeftUploads, AreOfVariablesThatNoCopyUses) {
  const SourceTree tree = host_with(
      "  int *p, *q = nullptr, n = 3;\n  std::vector<int> v(n), w;\n  float x[2] = {1, 2};\n"
      "  cudaMalloc(&p, 8);\n  cudaMemcpy(w.data(), p, 8, kind);\n  f(n);\n  k<<<1, 1>>>(p);\n");
  EXPECT_EQ(patched_lines(tree, left_uploads(host_calls(kFile, tree)), 8),
            (std::vector<std::string>{
                "  cudaMemcpy(p, q, 8, cudaMemcpyHostToDevice);",
                "  cudaMemcpy(p, &n, sizeof(n), cudaMemcpyHostToDevice);",
                "  cudaMemcpy(p, v.data(), v.size() * sizeof(v[0]), cudaMemcpyHostToDevice);",
                "  cudaMemcpy(p, x, sizeof(x), cudaMemcpyHostToDevice);"}));
}

TEST(LargerShared, CountsElements) {
  const SourceTree tree(
      "__global__ void k() {\n  extern __shared__ float s[];\n}\n"
      "int main() {\n  k<<<1, n, n>>>();\n}\n");
  EXPECT_EQ(patched_lines(tree, larger_shared(tree, host_calls(kFile, tree)), 5).front(),
            "  k<<<1, n, n * sizeof(float)>>>();");
}

TEST(Directions, PeersEdgesAndGrids) {
  const SourceTree tree = host_with(
      "  cudaMemcpy(p, q, n, cudaMemcpyDeviceToHost);\n  cudaSetDevice(0);\n  cudaSetDevice(1);\n"
      "  cudaGraphAddKernelNode(&a, g, nullptr, 0, &one);\n"
      "  cudaGraphAddKernelNode(&b, g, nullptr, 0, &two);\n  k<<<n / 32, 32>>>(p);\n");
  const HostCalls calls = host_calls(kFile, tree);
  EXPECT_EQ(patched_lines(tree, other_directions(calls), 2).front(),
            "  cudaMemcpy(p, q, n, cudaMemcpyHostToDevice);");
  EXPECT_EQ(patched_lines(tree, peer_accesses(calls), 4).front(),
            "  cudaDeviceEnablePeerAccess(1, 0);");
  EXPECT_EQ(patched_lines(tree, graph_edges(calls), 6),
            (std::vector<std::string>{"  cudaGraphAddKernelNode(&b, g, &a, 1, &two);"}));
  EXPECT_EQ(patched_lines(tree, rounded_up_grids(kFile, tree, calls), 7),
            (std::vector<std::string>{"  k<<<(n + 32 - 1) / 32, 32>>>(p);"}));
}

}  // namespace
}  // namespace warpcheck
