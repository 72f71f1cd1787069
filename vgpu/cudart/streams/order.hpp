// The order of the operations of streams: which operations come before which.
//
// The order is partial: it follows from stream order, events, the legacy stream, and what the host
// waited for before it made a call (CUDA Programming Guide, "Asynchronous Concurrent Execution").
// Each operation extends a chain whose last member comes before it, so a vector clock with one
// number per chain contains the whole order, however streams are created and destroyed (Agarwal,
// Garg, "Efficient Dependency Tracking for Relevant Events in Concurrent Systems", PODC 2005).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace warpcheck::cudart {

// The position of an operation in the order.
struct Stamp {
  std::uint32_t chain = 0;
  std::uint32_t position = 0;  // in its chain, from 1
};

// A downward-closed set of operations: whatever comes before a member is a member.
class OperationSet {
 public:
  // Returns how many operations of a chain are in the set; they are its first ones.
  [[nodiscard]] std::uint32_t count(std::size_t chain) const {
    if (chain < kFew) return few_[chain];
    return chain - kFew < more_.size() ? more_[chain - kFew] : 0;
  }
  [[nodiscard]] bool covers(const Stamp& stamp) const {
    return count(stamp.chain) >= stamp.position;
  }
  [[nodiscard]] bool includes(const OperationSet& other) const {
    bool are_few_included = true;
    for_few([&](std::size_t i) { are_few_included &= few_[i] >= other.few_[i]; });
    if (other.more_.empty() || !are_few_included) return are_few_included;
    for (std::size_t i = kFew; i < kFew + other.more_.size(); ++i) {
      if (count(i) < other.count(i)) return false;
    }
    return true;
  }
  void join(const OperationSet& other) {
    for_few([&](std::size_t i) { few_[i] = std::max(few_[i], other.few_[i]); });
    if (other.more_.empty()) return;
    if (more_.size() < other.more_.size()) more_.resize(other.more_.size());
    for (std::size_t i = 0; i < other.more_.size(); ++i) {
      more_[i] = std::max(more_[i], other.more_[i]);
    }
  }
  void clear() {
    few_.fill(0);
    more_.clear();
  }
  void add(const Stamp& stamp) {
    if (stamp.chain < kFew) {
      few_[stamp.chain] = std::max(few_[stamp.chain], stamp.position);
      return;
    }
    const std::size_t at = stamp.chain - kFew;
    if (more_.size() <= at) more_.resize(at + 1);
    more_[at] = std::max(more_[at], stamp.position);
  }

 private:
  // Most programs have no more chains than this; their counts need no separate memory.
  static constexpr std::size_t kFew = 4;
  // Calls visit(i) for each of them, without a loop.
  template <typename Visit>
  static constexpr void for_few(const Visit& visit) {
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) { (visit(kAt), ...); }
    (std::make_index_sequence<kFew>());
  }
  std::array<std::uint32_t, kFew> few_{};
  std::vector<std::uint32_t> more_;  // of the remaining chains
};

class Chains {
 public:
  // Returns the position of a new operation that comes after those of `before`.
  Stamp extend(const OperationSet& before) {
    std::uint32_t chain = 0;
    while (chain < lengths_.size() && before.count(chain) != lengths_[chain]) ++chain;
    if (chain == lengths_.size()) lengths_.push_back(0);
    return {chain, ++lengths_[chain]};
  }
  void clear() { lengths_.clear(); }

 private:
  std::vector<std::uint32_t> lengths_;
};

// Values of operations that have run; can be searched for operations that are not ordered with
// another one.
template <typename T>
class RunLog {
 public:
  // Operations of one chain must be added in the chain's order.
  void add(const Stamp& stamp, T value) {
    if (chains_.size() <= stamp.chain) chains_.resize(stamp.chain + std::size_t{1});
    chains_[stamp.chain].emplace_back(stamp.position, std::move(value));
  }
  // Adds a value, unless the chain has recently got an equal value: an operation that is unordered
  // with that one is unordered with this one too.
  void add_latest(const Stamp& stamp, T value) {
    constexpr std::ptrdiff_t kLately = 16;
    if (stamp.chain < chains_.size()) {
      auto& entries = chains_[stamp.chain];
      const auto first = entries.end() - std::min(std::ssize(entries), kLately);
      const auto same =
          std::find_if(first, entries.end(), [&](const auto& one) { return one.second == value; });
      if (same != entries.end()) entries.erase(same);
    }
    add(stamp, std::move(value));
  }
  // Returns the first value of an operation; null: there is none, or it was dropped.
  [[nodiscard]] const T* find(const Stamp& stamp) const {
    if (stamp.chain >= chains_.size()) return nullptr;
    const auto& entries = chains_[stamp.chain];
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& one) { return one.first == stamp.position; });
    return found == entries.end() ? nullptr : &found->second;
  }
  template <typename Visit>
  void visit_unordered(const OperationSet& clock, Visit&& visit) const {
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      const std::uint32_t known = clock.count(chain);
      const auto& entries = chains_[chain];
      auto entry = std::partition_point(entries.begin(), entries.end(),
                                        [&](const auto& one) { return one.first <= known; });
      for (; entry != entries.end(); ++entry) visit(entry->second);
    }
  }
  // The same, in each chain from the latest operation on, until visit(value) returns false.
  template <typename Visit>
  void visit_latest_unordered(const OperationSet& clock, Visit&& visit) const {
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      const std::uint32_t known = clock.count(chain);
      const auto& entries = chains_[chain];
      for (auto entry = entries.rbegin(); entry != entries.rend() && entry->first > known;
           ++entry) {
        if (!visit(entry->second)) break;
      }
    }
  }
  // Calls visit(value) for the operations of `now` that are not in `before`.
  template <typename Visit>
  void visit_new(const OperationSet& before, const OperationSet& now, Visit&& visit) const {
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      const std::uint32_t known = before.count(chain), end = now.count(chain);
      const auto& entries = chains_[chain];
      auto entry = std::partition_point(entries.begin(), entries.end(),
                                        [&](const auto& one) { return one.first <= known; });
      for (; entry != entries.end() && entry->first <= end; ++entry) visit(entry->second);
    }
  }
  // Calls visit(stamp, value) for all.
  template <typename Visit>
  void visit_all(Visit&& visit) const {
    for (std::uint32_t chain = 0; chain < chains_.size(); ++chain) {
      for (const auto& [position, value] : chains_[chain]) visit(Stamp{chain, position}, value);
    }
  }
  // Drops the members of `known`, which must come before everything that is searched from now on.
  void forget(const OperationSet& known) {
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      auto& entries = chains_[chain];
      if (entries.empty()) continue;
      const std::uint32_t count = known.count(chain);
      if (entries.back().first <= count) {  // they are in ascending order
        entries.clear();
      } else {
        std::erase_if(entries, [&](const auto& one) { return one.first <= count; });
      }
    }
  }
  void clear() {
    for (auto& entries : chains_) entries.clear();
  }

 private:
  std::vector<std::vector<std::pair<std::uint32_t, T>>> chains_;
};

}  // namespace warpcheck::cudart
