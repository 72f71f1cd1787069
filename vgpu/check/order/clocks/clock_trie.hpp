// The computed form of a vector clock (vector_clock.hpp): a persistent trie over block numbers.
//
// A plain vector clock (Mattern 1989; in race detection: Flanagan and Freund, FastTrack, PLDI 2009)
// over a grid would have a million entries.  Here time has two parts (thread_order.hpp): the phase,
// which a whole block has in common, and the tick of one thread.  A clock says "everything that
// block b did before phase p" and, where needed, "everything that thread t of it did before tick
// k".  Tries are values that share their parts.  So a trie that differs from another in one block
// costs one path, and a join visits only the parts in which two tries differ.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {

// 64-bit numbers, which a trial cannot exhaust: of blocks (unique across launches) and of times.
using BlockKey = std::uint64_t;
using Tick = std::uint64_t;

// What is known of one thread of a block, or of each of several consecutive threads.
struct ThreadTime {
  std::uint32_t thread = 0;  // the first
  Tick ticks = 0;            // everything that it did before this tick
  Tick phase = 0;           // the last phase in which it can have done that; kAnyPhase: not bounded
  std::uint32_t count = 1;  // of threads
  [[nodiscard]] std::uint32_t end() const { return thread + count; }
  friend bool operator==(const ThreadTime&, const ThreadTime&) = default;
};
inline constexpr Tick kAnyPhase = ~Tick{0};
// Sorts what is known of different threads; neighbours of which the same is known become one
// element.
void arrange(std::vector<ThreadTime>& times);

class ClockTrie {
 public:
  ClockTrie() = default;
  ClockTrie(const ClockTrie& other) : root_(other.root_), height_(other.height_) { retain(root_); }
  ClockTrie(ClockTrie&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), height_(other.height_) {}
  ClockTrie& operator=(ClockTrie other) noexcept {
    std::swap(root_, other.root_);
    std::swap(height_, other.height_);
    return *this;
  }
  ~ClockTrie() { release(root_); }

  // What is known of one block.
  struct Knowledge {
    Tick phases = 0;  // everything its threads did before this phase
    // knowledge beyond `phases`: ascending, no thread twice, as few elements as possible
    std::span<const ThreadTime> threads;
    [[nodiscard]] Tick ticks_of(std::uint32_t thread) const;
  };
  [[nodiscard]] Knowledge of_block(BlockKey block) const;

  // Adds everything that `other` knows.
  void join(const ClockTrie& other);
  // Adds knowledge about one block.
  //   threads: ascending, no thread twice
  void learn(BlockKey block, Tick phases, std::span<const ThreadTime> threads);

  // Returns whether learn() would change nothing.
  [[nodiscard]] bool knows(BlockKey block, Tick phases, std::span<const ThreadTime> threads) const;

  // Returns whether both clocks are the same value, and so know the same.  Clocks that know the
  // same need not be the same value.
  [[nodiscard]] bool is_same(const ClockTrie& other) const { return root_ == other.root_; }

 private:
  static constexpr unsigned kBits = 4, kFan = 1u << kBits;
  struct Node {  // of the trie: a Fork, or a Leaf at height 0
    std::uint32_t owners = 0;
  };
  struct Fork;
  struct Leaf;

  ClockTrie(Node* root, unsigned height) : root_(root), height_(height) {}
  [[nodiscard]] const Leaf* leaf_of(BlockKey block) const;
  static Knowledge news_of(Tick phases, std::span<const ThreadTime> threads,
                           std::vector<ThreadTime>& kept);
  static void drop(Node* node, unsigned height);
  static Node* lift(Node* node, unsigned from, unsigned to);
  static Node* join_nodes(Node* a, Node* b, unsigned height);
  static Node* learn_in(Node* node, unsigned height, BlockKey block, const Knowledge& news);
  static bool add_in_place(Leaf& leaf, const Knowledge& news);
  static bool are_alike(const Node* a, const Node* b, unsigned height);
  static bool knows_all_of(const Leaf& a, const Knowledge& b);
  static Leaf* join_leaves(const Leaf& a, const Knowledge& b);
  void retain(Node* node) const {
    if (node != nullptr) ++node->owners;
  }
  void release(Node* node) const {
    if (node != nullptr && --node->owners == 0) drop(node, height_);
  }

  Node* root_ = nullptr;
  unsigned height_ = 0;  // of the root, which spans kFan^height blocks
};

}  // namespace warpcheck::vgpu
