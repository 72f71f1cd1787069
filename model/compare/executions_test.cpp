// Every execution, enumerated by running kernels, compared with two methods that share nothing with
// it: an interpreter that tries all interleavings, and the axioms.
//
// - On sequentially consistent memory, the states are those of all interleavings.
// - On weak memory, with random tests: all states are allowed, and all states that a random
//   strategy shows are among them; for the standard shapes they are the allowed ones, except those
//   that check/weak/write_histories.hpp leaves out.
// - Programs with a known number of executions have that number.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/compare/kernel.hpp"
#include "model/compare/random_test.hpp"
#include "model/compare/sequential.hpp"
#include "model/compare/standard_shapes.hpp"
#include "model/enumerate.hpp"
#include "model/parser.hpp"
#include "model/print.hpp"
#include "vgpu/check/executions/execution_run.hpp"
#include "vgpu/check/executions/execution_search.hpp"

namespace warpcheck::model {
namespace {

struct Explored {
  std::set<FinalState> states;
  std::uint64_t executions = 0, runs = 0;
};

constexpr std::uint64_t kRunsMax = 20'000;

Explored explore(Kernel& kernel, bool weak) {
  vgpu::CoveredPrograms programs;
  vgpu::ExecutionSearch search;
  Explored explored;
  while (const auto begin = search.next()) {
    vgpu::ExecutionRun run(*begin, {.is_weak = weak}, programs);
    explored.states.insert(kernel.run(run, run).state);
    const vgpu::ExecutionTrace trace = run.take_trace();
    EXPECT_EQ(trace.gap, "");
    EXPECT_FALSE(trace.strayed);
    search.add(trace);
    if (search.runs() > kRunsMax || testing::Test::HasFailure()) {
      ADD_FAILURE() << "too many runs";
      break;
    }
  }
  explored.executions = search.executions();
  explored.runs = search.runs();
  return explored;
}

// Calls `compare` for each random test that fits, until one fails; returns their number.
template <class Compare>
unsigned for_each_random_test(unsigned seeds, Compare compare) {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    vgpu::Prng random(seed + 20'000);
    const std::string text = random_test(random, Style::any);
    SCOPED_TRACE(text);
    const auto test = parse_test(text);
    if (!Kernel::fits(test)) continue;
    Kernel kernel(test);
    compare(test, kernel);
    ++compared;
  }
  return compared;
}

// Each run is a different execution: no work is done twice.
TEST(Executions, AreAllInterleavings) {
  std::uint64_t executions = 0;
  const unsigned compared = for_each_random_test(200, [&](const auto& test, Kernel& kernel) {
    const Explored explored = explore(kernel, false);
    EXPECT_EQ(explored.states, sequential_states(test));
    EXPECT_EQ(explored.runs, explored.executions);
    executions += explored.executions;
  });
  EXPECT_GT(compared, 140U);
  EXPECT_GT(executions, 500U);
}

TEST(Executions, OnWeakMemoryAreAllowedAndAtLeastWhatARandomStrategyShows) {
  const unsigned compared = for_each_random_test(60, [&](const auto& test, Kernel& kernel) {
    const Explored explored = explore(kernel, true);
    const Outcome outcome = enumerate(test);
    for (const FinalState& state : explored.states) {
      EXPECT_TRUE(outcome.states.contains(state)) << shown_state(test, state);
    }
    for (unsigned schedule = 0; schedule < 40; ++schedule) {
      const FinalState state = kernel.run("weak_memory", schedule).state;
      EXPECT_TRUE(explored.states.contains(state)) << shown_state(test, state);
    }
  });
  EXPECT_GT(compared, 40U);
}

TEST(Executions, OnWeakMemoryAreTheAllowedOnesOfTheStandardShapes) {
  unsigned tests = 0;
  for (const Shape& shape : standard_shapes()) {
    SCOPED_TRACE(shape.test.name);
    Kernel kernel(shape.test);
    const Explored explored = explore(kernel, true);
    const Outcome outcome = enumerate(shape.test);
    std::set<FinalState> allowed;
    for (const auto& [state, executions] : outcome.states) allowed.insert(state);
    // A filter omits states that a kernel shows.
    if (shape.test.filter.kind == Condition::Kind::always) {
      EXPECT_TRUE(std::ranges::includes(allowed, explored.states));
    }
    EXPECT_EQ(!std::ranges::includes(explored.states, allowed), shape.is_left_out);
    ++tests;
  }
  EXPECT_GT(tests, 80U);
}

}  // namespace
}  // namespace warpcheck::model
