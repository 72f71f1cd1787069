// Barriers that would be right in the runs at hand and wrong at other sizes are refused.
#include "cli/fix/uniform_places.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck {
namespace {

// Inserts the barrier in place of `@` in a file, and asks whether all threads come by.
bool come_by(std::string text, const std::string& barrier = "__syncthreads();") {
  const std::size_t at = text.find('@');
  text.erase(at, 1);
  std::map<std::string, SourceTree> sources;
  sources.try_emplace("k.cu", text);
  Patch patch;
  patch.files["k.cu"] = {{.at = at, .removed = 0, .text = barrier}};
  return UniformPlaces(sources).all_come_by(patch);
}

bool in_kernel(const std::string& body, const std::string& barrier = "__syncthreads();") {
  return come_by("__global__ void k(int* a, int n) {\n  int t = threadIdx.x;\n" + body + "\n}\n",
                 barrier);
}

TEST(UniformPlaces, AreWhereNoConditionDependsOnTheThread) {
  EXPECT_TRUE(in_kernel("  a[t] = 1;@\n  a[t + 1] = 2;"));
  EXPECT_TRUE(in_kernel("  for (int d = 1; d < n; d *= 2) { a[t] = d;@\n }"));
  EXPECT_TRUE(in_kernel("  for (int i = blockIdx.x; i < n; i += gridDim.x) { a[t] = i;@\n }"));
  EXPECT_TRUE(in_kernel("  if (n > 7) { a[t] = 1;@\n }"));
}

TEST(UniformPlaces, AreNotInCodeOfSomeThreads) {
  EXPECT_FALSE(in_kernel("  if (t < n) { a[t] = 1;@\n }"));
  EXPECT_FALSE(in_kernel("  if (t < n) a[0] = 1; else { a[t] = 1;@\n }"));
  EXPECT_FALSE(in_kernel("  for (int i = threadIdx.x; i < n; i += blockDim.x) { a[i] = 1;@\n }"));
  EXPECT_FALSE(in_kernel("  int m = 0; if (t > 3) m = 1;\n  while (m < n) { m += 2;@\n }"));
  EXPECT_FALSE(in_kernel("  const int x(t * 2);\n  if (x) { a[0] = 1;@\n }"));
  EXPECT_FALSE(in_kernel("  const int i = atomicAdd(a, 1);\n  if (i == 0) { a[1] = 1;@\n }"));
}

TEST(UniformPlaces, OfAClusterAreWhereAllItsBlocksComeBy) {
  const std::string barrier = "asm volatile(\"barrier.cluster.arrive; barrier.cluster.wait;\");";
  EXPECT_TRUE(in_kernel("  a[t] = 1;@\n", barrier));
  EXPECT_FALSE(in_kernel("  for (int i = t; i < n; i += 32) { a[i] = 1;@\n }", barrier));
  EXPECT_FALSE(in_kernel("  if (blockIdx.x == 0) { a[t] = 1;@\n }", barrier));
}

TEST(UniformPlaces, AreNotWhereSomeThreadsHaveLeftALoop) {
  EXPECT_FALSE(in_kernel("  for (int d = 1; d < n; ++d) { if (t < d) continue; a[t] = d;@\n }"));
  EXPECT_FALSE(in_kernel("  for (int d = 1; d < n; ++d) { a[t] = d;@\n if (t == d) break; }"));
  EXPECT_TRUE(in_kernel("  for (int d = 1; d < n; ++d) { a[t] = d;@\n if (n == d) break; }"));
}

// A thread that has left a kernel counts at no barrier; one that has left a function comes by none.
TEST(UniformPlaces, KnowReturns) {
  EXPECT_TRUE(in_kernel("  if (t >= n) return;\n  a[t] = 1;@\n"));
  const std::string function =
      "__device__ void f(int* a, int t, int n) {\n  if (t >= n) return;\n  a[t] = 1;@\n}\n";
  EXPECT_FALSE(come_by(function + "__global__ void k(int* a) { f(a, threadIdx.x, 3); }\n"));
  EXPECT_TRUE(come_by(function + "__global__ void k(int* a) { f(a, blockIdx.x, 3); }\n"));
}

TEST(UniformPlaces, OfAFunctionDependOnItsCalls) {
  const std::string function = "__device__ void f(int* a, int n) {\n  a[n] = 1;@\n}\n";
  EXPECT_TRUE(come_by(function + "__global__ void k(int* a) { f(a, 1); }\n"));
  EXPECT_FALSE(come_by(function + "__global__ void k(int* a) { if (threadIdx.x) f(a, 1); }\n"));
  EXPECT_FALSE(come_by(function));  // who calls it is not known
}

TEST(UniformPlaces, OfAWarpAreInBranchesOfWholeWarps) {
  EXPECT_TRUE(in_kernel("  if (t < 32) { a[t] = 1;@\n }", "__syncwarp();"));
  EXPECT_TRUE(in_kernel("  if (t / 32 == 0) { a[t] = 1;@\n }", "__syncwarp();"));
  EXPECT_FALSE(in_kernel("  if (t < n) { a[t] = 1;@\n }", "__syncwarp();"));
  EXPECT_FALSE(in_kernel("  if (t < 16) { a[t] = 1;@\n }", "__syncwarp();"));
}

// A thread that has left a kernel is missing at a barrier of the grid; blocks differ.
TEST(UniformPlaces, OfAGridAreWhereAllBlocksComeBy) {
  const std::string barrier = "cooperative_groups::this_grid().sync();";
  EXPECT_TRUE(in_kernel("  for (int i = 0; i < n; ++i) { a[t] = i;@\n }", barrier));
  EXPECT_FALSE(in_kernel("  if (t >= n) return;\n  a[t] = 1;@\n", barrier));
  EXPECT_FALSE(in_kernel("  int i = blockIdx.x;\n  if (i < n) { a[t] = 1;@\n }", barrier));
  EXPECT_FALSE(in_kernel(
      "  __shared__ int last;\n  last = blockIdx.x;\n  if (last) { a[t] = 1;@\n }", barrier));
}

TEST(UniformPlaces, TakeSharedVariablesForOne) {
  EXPECT_TRUE(
      in_kernel("  __shared__ int last;\n  if (t == 0) last = a[0];\n  __syncthreads();\n"
                "  if (last) { a[t] = 1;@\n }"));
}

}  // namespace
}  // namespace warpcheck
