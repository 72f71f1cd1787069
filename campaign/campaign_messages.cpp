// Handles the messages of a campaign's workers, and their ends.
#include <fmt/format.h>

#include <algorithm>

#include "campaign/running_campaign.hpp"
#include "campaign/scheduler.hpp"
#include "campaign/store/corpus.hpp"
#include "campaign/worker.hpp"

namespace warpcheck::campaign {

void RunningCampaign::account_for(Task& task, Clock::time_point now) {
  const WorkerMemory& memory = **task.memory;
  const std::uint64_t executions = memory.executions.load() - task.executions;
  const std::uint64_t for_every_schedule =
      memory.for_every_schedule.load() - task.for_every_schedule;
  const std::uint64_t features = memory.features.load() - task.features;
  const std::uint64_t entries = memory.entries.load() - task.entries;
  task.executions += executions;
  task.for_every_schedule += for_every_schedule;
  task.features += features;
  task.entries += entries;
  trials_ += static_cast<std::int64_t>(executions);
  if (features != 0) last_feature_ = seconds();
  if (task.pair == nullptr) return;
  PairProgress& progress = ledger_.progress_of(task.pair->name());
  progress.executions += static_cast<std::int64_t>(executions);
  progress.for_every_schedule += static_cast<std::int64_t>(for_every_schedule);
  progress.features += static_cast<std::int64_t>(features);
  progress.entries += static_cast<std::int64_t>(entries);
  // Other work on the machine leaves a search less of its time, which says nothing about the pair.
  const double waited = seconds_between(task.accounted, now) / static_cast<double>(kWaitingMax);
  const double used = std::max(memory.used_seconds.load() - task.used_seconds, waited);
  account(progress, used, static_cast<double>(features), seconds_of_others_[task.pair]);
  task.used_seconds += used;
  task.accounted = now;
}

void RunningCampaign::look_after_workers() {
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

void RunningCampaign::on_message(std::size_t worker, const Message& message) {
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

void RunningCampaign::on_unreadable(std::size_t worker, const ProtocolError& error) {
  failed_inside(tasks_.at(worker), internal_error(error));
}

// False if a task of this kind does not send such a message.
bool RunningCampaign::take(Task& task, const FoundMessage& found) {
  if (task.pair == nullptr) return false;
  const auto news = ledger_.found(found, total_seconds());
  for (const FindingKey& key : news) {
    const StoredFinding& finding = ledger_.findings().at(key);
    say_when_stored(fmt::format("{}  found      {} {}  {}", clock_text(seconds()), key.hash,
                                key.pair, finding.place));
    last_finding_ = seconds();
  }
  account(ledger_.progress_of(task.pair->name()), 0,
          kFindingGain * static_cast<double>(news.size()));
  return true;
}

bool RunningCampaign::take(Task& task, const ShrunkMessage& shrunk) {
  if (!task.finding) return false;
  task.answered = true;
  ledger_.shrunk(*task.finding, shrunk);
  return true;
}

bool RunningCampaign::take(Task& task, const ConfirmedMessage& confirmed) {
  if (!task.finding) return false;
  task.answered = true;
  ledger_.confirmed(*task.finding, confirmed);
  const StoredFinding& finding = ledger_.findings().at(*task.finding);
  say_when_stored(fmt::format("{}  {:11}{} {}  {}", clock_text(seconds()), name_of(finding.stage),
                              finding.key.hash, finding.key.pair,
                              directory_.case_path(finding.key).string()));
  return true;
}

bool RunningCampaign::take(Task& task, const RefusalMessage& refusal) {
  if (task.pair == nullptr) return false;
  task.refused = true;
  ledger_.progress_of(task.pair->name()).refusal = refusal.reason;
  view_.say(fmt::format("{} cannot be run: {}", task.pair->name(), refusal.reason));
  return true;
}

bool RunningCampaign::take(Task& task, const SearchedMessage& searched) {
  if (task.pair == nullptr) return false;
  task.answered = true;
  account_for(task, Clock::now());
  PairProgress& progress = ledger_.progress_of(task.pair->name());
  if (!task.refused) progress.refusal.clear();
  progress.features = searched.features;
  progress.entries = searched.entries;
  return true;
}

void RunningCampaign::pause(const std::string& error) {
  view_.say(error);
  paused_ = error;
  paused_until_ = Clock::now() + std::chrono::seconds(5);
}

// An unexpected error: it says nothing about the pair.
void RunningCampaign::failed_inside(const Task& task, const std::string& error) {
  internal_errors_ = true;
  task_died(task, error);
}

void RunningCampaign::on_end(std::size_t worker, const WorkerEnd& end) {
  const auto at = tasks_.find(worker);
  Task task = std::move(at->second);
  account_for(task, Clock::now());
  tasks_.erase(at);
  if (task.answered || stopping_) return;
  internal_errors_ = internal_errors_ || end.threw;
  task_died(task, end.failure);
}

void RunningCampaign::task_died(const Task& task, const std::string& reason) {
  if (task.pair != nullptr) return search_died(task, reason);
  ledger_.failed(*task.finding, reason);
  ledger_.add_incident({task.finding->pair, task.text + ": " + reason, {}});
  view_.say(fmt::format("{}: {}", task.text, reason));
}

void RunningCampaign::search_died(const Task& task, const std::string& reason) {
  const std::string input = task.memory->input();
  ledger_.add_incident({task.pair->name(), reason, input});
  view_.say(fmt::format("{}: {}; the input is kept", task.text, reason));
  // In a corpus it would end every later search.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  const auto entry = directory_.corpus(task.pair->name()) / corpus_name({bytes, input.size()});
  if (std::filesystem::exists(entry)) directory_.set_aside(entry);
}

}  // namespace warpcheck::campaign
