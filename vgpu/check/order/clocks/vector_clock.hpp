// A vector clock: what a thread knows of the other threads.  For every block and thread it says up
// to which time everything that the thread did comes before what the owner of the clock does next.
//
// Threads may release and acquire at every step, and most of what a clock knows is never asked for.
// So a join is not computed at first.  The clock is a node that refers to the two clocks that were
// joined, or to a clock and what was learned in addition.  Copies of a clock share its node, so a
// copy costs nothing.  A question looks at the latest nodes first, because what is asked is mostly
// what was learned last: that the previous owner of a lock has released it.  A clock is computed,
// as a trie over blocks (clock_trie.hpp), if a question is not answered by a few nodes, if it
// refers to few nodes but through many steps, or if there are too many nodes in all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "vgpu/check/order/clocks/clock_trie.hpp"

namespace warpcheck::vgpu {

class VectorClock {
 public:
  using Knowledge = ClockTrie::Knowledge;  // what is known of one block

  VectorClock() = default;
  VectorClock(const VectorClock& other) : node_(retained(other.node_)) {}
  VectorClock(VectorClock&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  VectorClock& operator=(VectorClock other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~VectorClock() { release(node_); }

  // Returns all that is known of a block.  Computes the clock.
  [[nodiscard]] Knowledge of_block(BlockKey block) const;
  // Calls visit(knowledge) with parts of what is known of a block, the latest first, until it
  // returns true or all parts were visited.  False: there are too many parts, so some were left
  // out.
  template <typename Visit>
  [[nodiscard]] bool visit_parts(BlockKey block, Visit visit) const;
  // Returns whether the clock is computed, so that all it knows of a block is one part.
  [[nodiscard]] bool is_computed() const { return node_ == nullptr || node_->is_computed; }

  // Adds everything that `other` knows.
  void join(const VectorClock& other);
  // Adds knowledge about one block.
  //   threads: ascending, no thread twice
  void learn(BlockKey block, Tick phases, std::span<const ThreadTime> threads);

  // Sets how many nodes of this thread's clocks may wait to be computed, and returns the number
  // before; for tests.
  static std::int64_t set_pending_max(std::int64_t nodes);

  [[nodiscard]] bool is_empty() const { return node_ == nullptr; }
  // Returns whether both clocks are the same value, and so know the same.  Clocks that know the
  // same need not be the same value.
  [[nodiscard]] bool is_same(const VectorClock& other) const {
    if (node_ == other.node_) return true;
    return node_ != nullptr && other.node_ != nullptr && node_->is_computed &&
           other.node_->is_computed && node_->trie.is_same(other.node_->trie);
  }

 private:
  static constexpr std::size_t kLooksMax = 48;  // nodes that one question visits

  struct Node {
    std::uint32_t owners = 1;
    bool is_computed = false;
    bool is_news = false;
    std::uint32_t depth = 0;        // the longest way to a computed node
    std::uint32_t compute_at = 32;  // at this depth, computing the clock is attempted
    std::uint64_t visited_by = 0;   // the number of the latest search that has visited the node
    ClockTrie trie;                 // if it is computed
    // If it is not computed, it knows what both of these know (null: nothing).
    Node *first = nullptr, *second = nullptr;
  };
  // A node that also knows something of a block and of one run of its threads (none if `count` is
  // 0).
  struct News : Node {
    BlockKey block = 0;
    Tick phases = 0;
    ThreadTime time{.count = 0};
    [[nodiscard]] Knowledge knowledge() const {
      return {phases, {&time, time.count == 0 ? 0u : 1u}};
    }
  };
  // The nodes of which a clock consists.
  struct Parts;

  static Node* retained(Node* node) {
    if (node != nullptr) ++node->owners;
    return node;
  }
  static void release(Node* node) {
    if (node != nullptr && --node->owners == 0) drop(node);
  }
  static void drop(Node* node);
  static Node* computed(ClockTrie trie);
  static void add_pending(Node& node, Node* first, Node* second);
  static bool includes(const Node* node, const Node* other);
  static bool refers_to(const Node* node, const Node* other);
  static bool collect(Node* root, std::size_t nodes_max, Parts& parts);
  static void compute(Node* root);
  static void compute_at_once(Node* root, const Parts& parts);
  static void compute_step_by_step(Node* root);
  static void add_news(ClockTrie& trie, const Node& node);
  static void complete(Node* node, ClockTrie trie);
  void limit_depth();
  void join_computed(const VectorClock& other);
  bool replace_news(BlockKey block, Tick phases, std::span<const ThreadTime> threads);

  Node* node_ = nullptr;
};

template <typename Visit>
bool VectorClock::visit_parts(BlockKey block, Visit visit) const {
  if (node_ == nullptr) return true;
  if (node_->is_computed) {
    visit(node_->trie.of_block(block));
    return true;
  }
  std::array<const Node*, kLooksMax + 2> rest;
  std::size_t count = 0;
  rest[count++] = node_;
  for (std::size_t looks = 0; count != 0; ++looks) {
    if (looks == kLooksMax) return false;
    const Node& node = *rest[--count];
    if (node.is_computed) {
      if (visit(node.trie.of_block(block))) return true;
      continue;
    }
    if (node.is_news) {
      const auto& news = static_cast<const News&>(node);
      if (news.block == block && visit(news.knowledge())) return true;
    }
    if (node.first != nullptr) rest[count++] = node.first;
    if (node.second != nullptr) rest[count++] = node.second;
  }
  return true;
}

}  // namespace warpcheck::vgpu
