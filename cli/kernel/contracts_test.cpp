#include "cli/kernel/contracts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/cli.hpp"
#include "cli/kernel/gpuverify_header.hpp"

namespace warpcheck {
namespace {

std::vector<std::string> texts_of(const std::vector<Expression>& expressions) {
  std::vector<std::string> texts;
  for (const Expression& expression : expressions) texts.push_back(expression.text());
  return texts;
}

std::string text_of(const std::array<std::optional<Expression>, 3>& extents) {
  std::string text;
  for (const auto& extent : extents) text += (extent ? extent->text() : "-") + ";";
  return text;
}

using Texts = std::vector<std::string>;

constexpr const char* kSource = R"(//pass
//--blockDim=[16,4] --gridDim=64 --no-inline
#include <cuda.h>
__device__ int other(int n) { return n; }  // requires: n == 1

// requires: n % 4 == 0, n < 100
// lengths: a = n * (m + 1), b = n
// launch: gridDim.x == n / 4, blockDim.z <= 2
template <class T>
__global__ void scale(T* a, T* b, int n, int m) {
  __requires(m == 2);
  __requires(a[0] == 1);
  __requires(__implies(m > 1, n > 2) ==> n);
  for (int i = 0; i < n; ++i) { a[i] = b[i]; }
}
// requires: n == 5
__global__ void next(int n) {}
)";

TEST(Contracts, AreThoseOfTheKernel) {
  const Contracts contracts = contracts_of(kSource, "scale");
  EXPECT_EQ(texts_of(contracts.conditions),
            (Texts{"n % 4 == 0", "n < 100", "gridDim.x == n / 4", "blockDim.z <= 2"}));
  ASSERT_EQ(contracts.lengths.size(), 2U);
  EXPECT_EQ(contracts.lengths[0].first, "a");
  EXPECT_EQ(contracts.lengths[0].second.text(), "n * (m + 1)");
  EXPECT_EQ(contracts.lengths[1].second.text(), "n");
  EXPECT_EQ(text_of(contracts.block), "16;4;1;");
  EXPECT_EQ(text_of(contracts.grid), "64;1;1;");
  ASSERT_EQ(contracts.aids.size(), 1U);
  EXPECT_EQ(contracts.aids[0].condition.text(), "m == 2");
  EXPECT_EQ(contracts.aids[0].where, "line 11: __requires(m == 2)");
  EXPECT_EQ(contracts.unread, (Texts{"line 12: __requires(a[0] == 1)",
                                     "line 13: __requires(__implies(m > 1, n > 2) ==> n)"}));
}

TEST(Contracts, OfGpuverifyNameWhatIsNotChecked) {
  const Contracts contracts = contracts_of(R"(//--blockDim=64 --warp-sync=32 --only-intra-group
#define N (2 * HALF)
#define HALF 32
__device__ int f(int n) { __requires(n > 0); __ensures(__return_val_int() > 1); return n; }
__global__ void k(int* a, int n) {
  __requires(n == N & __implies(n > 1, __is_pow2(n)));
  // __requires(n == 7);
  __assert(__no_write(a));
  __invariant(n > 0);
})",
                                           "k");
  EXPECT_TRUE(contracts.has_lockstep_warps);
  EXPECT_TRUE(contracts.has_gpuverify_launch);
  ASSERT_EQ(contracts.aids.size(), 1U);
  EXPECT_EQ(contracts.aids[0].condition.text(),
            "n == ((2 * (32))) & (!(n > 1) || ((((n) & ((n) - 1)) == 0)))");
  EXPECT_EQ(contracts.options_left_out,
            (Texts{"line 1: --only-intra-group (races between blocks are looked for)"}));
  EXPECT_EQ(contracts.unchecked,
            (Texts{"line 4: __requires(n > 0)", "line 4: __ensures(__return_val_int() > 1)",
                   "line 8: __assert(__no_write(a))"}));
  EXPECT_THROW((void)contracts_of("//--blockDim=[64,32]\n", "k"), UsageError);
}

TEST(Contracts, APartOfAConditionIsAConditionOfItsOwn) {
  KernelDescription kernel;
  kernel.scalars = {{"n", ElementType::i32, {}, {0, 9}}};
  const Contracts contracts = contracts_of(
      "__global__ void k(float* a, int n) {\n"
      "  __requires(blockDim.x == 64 && (n == sizeof(float) * 2 & n < 9));\n}\n",
      "k");
  EXPECT_TRUE(apply_contracts(contracts, kernel).empty());
  EXPECT_EQ(text_of(kernel.launch.block), "64;-;-;");
  EXPECT_EQ(texts_of(kernel.conditions), (Texts{"n == 4 * 2", "n < 9"}));
}

TEST(Contracts, RequirementsThatReadNoMemoryAreComputed) {
  const auto notes_of = [](std::string_view condition) {
    KernelDescription kernel;
    return apply_contracts(contracts_of(fmt::format("__global__ void k(float* a, float x) {{\n"
                                                    "  __requires({});\n}}\n",
                                                    condition),
                                        "k"),
                           kernel);
  };
  EXPECT_EQ(notes_of("x > 0"), (Texts{"threads end where it is false: line 2: __requires(x > 0)"}));
  EXPECT_EQ(notes_of("a[0] > 0"),
            (Texts{"not understood, and left out: line 2: __requires(a[0] > 0)"}));
  EXPECT_EQ(notes_of("x == __other_int(x)"),
            (Texts{"not understood, and left out: line 2: __requires(x == __other_int(x))"}));
}

TEST(Contracts, RequirementsOfOtherFunctionsAreNotComputed) {
  const std::string kernel = "__global__ void k(int n) { if (n) { __requires(n > 0.5f); } }\n";
  EXPECT_TRUE(has_requirements_to_compute(kernel));
  EXPECT_FALSE(
      has_requirements_to_compute(kernel + "__device__ void f(int n) { __requires(n > 2); }\n"));
}

TEST(Contracts, TheHeaderOfASourceHasWhatItUses) {
  EXPECT_EQ(gpuverify_header("__global__ void k(int* a) { a[0] = 1; }"), "");
  const std::string plain = gpuverify_header("__assert(n > 0);");
  EXPECT_NE(plain.find("#define __barrier_invariant_12(...)"), std::string::npos);
  EXPECT_EQ(plain.find("DECLARE_UF_UNARY"), std::string::npos);
  EXPECT_EQ(plain.find("tex1Dfetch"), std::string::npos);
  EXPECT_NE(gpuverify_header("DECLARE_UF_UNARY(f, int, int);").find("unknown_words"),
            std::string::npos);
  EXPECT_NE(gpuverify_header("texture<float, 1> t;").find("tex1Dfetch"), std::string::npos);
}

TEST(Contracts, InvariantsThatReadNoMemoryAreComputed) {
  // Each condition ends at its bracket, whatever follows in the line.
  EXPECT_TRUE(has_invariants_to_compute("while (__invariant(d % 3 == 1), d < 64) {\n  a[i] = d;"));
  EXPECT_FALSE(has_invariants_to_compute("while (__invariant(a[i] == 1), d < 64) {}"));
  EXPECT_FALSE(has_invariants_to_compute("#define HOLDS __global_assert(*p == 1)\n"));
}

TEST(Contracts, OfTheNextKernelAreItsOwn) {
  EXPECT_EQ(texts_of(contracts_of(kSource, "next").conditions), (Texts{"n == 5"}));
  EXPECT_TRUE(contracts_of(kSource, "absent").conditions.empty());
}

TEST(Contracts, ThatCannotBeReadNameTheirLine) {
  try {
    static_cast<void>(contracts_of("\n// requires: n +\n__global__ void k(int n) {}\n", "k"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "line 2: 'n +': expected a number or a name at the end");
  }
}

TEST(Contracts, ANameThatTheKernelDoesNotHaveIsAnError) {
  KernelDescription kernel;
  Contracts contracts;
  contracts.conditions.emplace_back("n > 0");
  EXPECT_THROW(apply_contracts(contracts, kernel), UsageError);
  kernel.scalars = {{"n", ElementType::i32, {}, {0, 9}}};
  EXPECT_TRUE(apply_contracts(contracts, kernel).empty());
  ASSERT_EQ(kernel.conditions.size(), 1U);
  contracts.lengths.emplace_back("a", Expression("n"));
  EXPECT_THROW(apply_contracts(contracts, kernel), UsageError);
}

TEST(Contracts, AnEqualExtentIsThatOfTheLaunch) {
  KernelDescription kernel;
  kernel.scalars = {{"n", ElementType::i32, {}, {0, 9}}};
  Contracts contracts;
  contracts.conditions.emplace_back("gridDim.x == n / 4");
  contracts.conditions.emplace_back("blockDim.x == 64 || n > 2");
  contracts.aids.push_back({Expression("blockDim.y == 2"), "line 1"});
  EXPECT_TRUE(apply_contracts(contracts, kernel).empty());
  EXPECT_EQ(text_of(kernel.launch.grid), "n / 4;-;-;");
  EXPECT_EQ(text_of(kernel.launch.block), "-;2;-;");
  EXPECT_EQ(texts_of(kernel.conditions), (Texts{"blockDim.x == 64 || n > 2"}));
}

TEST(Contracts, ExtentsAreOneToThree) {
  EXPECT_EQ(text_of(extents_of("256", "--block")), "256;1;1;");
  EXPECT_EQ(text_of(extents_of("(n+15)/16,2,3", "--grid")), "(n+15)/16;2;3;");
  EXPECT_THROW(static_cast<void>(extents_of("1,2,3,4", "--block")), UsageError);
  EXPECT_THROW(static_cast<void>(extents_of("", "--block")), UsageError);
}

TEST(Contracts, ValuesHaveARangeAndAnOrder) {
  const auto [name, values] = values_of_text(" begin = ascending 0..63", "--let");
  EXPECT_EQ(name, "begin");
  EXPECT_EQ(values.range, (ValueRange{0, 63}));
  EXPECT_EQ(values.order, ArrayParameter::Order::ascending);
  EXPECT_EQ(values_of_text("index=distinct", "--let").second.order,
            ArrayParameter::Order::distinct);
  EXPECT_EQ(values_of_text("index=distinct", "--let").second.range, std::nullopt);
  EXPECT_EQ(values_of_text("n=7", "--let").second.range, (ValueRange{7, 7}));
  for (const char* const text : {"n", "=1..2", "n=", "n=2..1", "n=sorted 0..1", "n=1..x"}) {
    EXPECT_THROW(static_cast<void>(values_of_text(text, "--let")), UsageError) << text;
  }
  const Contracts contracts = contracts_of(
      "// values: n = 1..5, begin = ascending 0..9\n__global__ void rows(int n, int* begin) {}",
      "rows");
  ASSERT_EQ(contracts.values.size(), 2U);
  EXPECT_EQ(contracts.values[1].first, "begin");
  EXPECT_EQ(contracts.values[1].second.order, ArrayParameter::Order::ascending);
}

}  // namespace
}  // namespace warpcheck
