// Random tests: the enumerator compared with sequential consistency and with the race checker.
//
// - Every sequentially consistent state is allowed.
// - Brute force gives the same executions.
// - Final states on the virtual GPU are sequentially consistent: it runs one warp at a time.
// - If no execution that the model allows has a data race, the race checker finds none under any
//   schedule; if some execution has one, it finds it under some schedule.
// - A test that synchronizes as seq_cst atomics do and has no race has only sequentially consistent
//   states.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "model/compare/exhaustive.hpp"
#include "model/compare/kernel.hpp"
#include "model/compare/random_test.hpp"
#include "model/compare/sequential.hpp"
#include "model/enumerate.hpp"
#include "model/parser.hpp"
#include "model/print.hpp"

namespace warpcheck::model {
namespace {

constexpr unsigned kTests = 400, kSchedules = 24;

struct Tally {
  unsigned weak = 0;             // tests with states beyond sequential consistency
  unsigned racy = 0, found = 0;  // of those on the virtual GPU
  unsigned race_free = 0;
  unsigned tried = 0;  // brute force
};

std::set<FinalState> states_of(const Outcome& outcome) {
  std::set<FinalState> states;
  for (const auto& [state, executions] : outcome.states) states.insert(state);
  return states;
}

void run_on_virtual_gpu(const model::Test& test, const Outcome& outcome,
                        const std::set<FinalState>& sequential, Tally& tally) {
  Kernel kernel(test);
  bool found = false;
  for (unsigned seed = 0; seed < kSchedules && !found; ++seed) {
    const KernelRun run = kernel.run("random", seed);
    found = run.has_race;
    EXPECT_TRUE(sequential.contains(run.state)) << shown_state(test, run.state);
  }
  if (outcome.has_races) {
    ++tally.racy;
    tally.found += found ? 1 : 0;
  } else {
    ++tally.race_free;
    EXPECT_FALSE(found) << shown_outcome(test, outcome);
  }
}

Tally compare(Style style) {
  Tally tally;
  for (unsigned seed = 0; seed < kTests && !testing::Test::HasFailure(); ++seed) {
    vgpu::Prng random(seed);
    const std::string text = random_test(random, style);
    SCOPED_TRACE(text);
    const auto test = parse_test(text);
    const Outcome outcome = enumerate(test);
    const std::set<FinalState> allowed = states_of(outcome), sequential = sequential_states(test);
    EXPECT_TRUE(std::ranges::includes(allowed, sequential));
    if (allowed != sequential) ++tally.weak;
    if (const auto all = exhaustive_states(test)) {
      ++tally.tried;
      EXPECT_EQ(*all, outcome.states);
    }
    if (style == Style::sequential && !outcome.has_races) {
      EXPECT_EQ(allowed, sequential) << shown_outcome(test, outcome);
    }
    if (Kernel::fits(test)) run_on_virtual_gpu(test, outcome, sequential, tally);
  }
  return tally;
}

TEST(Comparison, AnyAccesses) {
  const Tally tally = compare(Style::any);
  EXPECT_GT(tally.tried, 200U);
  EXPECT_GT(tally.weak, 20U);
  EXPECT_GT(tally.race_free, 20U);
  EXPECT_GT(tally.racy, 100U);
  EXPECT_EQ(tally.found, tally.racy);
}

TEST(Comparison, SequentiallyConsistentFlags) {
  const Tally tally = compare(Style::sequential);
  EXPECT_GT(tally.race_free, 20U);
  EXPECT_GT(tally.racy, 50U);
  EXPECT_EQ(tally.found, tally.racy);
}

}  // namespace
}  // namespace warpcheck::model
