// A campaign: many pairs searched by worker processes for hours, and what they find shrunk,
// confirmed and stored.
//
// One process decides and writes (this), the others work (worker.hpp): so a worker that dies takes
// nothing along, and the store has one writer.  Whatever a worker finds is stored before anything
// is done about it.  All state is in the directory; to go on, a campaign is started there again.
//
// Several processes, on several machines, share a campaign as its nodes: each is a campaign of its
// own in nodes/N of the directory, looks after its share of the pairs (nodes/share.hpp), and reads
// what the others show (nodes/exchange.hpp).  Where there are nodes, the campaign of the directory
// itself does not search: it takes over all that nodes have shown, shrinks and confirms what they
// have not, and ends.
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "campaign/store/store.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/report/report.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/line_coverage.hpp"

namespace warpcheck::campaign {

// One of several.
struct CampaignNode {
  unsigned number = 0;  // from 1
  unsigned count = 0;   // that the campaign is started with; others may come, and these may go
};

struct CampaignOptions {
  std::filesystem::path directory;  // of the whole campaign
  std::optional<CampaignNode> node;
  std::vector<const AnyPair*> pairs;
  unsigned jobs = 2;
  double seconds = 0;            // of this start; 0: until it is stopped
  std::uint64_t executions = 0;  // of each pair, over all starts; 0: no limit
  bool stop_when_found = false;  // end when every kind that specimens expect is confirmed
  std::uint64_t seed = 1;
  double hang_seconds = 60;  // a worker without a sign of life for so long is killed
  ShrinkOptions shrink;
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct CampaignOutcome {
  std::vector<StoredFinding> findings;  // of the pairs of this campaign, in order of key
  std::vector<PairProgress> progress;   // of these pairs
  std::vector<Incident> incidents;
  double seconds = 0;                   // over all starts
  std::vector<std::string> not_stored;  // texts of cases that the disk had no room for
  bool internal_errors = false;         // of this start: some incidents are errors of ours

  // Pairs that could not be run.
  [[nodiscard]] bool refused() const;
};

// Where this process keeps everything: the directory, or the node's in it.
std::filesystem::path own_directory(const CampaignOptions& options);
// Whether it takes over what nodes have found, and searches nothing.
bool merges_nodes(const CampaignOptions& options);

// Throws StoreError when the directory cannot be used.
CampaignOutcome run_campaign(const CampaignOptions& options);

// The table that ends a campaign: a line for each finding, then the pairs that met their
// expectation, and what is left to do.
std::string outcome_text(const CampaignOutcome& outcome, const CampaignOptions& options);

// Each case of the outcome once, run again for its verdict, in processes of their own.
//   problems: a line is added for each case that could not be run, and is left out
std::vector<Report> reports_of(const CampaignOutcome& outcome, const CampaignOptions& options,
                               std::vector<std::string>& problems);

// The source lines that the corpora run: what the searches, of all starts, have come to.
//   problems: a line is added for each pair whose corpus could not be run
LineCoverage coverage_of_corpora(const CampaignOptions& options,
                                 std::vector<std::string>& problems);

}  // namespace warpcheck::campaign
