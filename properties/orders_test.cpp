// Orders of kernels: those that something needs, each shown by a case that replays, and planted
// superfluous ones (kernels/specimens/planted/superfluous_orders.cu), each proved redundant.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "harness/case/case_file.hpp"
#include "harness/generators/generators.hpp"
#include "harness/input/json.hpp"
#include "harness/orders/find_orders.hpp"
#include "harness/orders/judge_orders.hpp"
#include "harness/orders/orders_report.hpp"
#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"
#include "kernels/specimens/planted/superfluous_orders.hpp"

namespace warpcheck {

struct SuperfluousInput {
  std::vector<int> values;
  int threads = 1;
};
FIELDS(SuperfluousInput, values, threads);

struct CountedInput {
  int n = 1;
};
FIELDS(CountedInput, n);

namespace {

using SuperfluousKernel = cudaError_t (*)(const int*, int*, int, int);

template <SuperfluousKernel kernel>
std::vector<int> run_superfluous(Device& device, const SuperfluousInput& input) {
  const auto in = device.upload(input.values);
  auto out = device.array<int>(input.values.size());
  device.check(kernel(in.data(), out.data(), static_cast<int>(input.values.size()), input.threads));
  return out.download();
}

bool is_superfluous_input(const SuperfluousInput& input) {
  return input.threads >= 1 && input.threads <= 256 &&
         input.values.size() <= static_cast<std::size_t>(input.threads);
}

SuperfluousInput draw_superfluous(Draw& draw) {
  const int n = draw(sizes({.max = 200}));
  SuperfluousInput input;
  input.values = draw(vectors(n, integers<int>(-1'000, 1'000)));
  input.threads = std::min(256, std::max(n, 1) + draw(integers<int>(0, 40)));
  return input;
}

}  // namespace

KERNEL_PAIR(superfluous_reverse, SuperfluousInput, std::vector<int>) = {
    .family = "orders",
    .origin = "ours: barriers that nothing needs",
    .domain = is_superfluous_input,
    .arbitrary = draw_superfluous,
    .kernel = run_superfluous<superfluous_reverse>,
    .reference =
        [](const SuperfluousInput& input) {
          return std::vector(input.values.rbegin(), input.values.rend());
        },
};

KERNEL_PAIR(superfluous_sums, SuperfluousInput, std::vector<int>) = {
    .family = "orders",
    .origin = "ours: barriers that nothing needs",
    .domain = is_superfluous_input,
    .arbitrary = draw_superfluous,
    .kernel = run_superfluous<superfluous_sums>,
    .reference =
        [](const SuperfluousInput& input) {
          std::vector<int> sums = input.values;
          for (std::size_t i = 0; i + 1 < sums.size(); ++i) sums[i] += input.values[i + 1];
          return sums;
        },
};

KERNEL_PAIR(superfluous_passes, SuperfluousInput, std::vector<int>) = {
    .family = "orders",
    .origin = "ours: barriers that nothing needs",
    .domain = is_superfluous_input,
    .arbitrary = draw_superfluous,
    .kernel = run_superfluous<superfluous_passes>,
    .reference =
        [](const SuperfluousInput& input) {
          std::vector<int> sums = input.values;
          for (int& sum : sums) sum *= 4;
          return sums;
        },
};

KERNEL_PAIR(superfluous_histogram, SuperfluousInput, std::vector<int>) = {
    .family = "orders",
    .origin = "ours: barriers that nothing needs",
    .domain = is_superfluous_input,
    .arbitrary = draw_superfluous,
    .kernel = run_superfluous<superfluous_histogram>,
    .reference =
        [](const SuperfluousInput& input) {
          std::vector<int> counts(static_cast<std::size_t>(input.threads));
          for (const int value : input.values)
            ++counts[static_cast<unsigned>(value) % static_cast<unsigned>(input.threads)];
          counts.resize(input.values.size());
          return counts;
        },
};

KERNEL_PAIR(counted_threads, CountedInput, std::vector<int>) = {
    .family = "orders",
    .origin = "ours: a barrier that only results need",
    .domain = [](const CountedInput& input) { return input.n >= 1 && input.n <= 256; },
    .arbitrary = [](Draw& draw) { return CountedInput{draw(integers<int>(1, 256))}; },
    .kernel =
        [](Device& device, const CountedInput& input) {
          auto out = device.array<int>(static_cast<std::size_t>(input.n));
          device.check(counted_threads(out.data(), input.n));
          return out.download();
        },
    .reference = [](const CountedInput& input) { return std::vector<int>(input.n, input.n); },
};

namespace {

const AnyPair& pair_of(const std::string& name) { return *Registry::global().find(name); }

JudgeOptions few_trials() {
  JudgeOptions options;
  options.trials = 60;
  options.shrink_trials = 1'000;
  return options;
}

std::vector<JudgedOrder> judge(const std::string& name,
                               const JudgeOptions& options = few_trials()) {
  std::vector<JudgedOrder> judged;
  for (const Order& order : find_orders(pair_of(name), options.seed))
    judged.push_back(judge_order(pair_of(name), order, options));
  return judged;
}

// "superfluous_orders.cu:9 bar.sync removed: redundant"
std::string line_of_order(const JudgedOrder& one) {
  return text_of(one.order.place) + " " + one.order.instruction + " " + one.order.change + ": " +
         std::string(name_of(one.need)) + (one.need == Need::unknown ? ", " + one.why_not : "");
}

std::vector<std::string> lines_of(const std::vector<JudgedOrder>& judged) {
  std::vector<std::string> lines;
  for (const JudgedOrder& one : judged) lines.push_back(line_of_order(one));
  return lines;
}

constexpr std::string_view kProved = "86 points: size 0 to 127, block 1 to 256";

void expect_builds_and_proofs(const std::vector<JudgedOrder>& judged) {
  for (const JudgedOrder& one : judged) {
    EXPECT_NE(one.order.instructions[0], 0U) << line_of_order(one);
    EXPECT_NE(one.order.instructions[1], 0U) << line_of_order(one);
    EXPECT_GT(one.order.executed, 0U) << line_of_order(one);
    if (one.need == Need::redundant) {
      EXPECT_TRUE(one.proof == kProved || one.proof.starts_with("all sizes: the barrier at "))
          << line_of_order(one) << ": " << one.proof;
    }
  }
}

using OrderLines = std::vector<std::string>;

TEST(Orders, SuperfluousOnesAreProvedRedundant) {
  const auto reverse = judge("superfluous_reverse");
  EXPECT_EQ(lines_of(reverse), (OrderLines{
                                   "superfluous_orders.cu:7 bar.sync removed: redundant",
                                   "superfluous_orders.cu:9 bar.sync removed: redundant",
                                   "superfluous_orders.cu:10 bar.sync removed: redundant",
                                   "superfluous_orders.cu:12 membar.cta removed: redundant",
                                   "superfluous_orders.cu:14 bar.sync removed: redundant",
                               }));
  expect_builds_and_proofs(reverse);
  const auto sums = judge("superfluous_sums");
  EXPECT_EQ(lines_of(sums), (OrderLines{
                                "superfluous_orders.cu:21 membar.gl removed: redundant",
                                "superfluous_orders.cu:21 membar.gl .cta: redundant",
                                "superfluous_orders.cu:22 bar.sync removed: needed",
                                "superfluous_orders.cu:24 bar.warp.sync removed: redundant",
                                "superfluous_orders.cu:25 bar.sync removed: redundant",
                            }));
  const auto passes = judge("superfluous_passes");
  EXPECT_EQ(lines_of(passes), (OrderLines{
                                  "superfluous_orders.cu:34 bar.sync removed: redundant",
                                  "superfluous_orders.cu:37 membar.sys removed: redundant",
                                  "superfluous_orders.cu:37 membar.sys .cta: redundant",
                              }));
}

// Points prove nothing where data decides addresses; one of two barriers is proved from the code.
TEST(Orders, OneOfTwoBarriersIsRedundantAtAllSizes) {
  const auto judged = judge("superfluous_histogram");
  EXPECT_EQ(lines_of(judged), (OrderLines{
                                  "superfluous_orders.cu:75 bar.sync removed: redundant",
                                  "superfluous_orders.cu:76 bar.sync removed: redundant",
                                  "superfluous_orders.cu:78 bar.sync removed: needed",
                              }));
  EXPECT_EQ(judged[0].proof,
            "all sizes: the barrier at superfluous_orders.cu:76 orders the same, no access to "
            "memory lies between");
}

// Without it nothing races: every access of the counter is atomic.
TEST(Orders, OneThatOnlyResultsNeedIsNeeded) {
  const auto judged = judge("counted_threads");
  ASSERT_EQ(lines_of(judged), (OrderLines{
                                  "superfluous_orders.cu:44 bar.sync removed: needed",
                                  "superfluous_orders.cu:46 bar.sync removed: needed",
                              }));
  const auto kinds = failure_kinds(judged[1].tried.failure->verdict);
  EXPECT_EQ(std::ranges::count(kinds, vgpu::FindingKind::data_race), 0) << show_kinds(kinds);
  EXPECT_NE(std::ranges::count(kinds, vgpu::FindingKind::mismatch), 0) << show_kinds(kinds);
}

TEST(Orders, OfCleanPairsAreNeeded) {
  EXPECT_EQ(lines_of(judge("scan_tree")),
            (OrderLines{
                "block_scan.cuh:35, in scan_tree.cu:10 bar.sync removed: needed",
                "block_scan.cuh:40, in scan_tree.cu:10 bar.sync removed: needed",
                "block_scan.cuh:44, in scan_tree.cu:10 bar.sync removed: needed",
            }));
  EXPECT_EQ(lines_of(judge("histogram_shared")), (OrderLines{
                                                     "histogram.cu:23 bar.sync removed: needed",
                                                     "histogram.cu:25 bar.sync removed: needed",
                                                 }));
}

// Those of kernels/specimens/fast_mutants, and the scopes.
TEST(Orders, OfFastKernelsAreNeeded) {
  EXPECT_EQ(
      lines_of(judge("maximum_fast")),
      (OrderLines{
          "orders.cuh:17, in reduce_fast.cuh:56, in reduce_fast.cuh:115 bar.sync removed: needed",
          "orders.cuh:17, in reduce_fast.cuh:56, in reduce_fast.cuh:130 bar.sync removed: needed",
          "orders.cuh:17, in reduce_fast.cuh:124 bar.sync removed: needed",
          "orders.cuh:29, in reduce_fast.cuh:119 membar.gl removed: needed",
          "orders.cuh:29, in reduce_fast.cuh:119 membar.gl .cta: needed",
          "orders.cuh:29, in reduce_fast.cuh:122 membar.gl removed: needed",
          "orders.cuh:29, in reduce_fast.cuh:122 membar.gl .cta: needed",
          "reduce_fast.cuh:121 atom.global.inc.u32 .cta: needed",
      }));
  EXPECT_EQ(lines_of(judge("histogram_bytes_fast")),
            (OrderLines{
                "histogram_fast.cuh:84 atom.global.add.u32 .cta: needed",
                "orders.cuh:17, in histogram_fast.cuh:56 bar.sync removed: needed",
                "orders.cuh:17, in histogram_fast.cuh:75 bar.sync removed: needed",
            }));
}

// The file carries the change, so that replay shows the same finding.
TEST(Orders, CaseOfANeedReplays) {
  const auto judged = judge("scan_hillis_steele");
  ASSERT_EQ(lines_of(judged),
            (OrderLines{"block_scan.cuh:17, in scan_hillis_steele.cu:8 bar.sync removed: needed"}));
  const Report& report = *judged[0].tried.failure;
  EXPECT_EQ(failure_kinds(report.verdict), std::vector{vgpu::FindingKind::data_race});
  EXPECT_EQ(size_text(report.a_case), "0 elements, 2 threads");
  const std::string text = case_text(record_of(report.a_case, report.verdict));
  const CaseRecord read = parse_case(text, "a need", Registry::global());
  EXPECT_EQ(failure_class(TrialRunner().run(read.a_case)), failure_class(report.verdict));
  Case whole = read.a_case;
  whole.settings.edits = nullptr;
  EXPECT_FALSE(TrialRunner().run(whole).failed());
}

TEST(Orders, PairThatFailsAsItIsIsRefused) {
  try {
    require_clean(pair_of("scan_hillis_steele_published"), few_trials());
    FAIL() << "it is not clean";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("'scan_hillis_steele_published' fails as it is"),
              std::string::npos)
        << error.what();
  }
}

TEST(Orders, TextAndJson) {
  JudgeOptions options = few_trials();
  const OrdersOfPair judged{&pair_of("superfluous_sums"), judge("superfluous_sums", options)};
  constexpr std::string_view kSame =
      "             without it the same results for all data and schedules; 62 points: size 0 to "
      "193, block 1 to 256\n";
  EXPECT_EQ(orders_text(judged),
            "superfluous_sums: 5 orders: 1 needed, 4 redundant, 0 not known\n"
            "  redundant  superfluous_orders.cu:21  membar.gl removed\n"
            "             executed 227 times, 3.7 % of the steps\n" +
                std::string(kSame) +
                "  redundant  superfluous_orders.cu:21  membar.gl made .cta\n"
                "             executed 227 times, 3.7 % of the steps; optimized build alone\n" +
                std::string(kSame) +
                "  needed     superfluous_orders.cu:22  bar.sync removed\n"
                "             executed 227 times, 3.7 % of the steps\n"
                "             data-race with 2 elements, after 3 trials\n"
                "  redundant  superfluous_orders.cu:24  bar.warp.sync removed\n"
                "             executed 280 times, 4.6 % of the steps\n" +
                std::string(kSame) +
                "  redundant  superfluous_orders.cu:25  bar.sync removed\n"
                "             executed 280 times, 4.6 % of the steps\n" +
                std::string(kSame));
  const Json json = orders_json({judged});
  EXPECT_EQ(json.at("schema"), "warpcheck-orders/1");
  const Json& barrier = json.at("pairs").at(0).at("orders").at(2);
  EXPECT_EQ(barrier.at("verdict"), "needed");
  EXPECT_EQ(barrier.at("kind"), "block-barrier");
  EXPECT_EQ(barrier.at("places"), Json::parse(R"([{"file":
      "kernels/specimens/planted/superfluous_orders.cu", "line": 22}])"));
  EXPECT_EQ(barrier.at("kinds"), Json::parse(R"(["data-race"])"));
  const std::string page = orders_html({section_of(judged)});
  EXPECT_NE(page.find("<b class=\"redundant\">redundant</b> bar.sync removed"), std::string::npos);
}

}  // namespace
}  // namespace warpcheck
