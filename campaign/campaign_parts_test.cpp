// The parts that decide and store, without processes: scheduler, ledger, corpus, coverage, view.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/coverage.hpp"
#include "campaign/ledger.hpp"
#include "campaign/scheduler.hpp"
#include "campaign/store/archive.hpp"
#include "campaign/store/corpus.hpp"
#include "campaign/view.hpp"
#include "campaign/worker.hpp"
#include "harness/case/case_file.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::campaign {
namespace {

namespace fs = std::filesystem;

class PartsTest : public testing::Test {
 protected:
  const TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
};

// --- scheduler ----------------------------------------------------------------------------------

TEST(Scheduler, PairsThatWereNeverSearchedComeFirst) {
  const PairProgress a{.pair = "a", .slots = 1}, b{.pair = "b"}, c{.pair = "c"};
  const std::vector<Arm> arms{{&a}, {&b}, {&c}};
  vgpu::Prng prng(1);
  EXPECT_EQ(choose_arm(arms, 1, prng), 1u);
}

TEST(Scheduler, EveryFourthSlotGoesToTheOneOfLeastTimeOrFewestRuns) {
  const PairProgress a{
      .pair = "a", .slots = 9, .executions = 8, .seconds = 5, .gain = 1e9, .span = 1};
  const PairProgress b{.pair = "b", .slots = 9, .executions = 9, .seconds = 4};
  const PairProgress c{.pair = "c", .slots = 9, .executions = 7, .seconds = 6};
  const std::vector<Arm> arms{{&a}, {&b}, {&c}};
  vgpu::Prng prng(1);
  for (std::int64_t slots = 0; slots < 40; ++slots) {
    const std::size_t expected = slots % 8 == 0 ? 1 : slots % 8 == 4 ? 2 : 0;
    EXPECT_EQ(choose_arm(arms, slots, prng), expected) << slots;
  }
}

TEST(Scheduler, TimeGoesInProportionToTheRate) {
  const PairProgress a{.pair = "a", .slots = 9, .gain = 29, .span = 9};  // 3 a second
  const PairProgress b{.pair = "b", .slots = 9, .gain = 9, .span = 9};   // 1
  const std::vector<Arm> arms{{&a}, {&b}};
  vgpu::Prng prng(1);
  int first = 0;
  for (int i = 0; i < 4000; ++i) first += choose_arm(arms, 1, prng) == 0u ? 1 : 0;
  EXPECT_NEAR(first, 3000, 150);
}

TEST(Scheduler, TheFloorIsForTheOwnShareAndWhatPaysIsForAll) {
  const PairProgress a{.pair = "a"};
  const PairProgress b{.pair = "b", .slots = 9, .executions = 9, .seconds = 9};
  const PairProgress c{.pair = "c", .slots = 9, .gain = 1e9, .span = 1};
  const std::vector<Arm> arms{{&a, 0, false, false}, {&b}, {&c, 0, false, false}};
  vgpu::Prng prng(1);
  for (std::int64_t slots = 0; slots < 40; ++slots) {
    EXPECT_EQ(choose_arm(arms, slots, prng), slots % 4 == 0 ? 1u : 2u) << slots;
  }
  EXPECT_EQ(choose_arm(std::span(arms).subspan(2), 0, prng), 0u);  // all of the share are finished
}

TEST(Scheduler, LeavesOutTheFinishedAndPrefersTheIdle) {
  const PairProgress a{.pair = "a", .slots = 1, .gain = 1e9, .span = 1}, b{.pair = "b", .slots = 1};
  vgpu::Prng prng(1);
  EXPECT_EQ(choose_arm(std::vector<Arm>{{&a, 0, true}, {&b}}, 1, prng), 1u);
  EXPECT_EQ(choose_arm(std::vector<Arm>{{&a, 1}, {&b}}, 1, prng), 1u);
  EXPECT_EQ(choose_arm(std::vector<Arm>{{&a, 0, true}, {&b, 0, true}}, 1, prng), std::nullopt);
}

TEST(Scheduler, OldGainsAreForgotten) {
  PairProgress progress;
  account(progress, 0, 100);
  account(progress, 1, 0);  // a second at the beginning
  EXPECT_DOUBLE_EQ(progress.gain, 50);
  EXPECT_DOUBLE_EQ(progress.span, 1);
  EXPECT_DOUBLE_EQ(progress.seconds, 1);
  progress = {.seconds = 60, .gain = 8, .span = 60};
  account(progress, 15, 0);  // a quarter of its time
  EXPECT_DOUBLE_EQ(progress.gain, 4);
  progress = {.seconds = 1000, .gain = 8, .span = 1000};
  account(progress, kHalfLifeSecondsMax, 0);
  EXPECT_DOUBLE_EQ(progress.gain, 4);
}

TEST(Scheduler, WhatOthersSearchMakesOwnGainsOld) {
  PairProgress progress{.seconds = 10, .gain = 8, .span = 4};
  forget(progress, 15, 50);  // a quarter of the time of all
  EXPECT_DOUBLE_EQ(progress.gain, 4);
  EXPECT_DOUBLE_EQ(progress.span, 2);
  EXPECT_DOUBLE_EQ(progress.seconds, 10);  // its own
  account(progress, 15, 1, 50);
  EXPECT_DOUBLE_EQ(progress.gain, 3);
  EXPECT_DOUBLE_EQ(progress.span, 16);
  EXPECT_DOUBLE_EQ(progress.seconds, 25);
}

TEST(Scheduler, ASlotIsAQuarterOfThePairsTime) {
  EXPECT_EQ(slot_seconds({}), 1u);
  EXPECT_EQ(slot_seconds({.seconds = 60}), 15u);
  EXPECT_EQ(slot_seconds({.seconds = 1000}), 20u);
}

// --- coverage -----------------------------------------------------------------------------------

TEST(Coverage, AFeatureIsACounterAndItsMagnitude) {
  std::vector<std::uint8_t> counters(fuzz::kCounters);
  Coverage coverage;
  EXPECT_EQ(coverage.add(counters), 0u);
  const std::vector<std::vector<int>> magnitudes{{1},     {2},      {3},       {4, 7},
                                                 {8, 15}, {16, 31}, {32, 127}, {128, 255}};
  for (const auto& same : magnitudes) {
    counters[70] = static_cast<std::uint8_t>(same.front());
    EXPECT_EQ(coverage.add(counters), 1u) << same.front();
    counters[70] = static_cast<std::uint8_t>(same.back());
    EXPECT_EQ(coverage.add(counters), 0u) << same.back();
  }
  counters.back() = 1;
  EXPECT_EQ(coverage.add(counters), 1u);
  EXPECT_EQ(coverage.features(), 9u);
}

// --- corpus -------------------------------------------------------------------------------------

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

TEST_F(PartsTest, ACorpusTakesAnyFileAndSetsDamagedOnesAside) {
  const Directory directory(root_);
  const fs::path corpus = directory.corpus("scan");
  fs::create_directories(corpus);
  const std::vector<std::uint8_t> longer{'a', 'b', 'c'}, shorter{'z'};
  save_corpus_entry(corpus, longer);
  save_corpus_entry(corpus, longer);
  write(corpus / "foreign", "z");
  write(corpus / std::string(32, '0'), "not what the name says");
  write(corpus / "large", std::string(kCorpusBytesMax + 1, 'x'));
  fs::create_directories(corpus / "folder");
  write(corpus / "half.7.tmp", "ab");
  const Corpus read = read_corpus(directory, "scan");
  ASSERT_EQ(read.entries.size(), 2u);
  EXPECT_EQ(read.entries[0].bytes, shorter);
  EXPECT_EQ(read.entries[0].path, corpus / corpus_name(shorter));
  EXPECT_TRUE(fs::exists(read.entries[0].path));
  EXPECT_FALSE(fs::exists(corpus / "foreign"));
  EXPECT_EQ(read.entries[1].bytes, longer);
  EXPECT_EQ(read.messages.size(), 3u);
  EXPECT_TRUE(fs::exists(root_ / "damaged/corpus/scan" / std::string(32, '0')));
  remove_unfinished(directory);
  EXPECT_FALSE(fs::exists(corpus / "half.7.tmp"));
  EXPECT_EQ(read_corpus(directory, "no such pair").entries.size(), 0u);
}

TEST_F(PartsTest, ACorpusThatCannotBeReadIsAnError) {
  const Directory directory(root_);
  write(directory.corpus("scan"), "no directory");
  const auto error_of = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const CaseFileError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string expected =
      "cannot read " + directory.corpus("scan").string() + ": Not a directory";
  EXPECT_EQ(error_of([&] { static_cast<void>(read_corpus(directory, "scan")); }), expected);
  EXPECT_EQ(error_of([&] { remove_unfinished(directory); }), expected);
}

// --- ledger -------------------------------------------------------------------------------------

FoundMessage found(const std::string& text, const std::vector<std::string>& hashes) {
  FoundMessage message{.pair = "scan", .case_text = text, .executions = 5};
  for (const std::string& hash : hashes) {
    message.findings.push_back({hash, "data-race", "place of " + hash});
  }
  return message;
}

class LedgerTest : public PartsTest {
 protected:
  std::string case_file(const std::string& hash) {
    std::ifstream file(directory_.case_path({"scan", hash}));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Directory directory_{root_};
  Store store_{directory_.store_path()};
  Ledger ledger_{directory_, store_, {"scan"}};
};

TEST_F(LedgerTest, AFindingGoesItsWayAndIsStoredAtEachStep) {
  EXPECT_EQ(ledger_.found(found("large", {"aa", "bb"}), 2).size(), 2u);
  EXPECT_EQ(ledger_.found(found("other", {"aa"}), 3).size(), 0u);
  EXPECT_EQ(ledger_.not_stored().size(), 2u);
  ledger_.flush(4);
  EXPECT_EQ(ledger_.not_stored().size(), 0u);
  EXPECT_EQ(store_.find({"scan", "aa"}).value().case_text, "large");
  EXPECT_EQ(case_file("aa"), "large");
  EXPECT_EQ(ledger_.known_places("scan"), (std::set<std::string>{"place of aa", "place of bb"}));

  EXPECT_EQ(ledger_.next_to_do({})->key.hash, "aa");
  EXPECT_EQ(ledger_.next_to_do({{"scan", "aa"}})->key.hash, "bb");
  ledger_.shrunk({"scan", "aa"}, {.kept = true,
                                  .case_text = "small",
                                  .shrinks = 3,
                                  .complete = true,
                                  .findings = {{"aa", "data-race", "place of aa"}}});
  ledger_.confirmed({"scan", "aa"}, {.confirmed = true, .shown = 1, .schedules = 20});
  ledger_.flush(5);
  EXPECT_EQ(ledger_.next_to_do({})->key.hash, "bb");
  const StoredFinding stored = store_.find({"scan", "aa"}).value();
  EXPECT_EQ(stored.stage, Stage::confirmed);
  EXPECT_EQ(stored.case_text, "small");
  EXPECT_EQ(stored.found_text, "large");
  EXPECT_EQ(case_file("aa"), "small");
  EXPECT_EQ(case_file("bb"), "large");
}

TEST_F(LedgerTest, AShrunkCaseServesAllThatItShows) {
  ledger_.found(found("large", {"aa", "bb"}), 2);
  ledger_.shrunk({"scan", "aa"}, {.kept = true,
                                  .case_text = "small",
                                  .findings = {{"aa", "data-race", "place of aa"},
                                               {"bb", "data-race", "place of bb"}}});
  EXPECT_EQ(ledger_.findings().at({"scan", "bb"}).stage, Stage::shrunk);
  EXPECT_EQ(ledger_.findings().at({"scan", "bb"}).case_text, "small");
}

TEST_F(LedgerTest, WhatCannotBeShownAgainIsKeptAndSearchedForAgain) {
  for (int attempt = 1; attempt <= Ledger::kAttemptsMax; ++attempt) {
    ledger_.found(found("large", {"aa"}), 2);
    ASSERT_EQ(ledger_.next_to_do({})->key.hash, "aa");
    ledger_.shrunk({"scan", "aa"}, {.kept = false});
    EXPECT_EQ(ledger_.next_to_do({}), nullptr);
    EXPECT_EQ(ledger_.known_places("scan").empty(), attempt < Ledger::kAttemptsMax);
  }
  EXPECT_TRUE(ledger_.found(found("large", {"aa"}), 2).empty());
  EXPECT_EQ(ledger_.next_to_do({}), nullptr);
  EXPECT_EQ(ledger_.findings().at({"scan", "aa"}).case_text, "large");
}

TEST_F(LedgerTest, AFindingThatKillsItsWorkersIsLeftAsItIs) {
  ledger_.found(found("large", {"aa"}), 2);
  for (int i = 0; i < Ledger::kAttemptsMax / Ledger::kAttemptsOfADeath; ++i) {
    EXPECT_NE(ledger_.next_to_do({}), nullptr);
    ledger_.failed({"scan", "aa"}, "killed by signal 9");
  }
  EXPECT_EQ(ledger_.next_to_do({}), nullptr);
  EXPECT_EQ(ledger_.findings().at({"scan", "aa"}).remark, "killed by signal 9");
}

TEST_F(LedgerTest, ARegressionThatFailsIsCrashingAgain) {
  ledger_.found(found("large", {"aa"}), 2);
  ledger_.passes({"scan", "aa"});
  EXPECT_EQ(ledger_.next_to_do({}), nullptr);
  EXPECT_TRUE(ledger_.known_places("scan").empty());
  EXPECT_EQ(ledger_.found(found("back", {"aa"}), 2).size(), 1u);
  EXPECT_EQ(ledger_.findings().at({"scan", "aa"}).tier, Tier::crashing);
  EXPECT_EQ(ledger_.next_to_do({})->case_text, "back");
}

TEST(OutcomeText, SaysHowManyTrialsStandForEverySchedule) {
  CampaignOutcome outcome;
  outcome.progress = {{.pair = "a", .executions = 10, .for_every_schedule = 4},
                      {.pair = "b", .executions = 20}};
  EXPECT_EQ(outcome_text(outcome, {}),
            "0 findings of 0 pairs after 30 trials of 0 pairs, 4 of them for every schedule\n");
  outcome.progress[0].for_every_schedule = 0;
  EXPECT_EQ(outcome_text(outcome, {}), "0 findings of 0 pairs after 30 trials of 0 pairs\n");
}

TEST_F(LedgerTest, AnotherStartGoesOn) {
  ledger_.found(found("large", {"aa"}), 2);
  ledger_.progress_of("scan").executions = 7;
  ledger_.progress_of("scan").for_every_schedule = 4;
  ledger_.flush(4);
  fs::remove(directory_.case_path({"scan", "aa"}));
  Ledger again(directory_, store_, {"scan", "sort"});
  EXPECT_EQ(again.progress().at("scan").executions, 7);
  EXPECT_EQ(again.progress().at("scan").for_every_schedule, 4);
  EXPECT_EQ(again.next_to_do({})->case_text, "large");
  again.flush(4);
  EXPECT_EQ(case_file("aa"), "large");
}

// --- archives -----------------------------------------------------------------------------------

TEST_F(PartsTest, ArchivesAndFoldersGiveBackWhatTheyWereGiven) {
  fs::create_directories(root_);
  for (const char* name : {"a.tar.gz", "a.tgz", "a.zip", "folder"}) {
    write_archive(root_ / name, {{"b/two", std::string("\0\xff", 2)}, {"a/one", "1"}});
    const ArchiveContents contents = read_archive(root_ / name);
    EXPECT_TRUE(contents.errors.empty());
    ASSERT_EQ(contents.entries.size(), 2u) << name;
    EXPECT_EQ(contents.entries[0].name, "a/one");
    EXPECT_EQ(contents.entries[1].bytes, std::string("\0\xff", 2));
  }
  EXPECT_THROW(read_archive(root_ / "none.zip"), ArchiveError);
  write(root_ / "text", "no archive");
  EXPECT_THROW(read_archive(root_ / "text"), ArchiveError);
  EXPECT_THROW(write_archive(root_ / "none" / "a.zip", {{"a", "1"}}), ArchiveError);
}

TEST_F(PartsTest, WhatIsLeftOfACutArchiveIsRead) {
  fs::create_directories(root_);
  std::string noise(200'000, ' ');
  vgpu::Prng prng(1);
  for (char& c : noise) c = static_cast<char>(prng.next());
  write_archive(root_ / "a.tar.gz", {{"a", "1"}, {"b", noise}});
  fs::resize_file(root_ / "a.tar.gz", fs::file_size(root_ / "a.tar.gz") / 2);
  const ArchiveContents contents = read_archive(root_ / "a.tar.gz");
  ASSERT_EQ(contents.entries.size(), 1u);
  EXPECT_EQ(contents.entries[0].bytes, "1");
  ASSERT_FALSE(contents.errors.empty());
  EXPECT_TRUE(contents.errors[0].starts_with((root_ / "a.tar.gz").string()));
}

// --- view ---------------------------------------------------------------------------------------

TEST(View, ShowsWhatThereIs) {
  Snapshot snapshot{.directory = "night",
                    .seconds = 3723,
                    .total_seconds = 7323,
                    .trials = 1'234'567,
                    .trials_per_second = 8123.4,
                    .pairs = 58,
                    .features = 12'345,
                    .entries = 999,
                    .findings = 9,
                    .confirmed = 6,
                    .schedule_dependent = 2,
                    .unconfirmed = 1,
                    .incidents = 1,
                    .seconds_since_finding = 12,
                    .paused = "disk full",
                    .workers = {"search scan_tree, 3 s"}};
  EXPECT_EQ(view_lines(snapshot, 200),
            (std::vector<std::string>{
                "campaign night   1:02:03 (2:02:03 in all)",
                "  trials     1,234,567, 8,123/s",
                "  coverage   12,345 features of 58 pairs, 999 corpus entries",
                "  findings   9: 6 confirmed (2 schedule-dependent), 1 not confirmed, 2 to shrink; "
                "1 incident",
                "  last new   finding 0:00:12 ago, coverage none",
                "  paused     disk full",
                "  worker     search scan_tree, 3 s",
            }));
  for (const std::string& line : view_lines(snapshot, 20)) EXPECT_LE(line.size(), 20u);
}

}  // namespace
}  // namespace warpcheck::campaign
