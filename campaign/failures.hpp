// The failure database: the store of a campaign's directory, as other commands use it.
//
// Three tiers, replayed in this order:
//   crashing    cases that fail
//   regression  cases that failed once and pass now
//   coverage    the corpus: inputs that cover something that no shorter one does
// A crashing case that passes becomes a regression; a regression that fails becomes crashing.
#pragma once

#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "campaign/ledger.hpp"
#include "campaign/store/archive.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck::campaign {

struct ImportOutcome {
  std::size_t added = 0;              // new findings
  std::size_t known = 0;              // cases without a new finding
  std::size_t coverage = 0;           // corpus entries
  std::vector<std::string> messages;  // one line for each entry that was set aside or left out
};

// Imports cases in the directory's cases/ that are not in the store.
ImportOutcome import_case_files(const Directory& directory, Store& store, unsigned jobs,
                                const volatile std::sig_atomic_t* stop);

struct ReplayedFailures {
  std::vector<Report> failures;       // of all tiers, in their order
  std::vector<std::string> notes;     // "... no longer fails"
  std::vector<std::string> problems;  // cases that could not be replayed
  std::size_t replayed = 0;
  std::set<std::string> failed_claims;  // Case::title() of the failures
};

class FailureDatabase {
 public:
  // Creates the directory if it does not exist.  Throws StoreError.
  explicit FailureDatabase(const std::filesystem::path& path);

  // What was set aside when the database was opened.
  [[nodiscard]] const std::vector<std::string>& messages() const { return messages_; }
  [[nodiscard]] const Directory& directory() const { return directory_; }
  [[nodiscard]] std::vector<StoredFinding> findings() { return store_->findings(); }
  [[nodiscard]] std::vector<Incident> incidents() { return store_->incidents(); }

  // Replays all tiers of these pairs, and moves findings between the tiers.  Cases that only the
  // coverage tier shows are saved below `cases`.
  ReplayedFailures replay(const std::vector<const AnyPair*>& pairs, const std::string& cases,
                          TrialRunner& runner, const volatile std::sig_atomic_t* stop);

  // Adds the findings of another failure.
  void add(const Report& report);

  // Runs each case in a process of its own to determine its tier.  Names give the tier only for
  // corpus entries: coverage/PAIR/NAME, as export writes them.
  ImportOutcome import(const ArchiveContents& contents, unsigned jobs,
                       const volatile std::sig_atomic_t* stop);

  // TIER/PAIR/HASH.case and coverage/PAIR/DIGEST, for these tiers and pairs.
  [[nodiscard]] std::vector<NamedBytes> contents(const std::set<std::string>& tiers,
                                                 const std::vector<const AnyPair*>& pairs);

 private:
  void replay_tier(Tier tier, const AnyPair& pair, TrialRunner& runner, Ledger& ledger,
                   ReplayedFailures& outcome);
  void replay_coverage(const AnyPair& pair, const std::string& cases, Ledger& ledger,
                       ReplayedFailures& outcome);

  Directory directory_;
  std::vector<std::string> messages_;
  std::unique_ptr<Store> store_;
};

}  // namespace warpcheck::campaign
