// A campaign: worker processes search many pairs for hours; findings are shrunk, confirmed and
// stored.
//
// This process decides and writes, the workers (worker.hpp) search: so a worker that dies loses
// nothing, and the store has one writer.  A worker's finding is stored before anything else
// happens.  All state is in the directory; a campaign that is started there again resumes.
//
// Several processes, on several machines, can share a campaign as its nodes.  Each node is a
// campaign of its own in nodes/N of the directory, has a share of the pairs (nodes/share.hpp), and
// reads the files of the other nodes (nodes/exchange.hpp).  If there are nodes, the campaign of the
// directory itself does not search: it merges the findings of the nodes, shrinks and confirms those
// that the nodes have not, and ends.
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

// One node of several.
struct CampaignNode {
  unsigned number = 0;  // from 1
  unsigned count = 0;   // at the start; nodes may come and go later
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
  double hang_seconds = 60;  // a worker without a heartbeat for this long is killed
  ShrinkOptions shrink;
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct CampaignOutcome {
  std::vector<StoredFinding> findings;  // of the pairs of this campaign, in order of key
  std::vector<PairProgress> progress;   // of these pairs
  std::vector<Incident> incidents;
  double seconds = 0;                   // over all starts
  std::vector<std::string> not_stored;  // texts of cases that did not fit on the disk
  bool internal_errors = false;         // in this start, some incidents were errors of warpcheck

  // Whether some pairs could not be run.
  [[nodiscard]] bool refused() const;
};

// The directory of this process: the campaign's, or that of its node.
std::filesystem::path own_directory(const CampaignOptions& options);
// Whether it merges the findings of nodes, and searches nothing.
bool merges_nodes(const CampaignOptions& options);

// Throws StoreError if the directory cannot be used.
CampaignOutcome run_campaign(const CampaignOptions& options);

// The table at the end of a campaign: a line for each finding, then the pairs that met their
// expectation, and the remaining work.
std::string outcome_text(const CampaignOutcome& outcome, const CampaignOptions& options);

// Runs each case of the outcome once more for its verdict, in separate processes. problems: gets a
// line for each case that could not be run; such cases are left out
std::vector<Report> reports_of(const CampaignOutcome& outcome, const CampaignOptions& options,
                               std::vector<std::string>& problems);

// The source lines that the corpora execute, that is, those that the searches of all starts have
// reached. problems: gets a line for each pair whose corpus could not be run
LineCoverage coverage_of_corpora(const CampaignOptions& options,
                                 std::vector<std::string>& problems);

}  // namespace warpcheck::campaign
