// A campaign of several nodes: first the parts, then whole campaigns over small pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/ledger.hpp"
#include "campaign/nodes/exchange.hpp"
#include "campaign/nodes/finding_file.hpp"
#include "campaign/nodes/share.hpp"
#include "campaign/nodes/slurm.hpp"
#include "campaign/store/corpus.hpp"
#include "fuzz/small_pairs.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/input/json.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::campaign {
namespace {

namespace fs = std::filesystem;

class NodesTest : public testing::Test {
 protected:
  // jobs, executions and pairs are still to be set.
  CampaignOptions options(const std::string& pair) {
    CampaignOptions made;
    made.directory = root_;
    made.pairs = {Registry::global().find(pair)};
    made.executions = 2'000;
    made.jobs = 1;
    return made;
  }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  const TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
};

StoredFinding finding_of(const std::string& hash, Stage stage) {
  return {.key = {"scan", hash},
          .kind = "data-race",
          .place = "data-race|shared|scan|scan.cu:3|scan.cu:5",
          .stage = stage,
          .case_text = "{\"case\": \"" + std::string(name_of(stage)) + "\"}\n",
          .found_text = "first\n",
          .found_seconds = 1.5,
          .found_at = 1'700'000'000,
          .executions = 99};
}

// --- shares -------------------------------------------------------------------------------------

std::vector<std::vector<std::size_t>> dealt(std::size_t pairs, const std::vector<unsigned>& nodes) {
  std::vector<std::vector<std::size_t>> shares;
  for (const unsigned node : nodes) {
    auto& share = shares.emplace_back();
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (is_in_share(pair, pairs, nodes, node)) share.push_back(pair);
    }
  }
  return shares;
}

TEST(Share, EveryPairHasOneNode) {
  EXPECT_EQ(dealt(5, {1, 2}), (std::vector<std::vector<std::size_t>>{{0, 2, 4}, {1, 3}}));
  // Node 2 is gone.
  EXPECT_EQ(dealt(5, {1, 3, 4}), (std::vector<std::vector<std::size_t>>{{0, 3}, {1, 4}, {2}}));
}

TEST(Share, MoreNodesThanPairsShareThem) {
  EXPECT_EQ(dealt(2, {1, 2, 3, 7, 9}),
            (std::vector<std::vector<std::size_t>>{{0}, {1}, {0}, {1}, {0}}));
}

// --- files --------------------------------------------------------------------------------------

TEST(FindingFile, ComesBackAsItWas) {
  StoredFinding finding = finding_of("00aa", Stage::confirmed);
  finding.remark = "say \"why\"\n";
  finding.shown = 3;
  finding.schedules = 20;
  EXPECT_EQ(finding_file_name(finding.key), "scan-00aa.json");
  EXPECT_EQ(parse_finding_file(finding_file_text(finding), "a.json"), finding);
}

std::string error_of(const std::string& text) {
  try {
    parse_finding_file(text, "a.json");
  } catch (const CaseFileError& error) {
    return error.what();
  }
  return "";
}

TEST(FindingFile, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("{\"warpcheck_finding\": 1, \"find"), "a.json: no JSON from byte 31 on");
  EXPECT_EQ(error_of("[]"),
            "a.json: expected an object with \"warpcheck_finding\" and \"finding\"");
  EXPECT_EQ(error_of("{\"warpcheck_finding\": 2, \"finding\": {}}"),
            "a.json: its format is version 2, and this warpcheck reads 1");
  EXPECT_EQ(error_of("{\"warpcheck_finding\": 1, \"finding\": {}}"),
            "a.json: finding.key: missing");
}

// --- exchange between nodes ---------------------------------------------------------------------

TEST_F(NodesTest, FindingsAreReadOnceAndAgainWhenTheyHaveChanged) {
  const Directory first(node_directory(root_, 1)), second(node_directory(root_, 2));
  Exchange one(root_, first, 1), two(root_, second, 2);
  one.publish(finding_of("aa", Stage::found));
  std::vector<std::string> messages;
  two.look();
  ASSERT_EQ(two.news(messages).size(), 1u);
  EXPECT_TRUE(two.news(messages).empty());
  one.publish(finding_of("aa", Stage::shrunk));
  const std::vector<StoredFinding> again = two.news(messages);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().stage, Stage::shrunk);
  one.look();
  EXPECT_TRUE(one.news(messages).empty());  // its own
  EXPECT_TRUE(messages.empty());
}

TEST_F(NodesTest, ADamagedFileIsToldOnceAndTheOthersAreRead) {
  const Directory second(node_directory(root_, 2));
  write(root_ / "nodes/1/findings/scan-aa.json", "half of a fi");
  write(root_ / "nodes/1/findings/scan-bb.json", finding_file_text(finding_of("bb", Stage::found)));
  Exchange two(root_, second, 2);
  two.look();
  std::vector<std::string> messages;
  EXPECT_EQ(two.news(messages).size(), 1u);
  EXPECT_TRUE(two.news(messages).empty());
  EXPECT_EQ(messages, std::vector<std::string>{
                          "damaged: " + (root_ / "nodes/1/findings/scan-aa.json").string() +
                          ": no JSON from byte 1 on; left out"});
}

TEST_F(NodesTest, CorporaAreTakenOverOnce) {
  const Directory merged(root_);
  const std::vector<std::uint8_t> a{1, 2, 3}, b{4};
  for (const auto& [node, bytes] : {std::pair(1u, a), std::pair(2u, a), std::pair(2u, b)}) {
    const fs::path corpus = node_directory(root_, node) / "corpus/scan";
    fs::create_directories(corpus);
    save_corpus_entry(corpus, bytes);
  }
  const std::string damaged(32, 'f');
  write(root_ / "nodes/1/corpus/scan" / damaged, "other bytes");
  Exchange exchange(root_, merged, 0);
  exchange.look();
  std::vector<std::string> messages;
  EXPECT_EQ(exchange.take_corpus("scan", messages), 2u);
  EXPECT_EQ(messages, std::vector<std::string>{"damaged: corpus entry " +
                                               (root_ / "nodes/1/corpus/scan" / damaged).string() +
                                               "; left out"});
  EXPECT_EQ(read_corpus(merged, "scan").entries.size(), 2u);
  // An entry that was dropped here is not copied again.
  fs::remove(merged.corpus("scan") / corpus_name(b));
  EXPECT_EQ(exchange.take_corpus("scan", messages), 0u);
}

TEST_F(NodesTest, NodesThatEndedOrAreSilentAreNotAtWork) {
  for (const unsigned node : {1u, 2u, 3u}) {
    NodeStatus status{.node = node, .nodes = 5, .ended = node == 2};
    status.pairs = {{.pair = "scan",
                     .slots = 1,
                     .executions = 10 * node,
                     .seconds = 2,
                     .features = 5 * node,
                     .gain = 0.5,
                     .span = 1.5,
                     .for_every_schedule = node}};
    write(node_directory(root_, node) / "status.json", node_status_text(status));
  }
  const fs::path silent = node_directory(root_, 3) / "status.json";
  fs::last_write_time(silent, fs::last_write_time(silent) - std::chrono::hours(1));
  const Directory own(node_directory(root_, 4));
  Exchange exchange(root_, own, 4);
  exchange.look();
  EXPECT_EQ(exchange.at_work(0), (std::vector<unsigned>{1, 4}));
  EXPECT_EQ(exchange.at_work(5), (std::vector<unsigned>{1, 4, 5}));  // 5 has not begun
  PairProgress all{.pair = "scan", .executions = 1, .features = 7, .span = 1};
  exchange.add_progress(all);
  const PairProgress expected{.pair = "scan",
                              .slots = 3,
                              .executions = 61,
                              .seconds = 6,
                              .features = 15,
                              .gain = 1.5,
                              .span = 5.5,
                              .for_every_schedule = 6};
  EXPECT_EQ(to_json(all), to_json(expected));
}

TEST_F(NodesTest, TheStatusNamesEveryState) {
  NodeStatus status{.node = 1, .nodes = 3, .host = "h", .process = 7, .trials_per_second = 1234.5};
  status.findings = 2;
  status.confirmed = 1;
  status.pairs = {{.pair = "scan", .executions = 5'000'000, .features = 12, .entries = 3}};
  write(root_ / "nodes/1/status.json", node_status_text(status));
  write(root_ / "nodes/2/status.json", "{");
  fs::create_directories(root_ / "nodes/3");
  fs::create_directories(root_ / "nodes/notes");  // not a number
  const std::vector<SeenNode> nodes = look_at_nodes(root_);
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes_text("night", nodes),
            "campaign night\n"
            "  node  state         trials  trials/s  features  entries  findings  confirmed  host\n"
            "  1     running    5,000,000     1,234        12        3         2          1  h, "
            "process 7\n"
            "  2     damaged\n"
            "  3     not begun\n"
            "damaged: " +
                (root_ / "nodes/2/status.json").string() +
                ": no JSON from byte 2 on\n"
                "1 of 3 nodes are running; 5,000,000 trials, 1,234/s\n");
}

// --- merging what is known ----------------------------------------------------------------------

class AdoptTest : public NodesTest {
 protected:
  StoredFinding after(const StoredFinding& ours, const StoredFinding& theirs) {
    Ledger ledger(directory_, store_, {});
    EXPECT_TRUE(ledger.adopt(ours));
    EXPECT_FALSE(ledger.adopt(theirs));
    return ledger.findings().at(ours.key);
  }

  Directory directory_{root_};
  Store store_{directory_.store_path()};
};

TEST_F(AdoptTest, WhatIsKnownBetterIsTakenOver) {
  StoredFinding theirs = finding_of("aa", Stage::confirmed);
  theirs.found_at = 1;
  theirs.shown = theirs.schedules = 20;
  const StoredFinding finding = after(finding_of("aa", Stage::found), theirs);
  EXPECT_EQ(finding.stage, Stage::confirmed);
  EXPECT_EQ(finding.case_text, theirs.case_text);
  EXPECT_TRUE(finding.reproducible());
  EXPECT_EQ(finding.found_at, 1'700'000'000);  // the discovery stays ours
}

TEST_F(AdoptTest, WhatIsKnownWorseIsNot) {
  const StoredFinding ours = finding_of("aa", Stage::shrunk);
  EXPECT_EQ(after(ours, finding_of("aa", Stage::found)), ours);
  EXPECT_EQ(after(ours, finding_of("aa", Stage::unconfirmed)), ours);
}

TEST_F(AdoptTest, AFindingThatWasFixedHereStaysFixed) {
  StoredFinding ours = finding_of("aa", Stage::shrunk);
  ours.tier = Tier::regression;
  EXPECT_EQ(after(ours, finding_of("aa", Stage::confirmed)), ours);
}

// --- whole campaigns ----------------------------------------------------------------------------

TEST_F(NodesTest, WhatNodesFoundIsMergedOnce) {
  for (const unsigned number : {1u, 2u}) {
    CampaignOptions asked = options("wrong_number");
    asked.node = CampaignNode{number, 2};
    asked.executions *= number;  // the first one's count
    const CampaignOutcome outcome = run_campaign(asked);
    ASSERT_EQ(outcome.findings.size(), 1u) << number;
    EXPECT_EQ(outcome.findings.front().stage, Stage::confirmed);
  }
  CampaignOptions asked = options("wrong_number");
  EXPECT_TRUE(merges_nodes(asked));
  const CampaignOutcome outcome = run_campaign(asked);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings.front().stage, Stage::confirmed);
  EXPECT_TRUE(
      fs::exists(root_ / "cases/wrong_number" / (outcome.findings.front().key.hash + ".case")));
  ASSERT_EQ(outcome.progress.size(), 1u);
  EXPECT_GE(outcome.progress.front().executions, 4'000);
  // After the nodes are gone for good, everything is still there.
  fs::remove_all(root_ / "nodes/1");
  fs::remove_all(root_ / "nodes/2");
  EXPECT_EQ(run_campaign(asked).findings.size(), 1u);
}

TEST_F(NodesTest, WhatANodeHasNotDoneIsDoneWhereItIsMerged) {
  CampaignOptions asked = options("wrong_number");
  asked.node = CampaignNode{1, 1};
  const CampaignOutcome node = run_campaign(asked);
  ASSERT_EQ(node.findings.size(), 1u);
  StoredFinding unfinished = node.findings.front();
  unfinished.stage = Stage::found;
  unfinished.case_text = unfinished.found_text;
  unfinished.shown = unfinished.schedules = 0;
  write(root_ / "nodes/1/findings" / finding_file_name(unfinished.key),
        finding_file_text(unfinished));
  const CampaignOutcome merged = run_campaign(options("wrong_number"));
  ASSERT_EQ(merged.findings.size(), 1u);
  EXPECT_EQ(merged.findings.front().stage, Stage::confirmed);
  EXPECT_EQ(merged.findings.front().case_text, node.findings.front().case_text);
}

// --- Slurm --------------------------------------------------------------------------------------

TEST(Slurm, TheScriptSaysAllThatSbatchNeeds) {
  EXPECT_EQ(slurm_script({.campaign = "/shared/it's night",
                          .tasks = 8,
                          .cpus = 4,
                          .time = "8:00:00",
                          .partition = "gpu",
                          .options = {"--account=fuzzing"},
                          .program = "/opt/warpcheck",
                          .arguments = {"--seed", "7"}}),
            R"(#!/bin/sh
#SBATCH --job-name='warpcheck it'\''s night'
#SBATCH --array=1-8
#SBATCH --output='/shared/it'\''s night/nodes/%a/slurm.log'
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --cpus-per-task=4
#SBATCH --time=8:00:00
#SBATCH --partition=gpu
#SBATCH --account=fuzzing

# Status 1 is "findings", which is no failure of the task.  A search that was killed, for want of
# memory for instance, resumes.
status=137
while [ "$status" -eq 137 ]; do
  /opt/warpcheck campaign '/shared/it'\''s night' --node "$SLURM_ARRAY_TASK_ID/8" --jobs 4 --seed 7
  status=$?
done
[ "$status" -eq 1 ] || exit "$status"
)");
}

}  // namespace
}  // namespace warpcheck::campaign
