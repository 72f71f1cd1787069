#include "harness/kernel/kernel_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/case/case_file.hpp"
#include "harness/input/json.hpp"
#include "harness/kernel/kernel_conditions.hpp"
#include "harness/search/check.hpp"

namespace warpcheck {
namespace {

// out[i] = in[i] for i <= n: one element too many if both have n.
constexpr const char* kCopy = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  setp.gt.s32 %p1, %r2, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %r5, [%rd4];
  st.global.f32 [%rd5], %r5;
DONE:
  ret;
}
)";

ArrayParameter floats_of(const char* name, std::uint32_t parameter, const char* length) {
  return {.name = name,
          .type = "float",
          .place = {parameter, 0},
          .element_bytes = 4,
          .is_constant = parameter == 0,
          .columns = {{"", ElementType::f32, 0}},
          .length = Expression(length),
          .values = std::nullopt};
}

KernelDescription copy_of(const char* length) {
  KernelDescription kernel{.name = "copy", .mangled = "copy", .file = "copy.ptx"};
  kernel.optimized = kCopy;
  kernel.unoptimized = kCopy;
  kernel.parameter_bytes = {8, 8, 4};
  kernel.scalars = {{"n", ElementType::i32, {2, 0}, {0, 100}}};
  kernel.arrays = {floats_of("in", 0, length), floats_of("out", 1, length)};
  kernel.launch.block[0] = Expression("32");
  kernel.launch.grid[0] = Expression("n / blockDim.x + 1");
  return kernel;
}

CheckOutcome checked(const KernelPair& pair) {
  CheckOptions options;
  options.trials = 60;
  TrialRunner runner;
  return check_claim(pair, "", options, runner);
}

TEST(KernelPair, IsSilentWhereTheArraysAreLongEnough) {
  const KernelPair pair(copy_of("n + 1"));
  const CheckOutcome outcome = checked(pair);
  EXPECT_EQ(outcome.trials, 60U);
  EXPECT_TRUE(outcome.passed());
}

TEST(KernelPair, AnOverrunIsShrunkToNoElements) {
  const KernelPair pair(copy_of("n"));
  const CheckOutcome outcome = checked(pair);
  ASSERT_EQ(outcome.failures.size(), 1U);
  const Report& report = outcome.failures.front();
  ASSERT_EQ(report.verdict.findings.size(), 2U);
  for (const vgpu::Finding& finding : report.verdict.findings) {
    EXPECT_EQ(finding.kind, vgpu::FindingKind::out_of_bounds);
  }
  EXPECT_EQ(pair.summary(report.a_case.input), "n=0; in: n=0; out: n=0; launch {grid 1, block 32}");
}

TEST(KernelPair, ACaseHoldsTheKernel) {
  const KernelPair pair(copy_of("n"));
  const Report report = checked(pair).failures.at(0);
  const std::string text = case_text(record_of(report.a_case, report.verdict));
  Registry registry;  // without any pair
  const CaseRecord read = parse_case(text, "copy.case", registry);
  EXPECT_EQ(case_text(read), text);
  TrialRunner runner;
  const Verdict verdict = runner.run(read.a_case);
  EXPECT_EQ(verdict.findings, report.verdict.findings);
  EXPECT_EQ(verdict.ptx_hash, report.verdict.ptx_hash);
}

TEST(KernelPair, ADamagedDescriptionIsAnError) {
  Json json = description_json(copy_of("n"), false);
  json["arrays"][0]["place"] = {7, 0};
  EXPECT_THROW(static_cast<void>(kernel_pair_of(json)), FieldError);
  json = description_json(copy_of("n"), false);
  json["arrays"][0]["length"] = "n +";
  EXPECT_THROW(static_cast<void>(kernel_pair_of(json)), FieldError);
  json = description_json(copy_of("n"), false);
  json.erase("optimized");
  EXPECT_THROW(static_cast<void>(kernel_pair_of(json)), FieldError);
}

TEST(KernelPair, ConditionsBoundWhatIsDrawn) {
  KernelDescription kernel = copy_of("n + 1");
  kernel.conditions = {Expression("n % 4 == 0 && n > 0")};
  const KernelPair pair(kernel);
  CheckOptions options;
  options.trials = 100;
  std::int64_t cases = 0;
  for_each_case(pair, "", options, [&](const Case& a_case) {
    const auto& input = *static_cast<const KernelInput*>(a_case.input.get());
    EXPECT_EQ(input.integers.at(0) % 4, 0);
    EXPECT_GT(input.integers.at(0), 0);
    ++cases;
    return true;
  });
  EXPECT_EQ(cases, 100);
}

TEST(KernelPair, ConditionsSettleWhatIsDrawn) {
  KernelDescription kernel = copy_of("n + 1");
  kernel.scalars.push_back({"m", ElementType::i32, {2, 0}, {0, 100}});
  kernel.scalars.push_back({"k", ElementType::i32, {2, 0}, {1, 100}});
  kernel.conditions = {Expression("n == 2 * blockDim.x"), Expression("30 + n == m"),
                       Expression("m == n + 30"), Expression("k % 5 == 0"), Expression("k > 0")};
  CheckOptions options;
  options.trials = 20;
  std::int64_t cases = 0;
  for_each_case(KernelPair(kernel), "", options, [&](const Case& a_case) {
    const auto& input = *static_cast<const KernelInput*>(a_case.input.get());
    EXPECT_EQ(input.integers.at(0), 64);
    EXPECT_EQ(input.integers.at(1), 94);
    EXPECT_EQ(input.integers.at(2) % 5, 0);
    ++cases;
    return true;
  });
  EXPECT_EQ(cases, 20);
}

TEST(KernelPair, APowerOfTwoIsSettled) {
  KernelDescription kernel = copy_of("n + 1");
  kernel.conditions = {Expression("(n & (n - 1)) == 0"), Expression("n > 20")};
  KernelInput input;
  input.integers = {45};
  settle_integers(kernel, input);
  EXPECT_EQ(input.integers, std::vector<std::int64_t>{32});
}

TEST(KernelPair, ValuesKeepTheirOrder) {
  KernelDescription kernel = copy_of("n + 1");
  kernel.arrays[0].order = ArrayParameter::Order::ascending;
  kernel.arrays[0].values = ValueRange{0, 63};
  kernel.arrays[1].order = ArrayParameter::Order::distinct;
  EXPECT_EQ(read_description(description_json(kernel, false), FieldPath("kernel")).arrays[0].order,
            ArrayParameter::Order::ascending);
  const KernelPair pair(kernel);
  CheckOptions options;
  options.trials = 60;
  for_each_case(pair, "", options, [&](const Case& a_case) {
    const auto& input = *static_cast<const KernelInput*>(a_case.input.get());
    EXPECT_TRUE(std::ranges::is_sorted(std::get<std::vector<float>>(input.arrays[0][0])));
    // A permutation of the numbers below the length.
    std::vector<float> numbers = std::get<std::vector<float>>(input.arrays[1][0]);
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], static_cast<float>(i));
    KernelInput changed = input;
    auto& first = std::get<std::vector<float>>(changed.arrays[1][0]);
    if (first.size() > 1) {
      first[0] = first[1];
      EXPECT_FALSE(pair.in_domain(std::make_shared<const KernelInput>(changed)));
    }
    return true;
  });
}

}  // namespace
}  // namespace warpcheck
