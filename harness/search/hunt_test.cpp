#include "harness/search/hunt.hpp"

#include <gtest/gtest.h>

#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {

// Without a kernel; one is what it declares, one is not there, one is something else.
KERNEL_PAIR(never_fails, FakeInput, int) = {
    .family = "fake",
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel = [](Device&, const FakeInput&) { return 0; },
    .reference = [](const FakeInput&) { return 0; },
};
KERNEL_PAIR(never_fails_declared, FakeInput, int) = {
    .family = "fake",
    .expects = {"data-race"},
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel = [](Device&, const FakeInput&) { return 0; },
    .reference = [](const FakeInput&) { return 0; },
};
KERNEL_PAIR(fails_otherwise, FakeInput, int) = {
    .family = "fake",
    .expects = {"data-race"},
    .arbitrary = [](Draw&) { return FakeInput{}; },
    .kernel = [](Device&, const FakeInput&) { return 1; },
    .reference = [](const FakeInput&) { return 0; },
};

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

TEST(HuntTable, SaysWhatWasFoundInThePlaceOfWhatIsExpected) {
  EXPECT_EQ(verdict_text(outcome_of("fake_two_decisions", {Kind::data_race})),
            "NOT FOUND: mismatch; UNEXPECTED: data-race");
}

// What a pair declares neither ends its search nor prolongs it.
TEST(Hunt, APairGetsTheSameTrialsWhateverItDeclares) {
  HuntOptions options;
  for (const char* pair : {"never_fails", "never_fails_declared", "fails_otherwise"}) {
    options.pairs.push_back(Registry::global().find(pair));
  }
  options.trials = 15;
  options.property_trials = 5;
  const auto outcomes = hunt(options, nullptr);
  ASSERT_EQ(outcomes.size(), 3u);
  for (const PairOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.trials, 4u * 15) << outcome.pair->name();
    EXPECT_EQ(outcome.errors, std::vector<std::string>{});
  }
  EXPECT_EQ(outcomes[0].pair->name(), "fails_otherwise");
  EXPECT_EQ(verdict_text(outcomes[0]), "NOT FOUND: data-race; UNEXPECTED: mismatch");
  EXPECT_EQ(verdict_text(outcomes[2]), "NOT FOUND: data-race");
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
