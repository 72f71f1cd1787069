#include "harness/search/hunt.hpp"

#include <gtest/gtest.h>

#include "harness/pair/registry.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

PairOutcome outcome_of(const char* pair, std::vector<vgpu::FindingKind> found,
                       std::vector<std::string> errors = {}) {
  return {.pair = Registry::global().find(pair),
          .trials = 20,
          .found = std::move(found),
          .reports = {},
          .errors = std::move(errors)};
}

using Kind = vgpu::FindingKind;

TEST(PairOutcome, IsAsExpectedWhenItFoundAllThatIsExpectedAndNothingElse) {
  EXPECT_TRUE(outcome_of("fake_clean", {}).as_expected());
  EXPECT_FALSE(outcome_of("fake_clean", {Kind::mismatch}).as_expected());
  EXPECT_FALSE(outcome_of("fake_clean", {}, {"interrupted"}).as_expected());
  EXPECT_TRUE(outcome_of("fake_two_bugs", {Kind::data_race, Kind::mismatch}).as_expected());
  EXPECT_FALSE(outcome_of("fake_two_bugs", {Kind::mismatch}).as_expected());
  EXPECT_FALSE(
      outcome_of("fake_two_bugs", {Kind::data_race, Kind::leak, Kind::mismatch}).as_expected());
}

TEST(HuntTable, SaysWhatIsMissingUnexpectedOrWrong) {
  EXPECT_EQ(hunt_table({outcome_of("fake_clean", {}), outcome_of("fake_hang", {}),
                        outcome_of("fake_two_decisions", {Kind::data_race, Kind::mismatch}),
                        outcome_of("fake_misbehaving", {}, {"killed by signal 11"})}),
            "pair                expects   found                trials  verdict\n"
            "fake_clean          clean     -                        20  ok\n"
            "fake_hang           deadlock  -                        20  NOT FOUND: deadlock\n"
            "fake_two_decisions  mismatch  data-race, mismatch      20  UNEXPECTED: data-race\n"
            "fake_misbehaving    clean     -                        20  killed by signal 11\n"
            "1 of 4 pairs as expected\n");
}

TEST(HuntTable, AnUnhealthyPairIsNotAsExpected) {
  PairOutcome outcome = outcome_of("fake_clean", {});
  outcome.unhealthy = {
      {.property = "", .trials = 20, .problems = {{"no-launch", "none"}, {"discards", "most"}}},
      {.property = "claims", .trials = 5, .problems = {{"no-launch", "none"}}}};
  EXPECT_FALSE(outcome.as_expected());
  EXPECT_EQ(verdict_text(outcome), "UNHEALTHY: discards, no-launch");
  outcome.found = {Kind::mismatch};
  EXPECT_EQ(verdict_text(outcome), "UNEXPECTED: mismatch");
}

}  // namespace
}  // namespace warpcheck
