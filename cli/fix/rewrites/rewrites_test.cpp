// Statements of sources, and how they are written in another way.
#include "cli/fix/rewrites/rewrites.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/fix/rewrites/rewrites_test_fixture.hpp"

namespace warpcheck {
namespace {

TEST(SourceTree, KnowsTheStatementsOfALine) {
  const SourceTree tree = kernel_with(
      "  for (int i = 0; i < n; ++i) {\n"
      "    if (a[i] > 0) a[i] = 1;  // ; }\n"
      "    else { a[i] = ';'; }\n"
      "  }\n"
      "#define BRACE {\n"
      "  a[0] = f(\"}\",\n"
      "           2);\n");
  EXPECT_EQ(tree.code_of(statement_of(tree, 4)), "a[i] = 1;");
  EXPECT_EQ(tree[statement_of(tree, 3)].kind, SourceNode::Kind::loop);
  EXPECT_EQ(tree.head_of(statement_of(tree, 3)), "int i = 0; i < n; ++i");
  EXPECT_EQ(statement_of(tree, 7), SourceNode::kNoNode);
  EXPECT_EQ(tree[statement_of(tree, 9)].kind, SourceNode::Kind::simple);
  EXPECT_EQ(statement_of(tree, 9), statement_of(tree, 8));
}

TEST(SourceTree, HasNoStatementsWhereBracesDoNotMatch) {
  EXPECT_TRUE(SourceTree("void f() { if (a) { b; }\n").nodes().empty());
  EXPECT_EQ(
      SourceTree("namespace { struct S { int a; }; __global__ void f() { a; } }").nodes().size(),
      3u);
}

TEST(SplitArguments, AtCommasOutsideOfBrackets) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_arguments(" f(a, b), {c, d}, e[g(1, 2)] "),
            (Parts{"f(a, b)", "{c, d}", "e[g(1, 2)]"}));
  EXPECT_EQ(split_arguments("map<int, float> a, b"), (Parts{"map<int, float> a", "b"}));
  EXPECT_EQ(split_arguments("p->f(a, b), c"), (Parts{"p->f(a, b)", "c"}));
  EXPECT_EQ(split_arguments("a < b, c", Angles::operators), (Parts{"a < b", "c"}));
  EXPECT_EQ(split_arguments("a > b, f(c, d)", Angles::operators), (Parts{"a > b", "f(c, d)"}));
  EXPECT_EQ(split_arguments("a,, b", Angles::operators), (Parts{"a", "", "b"}));
}

TEST(SplitStatement, WaitsBetweenReadAndWrite) {
  const SourceTree tree = kernel_with("    if (t > 1) a[t] += a[t - 1];\n");
  const auto patch = split_statement("k.cu", tree, statement_of(tree, 3), "__syncthreads();");
  ASSERT_TRUE(patch);
  EXPECT_EQ(applied(tree, *patch),
            "    const auto value = t > 1 ? a[t - 1] : 0;\n    __syncthreads();\n"
            "    if (t > 1) a[t] += value;\n");
}

TEST(SplitStatement, LeavesAloneWhatItWouldDoTwice) {
  for (const std::string line :
       {"  if (next()) a[t] = a[t - 1];\n", "  if (t > 1) a[t++] = a[t];\n",
        "  const int x = a[t];\n", "  if (t) a[t] = '1';\n",
        "  if (t) a[t] = a[1]; else a[t] = a[2];\n"}) {
    const SourceTree tree = kernel_with(line);
    EXPECT_FALSE(split_statement("k.cu", tree, statement_of(tree, 3), "__syncthreads();")) << line;
  }
}

TEST(AtomicUpdates, KnowTheUsualForms) {
  const auto atomic = [](const std::string& line) {
    const SourceTree tree = kernel_with(line + "\n");
    const auto texts = applied(tree, atomic_updates("k.cu", tree, statement_of(tree, 3)));
    return texts.empty() ? "" : texts.front();
  };
  EXPECT_EQ(atomic("a[in[t]]++;"), "atomicAdd(&a[in[t]], 1);\n");
  EXPECT_EQ(atomic("a[2 * t] -= n + 1;"), "atomicAdd(&a[2 * t], -(n + 1));\n");
  EXPECT_EQ(atomic("*a = *a + n;"), "atomicAdd(&*a, n);\n");
  EXPECT_EQ(atomic("a[0] = max(a[0], in[t]);"), "atomicMax(&a[0], in[t]);\n");
  EXPECT_EQ(atomic("a[0] = max(in[t], a[0]);"), "atomicMax(&a[0], in[t]);\n");
  EXPECT_EQ(atomic("a[0] = fminf(a[0], in[t]);"), "atomicMin(&a[0], in[t]);\n");
  EXPECT_EQ(atomic("*a = n + *a;"), "atomicAdd(&*a, n);\n");
  EXPECT_EQ(atomic("a[0] = max(in[t], in[0]);"), "");
  EXPECT_EQ(atomic("a[0] *= 2;"), "");
  EXPECT_EQ(atomic("int x = 2;"), "");
  EXPECT_EQ(atomic("if (a[0] <= 2) return;"), "");
}

TEST(StridedAccesses, BecomeALoopOverASharedArray) {
  const SourceTree tree = kernel_with("  __shared__ int s[256];\n  s[threadIdx.x] = 0;\n");
  EXPECT_EQ(applied(tree, strided_accesses("k.cu", tree, statement_of(tree, 4))),
            (std::vector<std::string>{
                "  __shared__ int s[256];\n  for (unsigned slot = threadIdx.x; slot < 256; slot += "
                "blockDim.x) s[slot] = 0;\n"}));
}

TEST(StridedAccesses, OfAFunctionBelongTogether) {
  const SourceTree tree = kernel_with(
      "  __shared__ int s[256];\n  s[threadIdx.x] = 0;\n"
      "  atomicAdd(&a[threadIdx.x], s[threadIdx.x]);\n");
  const auto patch = all_strided_accesses("k.cu", tree, 0);
  ASSERT_TRUE(patch);
  EXPECT_EQ(applied(tree, *patch),
            "  __shared__ int s[256];\n  for (unsigned slot = threadIdx.x; slot < 256; slot += "
            "blockDim.x) s[slot] = 0;\n  for (unsigned slot = threadIdx.x; slot < 256; slot += "
            "blockDim.x) atomicAdd(&a[slot], s[slot]);\n");
}

TEST(Halving, BeginsAtAPowerOfTwo) {
  const auto halved = [](const std::string& line) {
    const SourceTree tree = kernel_with(line + " a[s] = 1;\n");
    const auto texts = applied(tree, halving_from_power_of_two("k.cu", tree, 0));
    return texts.empty() ? "" : texts.front();
  };
  EXPECT_EQ(halved("for (int s = n / 4; s > 0; s /= 2)"),
            "for (int s = 1 << (31 - __clz(n)); s > 0; s /= 2) a[s] = 1;\n");
  EXPECT_EQ(halved("for (int s = n / 2; s > 0; s >>= 1)"),
            "for (int s = 1 << (31 - __clz(n)); s > 0; s >>= 1) a[s] = 1;\n");
  EXPECT_EQ(halved("for (int s = n / 4; s > 0; s /= 4)"), "");
  EXPECT_EQ(halved("for (int s = 1; s < n; s *= 2)"), "");
}

// For types without an atomic function of their own.
TEST(AtomicUpdates, MayBeThoseOfAnAtomicRef) {
  const SourceTree tree = kernel_with("  if (in[t] > *a) *a = in[t];\n");
  const auto patches = atomic_updates("k.cu", tree, statement_of(tree, 3));
  ASSERT_EQ(patches.size(), 2U);
  const std::vector<TextEdit>& edits = patches[1].files.at("k.cu");
  ASSERT_EQ(edits.size(), 2U);
  EXPECT_EQ(edits[0].text, "#include <cuda/atomic>\n");
  EXPECT_EQ(edits[1].text,
            "cuda::atomic_ref<cuda::std::remove_reference_t<decltype(*a)>, "
            "cuda::thread_scope_device>(*a).fetch_max(in[t], cuda::memory_order_relaxed);");
}

TEST(AtomicSteps, GiveTheNumberBefore) {
  const SourceTree tree = kernel_with("  a[(*in)++] = n;\n  const int x = a[n + 1]++;\n");
  EXPECT_EQ(
      applied(tree, atomic_steps("k.cu", tree, statement_of(tree, 3))),
      (std::vector<std::string>{"  a[atomicAdd(&(*in), 1)] = n;\n  const int x = a[n + 1]++;\n"}));
  EXPECT_EQ(
      applied(tree, atomic_steps("k.cu", tree, statement_of(tree, 4))),
      (std::vector<std::string>{"  a[(*in)++] = n;\n  const int x = atomicAdd(&a[n + 1], 1);\n"}));
}

// An update names its place once; other calls may do something each time.
TEST(AtomicUpdates, MayCallFunctions) {
  const auto updated = [](const std::string& line) {
    const SourceTree tree(
        "__device__ int next() { return static_cast<int>(threadIdx.x) + 1; }\n"
        "__global__ void k(int* a) {\n" +
        line + "\n}\n");
    const auto patches = atomic_updates("k.cu", tree, statement_of(tree, 3));
    return patches.empty() ? "" : patches.front().files.at("k.cu").front().text;
  };
  EXPECT_EQ(updated("a[f()] += 1;"), "atomicAdd(&a[f()], 1);");
  EXPECT_EQ(updated("a[f()] = a[f()] + 1;"), "");
  EXPECT_EQ(updated("a[next()] = a[next()] + 1;"), "atomicAdd(&a[next()], 1);");
}

TEST(AtomicUpdates, KnowConditionalExtrema) {
  const auto updated = [](const std::string& line) {
    const SourceTree tree = kernel_with(line);
    const auto texts = applied(tree, atomic_updates("k.cu", tree, statement_of(tree, 3)));
    return texts.empty() ? "" : texts.front();
  };
  EXPECT_EQ(updated("  if (in[t] > *a) *a = in[t];\n"), "  atomicMax(&*a, in[t]);\n");
  EXPECT_EQ(updated("  if (t < n && a[0] >= in[t]) a[0] = in[t];\n"),
            "  if (t < n) atomicMin(&a[0], in[t]);\n");
  EXPECT_EQ(updated("  if (in[t] > a[0]) atomicExch(a, in[t]);\n"), "  atomicMax(&a[0], in[t]);\n");
  EXPECT_EQ(updated("  if (*a > in[t] && t < n) atomicExch(a, in[t]);\n"),
            "  if (t < n) atomicMin(&*a, in[t]);\n");
  EXPECT_EQ(updated("  if (a[t] < in[t]) { atomicExch_block(&a[t], in[t]); }\n"),
            "  atomicMax(&a[t], in[t]);\n");
  EXPECT_EQ(updated("  if (in[t] > a[1]) atomicExch(a, in[t]);\n"), "");
  EXPECT_EQ(updated("  if (in[t] > a[0]) n = atomicExch(a, in[t]);\n"), "");
  EXPECT_EQ(updated("  if (in[t] > *a || t == 0) *a = in[t];\n"), "");
  EXPECT_EQ(updated("  if (in[t] > *a) *a = in[0];\n"), "");
}

}  // namespace
}  // namespace warpcheck
