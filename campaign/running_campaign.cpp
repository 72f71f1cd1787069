#include "campaign/running_campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "campaign/failures.hpp"
#include "campaign/store/corpus.hpp"
#include "harness/case/case_file.hpp"
#include "harness/search/search.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::campaign {
namespace {

std::vector<std::string> names_of(const std::vector<const AnyPair*>& pairs) {
  std::vector<std::string> names;
  for (const AnyPair* pair : pairs) names.push_back(pair->name());
  return names;
}

// A restarted node may find the process that it replaces still ending.
std::chrono::milliseconds patience(const CampaignOptions& options) {
  return std::chrono::seconds(options.node ? 60 : 0);
}

// Nodes have the same data about the pairs, and should not all draw the same one.
std::uint64_t seed_of(const CampaignOptions& options) {
  if (!options.node) return options.seed;
  return mix(std::array<std::uint64_t, 2>{options.seed, options.node->number});
}

}  // namespace

RunningCampaign::RunningCampaign(const CampaignOptions& options)
    : options_(options),
      directory_(own_directory(options)),
      lock_(directory_, patience(options)),
      store_(open()),
      ledger_(directory_, *store_, names_of(options.pairs)),
      earlier_seconds_(store_->seconds()),
      share_(options.pairs.begin(), options.pairs.end()),
      prng_(seed_of(options)) {
  if (options.node || merges_) {
    exchange_.emplace(options.directory, directory_, options.node ? options.node->number : 0);
    ledger_.publish_with([this](const StoredFinding& finding) { exchange_->publish(finding); });
  }
  for (const std::string& message : opening_) view_.say(message);
  for (const AnyPair* pair : options.pairs) {
    if (!ledger_.progress().at(pair->name()).refusal.empty()) to_try_again_.insert(pair);
  }
}

CampaignOutcome RunningCampaign::run() {
  exchange();
  while (!is_over()) {
    start_tasks();
    pool_.wait(200, *this);
    look_after_workers();
    flush();
    exchange();
    view_.show(snapshot());
  }
  stopping_ = true;
  look_after_workers();
  pool_.stop_all(*this);
  paused_until_ = {};
  flush();
  if (options_.node) publish_status(true);
  view_.show(snapshot());
  return outcome();
}

// Opens the store and imports case files that it does not contain: it was rebuilt, or they were
// added.
std::unique_ptr<Store> RunningCampaign::open() {
  // The shared folder may be a network file system.
  const StoreUsers users = options_.node ? StoreUsers::one : StoreUsers::of_this_machine;
  std::unique_ptr<Store> store = open_store(directory_, opening_, users);
  const ImportOutcome restored =
      import_case_files(directory_, *store, options_.jobs, options_.stop);
  opening_.insert(opening_.end(), restored.messages.begin(), restored.messages.end());
  if (restored.added != 0) {
    opening_.push_back(fmt::format("{} taken from {}", counted(restored.added, "finding"),
                                   directory_.cases().string()));
  }
  remove_unfinished(directory_);
  return store;
}

// --- the end ------------------------------------------------------------------------------------

bool RunningCampaign::is_over() {
  if (options_.stop != nullptr && *options_.stop != 0) return true;
  if (options_.seconds > 0 && seconds() >= options_.seconds) return true;
  if (options_.stop_when_found && all_expected_are_confirmed()) return true;
  if (!tasks_.empty() || !paused_.empty() || ledger_.next_to_do({}) != nullptr) return false;
  if (merges_) return options_.seconds == 0 && !options_.stop_when_found;
  return options_.executions != 0 &&
         std::ranges::all_of(share_, [&](const AnyPair* pair) { return is_finished(*pair); });
}

// Whether it needs no further search.
bool RunningCampaign::is_finished(const AnyPair& pair) const {
  const PairProgress& progress = ledger_.progress().at(pair.name());
  if (!progress.refusal.empty()) return !to_try_again_.contains(&pair);
  return options_.executions != 0 &&
         progress_of_all(pair).executions >= static_cast<std::int64_t>(options_.executions);
}

bool RunningCampaign::all_expected_are_confirmed() const {
  std::set<std::pair<std::string, std::string>> confirmed;
  for (const auto& [key, finding] : ledger_.findings()) {
    if (finding.stage == Stage::confirmed) confirmed.emplace(key.pair, finding.kind);
  }
  return std::ranges::all_of(options_.pairs, [&](const AnyPair* pair) {
    return std::ranges::all_of(pair->expects(), [&](vgpu::FindingKind kind) {
      return confirmed.contains({pair->name(), std::string(vgpu::name_of(kind))});
    });
  });
}

// --- storing ------------------------------------------------------------------------------------

void RunningCampaign::flush() {
  if (Clock::now() < paused_until_) return;
  paused_.clear();
  try {
    ledger_.flush(total_seconds());
    for (const std::string& line : to_say_) view_.say(line);
    to_say_.clear();
    return;
  } catch (const StoreFull& error) {
    paused_ = error.what();
  } catch (const CaseFileError& error) {
    paused_ = error.what();
  }
  view_.say("cannot write: " + paused_);
  paused_until_ = Clock::now() + std::chrono::seconds(5);
}

Snapshot RunningCampaign::snapshot() {
  Snapshot snapshot{.directory = directory_.root().string(),
                    .seconds = seconds(),
                    .total_seconds = total_seconds(),
                    .pairs = options_.pairs.size(),
                    .incidents = ledger_.incidents().size(),
                    .paused = paused_,
                    .workers = {}};
  for (const AnyPair* pair : options_.pairs) {
    const PairProgress& progress = ledger_.progress().at(pair->name());
    snapshot.trials += merges_ ? progress_of_all(*pair).executions : progress.executions;
    snapshot.features += progress.features;
    snapshot.entries += progress.entries;
  }
  for (const auto& [key, finding] : ledger_.findings()) {
    ++snapshot.findings;
    snapshot.confirmed += finding.stage == Stage::confirmed ? 1 : 0;
    snapshot.unconfirmed += finding.stage == Stage::unconfirmed ? 1 : 0;
    snapshot.schedule_dependent +=
        finding.stage == Stage::confirmed && !finding.reproducible() ? 1 : 0;
  }
  if (snapshot.seconds - rate_seconds_ >= 2) {
    rate_ = static_cast<double>(trials_ - rate_trials_) / (snapshot.seconds - rate_seconds_);
    rate_trials_ = trials_;
    rate_seconds_ = snapshot.seconds;
  }
  snapshot.trials_per_second = rate_;
  const auto since = [&](double then) { return then < 0 ? -1 : snapshot.seconds - then; };
  snapshot.seconds_since_finding = since(last_finding_);
  snapshot.seconds_since_feature = since(last_feature_);
  for (const auto& [number, task] : tasks_) {
    snapshot.workers.push_back(
        fmt::format("{}, {:.0f} s", task.text, seconds_between(task.begin, Clock::now())));
  }
  return snapshot;
}

CampaignOutcome RunningCampaign::outcome() const {
  CampaignOutcome outcome;
  outcome.seconds = total_seconds();
  outcome.internal_errors = internal_errors_;
  outcome.incidents = ledger_.incidents();
  for (const AnyPair* pair : options_.pairs) {
    outcome.progress.push_back(ledger_.progress().at(pair->name()));
    for (const auto& [key, finding] : ledger_.findings()) {
      if (key.pair == pair->name()) outcome.findings.push_back(finding);
    }
  }
  if (merges_) add_what_nodes_did(outcome);
  for (const StoredFinding* finding : ledger_.not_stored()) {
    outcome.not_stored.push_back(finding->case_text);
  }
  return outcome;
}

bool CampaignOutcome::refused() const {
  return std::ranges::any_of(progress,
                             [](const PairProgress& pair) { return !pair.refusal.empty(); });
}

std::filesystem::path own_directory(const CampaignOptions& options) {
  return options.node ? node_directory(options.directory, options.node->number) : options.directory;
}

bool merges_nodes(const CampaignOptions& options) {
  return !options.node && std::filesystem::exists(nodes_directory(options.directory));
}

CampaignOutcome run_campaign(const CampaignOptions& options) {
  return RunningCampaign(options).run();
}

}  // namespace warpcheck::campaign
