#include "harness/adaptors/rapidcheck_adaptor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"

namespace warpcheck {
namespace {

struct ChildRun {
  int status = 0;
  std::string output;
};

// Runs one property of failing_properties.cpp in a process of its own.
ChildRun run_child(const std::string& filter, const std::string& rc_params) {
  const std::string command =
      "RC_PARAMS='" + rc_params +
      "' '" FAILING_PROPERTIES "' --gtest_color=no --gtest_filter=" + filter + " 2>&1";
  ChildRun run;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    run.output.append(buffer.data(), count);
  }
  run.status = pclose(pipe);
  return run;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The property fails with every seed, and its counterexample ends with the given text.
void expect_counterexample(const std::string& filter, const std::string& counterexample) {
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    const ChildRun run = run_child(filter, std::string("seed=") + seed + " max_success=1000");
    EXPECT_NE(run.status, 0);
    EXPECT_NE(run.output.find(counterexample), std::string::npos) << run.output;
    EXPECT_EQ(count_of(run.output, "Falsifiable after"), 1U) << run.output;
  }
}

TEST(PlainProperty, ShrinksSizesWithinTheirRange) {
  expect_counterexample("Plain.SizeBelow33", "int:\n33\n");
}

TEST(PlainProperty, ShrinksVectors) {
  expect_counterexample("Plain.FewLargeElements", "[101, 101, 101]\n");
}

TEST(PlainProperty, ShrinksByChoicesWhereThereIsNoDomain) {
  expect_counterexample("Plain.MappedStaysInItsImage", "int:\n102\n");
}

TEST(PlainProperty, ShrinksArbitraryStructs) {
  expect_counterexample("Plain.ArbitraryStruct", "{\"low\":0,\"high\":10}");
}

TEST(PlainProperty, DrawsRapidChecksGenerators) {
  expect_counterexample("Plain.DrawsRapidChecksGenerators", "*third < 50");
}

TEST(PlainProperty, HonoursMaxSuccess) {
  const ChildRun run = run_child("Plain.Counts", "seed=1 max_success=37");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(count_of(run.output, "run "), 37U);
}

TEST(PlainProperty, HonoursMaxSize) {
  const auto largest = [](const ChildRun& run) {
    const std::size_t at = run.output.rfind("largest ");
    return at == std::string::npos ? -1 : std::stoi(run.output.substr(at + 8));
  };
  EXPECT_EQ(largest(run_child("Plain.Counts", "seed=1 max_success=300 max_size=10")), 3);
  EXPECT_GT(largest(run_child("Plain.Counts", "seed=1 max_success=300 max_size=100")), 500'000);
}

TEST(PlainProperty, HonoursSeed) {
  const auto output = [](const char* params) {
    const std::string text = run_child("Plain.Counts", params).output;
    return text.substr(text.find("run 1"), text.rfind("run 99") - text.find("run 1"));
  };
  EXPECT_EQ(output("seed=5"), output("seed=5"));
  EXPECT_NE(output("seed=5"), output("seed=6"));
}

TEST(PlainProperty, HonoursNoShrink) {
  const ChildRun run = run_child("Plain.SizeBelow33", "seed=1 max_success=1000 noshrink=1");
  EXPECT_NE(run.status, 0);
  EXPECT_NE(run.output.find("Falsifiable after"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find(" shrink"), std::string::npos) << run.output;
}

TEST(ForAll, ReportsOnlyTheShrunkFailureOfAnExpectation) {
  for (const char* seed : {"1", "2", "3"}) {
    const ChildRun run =
        run_child("ForAll.ExpectFailsAndShrinks", std::string("max_success=1000 seed=") + seed);
    EXPECT_NE(run.status, 0);
    EXPECT_EQ(count_of(run.output, "Failure\n"), 1U) << run.output;
    EXPECT_EQ(count_of(run.output, "actual: 500 vs 500"), 1U) << run.output;
    EXPECT_NE(run.output.find("failing_properties.cpp:"), std::string::npos);
  }
}

TEST(ForAll, ReportsAFatalFailureOfAHelper) {
  const ChildRun run = run_child("ForAll.AssertInAHelper*", "max_success=1000 seed=1");
  EXPECT_NE(run.status, 0);
  EXPECT_EQ(count_of(run.output, "actual: 33 vs 33"), 1U) << run.output;
  EXPECT_EQ(count_of(run.output, "the helper"), 1U) << run.output;
}

TEST(ForAll, ReportsAnException) {
  const ChildRun run = run_child("ForAll.Exception*", "max_success=1000 seed=1");
  EXPECT_NE(run.status, 0);
  EXPECT_NE(run.output.find("too long"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("int:\n65\n"), std::string::npos) << run.output;
}

TEST(ForAll, Passes) { EXPECT_EQ(run_child("ForAll.Passes", "seed=1").status, 0); }

TEST(ToRapidCheck, DrawsWhatOurTapeOfTheSameRandomDraws) {
  const Gen<std::vector<int>> generator = vectors(sizes({.max = 50}), integers<int>());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const rc::Random random(seed);
    Tape tape = tape_of(random);
    Draw draw(tape, 60);
    EXPECT_EQ(to_rapidcheck(generator)(random, 60).value(), draw(generator));
  }
}

// All candidates of 20 values.
template <class T>
void expect_shrinks_within_the_domain(const Gen<T>& generator) {
  std::size_t candidates = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto shrinks = to_rapidcheck(generator)(rc::Random(seed), 100).shrinks();
    while (auto candidate = shrinks.next()) {
      EXPECT_TRUE(generator.contains(candidate->value()));
      ++candidates;
    }
  }
  EXPECT_GT(candidates, 0U);
}

TEST(ToRapidCheck, ShrinksOnlyWithinTheDomain) {
  expect_shrinks_within_the_domain(vectors(sizes({.min = 2, .max = 9}), integers<int>(5, 9)));
  expect_shrinks_within_the_domain(edge_sizes({.min = 20, .max = 900, .block = 96}));
  expect_shrinks_within_the_domain(halves({.nan = false, .subnormals = false}));
  expect_shrinks_within_the_domain(bfloats());
  expect_shrinks_within_the_domain(cancelling_sums<float>(6));
  expect_shrinks_within_the_domain(cancelling_sums<double>(5));
  expect_shrinks_within_the_domain(byte_streams(9));
  expect_shrinks_within_the_domain(vectors(9, floats<double>()));
}

TEST(ToRapidCheck, OffersNoMoreShrinksThanItsBudget) {
  const Gen<std::vector<int>> generator = vectors(3'000, integers<int>(1, 9));
  auto shrinkable = to_rapidcheck(generator)(rc::Random(1), 100);
  auto shrinks = shrinkable.shrinks();
  std::size_t count = 0;
  while (shrinks.next()) ++count;
  EXPECT_EQ(count, kRapidCheckShrinksMax);
}

TEST(SimplerTape, IsShortlex) {
  const std::vector<Choice> a{{9, 10}}, b{{0, 10}, {5, 10}}, c{{1, 10}, {0, 10}};
  EXPECT_TRUE(simpler_tape(a, b));
  EXPECT_TRUE(simpler_tape(b, c));
  EXPECT_FALSE(simpler_tape(c, b));
  EXPECT_FALSE(simpler_tape(a, a));
}

}  // namespace
}  // namespace warpcheck
