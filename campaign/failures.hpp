// The failure database: the store of a campaign's directory, as the other commands use it.
//
// Three tiers, replayed in this order:
//   crashing    cases that fail
//   regression  cases that failed once and pass now
//   coverage    the corpus: inputs that reach what no shorter one does
// A crashing case that passes becomes a regression; a regression that fails is crashing again.
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
  std::size_t added = 0;              // findings that are new
  std::size_t known = 0;              // cases that show none that is
  std::size_t coverage = 0;           // corpus entries
  std::vector<std::string> messages;  // what was set aside or left out, a line for each
};

// Cases below the directory's cases/ that the store does not know.
ImportOutcome import_case_files(const Directory& directory, Store& store, unsigned jobs,
                                const volatile std::sig_atomic_t* stop);

struct ReplayedFailures {
  std::vector<Report> failures;       // of all tiers, in their order
  std::vector<std::string> notes;     // "... no longer fails"
  std::vector<std::string> problems;  // what could not be replayed
  std::size_t replayed = 0;
  std::set<std::string> failed_claims;  // Case::title() of the failures
};

class FailureDatabase {
 public:
  // Makes the directory where there is none.  Throws StoreError.
  explicit FailureDatabase(const std::filesystem::path& path);

  // What had to be set aside when it was opened.
  [[nodiscard]] const std::vector<std::string>& messages() const { return messages_; }
  [[nodiscard]] const Directory& directory() const { return directory_; }
  [[nodiscard]] std::vector<StoredFinding> findings() { return store_->findings(); }
  [[nodiscard]] std::vector<Incident> incidents() { return store_->incidents(); }

  // Replays all tiers of these pairs, and moves findings between them.  Cases that only the
  // coverage tier shows are saved below `cases`.
  ReplayedFailures replay(const std::vector<const AnyPair*>& pairs, const std::string& cases,
                          TrialRunner& runner, const volatile std::sig_atomic_t* stop);

  // Adds the findings of a failure that was found elsewhere.
  void add(const Report& report);

  // Cases are run, each in a process of its own, to learn what they show.  Names say the tier
  // only for corpus entries: coverage/PAIR/NAME, as export writes them.
  ImportOutcome import(const ArchiveContents& contents, unsigned jobs,
                       const volatile std::sig_atomic_t* stop);

  // TIER/PAIR/HASH.case and coverage/PAIR/DIGEST, of these tiers and pairs.
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
