// What the strategy `weak_memory` produces on the virtual GPU, compared with what the axioms allow.
//
// - On random tests it produces only allowed states, and the race checker, which is told which
// write
//   each access found, sees no race if no allowed execution has one.
// - On the standard shapes it produces every allowed state, except load buffering and what else
//   write_histories.hpp leaves out (standard_shapes.cpp).
#include <gtest/gtest.h>

#include <set>

#include "model/compare/kernel.hpp"
#include "model/compare/random_test.hpp"
#include "model/compare/standard_shapes.hpp"
#include "model/enumerate.hpp"
#include "model/parser.hpp"
#include "model/print.hpp"

namespace warpcheck::model {
namespace {

constexpr unsigned kRandomTests = 400, kSchedulesOfRandom = 40;
constexpr unsigned kSchedulesOfShape = 20'000, kSchedulesOfIncomplete = 200;

TEST(WeakMemory, ShowsOnlyWhatIsAllowed) {
  unsigned weak = 0, race_free = 0;
  for (const Style style : {Style::any, Style::sequential}) {
    for (unsigned seed = 0; seed < kRandomTests && !HasFailure(); ++seed) {
      vgpu::Prng random(seed + 10'000);
      const std::string text = random_test(random, style);
      SCOPED_TRACE(text);
      const auto test = parse_test(text);
      if (!Kernel::fits(test)) continue;
      const Outcome outcome = enumerate(test);
      Kernel kernel(test);
      std::set<FinalState> shown, ordinary;
      for (unsigned schedule = 0; schedule < kSchedulesOfRandom; ++schedule) {
        const KernelRun run = kernel.run("weak_memory", schedule);
        shown.insert(run.state);
        ordinary.insert(kernel.run("random", schedule).state);
        EXPECT_TRUE(outcome.states.contains(run.state)) << shown_state(test, run.state);
        EXPECT_FALSE(run.has_race && !outcome.has_races) << shown_outcome(test, outcome);
      }
      weak += shown == ordinary ? 0 : 1;
      race_free += outcome.has_races ? 0 : 1;
    }
  }
  EXPECT_GT(weak, 100U);
  EXPECT_GT(race_free, 50U);
}

TEST(WeakMemory, ShowsWhatIsAllowedOnTheStandardShapes) {
  unsigned tests = 0;
  for (const Shape& shape : standard_shapes()) {
    const auto& test = shape.test;
    SCOPED_TRACE(test.name);
    ++tests;
    const Outcome outcome = enumerate(test);
    Kernel kernel(test);
    std::set<FinalState> shown;
    const unsigned schedules = shape.is_left_out ? kSchedulesOfIncomplete : kSchedulesOfShape;
    for (unsigned seed = 0; seed < schedules && shown.size() < outcome.states.size(); ++seed) {
      const FinalState state = kernel.run("weak_memory", seed).state;
      shown.insert(state);
      EXPECT_TRUE(outcome.states.contains(state)) << shown_state(test, state);
    }
    EXPECT_EQ(shown.size() < outcome.states.size(), shape.is_left_out)
        << shown_outcome(test, outcome);
  }
  EXPECT_GT(tests, 80U);
}

}  // namespace
}  // namespace warpcheck::model
