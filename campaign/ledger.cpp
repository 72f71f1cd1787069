#include "campaign/ledger.hpp"

#include <ctime>
#include <tuple>
#include <utility>

namespace warpcheck::campaign {
namespace {

// Whether a new case of it is kept: it had passed, or no case shows it yet.
bool is_wanted_again(const StoredFinding& finding) {
  return finding.tier == Tier::regression ||
         (finding.stage == Stage::unconfirmed && finding.attempts < Ledger::kAttemptsMax);
}

// The order of stages by knowledge.
int knowledge(Stage stage) {
  switch (stage) {
    case Stage::found: return 0;
    case Stage::unconfirmed: return 1;
    case Stage::shrunk: return 2;
    case Stage::confirmed: return 3;
  }
  return 0;
}

}  // namespace

Ledger::Ledger(const Directory& directory, Store& store, const std::vector<std::string>& pairs)
    : directory_(directory), store_(store), pairs_(pairs.begin(), pairs.end()) {
  for (StoredFinding& finding : store.findings()) {
    without_file_.insert(finding.key);
    findings_.emplace(finding.key, std::move(finding));
  }
  for (PairProgress& progress : store.progress()) {
    progress_.emplace(progress.pair, std::move(progress));
  }
  for (const std::string& pair : pairs_) progress_of(pair);
  incidents_ = store.incidents();
}

PairProgress& Ledger::progress_of(const std::string& pair) {
  changed_progress_.insert(pair);
  PairProgress& progress = progress_[pair];
  progress.pair = pair;
  return progress;
}

StoredFinding& Ledger::change(const FindingKey& key) {
  changed_.insert(key);
  without_file_.insert(key);
  return findings_.at(key);
}

std::vector<FindingKey> Ledger::found(const FoundMessage& message, double seconds) {
  std::vector<FindingKey> news;
  for (const ShownFinding& shown : message.findings) {
    const FindingKey key{message.pair, shown.hash};
    const auto known = findings_.find(key);
    if (known == findings_.end()) {
      findings_[key] = {.key = key,
                        .kind = shown.kind,
                        .place = shown.place,
                        .tier = message.fails ? Tier::crashing : Tier::regression,
                        .case_text = message.case_text,
                        .found_text = message.case_text,
                        .found_seconds = seconds,
                        .found_at = static_cast<std::int64_t>(std::time(nullptr)),
                        .executions = message.executions,
                        .remark = {}};
      new_.insert(key);
      without_file_.insert(key);
      news.push_back(key);
      continue;
    }
    if (!message.fails || !is_wanted_again(known->second)) continue;
    if (known->second.tier == Tier::regression) news.push_back(key);
    StoredFinding& again = change(key);
    again.tier = Tier::crashing;
    again.stage = Stage::found;
    again.kind = shown.kind;
    again.place = shown.place;
    again.case_text = message.case_text;
    again.shown = again.schedules = 0;
  }
  return news;
}

void Ledger::passes(const FindingKey& key) { change(key).tier = Tier::regression; }

void Ledger::shrunk(const FindingKey& key, const ShrunkMessage& message) {
  if (!message.kept) {
    StoredFinding& finding = change(key);
    finding.stage = Stage::unconfirmed;
    finding.remark = "its case did not show it again";
    ++finding.attempts;
    return;
  }
  // The case explains its other findings, too.
  for (const ShownFinding& shown : message.findings) {
    const FindingKey other{key.pair, shown.hash};
    const auto known = findings_.find(other);
    if (known == findings_.end()) continue;
    if (other != key && known->second.stage != Stage::found) continue;
    StoredFinding& finding = change(other);
    finding.stage = Stage::shrunk;
    finding.kind = shown.kind;
    finding.place = shown.place;
    finding.case_text = message.case_text;
    finding.shrinks = message.shrinks;
    finding.complete = message.complete;
    finding.remark.clear();
  }
}

void Ledger::confirmed(const FindingKey& key, const ConfirmedMessage& message) {
  StoredFinding& finding = change(key);
  finding.stage = message.confirmed ? Stage::confirmed : Stage::unconfirmed;
  finding.shown = message.shown;
  finding.schedules = message.schedules;
  finding.remark = message.confirmed ? "" : "its shrunk case did not show it again";
  finding.attempts += message.confirmed ? 0 : 1;
}

bool Ledger::adopt(const StoredFinding& theirs) {
  const auto [at, is_new] = findings_.emplace(theirs.key, theirs);
  if (is_new) {
    new_.insert(theirs.key);
    without_file_.insert(theirs.key);
    return true;
  }
  const StoredFinding& ours = at->second;
  if (ours.tier != theirs.tier || knowledge(theirs.stage) <= knowledge(ours.stage)) return false;
  const StoredFinding discovery = ours;
  StoredFinding& finding = change(theirs.key);
  finding = theirs;
  finding.found_text = discovery.found_text;
  finding.found_seconds = discovery.found_seconds;
  finding.found_at = discovery.found_at;
  finding.executions = discovery.executions;
  return false;
}

void Ledger::failed(const FindingKey& key, const std::string& reason) {
  StoredFinding& finding = change(key);
  finding.attempts += kAttemptsOfADeath;
  finding.remark = reason;
  if (finding.attempts >= kAttemptsMax) finding.stage = Stage::unconfirmed;
}

void Ledger::add_incident(Incident incident) {
  new_incidents_.push_back(incident);
  for (Incident& known : incidents_) {
    if (known.pair == incident.pair && known.what == incident.what) {
      known.count += incident.count;
      return;
    }
  }
  incidents_.push_back(std::move(incident));
}

std::set<std::string> Ledger::known_places(const std::string& pair) const {
  std::set<std::string> places;
  for (const auto& [key, finding] : findings_) {
    if (key.pair == pair && !is_wanted_again(finding)) places.insert(finding.place);
  }
  return places;
}

bool Ledger::wants_work(const StoredFinding& finding) const {
  return pairs_.contains(finding.key.pair) && finding.tier == Tier::crashing &&
         (finding.stage == Stage::found || finding.stage == Stage::shrunk);
}

const StoredFinding* Ledger::next_to_do(const std::set<FindingKey>& busy) const {
  std::map<std::pair<std::string, std::string>, int> done;  // of a pair's kind
  for (const auto& [key, finding] : findings_) {
    done[{key.pair, finding.kind}] += finding.stage == Stage::found && !busy.contains(key) ? 0 : 1;
  }
  const auto rank = [&](const StoredFinding& finding) {
    return std::tuple(finding.stage == Stage::found, finding.attempts,
                      done[{finding.key.pair, finding.kind}], finding.found_seconds, finding.key);
  };
  const StoredFinding* next = nullptr;
  for (const auto& [key, finding] : findings_) {
    if (!wants_work(finding) || busy.contains(key)) continue;
    if (next == nullptr || rank(finding) < rank(*next)) next = &finding;
  }
  return next;
}

void Ledger::flush(double seconds) {
  if (!new_.empty() || !changed_.empty() || !changed_progress_.empty() || !new_incidents_.empty()) {
    Store::Change change(store_);
    for (const FindingKey& key : new_) change.add(findings_.at(key));
    for (const FindingKey& key : changed_) change.update(findings_.at(key));
    for (const std::string& pair : changed_progress_) change.save(progress_.at(pair));
    for (const Incident& incident : new_incidents_) change.add(incident);
    change.set_seconds(seconds);
    change.commit();
    new_.clear();
    changed_.clear();
    changed_progress_.clear();
    new_incidents_.clear();
  }
  // After the store: a case file belongs to a stored finding.
  while (!without_file_.empty()) {
    const StoredFinding& finding = findings_.at(*without_file_.begin());
    write_case_file(directory_, finding);
    if (publish_) publish_(finding);
    without_file_.erase(without_file_.begin());
  }
}

std::vector<const StoredFinding*> Ledger::not_stored() const {
  std::vector<const StoredFinding*> list;
  for (const FindingKey& key : new_) list.push_back(&findings_.at(key));
  return list;
}

}  // namespace warpcheck::campaign
