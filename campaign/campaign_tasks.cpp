// Gives tasks to a campaign's workers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "campaign/running_campaign.hpp"
#include "campaign/scheduler.hpp"
#include "campaign/worker.hpp"
#include "harness/search/search.hpp"

namespace warpcheck::campaign {

void RunningCampaign::start_tasks() {
  if (Clock::now() < paused_until_) return;
  while (pool_.running() < options_.jobs) {
    // Shrinking gets at most half of the workers, searching the rest; a single worker alternates.
    const auto at_findings = static_cast<std::size_t>(std::ranges::count_if(
        tasks_, [](const auto& task) { return task.second.finding.has_value(); }));
    const bool turn = options_.jobs == 1 ? last_was_search_ : at_findings < options_.jobs / 2;
    if (turn && start_finding_task()) continue;
    if (start_search()) continue;
    if (!start_finding_task()) return;
  }
}

bool RunningCampaign::start_finding_task() {
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

bool RunningCampaign::start_search() {
  if (merges_) return false;
  if (options_.node && !from_others([&] { look_at_others(); })) return false;
  std::vector<PairProgress> all;
  for (const AnyPair* pair : options_.pairs) all.push_back(progress_of_all(*pair));
  std::vector<Arm> arms;
  std::int64_t slots = 0;  // of this process
  for (std::size_t i = 0; i < all.size(); ++i) {
    const AnyPair* pair = options_.pairs[i];
    slots += ledger_.progress().at(pair->name()).slots;
    const bool ours = share_.contains(pair);
    // If no other node is seen, they may share no folder, and each keeps to its share.
    const bool left_to_others = !ours && (alone_ || !all[i].refusal.empty());
    arms.push_back({.progress = &all[i],
                    .workers = static_cast<unsigned>(std::ranges::count_if(
                        tasks_, [&](const auto& task) { return task.second.pair == pair; })),
                    .finished = is_finished(*pair) || left_to_others,
                    .ours = ours});
  }
  const std::optional<std::size_t> chosen = choose_arm(arms, slots, prng_);
  if (!chosen) return false;
  const AnyPair& pair = *options_.pairs[*chosen];
  if (exchange_ && !from_others([&] { take_corpus(pair); })) return false;
  to_try_again_.erase(&pair);
  PairProgress& progress = ledger_.progress_of(pair.name());
  const std::array<std::uint64_t, 4> numbers{options_.seed, hash_of_text(pair.name()),
                                             static_cast<std::uint64_t>(progress.slots),
                                             options_.node ? options_.node->number : 0};
  ++progress.slots;
  SearchTask search_task{.pair = &pair,
                         .directory = &directory_,
                         .seconds = slot_seconds(all[*chosen]),
                         .seed = static_cast<std::uint32_t>(mix(numbers)),
                         .known = ledger_.known_places(pair.name())};
  if (options_.executions != 0) {
    search_task.executions =
        options_.executions - static_cast<std::uint64_t>(all[*chosen].executions);
  }
  Task task;
  task.pair = &pair;
  task.text = "search " + pair.name();
  launch(task, [search_task, memory = task.memory](const Emit& emit) {
    search(search_task, **memory, emit);
  });
  last_was_search_ = true;
  next_status_ = 0;  // tells other nodes at once
  return true;
}

void RunningCampaign::launch(Task task, const std::function<void(const Emit&)>& work) {
  pool_.start(tasks_started_, work);
  pool_.give_time(tasks_started_, options_.hang_seconds);
  tasks_.emplace(tasks_started_++, std::move(task));
}

}  // namespace warpcheck::campaign
