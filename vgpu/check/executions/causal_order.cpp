#include "vgpu/check/executions/causal_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kConflictWord = 4;
constexpr std::uint64_t kFenceWord = UINT64_MAX;

void join(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

std::uint32_t at(const std::vector<std::uint32_t>& counts, std::uint32_t thread) {
  return thread < counts.size() ? counts[thread] : 0;
}

DigestMaker digest_of(const TrialThread& thread) {
  DigestMaker maker;
  maker.add(thread.launch).add(thread.warp.block).add(thread.warp.warp).add(thread.lane);
  return maker;
}

DigestMaker digest_of(const Event& event) {
  DigestMaker maker = digest_of(event.thread);
  maker.add(event.pc)
      .add(event.address)
      .add(event.bytes)
      .add(static_cast<std::uint64_t>(event.effect))
      .add(event.left_out);
  return maker;
}

// Returns whether `earlier` is a write that covers the bytes of `later`.  Then every access to
// these bytes after `earlier` conflicts with it, and so comes after it.
bool covers(const Event& earlier, const Event& later) {
  return earlier.effect == Event::Effect::write && earlier.address <= later.address &&
         earlier.address + earlier.bytes >= later.address + later.bytes;
}

std::vector<std::uint64_t> words_of(const Event& event) {
  if (event.effect == Event::Effect::fence) return {kFenceWord};
  std::vector<std::uint64_t> words;
  const std::uint64_t last = (event.address + event.bytes - 1) / kConflictWord;
  for (std::uint64_t word = event.address / kConflictWord; word <= last; ++word)
    words.push_back(word);
  return words;
}

}  // namespace

bool conflict(const Event& first, const Event& second) {
  using Effect = Event::Effect;
  if (first.effect == Effect::fence || second.effect == Effect::fence) {
    return first.effect == second.effect;
  }
  if (first.address >= second.address + second.bytes ||
      second.address >= first.address + first.bytes) {
    return false;
  }
  if (first.effect == Effect::read && second.effect == Effect::read) return false;
  const bool both_reduce = first.effect == Effect::reduce && second.effect == Effect::reduce;
  const bool are_same = first.address == second.address && first.bytes == second.bytes &&
                        first.reduction == second.reduction;
  return !both_reduce || !are_same;
}

std::uint32_t CausalOrder::index_of(const TrialThread& id) {
  const auto [found, is_new] =
      indices_.try_emplace(id, static_cast<std::uint32_t>(threads_.size()));
  if (is_new) {
    threads_.push_back(of_launch_);
    threads_.back().id = id;
  }
  return found->second;
}

CausalOrder::Thread& CausalOrder::thread_at(const TrialThread& id) {
  return threads_[index_of(id)];
}

void CausalOrder::add(const Item& item) {
  switch (item.kind) {
    case Item::Kind::launch: {
      std::vector<std::uint32_t> all(threads_.size());
      std::iota(all.begin(), all.end(), 0);
      of_launch_ = meet(all);
      break;
    }
    case Item::Kind::meeting: {
      std::vector<std::uint32_t> members;
      for (const TrialThread& id : item.members) members.push_back(index_of(id));
      static_cast<void>(meet(members));
      break;
    }
    case Item::Kind::event: add_event(item.event); break;
    case Item::Kind::failed_poll: break;
  }
  ++items_;
}

CausalOrder::Thread CausalOrder::meet(const std::vector<std::uint32_t>& members) {
  Thread all;
  for (const std::uint32_t member : members) {
    const Thread& thread = threads_[member];
    join(all.before, thread.before);
    all.digest += digest_of(thread.id).add(thread.digest).made();
    all.view += digest_of(thread.id).add(thread.view).made();
  }
  for (const std::uint32_t member : members) {
    Thread& thread = threads_[member];
    thread.before = all.before;
    thread.digest = DigestMaker().add(all.digest).add(thread.digest).made();
    thread.view = DigestMaker().add(all.view).add(thread.view).made();
  }
  return all;
}

bool CausalOrder::comes_after(const Item& item, const Node& node) {
  if (item.kind == Item::Kind::launch) return true;
  return item.kind == Item::Kind::meeting &&
         std::ranges::any_of(item.members, [&](const TrialThread& id) {
           return at(thread_at(id).before, node.thread) >= node.number;
         });
}

void CausalOrder::add_event(const Event& event) {
  Thread& thread = thread_at(event.thread);
  Node node;
  node.item = items_;
  node.thread = index_of(event.thread);
  node.number = ++thread.events;
  node.before = thread.before;
  add_conflicts(event, node);
  join(node.before, std::vector<std::uint32_t>(node.thread + 1));
  node.before[node.thread] = node.number;
  std::vector<Digest> conflicts;
  for (const std::uint32_t other : node.conflicts) conflicts.push_back(nodes_[other].digest);
  std::ranges::sort(conflicts);
  DigestMaker maker = digest_of(event);
  maker.add(thread.digest);
  for (const Digest& digest : conflicts) maker.add(digest);
  node.digest = maker.made();

  // The number of writes that were left out is not part of the name, because the write that was
  // found shows it.
  Event plain = event;
  plain.left_out = 0;
  const Digest identity = digest_of(plain).add(thread.view).made();
  const Digest found = coherence_.add(event, identity);
  thread.view = DigestMaker().add(identity).add(found).made();
  thread.before = node.before;
  thread.digest = thread.end = node.digest;
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  for (const std::uint64_t word : words_of(event)) places_[word].push_back({number, event});
  nodes_.push_back(std::move(node));
}

// Examines later candidates first: everything before such a candidate also comes before the event.
void CausalOrder::add_conflicts(const Event& event, Node& node) {
  std::vector<std::uint32_t> candidates;
  for (const std::uint64_t word : words_of(event)) {
    const std::vector<Place>& places = places_[word];
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      if (!conflict(place->event, event)) continue;
      candidates.push_back(place->node);
      if (covers(place->event, event)) break;
    }
  }
  std::ranges::sort(candidates, std::greater{});
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (const std::uint32_t candidate : candidates) {
    const Node& other = nodes_[candidate];
    if (at(node.before, other.thread) >= other.number) continue;
    node.conflicts.push_back(candidate);
    join(node.before, other.before);
  }
}

Digest CausalOrder::view_of(const Event& event) {
  Event plain = event;
  plain.left_out = 0;
  return digest_of(plain).add(thread_at(event.thread).view).add(coherence_.source_of(event)).made();
}

std::vector<Digest> CausalOrder::ends() const {
  std::vector<Digest> ends;
  for (const Thread& thread : threads_) {
    if (thread.events != 0) ends.push_back(thread.end);
  }
  return ends;
}

}  // namespace warpcheck::vgpu
