// A campaign's findings, progress and incidents in memory, and what of them is not stored yet.
//
// Memory is ahead of the store by one flush().  Where the disk is full nothing is dropped: a flush
// that failed is tried again with all that has come since.
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
  // After so many cases that did not show it again, a finding is left as it was found.  To see
  // that costs a trial; a worker that dies of it may cost a minute, and counts for many.
  static constexpr std::int64_t kAttemptsMax = 21;
  static constexpr std::int64_t kAttemptsOfADeath = 7;

  // Reads the store.  `pairs`: those of the campaign; findings of others are kept as they are.
  Ledger(const Directory& directory, Store& store, const std::vector<std::string>& pairs);

  // --- what is found ----------------------------------------------------------------------------

  // Returns what is new: of a known finding only that it is back after it was fixed.
  std::vector<FindingKey> found(const FoundMessage& message, double seconds);
  // The case of a known finding passes: it goes to the tier of regressions.
  void passes(const FindingKey& key);
  void shrunk(const FindingKey& key, const ShrunkMessage& message);
  void confirmed(const FindingKey& key, const ConfirmedMessage& message);
  // Of another process.  What it knows better of a known finding is taken over; a finding that was
  // fixed here, or there, stays as it is.  Returns whether it is new.
  bool adopt(const StoredFinding& theirs);
  // A worker died of shrinking or confirming it.
  void failed(const FindingKey& key, const std::string& reason);
  void add_incident(Incident incident);

  // --- what is known
  // ------------------------------------------------------------------------------

  [[nodiscard]] const std::map<FindingKey, StoredFinding>& findings() const { return findings_; }
  [[nodiscard]] const std::map<std::string, PairProgress>& progress() const { return progress_; }
  [[nodiscard]] const std::vector<Incident>& incidents() const { return incidents_; }
  // To be changed; it is stored with the next flush.
  PairProgress& progress_of(const std::string& pair);

  // Places that a search of the pair need not tell again.
  [[nodiscard]] std::set<std::string> known_places(const std::string& pair) const;
  // Findings of these pairs alone are shrunk and confirmed here; at first all of the campaign.
  void work_on(std::set<std::string> pairs) { pairs_ = std::move(pairs); }
  // The finding of this campaign to shrink or confirm next, `busy` ones left out; null: none.
  // Confirming comes first, it is quick; then kinds of which a pair has nothing shrunk yet.
  [[nodiscard]] const StoredFinding* next_to_do(const std::set<FindingKey>& busy) const;

  // --- the store
  // ----------------------------------------------------------------------------------

  // Stores what is not stored, and writes case files.  `seconds`: of the campaign.  Throws
  // StoreFull, and CaseFileError when a case file cannot be written: to be tried again.
  void flush(double seconds);
  // Called by flush() with each finding that is stored, new or changed.  What it throws, flush()
  // does; the finding comes again.
  void publish_with(std::function<void(const StoredFinding&)> publish) {
    publish_ = std::move(publish);
  }
  // Findings that are in no store yet.
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
