// What the strategy `weak_memory` shows on the virtual GPU, beside what the axioms allow.
//
// - On random tests it shows nothing that is not allowed, and the race checker, which is told what
// each
//   access found, sees no race where no allowed execution has one.
// - On the standard shapes it shows every state that is allowed, but for load buffering and what
// else
//   write_histories.hpp leaves out: those are listed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/compare/kernel.hpp"
#include "model/compare/random_test.hpp"
#include "model/enumerate.hpp"
#include "model/parser.hpp"
#include "model/print.hpp"

namespace warpcheck::model {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kRandomTests = 400, kSchedulesOfRandom = 40;
constexpr unsigned kSchedulesOfShape = 20'000, kSchedulesOfIncomplete = 200;

// What is left out, by the shapes that have some of it.
const std::set<std::string> kLoadBuffering{"LB+acq+rel+relaxed", "LB+acq+rel-apart", "LB+atoms",
                                           "LB+fences-weak",     "LB+relaxed",       "LB+weak",
                                           "WWC+relaxed"};
const std::set<std::string> kAtomicsThatFindOlderWrites{"SB+atoms-relaxed"};
const std::set<std::string> kRacingAtomicsThatLoseUpdates{"Add+add-scopes", "Add+store-weak",
                                                          "Red+red-apart"};
const std::set<std::string> kWritesThatStayUnordered{"CoWR+weak"};

bool is_left_out(const std::string& name) {
  return kLoadBuffering.contains(name) || kAtomicsThatFindOlderWrites.contains(name) ||
         kRacingAtomicsThatLoseUpdates.contains(name) || kWritesThatStayUnordered.contains(name);
}

// Whether Kernel writes such an instruction.
bool is_plain(const Instruction& code) {
  using Kind = Instruction::Kind;
  constexpr auto kNone = Operand::Kind::none;
  const bool is_constant = code.a.kind != Operand::Kind::reg && code.b.kind == kNone;
  if (code.proxy != Proxy::generic || code.scope == Scope::cluster || !is_constant) return false;
  if (code.address.index.kind != kNone) return false;
  switch (code.kind) {
    case Kind::load:
    case Kind::store:
    case Kind::fence: return true;
    case Kind::atomic:
    case Kind::reduction:
      return code.operation == Operator::exch || code.operation == Operator::add ||
             code.operation == Operator::max;
    case Kind::barrier_sync: return code.arrivals.kind == kNone;
    default: return false;
  }
}

bool is_kernel(const model::Test& test) {
  if (test.addresses.size() != test.cells.size() || !Kernel::fits(test)) return false;
  return std::ranges::all_of(test.threads, [](const Thread& thread) {
    const bool begins_with_zeros =
        std::ranges::all_of(thread.initial, [](std::int64_t value) { return value == 0; });
    return thread.gpu == 0 && begins_with_zeros && std::ranges::all_of(thread.code, is_plain);
  });
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

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
  for (const auto& entry : fs::recursive_directory_iterator(WARPCHECK_SOURCE_DIR "/model/tests")) {
    if (entry.path().extension() != ".litmus") continue;
    const auto test = parse_test(text_of(entry.path()));
    if (!is_kernel(test)) continue;
    SCOPED_TRACE(test.name);
    ++tests;
    const Outcome outcome = enumerate(test);
    Kernel kernel(test);
    std::set<FinalState> shown;
    const unsigned schedules = is_left_out(test.name) ? kSchedulesOfIncomplete : kSchedulesOfShape;
    for (unsigned seed = 0; seed < schedules && shown.size() < outcome.states.size(); ++seed) {
      const FinalState state = kernel.run("weak_memory", seed).state;
      shown.insert(state);
      EXPECT_TRUE(outcome.states.contains(state)) << shown_state(test, state);
    }
    EXPECT_EQ(shown.size() < outcome.states.size(), is_left_out(test.name))
        << shown_outcome(test, outcome);
  }
  EXPECT_GT(tests, 80U);
}

}  // namespace
}  // namespace warpcheck::model
