// A running campaign (campaign.hpp): the process that decides and writes.
//
//   running_campaign.cpp    begin, loop, end
//   campaign_tasks.cpp      tasks for workers
//   campaign_messages.cpp   messages of workers, and their ends
//   campaign_nodes.cpp      exchange with other nodes
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/ledger.hpp"
#include "campaign/nodes/exchange.hpp"
#include "campaign/view.hpp"
#include "campaign/worker_memory.hpp"
#include "harness/process/worker_pool.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::campaign {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// One running worker.
struct Task {
  const AnyPair* pair = nullptr;      // of a search
  std::optional<FindingKey> finding;  // of a shrink or confirm task
  double used_seconds = 0;            // already accounted for
  std::string text;                   // "search scan_tree"
  std::shared_ptr<SharedWorkerMemory> memory = std::make_shared<SharedWorkerMemory>();
  Clock::time_point begin = Clock::now();
  Clock::time_point accounted = begin;
  // Already accounted for.
  std::uint64_t executions = 0, for_every_schedule = 0, features = 0, entries = 0;
  std::uint64_t beats = 0;
  bool answered = false;  // it sent its last message
  bool refused = false;   // its pair cannot be run
};
class RunningCampaign final : public WorkerListener {
 public:
  explicit RunningCampaign(const CampaignOptions& options);

  CampaignOutcome run();

  void on_message(std::size_t worker, const Message& message) override;
  void on_unreadable(std::size_t worker, const ProtocolError& error) override;
  void on_end(std::size_t worker, const WorkerEnd& end) override;

 private:
  [[nodiscard]] std::unique_ptr<Store> open();
  [[nodiscard]] double seconds() const { return seconds_between(begin_, Clock::now()); }
  [[nodiscard]] double total_seconds() const { return earlier_seconds_ + seconds(); }
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool is_finished(const AnyPair& pair) const;
  [[nodiscard]] bool all_expected_are_confirmed() const;

  // --- other nodes
  void exchange();
  void look_at_others();
  void take_news();
  bool from_others(const std::function<void()>& read);
  void take_corpus(const AnyPair& pair);
  void deal_pairs();
  void publish_status(bool ended);
  [[nodiscard]] PairProgress progress_of_all(const AnyPair& pair) const;

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
  void say_when_stored(std::string line) { to_say_.push_back(std::move(line)); }
  [[nodiscard]] Snapshot snapshot();
  [[nodiscard]] CampaignOutcome outcome() const;
  void add_what_nodes_did(CampaignOutcome& outcome) const;

  const CampaignOptions& options_;
  const bool merges_ = merges_nodes(options_);
  std::vector<std::string> opening_;  // messages about the directory
  Directory directory_;
  DirectoryLock lock_;
  std::unique_ptr<Store> store_;
  Ledger ledger_;
  double earlier_seconds_ = 0;
  std::optional<Exchange> exchange_;
  std::map<const AnyPair*, double> seconds_of_others_;  // as last seen by this process
  std::set<const AnyPair*> share_;                      // pairs of this process
  bool alone_ = true;                                   // no other node has ever been seen
  double next_status_ = 0, next_look_ = 0;
  View view_;
  std::vector<std::string> to_say_{};  // printed after the next flush, because users may rely on it
  WorkerPool pool_;
  std::map<std::size_t, Task> tasks_;
  std::size_t tasks_started_ = 0;
  // Pairs that an earlier start could not run: their kernels or this program may have changed.
  std::set<const AnyPair*> to_try_again_;
  bool last_was_search_ = false;
  bool stopping_ = false;
  bool internal_errors_ = false;

  Clock::time_point begin_ = Clock::now();
  double last_finding_ = -1, last_feature_ = -1;
  vgpu::Prng prng_;
  std::string paused_;  // the reason; empty: it is not
  Clock::time_point paused_until_{};
  double rate_ = 0;
  std::int64_t rate_trials_ = 0;
  double rate_seconds_ = 0;
  std::int64_t trials_ = 0;  // of this start
};

}  // namespace warpcheck::campaign
