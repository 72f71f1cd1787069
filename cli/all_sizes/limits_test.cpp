// Sizes of pairs whose indices wrap: the largest one that is right, and the smallest one that is
// wrong, which a run shows and replay shows again.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/all_sizes/limits_test_kernels.hpp"
#include "cli/all_sizes/suspect_runs.hpp"
#include "harness/case/case_file.hpp"
#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"

namespace warpcheck {

struct SizeInput {
  std::vector<int> in;
};
FIELDS(SizeInput, in);

namespace {

SizeInput draw_size(Draw& draw) {
  return {draw(vectors(draw(sizes({.min = 1, .max = 3'000})), integers<int>()))};
}

bool has_elements(const SizeInput& in) { return !in.in.empty(); }

// What a launcher leaves in an array with `each` elements for each of the input's.
template <class T, class Number>
std::vector<T> left_by(void (*launch)(T*, Number), Device& device, const SizeInput& in,
                       std::size_t each) {
  auto out = device.upload(std::vector<T>(each * in.in.size()));
  launch(out.data(), static_cast<Number>(in.in.size()));
  return out.download();
}

// Every element of that number is 1.
template <class T>
std::vector<T> ones(const SizeInput& in, std::size_t each, std::size_t last) {
  std::vector<T> out(each * in.in.size());
  for (std::size_t i = last; i < out.size(); i += each) out[i] = 1;
  return out;
}

}  // namespace

#define SIZE_PAIR(name, T, each, last)                                               \
  KERNEL_PAIR(limit_of_##name, SizeInput, std::vector<T>) = {                        \
      .family = "limits",                                                            \
      .domain = has_elements,                                                        \
      .arbitrary = draw_size,                                                        \
      .kernel = [](Device& device,                                                   \
                   const SizeInput& in) { return left_by(name, device, in, each); }, \
      .reference = [](const SizeInput& in) { return ones<T>(in, each, last); },      \
  }
SIZE_PAIR(triples, float, 3, 2);
SIZE_PAIR(grid_stride, float, 1, 0);
SIZE_PAIR(hundreds, char, 100, 0);
SIZE_PAIR(hundreds_of_64, char, 100, 0);

namespace {

PairOfAllSizes proof_of(std::string_view pair, bool limits) {
  return prove_all_sizes(*Registry::global().find(pair), {}, {.limits = limits});
}

// The verdict of a case that was written to a file and read again.
Verdict replayed(const Case& a_case) {
  const std::string text = case_text(record_of(a_case, TrialRunner().run(a_case)));
  return TrialRunner().run(parse_case(text, "a case", Registry::global()).a_case);
}

void expect_out_of_bounds(const Case& a_case, std::uint32_t line) {
  const Verdict verdict = replayed(a_case);
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_EQ(verdict.findings[0].kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(verdict.findings[0].accesses.at(0).line, line);
}

void expect_limit(std::string_view pair, std::int64_t right, std::uint32_t line) {
  const PairOfAllSizes proof = proof_of(pair, true);
  EXPECT_FALSE(proof.failure.has_value());
  ASSERT_EQ(proof.kernels.size(), 1U);
  ASSERT_EQ(proof.kernels[0].limits.size(), 1U);
  const ScalarLimit& limit = proof.kernels[0].limits[0];
  EXPECT_EQ(limit.scalar, "arg1");
  EXPECT_EQ(limit.proved, right) << limit.where << " " << limit.reason;
  EXPECT_FALSE(limit.is_whole);
  ASSERT_TRUE(limit.above.has_value());
  EXPECT_EQ(limit.fails_at, right + 1);
  EXPECT_EQ(limit.kind, "out-of-bounds");
  EXPECT_EQ(limit.where, "limits_test_kernels.cu:" + std::to_string(line));
  expect_out_of_bounds(*limit.above, line);
}

TEST(LimitsOfPairs, AProductOf32BitsIsRightUntilItIsTwoToThe31) {
  expect_limit("limit_of_triples", 715'827'882, 11);
}

TEST(LimitsOfPairs, ACounterOf32BitsIsRightUntilItPassesItsLargestValue) {
  expect_limit("limit_of_grid_stride", 1'073'741'824, 17);
}

TEST(LargeSizesOfPairs, AnIndexThatWrapsBeyondTheProofIsRefutedWithTheSmallestSize) {
  const PairOfAllSizes proof = proof_of("limit_of_hundreds", false);
  EXPECT_FALSE(proof.is_proved());
  ASSERT_TRUE(proof.failure.has_value());
  EXPECT_EQ(kernel_input_of(*proof.failure).integers, std::vector<std::int64_t>{21'474'838});
  expect_out_of_bounds(*proof.failure, 24);
}

TEST(LargeSizesOfPairs, WithBits64ItIsProvedToTwoToThe40) {
  const PairOfAllSizes proof = proof_of("limit_of_hundreds_of_64", false);
  EXPECT_TRUE(proof.is_proved());
  EXPECT_EQ(proof.kernels.at(0).fitted.contract.parameters.at(1).range.high, 1'099'511'627'776);
}

}  // namespace
}  // namespace warpcheck
