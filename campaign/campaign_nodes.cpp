// A campaign as one of several nodes, and as the one that merges the findings of nodes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "campaign/nodes/share.hpp"
#include "campaign/running_campaign.hpp"
#include "campaign/scheduler.hpp"
#include "harness/case/atomic_file.hpp"

namespace warpcheck::campaign {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

// Summed over all nodes.
PairProgress RunningCampaign::progress_of_all(const AnyPair& pair) const {
  PairProgress sum = ledger_.progress().at(pair.name());
  if (exchange_) exchange_->add_progress(sum);
  return sum;
}

void RunningCampaign::exchange() {
  if (!exchange_ || Clock::now() < paused_until_) return;
  from_others([&] {
    if (options_.node && seconds() >= next_status_) {
      next_status_ = seconds() + 1;
      publish_status(false);
    }
    if (seconds() < next_look_) return;
    // Often at first, when everything is new.
    next_look_ = seconds() + std::clamp(seconds() / 10, 1.0, 5.0);
    look_at_others();
    take_news();
  });
}

void RunningCampaign::look_at_others() {
  exchange_->look();
  deal_pairs();
  for (const AnyPair* pair : options_.pairs) {
    PairProgress& progress = ledger_.progress_of(pair->name());
    const double now = progress_of_all(*pair).seconds - progress.seconds;
    double& known = seconds_of_others_.try_emplace(pair, now).first->second;
    if (now > known) forget(progress, now - known, now);
    known = now;
  }
}

// False if the shared folder cannot be read: the campaign pauses and tries again later.
bool RunningCampaign::from_others(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const CaseFileError& error) {
    pause(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    pause(error.what());
  }
  return false;
}

void RunningCampaign::take_news() {
  std::vector<std::string> messages;
  for (const StoredFinding& theirs : exchange_->news(messages)) {
    if (!ledger_.adopt(theirs) || !merges_) continue;
    say_when_stored(fmt::format("{}  taken over {} {}  {}", clock_text(seconds()), theirs.key.hash,
                                theirs.key.pair, theirs.place));
  }
  for (const std::string& message : messages) view_.say(message);
  // A node takes entries for the pairs that it searches: here, and at the start of a search
  // (campaign_tasks.cpp).
  for (const AnyPair* pair : options_.pairs) {
    if (options_.stop != nullptr && *options_.stop != 0) break;
    const bool is_searched =
        std::ranges::any_of(tasks_, [&](const auto& task) { return task.second.pair == pair; });
    if (merges_ || is_searched) take_corpus(*pair);
  }
}

void RunningCampaign::take_corpus(const AnyPair& pair) {
  std::vector<std::string> messages;
  exchange_->take_corpus(pair.name(), messages);
  for (const std::string& message : messages) view_.say(message);
}

void RunningCampaign::deal_pairs() {
  if (!options_.node) return;
  // Nodes that are started together begin at different times.  If no other node is ever seen, they
  // share no folder, and each must keep to its share.
  constexpr double kStartSeconds = 60;
  alone_ = std::ranges::none_of(exchange_->nodes(), [&](const SeenNode& node) {
    return node.status && node.node != options_.node->number;
  });
  const unsigned expected = alone_ || seconds() < kStartSeconds ? options_.node->count : 0;
  const std::vector<unsigned> nodes = exchange_->at_work(expected);
  std::set<std::string> names;
  share_.clear();
  for (std::size_t i = 0; i < options_.pairs.size(); ++i) {
    if (!is_in_share(i, options_.pairs.size(), nodes, options_.node->number)) continue;
    share_.insert(options_.pairs[i]);
    names.insert(options_.pairs[i]->name());
  }
  ledger_.work_on(std::move(names));
}

void RunningCampaign::publish_status(bool ended) {
  const Snapshot now = snapshot();
  NodeStatus status{.node = options_.node->number,
                    .nodes = options_.node->count,
                    .host = host_name(),
                    .process = ::getpid(),
                    .ended = ended,
                    .seconds = now.total_seconds,
                    .trials_per_second = now.trials_per_second,
                    .findings = static_cast<std::int64_t>(now.findings),
                    .confirmed = static_cast<std::int64_t>(now.confirmed),
                    .incidents = ledger_.incidents()};
  for (const AnyPair* pair : options_.pairs) {
    status.pairs.push_back(ledger_.progress().at(pair->name()));
  }
  exchange_->publish(status);
}

void RunningCampaign::add_what_nodes_did(CampaignOutcome& outcome) const {
  for (PairProgress& progress : outcome.progress) exchange_->add_progress(progress);
  for (const SeenNode& node : exchange_->nodes()) {
    if (!node.status) continue;
    for (const Incident& theirs : node.status->incidents) {
      const auto known = std::ranges::find_if(outcome.incidents, [&](const Incident& incident) {
        return incident.pair == theirs.pair && incident.what == theirs.what;
      });
      if (known == outcome.incidents.end()) {
        outcome.incidents.push_back(theirs);
      } else {
        known->count += theirs.count;
      }
    }
  }
}

}  // namespace warpcheck::campaign
