#include "harness/search/hunt.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "harness/pair/pair.hpp"
#include "harness/pair/registry.hpp"
#include "harness/testing/fake_engine.hpp"
#include "harness/testing/stray_writes.hpp"

namespace warpcheck {

// Pairs without a kernel: one is as declared, one shows nothing, one shows something else.
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

// Each of their workers writes the text.
#define STRAY_KERNEL_PAIR(name, text)                                            \
  KERNEL_PAIR(name, FakeInput, int) = {                                          \
      .family = "fake",                                                          \
      .arbitrary = [](Draw&) { return FakeInput{}; },                            \
      .kernel = [](Device&, const FakeInput&) { return write_astray(text), 0; }, \
      .reference = [](const FakeInput&) { return 0; },                           \
  }
STRAY_KERNEL_PAIR(writes_an_unknown_tag, "trialz {\"count\":1}\n");
STRAY_KERNEL_PAIR(writes_half_a_message, "trials {\"count\":");
STRAY_KERNEL_PAIR(writes_what_is_not_for_a_hunt, "gpu-trial {\"job\":0,\"trial\":0}\n");

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
  EXPECT_FALSE(outcome_of("fake_clean", {}, {"killed by signal 9"}).as_expected());
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

// What is missing may still have been found; what was found stays found.
TEST(HuntTable, CountsWhatAnInterruptedHuntDidNotReach) {
  const auto interrupted = [](PairOutcome outcome, PairOutcome::Hunted hunted) {
    outcome.hunted = hunted;
    EXPECT_FALSE(outcome.as_expected());
    return outcome;
  };
  const auto in_part = PairOutcome::Hunted::in_part;
  const auto not_at_all = PairOutcome::Hunted::not_at_all;
  EXPECT_EQ(
      hunt_table({outcome_of("fake_clean", {}), interrupted(outcome_of("fake_hang", {}), in_part),
                  interrupted(outcome_of("fake_two_bugs", {}), not_at_all),
                  interrupted(outcome_of("fake_two_decisions", {Kind::data_race}), in_part)}),
      "pair                expects   found      trials  verdict\n"
      "fake_clean          clean     -              20  ok\n"
      "fake_hang           deadlock  -              20  interrupted\n"
      "fake_two_decisions  mismatch  data-race      20  UNEXPECTED: data-race\n"
      "1 of 1 hunted pair as expected; interrupted: 2 pairs hunted in part, 1 not reached\n");
  EXPECT_EQ(hunt_table({interrupted(outcome_of("fake_two_bugs", {}), not_at_all)}),
            "pair  expects  found  trials  verdict\n"
            "interrupted: 0 pairs hunted in part, 1 not reached\n");
}

TEST(HuntTable, SaysWhatIsProvedOfWhatIsAsExpected) {
  PairOutcome outcome = outcome_of("fake_clean", {});
  outcome.beyond = {.for_every_schedule = 10, .proved = SampleProof{Proof::all_data, {1, 64}, ""}};
  EXPECT_EQ(hunt_table({outcome}),
            "pair        expects  found  trials  verdict\n"
            "fake_clean  clean    -          20  ok, 10 trials for every schedule, proved for all "
            "data and schedules at 2 of its sizes (n = 1, 64)\n"
            "1 of 1 pair as expected\n");
  outcome.found = {Kind::mismatch};
  EXPECT_EQ(beyond_trials_text(outcome), "");
}

TEST(HuntTable, SaysWhatWasFoundInThePlaceOfWhatIsExpected) {
  EXPECT_EQ(verdict_text(outcome_of("fake_two_decisions", {Kind::data_race})),
            "NOT FOUND: mismatch; UNEXPECTED: data-race");
}

// A pair's declaration neither ends its search nor prolongs it.
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

TEST(Hunt, AnInterruptedHuntSaysWhatItDidNotReach) {
  volatile std::sig_atomic_t stop = 0;
  HuntOptions options;
  for (const char* pair : {"never_fails", "never_fails_declared", "fails_otherwise"}) {
    options.pairs.push_back(Registry::global().find(pair));
  }
  options.trials = 15;
  options.jobs = 1;
  // The four searches of never_fails_declared come first.
  options.on_wait = [&](std::size_t done, std::size_t) { stop = done == 5 ? 1 : 0; };
  const auto outcomes = hunt(options, &stop);
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].pair->name(), "fails_otherwise");
  EXPECT_EQ(outcomes[0].hunted, PairOutcome::Hunted::in_part);
  EXPECT_EQ(outcomes[0].trials, 15u);
  EXPECT_EQ(verdict_text(outcomes[0]), "UNEXPECTED: mismatch");
  EXPECT_FALSE(outcomes[0].is_undecided());
  EXPECT_EQ(outcomes[1].pair->name(), "never_fails");
  EXPECT_EQ(outcomes[1].hunted, PairOutcome::Hunted::not_at_all);
  EXPECT_EQ(verdict_text(outcomes[1]), "interrupted: not hunted");
  EXPECT_TRUE(outcomes[1].is_undecided());
  EXPECT_EQ(outcomes[2].hunted, PairOutcome::Hunted::wholly);
  EXPECT_EQ(verdict_text(outcomes[2]), "NOT FOUND: data-race");
}

// Each of the four workers of a pair writes it; messages before and after it count.
TEST(Hunt, WhatAWorkerWritesThatIsNotUnderstoodIsTold) {
  foreign_pipes = open_pipes();
  HuntOptions options;
  for (const char* pair :
       {"writes_an_unknown_tag", "writes_half_a_message", "writes_what_is_not_for_a_hunt"}) {
    options.pairs.push_back(Registry::global().find(pair));
  }
  options.trials = 5;
  const auto outcomes = hunt(options, nullptr);
  ASSERT_EQ(outcomes.size(), 3u);
  const std::string told[] = {
      "internal error: a worker wrote 'trialz {\"count\":1}': no message has the tag 'trialz'",
      "internal error: a worker wrote 'trials {\"count\":kinds {\"kinds\":[]}': its fields are no "
      "JSON from byte 10 on",
      "internal error: a worker wrote 'gpu-trial {\"job\":0,\"trial\":0}': it is no message of "
      "this worker"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outcomes[i].errors, std::vector<std::string>{told[i]});
    EXPECT_EQ(verdict_text(outcomes[i]), told[i]);
    EXPECT_FALSE(outcomes[i].as_expected());
    EXPECT_EQ(outcomes[i].trials, 4u * 5);
  }
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
