#include "campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "campaign/failures.hpp"
#include "campaign/ledger.hpp"
#include "campaign/scheduler.hpp"
#include "campaign/view.hpp"
#include "campaign/worker.hpp"
#include "harness/case/case_file.hpp"
#include "harness/process/worker_pool.hpp"
#include "harness/search/search.hpp"

namespace warpcheck::campaign {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::vector<std::string> names_of(const std::vector<const AnyPair*>& pairs) {
  std::vector<std::string> names;
  for (const AnyPair* pair : pairs) names.push_back(pair->name());
  return names;
}

// One worker at work.
struct Task {
  const AnyPair* pair = nullptr;      // of a search
  std::optional<FindingKey> finding;  // of the others
  std::string text;                   // "search scan_tree"
  std::shared_ptr<SharedWorkerMemory> memory = std::make_shared<SharedWorkerMemory>();
  Clock::time_point begin = Clock::now();
  Clock::time_point accounted = begin;
  std::uint64_t executions = 0, features = 0, entries = 0;  // accounted for
  std::uint64_t beats = 0;
  bool answered = false;  // it said how it ended
  bool refused = false;   // its pair cannot be run
};

class Campaign final : public WorkerListener {
 public:
  explicit Campaign(const CampaignOptions& options)
      : options_(options),
        directory_(options.directory),
        lock_(directory_),
        store_(open()),
        ledger_(directory_, *store_, names_of(options.pairs)),
        earlier_seconds_(store_->seconds()),
        prng_(options.seed) {
    for (const std::string& message : opening_) view_.say(message);
    for (const AnyPair* pair : options.pairs) {
      if (!ledger_.progress().at(pair->name()).refusal.empty()) to_try_again_.insert(pair);
    }
  }

  CampaignOutcome run() {
    while (!is_over()) {
      start_tasks();
      pool_.wait(200, *this);
      look_after_workers();
      flush();
      view_.show(snapshot());
    }
    stopping_ = true;
    look_after_workers();
    pool_.stop_all(*this);
    paused_until_ = {};
    flush();
    view_.show(snapshot());
    return outcome();
  }

  void on_message(std::size_t worker, const Message& message) override;
  void on_unreadable(std::size_t worker, const ProtocolError& error) override;
  void on_end(std::size_t worker, const WorkerEnd& end) override;

 private:
  // The store, with the cases in it that it does not know: it was made anew, or they were put
  // there.
  std::unique_ptr<Store> open() {
    std::unique_ptr<Store> store = open_store(directory_, opening_);
    const ImportOutcome restored =
        import_case_files(directory_, *store, options_.jobs, options_.stop);
    opening_.insert(opening_.end(), restored.messages.begin(), restored.messages.end());
    if (restored.added != 0) {
      opening_.push_back(
          fmt::format("{} findings taken from {}", restored.added, directory_.cases().string()));
    }
    remove_unfinished(directory_);
    return store;
  }

  [[nodiscard]] double seconds() const { return seconds_between(begin_, Clock::now()); }
  [[nodiscard]] double total_seconds() const { return earlier_seconds_ + seconds(); }
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool is_finished(const AnyPair& pair) const;
  [[nodiscard]] bool all_expected_are_confirmed() const;

  void start_tasks();
  bool start_finding_task();
  bool start_search();
  void launch(Task task, const std::function<void(const Emit&)>& work);
  void look_after_workers();
  void account_for(Task& task, Clock::time_point now);
  bool take(Task& task, const FoundMessage& found);
  bool take(Task& task, const SearchedMessage& searched);
  bool take(Task& task, const RefusalMessage& refusal);
  bool take(Task& task, const ShrunkMessage& shrunk);
  bool take(Task& task, const ConfirmedMessage& confirmed);
  void pause(const std::string& error);
  void failed_inside(const Task& task, const std::string& error);
  void task_died(const Task& task, const std::string& reason);
  void search_died(const Task& task, const std::string& reason);
  void flush();
  [[nodiscard]] Snapshot snapshot();
  [[nodiscard]] CampaignOutcome outcome() const;

  const CampaignOptions& options_;
  std::vector<std::string> opening_;  // what there is to say about the directory
  Directory directory_;
  DirectoryLock lock_;
  std::unique_ptr<Store> store_;
  Ledger ledger_;
  View view_;
  WorkerPool pool_;
  std::map<std::size_t, Task> tasks_;
  std::size_t tasks_started_ = 0;
  // Pairs that an earlier start could not run: its kernels or this program may have changed.
  std::set<const AnyPair*> to_try_again_;
  bool last_was_search_ = false;
  bool stopping_ = false;
  bool internal_errors_ = false;

  Clock::time_point begin_ = Clock::now();
  double earlier_seconds_ = 0;
  double last_finding_ = -1, last_feature_ = -1;
  vgpu::Prng prng_;
  std::string paused_;  // why; empty: it is not
  Clock::time_point paused_until_{};
  double rate_ = 0;
  std::int64_t rate_trials_ = 0;
  double rate_seconds_ = 0;
  std::int64_t trials_ = 0;  // of this start
};

// --- when to end --------------------------------------------------------------------------------

bool Campaign::is_over() {
  if (options_.stop != nullptr && *options_.stop != 0) return true;
  if (options_.seconds > 0 && seconds() >= options_.seconds) return true;
  if (options_.stop_when_found && all_expected_are_confirmed()) return true;
  if (options_.executions == 0 || !tasks_.empty() || !paused_.empty()) return false;
  if (ledger_.next_to_do({}) != nullptr) return false;
  return std::ranges::all_of(options_.pairs,
                             [&](const AnyPair* pair) { return is_finished(*pair); });
}

// Needs no further search.
bool Campaign::is_finished(const AnyPair& pair) const {
  const PairProgress& progress = ledger_.progress().at(pair.name());
  if (!progress.refusal.empty()) return !to_try_again_.contains(&pair);
  return options_.executions != 0 &&
         progress.executions >= static_cast<std::int64_t>(options_.executions);
}

bool Campaign::all_expected_are_confirmed() const {
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

// --- what workers are given ---------------------------------------------------------------------

void Campaign::start_tasks() {
  if (Clock::now() < paused_until_) return;
  while (pool_.running() < options_.jobs) {
    // Shrinking gets at most half of the workers, and searching the rest; of one worker, turns.
    const auto at_findings = static_cast<std::size_t>(std::ranges::count_if(
        tasks_, [](const auto& task) { return task.second.finding.has_value(); }));
    const bool turn = options_.jobs == 1 ? last_was_search_ : at_findings < options_.jobs / 2;
    if (turn && start_finding_task()) continue;
    if (start_search()) continue;
    if (!start_finding_task()) return;
  }
}

bool Campaign::start_finding_task() {
  std::set<FindingKey> busy;
  for (const auto& [number, task] : tasks_) {
    if (task.finding) busy.insert(*task.finding);
  }
  const StoredFinding* finding = ledger_.next_to_do(busy);
  if (finding == nullptr) return false;
  const bool shrinks = finding->stage == Stage::found;
  Task task;
  task.finding = finding->key;
  task.text =
      fmt::format("{} {} of {}", shrinks ? "shrink" : "confirm", finding->kind, finding->key.pair);
  launch(task, [this, shrinks, memory = task.memory, copy = *finding](const Emit& emit) {
    if (shrinks) {
      shrink_finding(copy, options_.shrink, **memory, emit);
    } else {
      confirm_finding(copy, **memory, emit);
    }
  });
  last_was_search_ = false;
  return true;
}

bool Campaign::start_search() {
  std::vector<Arm> arms;
  std::int64_t slots = 0;
  for (const AnyPair* pair : options_.pairs) {
    const PairProgress& progress = ledger_.progress().at(pair->name());
    slots += progress.slots;
    arms.push_back({&progress,
                    static_cast<unsigned>(std::ranges::count_if(
                        tasks_, [&](const auto& task) { return task.second.pair == pair; })),
                    is_finished(*pair)});
  }
  const std::optional<std::size_t> chosen = choose_arm(arms, slots, prng_);
  if (!chosen) return false;
  const AnyPair& pair = *options_.pairs[*chosen];
  to_try_again_.erase(&pair);
  PairProgress& progress = ledger_.progress_of(pair.name());
  const std::array<std::uint64_t, 3> numbers{options_.seed, hash_of_text(pair.name()),
                                             static_cast<std::uint64_t>(progress.slots)};
  ++progress.slots;
  SearchTask search_task{.pair = &pair,
                         .directory = &directory_,
                         .seconds = slot_seconds(progress),
                         .seed = static_cast<std::uint32_t>(mix(numbers)),
                         .known = ledger_.known_places(pair.name())};
  if (options_.executions != 0) {
    search_task.executions = options_.executions - static_cast<std::uint64_t>(progress.executions);
  }
  Task task;
  task.pair = &pair;
  task.text = "search " + pair.name();
  launch(task, [search_task, memory = task.memory](const Emit& emit) {
    search(search_task, **memory, emit);
  });
  last_was_search_ = true;
  return true;
}

void Campaign::launch(Task task, const std::function<void(const Emit&)>& work) {
  pool_.start(tasks_started_, work);
  pool_.give_time(tasks_started_, options_.hang_seconds);
  tasks_.emplace(tasks_started_++, std::move(task));
}

// --- what workers do ----------------------------------------------------------------------------

void Campaign::account_for(Task& task, Clock::time_point now) {
  const WorkerMemory& memory = **task.memory;
  const std::uint64_t executions = memory.executions.load() - task.executions;
  const std::uint64_t features = memory.features.load() - task.features;
  const std::uint64_t entries = memory.entries.load() - task.entries;
  task.executions += executions;
  task.features += features;
  task.entries += entries;
  trials_ += static_cast<std::int64_t>(executions);
  if (features != 0) last_feature_ = seconds();
  if (task.pair == nullptr) return;
  PairProgress& progress = ledger_.progress_of(task.pair->name());
  progress.executions += static_cast<std::int64_t>(executions);
  progress.features += static_cast<std::int64_t>(features);
  progress.entries += static_cast<std::int64_t>(entries);
  account(progress, seconds_between(task.accounted, now), static_cast<double>(features));
  task.accounted = now;
}

void Campaign::look_after_workers() {
  const Clock::time_point now = Clock::now();
  for (auto& [number, task] : tasks_) {
    const std::uint64_t beats = (*task.memory)->executions.load();
    if (beats != task.beats) {
      task.beats = beats;
      pool_.give_time(number, options_.hang_seconds);
    }
    if (stopping_ || seconds_between(task.accounted, now) >= 1) account_for(task, now);
  }
}

void Campaign::on_message(std::size_t worker, const Message& message) {
  Task& task = tasks_.at(worker);
  const bool known = std::visit(
      Overloaded{
          [&](const FoundMessage& found) { return take(task, found); },
          [&](const SearchedMessage& searched) { return take(task, searched); },
          [&](const RefusalMessage& refusal) { return take(task, refusal); },
          [&](const ShrunkMessage& shrunk) { return take(task, shrunk); },
          [&](const ConfirmedMessage& confirmed) { return take(task, confirmed); },
          [&](const RemarkMessage& remark) { return view_.say(remark.text), true; },
          [&](const ErrorMessage& error) { return pause(error.text), true; },
          [&](const InternalErrorMessage& error) { return failed_inside(task, error.text), true; },
          [](const auto&) { return false; }},
      message);
  if (!known) on_unreadable(worker, unexpected(message));
}

void Campaign::on_unreadable(std::size_t worker, const ProtocolError& error) {
  failed_inside(tasks_.at(worker), internal_error(error));
}

// False where the message is not of such a task.
bool Campaign::take(Task& task, const FoundMessage& found) {
  if (task.pair == nullptr) return false;
  const auto news = ledger_.found(found, total_seconds());
  for (const FindingKey& key : news) {
    const StoredFinding& finding = ledger_.findings().at(key);
    view_.say(fmt::format("{}  found      {} {}  {}", clock_text(seconds()), key.hash, key.pair,
                          finding.place));
    last_finding_ = seconds();
  }
  account(ledger_.progress_of(task.pair->name()), 0,
          kFindingGain * static_cast<double>(news.size()));
  return true;
}

bool Campaign::take(Task& task, const ShrunkMessage& shrunk) {
  if (!task.finding) return false;
  task.answered = true;
  ledger_.shrunk(*task.finding, shrunk);
  return true;
}

bool Campaign::take(Task& task, const ConfirmedMessage& confirmed) {
  if (!task.finding) return false;
  task.answered = true;
  ledger_.confirmed(*task.finding, confirmed);
  const StoredFinding& finding = ledger_.findings().at(*task.finding);
  view_.say(fmt::format("{}  {:11}{} {}  {}", clock_text(seconds()), name_of(finding.stage),
                        finding.key.hash, finding.key.pair,
                        directory_.case_path(finding.key).string()));
  return true;
}

bool Campaign::take(Task& task, const RefusalMessage& refusal) {
  if (task.pair == nullptr) return false;
  task.refused = true;
  ledger_.progress_of(task.pair->name()).refusal = refusal.reason;
  view_.say(fmt::format("{} cannot be run: {}", task.pair->name(), refusal.reason));
  return true;
}

bool Campaign::take(Task& task, const SearchedMessage& searched) {
  if (task.pair == nullptr) return false;
  task.answered = true;
  account_for(task, Clock::now());
  PairProgress& progress = ledger_.progress_of(task.pair->name());
  if (!task.refused) progress.refusal.clear();
  progress.features = searched.features;
  progress.entries = searched.entries;
  return true;
}

void Campaign::pause(const std::string& error) {
  view_.say(error);
  paused_ = error;
  paused_until_ = Clock::now() + std::chrono::seconds(5);
}

// An error that nobody foresaw: the pair may be as good as any.
void Campaign::failed_inside(const Task& task, const std::string& error) {
  internal_errors_ = true;
  task_died(task, error);
}

void Campaign::on_end(std::size_t worker, const WorkerEnd& end) {
  const auto at = tasks_.find(worker);
  Task task = std::move(at->second);
  account_for(task, Clock::now());
  tasks_.erase(at);
  if (task.answered || stopping_) return;
  internal_errors_ = internal_errors_ || end.threw;
  task_died(task, end.failure);
}

void Campaign::task_died(const Task& task, const std::string& reason) {
  if (task.pair != nullptr) return search_died(task, reason);
  ledger_.failed(*task.finding, reason);
  ledger_.add_incident({task.finding->pair, task.text + ": " + reason, {}});
  view_.say(fmt::format("{}: {}", task.text, reason));
}

void Campaign::search_died(const Task& task, const std::string& reason) {
  const std::string input = task.memory->input();
  ledger_.add_incident({task.pair->name(), reason, input});
  view_.say(fmt::format("{}: {}; the input is kept", task.text, reason));
  // In a corpus it would end every further search.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  const auto entry = directory_.corpus(task.pair->name()) / corpus_name({bytes, input.size()});
  if (std::filesystem::exists(entry)) directory_.set_aside(entry);
}

// --- what is kept -------------------------------------------------------------------------------

void Campaign::flush() {
  if (Clock::now() < paused_until_) return;
  paused_.clear();
  try {
    ledger_.flush(total_seconds());
    return;
  } catch (const StoreFull& error) {
    paused_ = error.what();
  } catch (const CaseFileError& error) {
    paused_ = error.what();
  }
  view_.say("cannot write: " + paused_);
  paused_until_ = Clock::now() + std::chrono::seconds(5);
}

Snapshot Campaign::snapshot() {
  Snapshot snapshot{.directory = directory_.root().string(),
                    .seconds = seconds(),
                    .total_seconds = total_seconds(),
                    .pairs = options_.pairs.size(),
                    .incidents = ledger_.incidents().size(),
                    .paused = paused_,
                    .workers = {}};
  for (const AnyPair* pair : options_.pairs) {
    const PairProgress& progress = ledger_.progress().at(pair->name());
    snapshot.trials += progress.executions;
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

CampaignOutcome Campaign::outcome() const {
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
  for (const StoredFinding* finding : ledger_.not_stored()) {
    outcome.not_stored.push_back(finding->case_text);
  }
  return outcome;
}

}  // namespace

bool CampaignOutcome::refused() const {
  return std::ranges::any_of(progress,
                             [](const PairProgress& pair) { return !pair.refusal.empty(); });
}

CampaignOutcome run_campaign(const CampaignOptions& options) { return Campaign(options).run(); }

}  // namespace warpcheck::campaign
