// The lines through which the order of threads reaches a result are named, and how far results are
// apart; where the order does not show, nothing is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "harness/pair/pair.hpp"
#include "harness/trial/schedule_search.hpp"
#include "kernels/specimens/planted/order_in_results.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {

struct OrderInput {
  std::vector<float> in;
};
FIELDS(OrderInput, in);

namespace {

using OrderKernel = cudaError_t (*)(const float*, float*, int);

template <OrderKernel kernel>
std::vector<float> run_in_order(Device& device, const OrderInput& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<float>(input.in.size());
  out.fill_bytes(0);
  device.check(kernel(in.data(), out.data(), static_cast<int>(input.in.size())));
  return out.download();
}

bool fits_a_block(const OrderInput& input) { return input.in.size() <= 64; }

// Any output agrees with the reference: only schedules are compared.
Agreement<OrderInput, std::vector<float>> with_anything() {
  return {.difference = [](const OrderInput&, const std::vector<float>&,
                           const std::vector<float>&) { return std::nullopt; },
          .exact = false};
}

}  // namespace

#define ORDER_PAIR(name)                                       \
  KERNEL_PAIR(name, OrderInput, std::vector<float>) = {        \
      .family = "order in results",                            \
      .domain = fits_a_block,                                  \
      .arbitrary = [](Draw&) { return OrderInput{}; },         \
      .kernel = run_in_order<::name>,                          \
      .reference = [](const OrderInput& in) { return in.in; }, \
      .agreement = with_anything(),                            \
  }

ORDER_PAIR(order_adds);
ORDER_PAIR(order_adds_twice);
ORDER_PAIR(order_adds_by_swaps);
ORDER_PAIR(order_exchanges);
ORDER_PAIR(order_stores_volatile);
ORDER_PAIR(order_appends);
ORDER_PAIR(order_counts_lanes);
ORDER_PAIR(order_appends_and_sorts);
ORDER_PAIR(order_counts);
ORDER_PAIR(order_takes_maximum);

namespace {

const std::string kOrderSource = "kernels/specimens/planted/order_in_results.cu";

// "adds" -> the number of the line that ends with "// order: adds"
std::uint32_t line_of_order(const std::string& mark) {
  std::ifstream file(WARPCHECK_SOURCE_DIR "/" + kOrderSource);
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with("// order: " + mark)) return number;
  }
  ADD_FAILURE() << "no line is marked " << mark;
  return 0;
}

// The first failing verdict of some schedules.
Verdict verdict_in_order(const std::string& pair, const std::vector<float>& in,
                         const Settings& settings) {
  TrialRunner runner;
  Case a_case = case_of(pair, {{"in", in}}, settings);
  for (std::uint64_t i = 0; i < 24; ++i) {
    a_case.schedule = policy(i);
    const Verdict verdict = runner.run(a_case);
    if (verdict.failed()) return verdict;
  }
  return {};
}

// marks: of the sides of the finding, in their order
void expect_order(const std::string& pair, const std::vector<std::string>& marks,
                  const std::string& says, const std::vector<float>& in = {1, 0x1p-24F, 0x1p-24F}) {
  for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
    const Verdict verdict = verdict_in_order(pair, in, {.build = build});
    ASSERT_EQ(kinds_of(verdict), "schedule-dependent") << pair;
    // Racing volatile stores have a note of their own.
    const auto found = std::ranges::find(verdict.findings, vgpu::FindingKind::schedule_dependent,
                                         &vgpu::Finding::kind);
    ASSERT_NE(found, verdict.findings.end());
    const vgpu::Finding& finding = *found;
    ASSERT_EQ(finding.accesses.size(), marks.size()) << pair << ": " << finding.message;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      EXPECT_EQ(finding.accesses[i].file, kOrderSource) << pair;
      EXPECT_EQ(finding.accesses[i].line, line_of_order(marks[i])) << pair;
    }
    EXPECT_NE(finding.message.find(says), std::string::npos) << finding.message;
  }
}

TEST(OrderInResults, AtomicOperationsWhoseOrderMattersAreNamed) {
  expect_order("order_adds", {"adds"},
               "the order of (1) decides it; under 16 schedules, out[0] has 2 values from 1 to "
               "1.0000001, 1 ulp apart");
  expect_order("order_exchanges", {"exchanges"}, "the order of (1) decides it");
  expect_order("order_adds_by_swaps", {"swaps"}, "the order of (1) decides it");
}

TEST(OrderInResults, EachOfTwoLinesIsNamed) {
  expect_order("order_adds_twice", {"sum", "products"}, "the order of (1) and (2) decides it",
               {1, 0x1p-24F, 0x1p-24F, 0x1.8p-24F});
}

TEST(OrderInResults, StrongStoresAndActiveLanesAreNamed) {
  expect_order("order_stores_volatile", {"stores"}, "the order of (1) decides it");
  expect_order("order_counts_lanes", {"lanes"}, "the order of (1) decides it", {1, 0, 1, 0});
}

TEST(OrderInResults, AnOrderThatDecidesAPlaceIsNamedWithIt) {
  expect_order("order_appends", {"count", "place"},
               "the order of (1) decides what is accessed at (2)");
}

TEST(OrderInResults, WhereTheOrderDoesNotShowNothingIsSaid) {
  for (const char* const pair :
       {"order_appends_and_sorts", "order_counts", "order_takes_maximum"}) {
    for (const cudart::Build build : {cudart::Build::optimized, cudart::Build::unoptimized}) {
      const Verdict verdict = verdict_in_order(pair, {1, 2, 3, 4}, {.build = build});
      EXPECT_TRUE(verdict.findings.empty()) << verdict.findings.front().message;
    }
  }
}

}  // namespace
}  // namespace warpcheck
