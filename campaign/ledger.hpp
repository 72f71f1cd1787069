// A campaign's findings, progress and incidents in memory, and which of them are not stored yet.
//
// Memory is ahead of the store by one flush().  If the disk is full nothing is dropped: the next
// flush tries again with everything since.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "campaign/store/directory.hpp"
#include "campaign/store/store.hpp"
#include "campaign/worker.hpp"

namespace warpcheck::campaign {

class Ledger {
 public:
  // After this many cases that did not show it again, a finding stays unconfirmed.  Each case costs
  // a trial; one that kills its worker may cost a minute, and counts as many.
  static constexpr std::int64_t kAttemptsMax = 21;
  static constexpr std::int64_t kAttemptsOfADeath = 7;

  // Reads the store.  `pairs`: those of the campaign; findings of other pairs are kept unchanged.
  Ledger(const Directory& directory, Store& store, const std::vector<std::string>& pairs);

  // --- changes -----------------------------------------------------------------------------------

  // Returns the new findings; a known finding is new again if it failed again after it had passed.
  std::vector<FindingKey> found(const FoundMessage& message, double seconds);
  // The case of a known finding passes: the finding moves to the regression tier.
  void passes(const FindingKey& key);
  void shrunk(const FindingKey& key, const ShrunkMessage& message);
  void confirmed(const FindingKey& key, const ConfirmedMessage& message);
  // Adds a finding of another process.  For a known finding, the better case is kept; a finding
  // that passes here, or there, stays as it is.  Returns whether it is new.
  bool adopt(const StoredFinding& theirs);
  // A worker died while it shrank or confirmed the finding.
  void failed(const FindingKey& key, const std::string& reason);
  void add_incident(Incident incident);

  // --- queries -----------------------------------------------------------------------------------

  [[nodiscard]] const std::map<FindingKey, StoredFinding>& findings() const { return findings_; }
  [[nodiscard]] const std::map<std::string, PairProgress>& progress() const { return progress_; }
  [[nodiscard]] const std::vector<Incident>& incidents() const { return incidents_; }
  // May be changed; the next flush stores it.
  PairProgress& progress_of(const std::string& pair);

  // Places that a search of the pair need not report again.
  [[nodiscard]] std::set<std::string> known_places(const std::string& pair) const;
  // Findings of these pairs alone are shrunk and confirmed here; initially all of the campaign.
  void work_on(std::set<std::string> pairs) { pairs_ = std::move(pairs); }
  // The finding of this campaign to shrink or confirm next, except `busy` ones; null: none.
  // Confirming comes first because it is quick; then kinds of a pair without a shrunk finding.
  [[nodiscard]] const StoredFinding* next_to_do(const std::set<FindingKey>& busy) const;

  // --- the store ---------------------------------------------------------------------------------

  // Stores what is not stored yet, and writes case files.  `seconds`: of the campaign.  Throws
  // StoreFull, and CaseFileError if a case file cannot be written; then call it again later.
  void flush(double seconds);
  // flush() calls `publish` for each new or changed finding that is stored.  flush() passes its
  // exceptions on; the finding is then published again next time.
  void publish_with(std::function<void(const StoredFinding&)> publish) {
    publish_ = std::move(publish);
  }
  // Findings that are not in the store yet.
  [[nodiscard]] std::vector<const StoredFinding*> not_stored() const;

 private:
  [[nodiscard]] bool wants_work(const StoredFinding& finding) const;
  StoredFinding& change(const FindingKey& key);

  const Directory& directory_;
  Store& store_;
  std::set<std::string> pairs_;
  std::function<void(const StoredFinding&)> publish_;
  std::map<FindingKey, StoredFinding> findings_;
  std::map<std::string, PairProgress> progress_;
  std::vector<Incident> incidents_;

  std::set<FindingKey> new_, changed_, without_file_;
  std::set<std::string> changed_progress_;
  std::vector<Incident> new_incidents_;
};

}  // namespace warpcheck::campaign
