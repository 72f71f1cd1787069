// run_campaign(): whole campaigns over small pairs.
#include "campaign/campaign.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "campaign/failures.hpp"
#include "campaign/service_corpora.hpp"
#include "campaign/store/corpus.hpp"
#include "fuzz/input_layout.hpp"
#include "fuzz/small_pairs.hpp"
#include "harness/case/case_file.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/project.hpp"
#include "harness/testing/stray_writes.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {

// Correct in every second trial, so that its failure does not show again.
KERNEL_PAIR(forgetful, Number, int) = {
    .family = "test",
    .origin = "ours",
    .arbitrary = draw_number,
    .kernel =
        [](Device&, const Number&) {
          static int trials = 0;
          return ++trials % 2 == 0 ? 1 : 0;
        },
    .reference = [](const Number&) { return 0; },
};

// Four bytes that no search finds by chance.
struct Secret {
  std::vector<int> bytes{};
};
FIELDS(Secret, bytes);
const std::vector<std::uint8_t> kSecret{0x5c, 0xe7, 0x3a, 0x91};

// Another node adds the secret to this corpus, once, during the search.
std::filesystem::path corpus_of_secret;

KERNEL_PAIR(secret, Secret, bool) = {
    .family = "test",
    .origin = "ours",
    .expects = {"mismatch"},
    .arbitrary =
        [](Draw& draw) {
          Secret drawn;
          for (int i = 0; i < 4; ++i) drawn.bytes.push_back(static_cast<int>(draw.below(256)));
          return drawn;
        },
    .kernel =
        [](Device&, const Secret& in) {
          static int trials = 0;
          if (++trials == 100 && !corpus_of_secret.empty()) {
            std::vector<std::uint8_t> entry = kSecret;
            entry.resize(kSecret.size() + fuzz::kTrailerBytes);
            campaign::save_corpus_entry(corpus_of_secret, entry);
          }
          return std::ranges::equal(in.bytes, kSecret);
        },
    .reference = [](const Secret&) { return false; },
};

// Cannot be run.
KERNEL_PAIR(refused, Number, int) = {
    .family = "test",
    .origin = "ours",
    .arbitrary = draw_number,
    .kernel =
        [](Device&, const Number&) {
          cudaIpcMemHandle_t handle;
          return static_cast<int>(cudaIpcGetMemHandle(&handle, nullptr));
        },
    .reference = [](const Number&) { return 0; },
};

namespace campaign {
namespace {

namespace fs = std::filesystem;

class CampaignTest : public testing::Test {
 protected:
  CampaignOptions options(const std::string& pair, std::uint64_t executions) {
    CampaignOptions made;
    made.directory = root_;
    made.pairs = {Registry::global().find(pair)};
    made.executions = executions;
    return made;
  }

  const TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(CampaignTest, AFindingIsStoredOnceShrunkAndConfirmed) {
  for (const unsigned jobs : {1u, 3u}) {
    CampaignOptions asked = options("wrong_number", 2'000u * jobs);
    asked.jobs = jobs;
    const CampaignOutcome outcome = run_campaign(asked);
    ASSERT_EQ(outcome.findings.size(), 1u);
    const StoredFinding& finding = outcome.findings.front();
    EXPECT_EQ(finding.place, "mismatch||wrong_number");
    EXPECT_EQ(finding.stage, Stage::confirmed);
    EXPECT_TRUE(finding.reproducible());
    EXPECT_TRUE(outcome.incidents.empty());
    EXPECT_GE(outcome.progress.at(0).executions, 2'000 * static_cast<int>(jobs));
    std::vector<std::string> problems;
    const std::vector<Report> reports = reports_of(outcome, asked, problems);
    EXPECT_EQ(problems, std::vector<std::string>{});
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].a_case.pair->to_json(reports[0].a_case.input).dump(), R"({"value":1})");
    EXPECT_TRUE(fs::exists(reports[0].replay_path));
  }
}

TEST_F(CampaignTest, WhatOthersAddToACorpusIsTakenUpByTheSearchThatRuns) {
  for (const bool is_added : {false, true}) {
    fs::remove_all(root_);
    CampaignOptions asked = options("secret", is_added ? 1'000'000'000 : 1'000);
    asked.jobs = 1;
    asked.stop_when_found = true;
    corpus_of_secret = is_added ? Directory(root_).corpus("secret") : fs::path();
    const CampaignOutcome outcome = run_campaign(asked);
    ASSERT_EQ(outcome.findings.size(), is_added ? 1u : 0u);
    for (const StoredFinding& finding : outcome.findings) {
      EXPECT_EQ(finding.stage, Stage::confirmed);
    }
    // The first search found it, and had begun before the entry was added; others ran between
    // shrinking and confirming.
    EXPECT_GE(outcome.progress.at(0).slots, is_added ? 2 : 1);
  }
  corpus_of_secret.clear();
}

TEST_F(CampaignTest, ACrashOfHostCodeIsAnIncidentWithItsInput) {
  const CampaignOutcome outcome = run_campaign(options("host_crash", 5'000));
  EXPECT_TRUE(outcome.findings.empty());
  ASSERT_EQ(outcome.incidents.size(), 1u);
  const Incident& incident = outcome.incidents.front();
  EXPECT_EQ(incident.what, "killed by signal 6 (Aborted)");
  // In a corpus it would end every search, so it is set aside.
  const Directory directory(root_);
  fs::create_directories(directory.corpus("host_crash"));
  save_corpus_entry(
      directory.corpus("host_crash"),
      {reinterpret_cast<const std::uint8_t*>(incident.input.data()), incident.input.size()});
  const CampaignOutcome again = run_campaign(options("host_crash", 20'000));
  EXPECT_GT(again.incidents.at(0).count, incident.count);
  EXPECT_TRUE(fs::exists(root_ / "damaged/corpus/host_crash"));
}

// The text of the exception is reported, and the pair can still be run.
TEST_F(CampaignTest, AnErrorThatNobodyForesawIsAnIncidentWithItsText) {
  for (const unsigned jobs : {1u, 2u}) {
    fs::remove_all(root_);
    CampaignOptions asked = options("broken_reference", 3'000);
    asked.jobs = jobs;
    const CampaignOutcome outcome = run_campaign(asked);
    EXPECT_FALSE(outcome.refused());
    EXPECT_TRUE(outcome.internal_errors);
    ASSERT_EQ(outcome.incidents.size(), 1u);
    EXPECT_EQ(outcome.incidents[0].what, "internal error: no table for 77");
    EXPECT_FALSE(outcome.incidents[0].input.empty());
    EXPECT_GE(outcome.progress.at(0).executions, 3'000);
  }
}

// The line is no message, and the search continues.
TEST_F(CampaignTest, WhatAWorkerWritesThatIsNotUnderstoodIsAnIncident) {
  foreign_pipes = open_pipes();
  const CampaignOutcome outcome = run_campaign(options("stray_writer", 5'000));
  EXPECT_FALSE(outcome.refused());
  EXPECT_TRUE(outcome.internal_errors);
  ASSERT_EQ(outcome.incidents.size(), 1u);
  EXPECT_EQ(outcome.incidents[0].what,
            "internal error: a worker wrote 'trialz {\"count\":1}': no message has the tag "
            "'trialz'");
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_GE(outcome.progress.at(0).executions, 5'000);
}

TEST_F(CampaignTest, ACorpusThatCannotBeReadIsNotAnEmptyOne) {
  fs::create_directories(root_ / "corpus");
  std::ofstream(root_ / "corpus" / "wrong_number") << "x";
  try {
    run_campaign(options("wrong_number", 100));
    FAIL() << "no error";
  } catch (const CaseFileError& error) {
    EXPECT_EQ(error.what(),
              "cannot read " + (root_ / "corpus/wrong_number").string() + ": Not a directory");
  }
}

TEST_F(CampaignTest, TheReplayCommandIsOfTheProgramThatFoundIt) {
  CampaignOutcome outcome;
  outcome.findings.push_back({.key = {"wrong_number", "aa"}, .kind = "mismatch"});
  Project ours(project());
  set_project({.program = "saxpy_pairs", .source_root = ours.source_root});
  const std::string text = outcome_text(outcome, options("wrong_number", 1));
  set_project(std::move(ours));
  EXPECT_NE(text.find("replay one: saxpy_pairs replay "), std::string::npos) << text;
}

TEST_F(CampaignTest, WhatIsNotShownAgainIsKeptAsNotConfirmed) {
  const CampaignOutcome outcome = run_campaign(options("forgetful", 2'000));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].stage, Stage::unconfirmed);
  EXPECT_FALSE(outcome.findings[0].case_text.empty());
}

TEST_F(CampaignTest, EndsWhenWhatIsExpectedIsConfirmed) {
  CampaignOptions asked = options("wrong_number", 0);
  asked.stop_when_found = true;
  EXPECT_EQ(run_campaign(asked).findings.at(0).stage, Stage::confirmed);
}

TEST_F(CampaignTest, ADamagedStoreIsMadeAnewFromItsCases) {
  run_campaign(options("wrong_number", 500));
  std::fstream(root_ / "warpcheck.db", std::ios::in | std::ios::out) << "no database";
  const CampaignOutcome outcome = run_campaign(options("wrong_number", 500));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].stage, Stage::confirmed);
  EXPECT_TRUE(fs::exists(root_ / "damaged/warpcheck.db"));
}

TEST_F(CampaignTest, ACaseWhoseFindingHasAnotherNameNowIsImportedOnce) {
  run_campaign(options("wrong_number", 500));
  const Directory directory(root_);
  const fs::path known = directory.case_path(Store(directory.store_path()).findings().at(0).key);
  const fs::path renamed = known.parent_path() / "0123456789abcdef.case";
  const fs::path damaged = known.parent_path() / "damaged.case";
  fs::copy_file(known, renamed);
  std::ofstream(damaged) << "{";
  std::vector<std::string> messages;
  Store store(directory.store_path());
  const ImportOutcome first = import_case_files(directory, store, 1, nullptr);
  EXPECT_EQ(first.known, 1u);
  ASSERT_EQ(first.messages.size(), 2u);
  EXPECT_TRUE(first.messages[0].starts_with("damaged: wrong_number/damaged.case: "))
      << first.messages[0];
  EXPECT_EQ(first.messages[1],
            fmt::format("{}: shows what has another name now; set aside as {}", renamed.string(),
                        (root_ / "damaged/cases/wrong_number/0123456789abcdef.case").string()));
  EXPECT_TRUE(fs::exists(known));
  EXPECT_FALSE(fs::exists(renamed));
  EXPECT_FALSE(fs::exists(damaged));
  EXPECT_TRUE(import_case_files(directory, store, 1, nullptr).messages.empty());
}

TEST_F(CampaignTest, APairThatCouldNotBeRunIsTriedAgain) {
  const auto refuse = [&](const std::string& why) {
    const Directory directory(root_);
    Store store(directory.store_path());
    Store::Change change(store);
    change.save({.pair = "wrong_number", .executions = 10, .refusal = why});
    change.commit();
  };
  refuse("kernel k: a.cu:3: wmma.load is not supported");
  CampaignOptions asked = options("wrong_number", 500);
  const CampaignOutcome outcome = run_campaign(asked);
  EXPECT_FALSE(outcome.refused());
  EXPECT_EQ(outcome.findings.size(), 1u);
  // If it still cannot be run, it is tried once, and that ends the campaign.
  asked = options("refused", 500);
  asked.jobs = 1;
  EXPECT_TRUE(run_campaign(asked).refused());
  const CampaignOutcome again = run_campaign(asked);
  EXPECT_TRUE(again.refused());
  EXPECT_EQ(again.progress.at(0).slots, 2);
}

// --- the failure database -----------------------------------------------------------------------

TEST_F(CampaignTest, FailuresTravelInAnArchiveAndAreReplayed) {
  run_campaign(options("wrong_number", 500));
  const std::vector<const AnyPair*> pairs{Registry::global().find("wrong_number")};
  FailureDatabase there(root_);
  std::vector<NamedBytes> entries = there.contents({"crashing", "regression", "coverage"}, pairs);
  ASSERT_GE(entries.size(), 2u);
  const std::string good = entries[0].bytes;
  EXPECT_TRUE(entries[0].name.starts_with("crashing/wrong_number/"));
  entries.push_back({"crashing/wrong_number/bad.case", good.substr(0, good.size() / 2)});
  std::string passing = good;
  passing.replace(passing.find("\"value\": 1"), 10, "\"value\": 2");
  entries.push_back({"regression/wrong_number/passing.case", passing});
  write_archive(root_ / "all.tar.gz", entries);

  FailureDatabase here(root_ / "here");
  const ImportOutcome imported = here.import(read_archive(root_ / "all.tar.gz"), 2, nullptr);
  EXPECT_EQ(imported.added, 1u);
  EXPECT_EQ(imported.known, 1u);
  EXPECT_EQ(imported.coverage, entries.size() - 3);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_TRUE(
      imported.messages[0].starts_with("damaged: crashing/wrong_number/bad.case: not valid"));
  EXPECT_TRUE(fs::exists(root_ / "here/damaged/import/crashing/wrong_number/bad.case"));

  TrialRunner runner;
  const ReplayedFailures replayed =
      here.replay(pairs, (root_ / "cases_of_check").string(), runner, nullptr);
  ASSERT_EQ(replayed.failures.size(), 1u);  // the corpus has no other failure
  EXPECT_EQ(replayed.failed_claims, std::set<std::string>{"wrong_number"});
  EXPECT_EQ(replayed.replayed, 1u + imported.coverage);
  EXPECT_TRUE(replayed.problems.empty());
}

TEST_F(CampaignTest, ACaseThatPassesBecomesARegression) {
  run_campaign(options("wrong_number", 500));
  {
    Store store(root_ / "warpcheck.db");
    StoredFinding finding = store.findings().at(0);
    finding.case_text.replace(finding.case_text.find("\"value\": 1"), 10, "\"value\": 2");
    Store::Change change(store);
    change.update(finding);
    change.commit();
  }
  fs::remove_all(root_ / "corpus");
  const std::vector<const AnyPair*> pairs{Registry::global().find("wrong_number")};
  TrialRunner runner;
  FailureDatabase database(root_);
  const ReplayedFailures first = database.replay(pairs, root_.string(), runner, nullptr);
  EXPECT_TRUE(first.failures.empty());
  EXPECT_EQ(first.notes.size(), 1u);
  EXPECT_EQ(database.findings().at(0).tier, Tier::regression);
  EXPECT_EQ(database.contents({"regression"}, pairs).size(), 1u);
  EXPECT_TRUE(database.contents({"crashing"}, pairs).empty());
  // It passes: the next replay has no note.
  EXPECT_TRUE(database.replay(pairs, root_.string(), runner, nullptr).notes.empty());
}

// --- corpora of fuzzing services ----------------------------------------------------------------

TEST_F(CampaignTest, ServiceCorporaAreNamedByTheirTargets) {
  const std::vector<const AnyPair*> pairs = Registry::global().pairs();
  const auto named = [&](const char* path) {
    const AnyPair* const pair = pair_of_service_corpus(path, pairs);
    return pair == nullptr ? "" : pair->name();
  };
  EXPECT_EQ(named("fuzz_wrong_number_seed_corpus.zip"), "wrong_number");
  EXPECT_EQ(named("/backup/project_fuzz_wrong_number.zip"), "wrong_number");
  EXPECT_EQ(named("/backup/project_fuzz_wrong_number/latest.zip"), "wrong_number");
  EXPECT_EQ(named("fuzz_very_wrong_number.zip"), "");
  EXPECT_EQ(named("latest.zip"), "");
}

TEST_F(CampaignTest, AServiceCorpusGoesOutAndComesBack) {
  CampaignOptions asked = options("wrong_number", 500);
  run_campaign(asked);
  const Directory directory(root_), other(root_ / "other");
  const std::size_t entries = read_corpus(directory, "wrong_number").entries.size();
  ASSERT_GT(entries, 0u);
  const ExportedCorpora exported = export_service_corpora(directory, asked.pairs, root_ / "out");
  EXPECT_EQ(exported.entries, entries);
  EXPECT_EQ(exported.pairs, 1u);
  ArchiveContents contents = read_archive(root_ / "out/fuzz_wrong_number_seed_corpus.zip");
  contents.entries.push_back({"long", std::string(kCorpusBytesMax + 1, 'x')});
  const ImportedCorpus imported = import_service_corpus(other, *asked.pairs.front(), contents);
  EXPECT_EQ(imported.added, entries);
  EXPECT_EQ(imported.messages, std::vector<std::string>{"left out: long: longer than 4096 bytes"});
  EXPECT_EQ(import_service_corpus(other, *asked.pairs.front(), contents).known, entries);
}

}  // namespace
}  // namespace campaign
}  // namespace warpcheck
