// Defects that only weak memory shows, and after how many schedules.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

struct Idiom {
  std::string name;
  Json input;
};

const std::vector<Idiom> kIdioms{
    {"message_passing", {{"in", {5, 7}}}},
    {"look_back_scan", {{"in", {1, 2, 3}}}},
    {"ticket_lock", {{"in", {1, 2, 3}}}},
    {"last_block", {{"in", {1, 2, 3}}}},
    {"work_queue", {{"in", {1, 2, 3}}, {"consumers", 2}}},
};

std::string kinds_under(const std::string& strategy, std::uint64_t seed, const Idiom& idiom,
                        const std::string& suffix, const Settings& settings) {
  Case a_case = case_of(idiom.name + suffix, idiom.input, settings);
  a_case.schedule = StrategyChoice{strategy, seed};
  return kinds_of(run_case(a_case));
}

TEST(WeakSpecimens, AreFoundWithinAHundredSchedules) {
  for (const Idiom& idiom : kIdioms) {
    for (const Settings& settings : kAllSettings) {
      for (std::uint64_t first = 0; first < 500; first += 100) {
        SCOPED_TRACE(idiom.name);
        std::uint64_t seed = first;
        while (seed < first + 100 &&
               kinds_under("weak_memory", seed, idiom, "_unfenced", settings).empty()) {
          ++seed;
        }
        ASSERT_LT(seed, first + 100);
        EXPECT_EQ(kinds_under("weak_memory", seed, idiom, "_unfenced", settings), "mismatch");
      }
    }
  }
}

TEST(WeakSpecimens, AreSilentWhereMemoryIsSequentiallyConsistent) {
  for (const Idiom& idiom : kIdioms) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(idiom.name);
      EXPECT_EQ(kinds_under("random", seed, idiom, "_unfenced", kAllSettings[seed % 4]), "");
    }
  }
}

TEST(WeakSpecimens, WithFencesAreSilent) {
  for (const Idiom& idiom : kIdioms) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      SCOPED_TRACE(idiom.name);
      EXPECT_EQ(kinds_under("weak_memory", seed, idiom, "", kAllSettings[seed % 4]), "");
    }
  }
}

// The reader sees the flag, and its read leaves out the write of the message.
TEST(WeakSpecimens, AMessageIsLostByOneDecision) {
  Case a_case = case_of("message_passing_unfenced", {{"in", {5}}});
  a_case.schedule = StrategyChoice{"weak_memory", 0};
  for (std::uint64_t seed = 1; kinds_of(run_case(a_case)).empty() && seed < 100; ++seed) {
    a_case.schedule = StrategyChoice{"weak_memory", seed};
  }
  const Verdict found = run_case(a_case);
  ASSERT_EQ(kinds_of(found), "mismatch");
  a_case.schedule = found.schedule;
  const Verdict again = run_case(a_case);
  EXPECT_EQ(kinds_of(again), "mismatch");
  EXPECT_EQ(again.schedule, found.schedule);
  EXPECT_EQ(again.decisions_ignored, 0U);
}

}  // namespace
}  // namespace warpcheck
