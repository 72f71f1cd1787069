// What a thread knows of others: for every block and thread, up to when all that it did comes
// before what the owner of the clock does next.
//
// A vector clock (Mattern 1989; in race detection: Flanagan and Freund, FastTrack, PLDI 2009) over
// a grid would have a million entries.  Here time has two hands (thread_order.hpp): the phase, that
// a whole block has in common, and the tick of one thread.  A clock says "all of block b before
// phase p" and, where that is not enough, "thread t of it before tick k".  Clocks are values that
// share their parts: a persistent trie over block numbers, so that a clock that differs from
// another in one block costs one path, and joining looks only where two clocks differ.  A chain of
// thousands of blocks that hand their knowledge on stays cheap that way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {

// Numbers that a trial does not run out of: of a block, whatever its launch, and of times.
using BlockKey = std::uint64_t;
using Tick = std::uint64_t;

// What is known of one thread of a block.
struct ThreadTime {
  std::uint32_t thread = 0;
  Tick ticks = 0;  // all that it did before this tick
  Tick phase = 0;  // in which the last of that can have been; kAnyPhase: none bounds it
  friend bool operator==(const ThreadTime&, const ThreadTime&) = default;
};
inline constexpr Tick kAnyPhase = ~Tick{0};

class VectorClock {
 public:
  VectorClock() = default;
  VectorClock(const VectorClock& other) : root_(other.root_), height_(other.height_) {
    retain(root_);
  }
  VectorClock(VectorClock&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), height_(other.height_) {}
  VectorClock& operator=(VectorClock other) noexcept {
    std::swap(root_, other.root_);
    std::swap(height_, other.height_);
    return *this;
  }
  ~VectorClock() { release(root_); }

  // What is known of a block.
  struct Knowledge {
    Tick phases = 0;                      // all that its threads did before this phase
    std::span<const ThreadTime> threads;  // ascending, and more than `phases` says
    [[nodiscard]] Tick ticks_of(std::uint32_t thread) const;
  };
  [[nodiscard]] Knowledge of_block(BlockKey block) const;

  // Learns all that `other` knows.
  void join(const VectorClock& other);
  // Learns about one block.
  //   threads: ascending
  void learn(BlockKey block, Tick phases, std::span<const ThreadTime> threads);

  [[nodiscard]] bool is_empty() const { return root_ == nullptr; }
  // Whether they are one value: then they know the same.  The reverse need not hold.
  [[nodiscard]] bool is_same(const VectorClock& other) const { return root_ == other.root_; }

 private:
  static constexpr unsigned kBits = 4, kFan = 1u << kBits;
  struct Node {  // of the trie: a Fork, or at height 0 a Leaf
    std::uint32_t owners = 0;
  };
  struct Fork;
  struct Leaf;

  VectorClock(Node* root, unsigned height) : root_(root), height_(height) {}
  static void drop(Node* node, unsigned height);
  static Node* lift(Node* node, unsigned from, unsigned to);
  static Node* join_nodes(Node* a, Node* b, unsigned height);
  static bool knows_all_of(const Leaf& a, const Leaf& b);
  static Leaf* join_leaves(const Leaf& a, const Leaf& b);
  void retain(Node* node) const {
    if (node != nullptr) ++node->owners;
  }
  void release(Node* node) const {
    if (node != nullptr && --node->owners == 0) drop(node, height_);
  }

  Node* root_ = nullptr;
  unsigned height_ = 0;  // of the root: it spans kFan^height blocks
};

}  // namespace warpcheck::vgpu
