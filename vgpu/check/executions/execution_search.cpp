#include "vgpu/check/executions/execution_search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpcheck::vgpu {
namespace {

bool comes_after(const CausalOrder::Node& node, const CausalOrder::Node& first) {
  return first.thread < node.before.size() && node.before[first.thread] >= first.number;
}

std::vector<Item> without_polls(const std::vector<Item>& items, std::size_t end) {
  std::vector<Item> rest;
  std::copy_if(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(end),
               std::back_inserter(rest),
               [](const Item& item) { return item.kind != Item::Kind::failed_poll; });
  return rest;
}

// Returns the items up to a failed poll.  That poll, and failed polls of its thread in the same
// round, become events; other failed polls are left out.
std::vector<Item> up_to_poll(const std::vector<Item>& items, std::size_t poll) {
  std::vector<Item> rest;
  for (std::size_t i = 0; i <= poll; ++i) {
    const bool is_failed = items[i].kind == Item::Kind::failed_poll;
    const bool is_of_round =
        items[i].event.thread == items[poll].event.thread && items[i].round == items[poll].round;
    if (is_failed && !is_of_round) continue;
    rest.push_back(items[i]);
    if (is_failed) rest.back().kind = Item::Kind::event;
  }
  return rest;
}

}  // namespace

std::optional<std::vector<Event>> ExecutionSearch::next() {
  while (!queue_.empty()) {
    Begin begin = std::move(queue_.back());
    queue_.pop_back();
    if (begin.ends.empty() || !is_shown(begin.ends)) return std::move(begin.events);
  }
  return std::nullopt;
}

// Returns whether one run has had all those events, and so everything that comes before them.
bool ExecutionSearch::is_shown(const std::vector<Digest>& ends) const {
  std::vector<const std::vector<std::uint32_t>*> runs;
  for (const Digest& end : ends) {
    const auto found = shown_.find(end);
    if (found == shown_.end()) return false;
    runs.push_back(&found->second);
  }
  std::ranges::sort(runs, {}, [](const auto* list) { return list->size(); });
  return std::ranges::any_of(*runs.front(), [&](std::uint32_t run) {
    return std::ranges::all_of(
        runs, [&](const auto* list) { return std::ranges::binary_search(*list, run); });
  });
}

void ExecutionSearch::add(const ExecutionTrace& trace) {
  CausalOrder order;
  for (const Item& item : trace.items) {
    if (item.kind == Item::Kind::failed_poll) vain_.insert(order.view_of(item.event));
    order.add(item);
  }
  for (const CausalOrder::Node& node : order.nodes()) shown_[node.digest].push_back(runs_);
  ++runs_;
  executions_.insert(order.execution());
  for (const CausalOrder::Node& node : order.nodes()) vary(trace.items, order, node);
  for (std::size_t i = 0; i < trace.items.size(); ++i) {
    if (trace.items[i].kind == Item::Kind::failed_poll) vary_last(up_to_poll(trace.items, i));
  }
}

// The last event did not find what an await waits for.  It may find that earlier, or among older
// writes.
void ExecutionSearch::vary_last(const Items& items) {
  CausalOrder order;
  for (const Item& item : items) order.add(item);
  vary(items, order, order.nodes().back());
}

// Queues each other write that the event could have found.
void ExecutionSearch::vary(const Items& items, const CausalOrder& order,
                           const CausalOrder::Node& node) {
  const Event& event = items[node.item].event;
  for (const std::uint32_t first : node.conflicts) {
    const CausalOrder::Node& other = order.nodes()[first];
    if (items[other.item].event.thread.launch == event.thread.launch) {
      reverse(items, order, other, node);
    }
  }
  if (event.depth == 0) return;
  for (std::uint32_t left_out = 0; left_out <= event.depth; ++left_out) {
    if (left_out == event.left_out) continue;
    Items older = without_polls(items, node.item);
    older.push_back(items[node.item]);
    older.back().event.left_out = left_out;
    queue(std::move(older));
  }
}

// Queues all events that do not come after `first`, and then `second`.
void ExecutionSearch::reverse(const Items& items, const CausalOrder& order,
                              const CausalOrder::Node& first, const CausalOrder::Node& second) {
  Items reversed;
  CausalOrder so_far;
  auto node = order.nodes().begin();
  for (std::size_t i = 0; i < second.item; ++i) {
    const Item& item = items[i];
    if (item.kind == Item::Kind::failed_poll) continue;
    const bool is_after = item.kind == Item::Kind::event
                              ? comes_after(*node++, first)
                              : i > first.item && so_far.comes_after(item, first);
    so_far.add(item);
    if (!is_after) reversed.push_back(item);
  }
  reversed.push_back(items[second.item]);
  reversed.back().event.left_out = 0;
  queue(std::move(reversed));
}

// Queues the items; only the last of them is new.
void ExecutionSearch::queue(Items items) {
  items.back().kind = Item::Kind::event;
  events_looked_at_ += items.size();
  CausalOrder order;
  bool is_vain = false;
  for (const Item& item : items) {
    if (&item == &items.back()) is_vain = vain_.contains(order.view_of(item.event));
    order.add(item);
  }
  std::vector<Digest> ends = order.ends();
  std::ranges::sort(ends);
  DigestMaker maker;
  for (const Digest& end : ends) maker.add(end);
  if (!queued_.insert(maker.made()).second) return;
  if (is_vain) return vary_last(items);
  if (is_shown(ends)) return;
  Begin begin;
  begin.ends = std::move(ends);
  for (const Item& item : items) {
    if (item.kind == Item::Kind::event) begin.events.push_back(item.event);
  }
  queue_.push_back(std::move(begin));
}

}  // namespace warpcheck::vgpu
