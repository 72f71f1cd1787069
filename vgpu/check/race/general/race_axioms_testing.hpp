// The axioms of PTX ISA chapter 8, for tests: an execution, for which every relation of the chapter
// is computed literally, over all pairs of operations.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu::axioms {

using ptx::Order;

inline constexpr std::size_t kNodesMax = 4096;
using Ancestors = std::bitset<kNodesMax>;

// A node of base causality order: an operation, or the point after an operation.
struct Node {
  Ancestors before;
  Ancestors before_by_barriers;  // those that come before by program order and barriers alone
};

struct Operation {
  enum class Kind : std::uint8_t { read, write, atomic, reduction, fence };
  Kind kind = Kind::read;
  std::uint32_t actor = 0;  // a thread of the launch; with lockstep warps, a warp
  std::uint32_t block = 0;
  std::uint64_t memory = 0;
  std::uint32_t begin = 0, bytes = 0;
  bool strong = false, asynchronous = false, writes = false;
  Order order = Order::weak;
  bool block_scope = false;
  std::uint32_t node = 0;   // the node of the operation
  std::uint32_t after = 0;  // the node of the point after it
  int reads_from = -1;      // the write that it observes directly (8.9.2, first line)

  [[nodiscard]] bool reads() const { return kind != Kind::write && kind != Kind::fence; }
  [[nodiscard]] bool is_atomic() const { return kind == Kind::atomic || kind == Kind::reduction; }
  [[nodiscard]] bool acquires() const {
    if (kind == Kind::fence) return order != Order::release;
    return reads() && kind != Kind::reduction &&
           (order == Order::acquire || order == Order::acq_rel);
  }
  [[nodiscard]] bool releases() const {
    if (kind == Kind::fence) return order != Order::acquire;
    return writes && (order == Order::release || order == Order::acq_rel);
  }
};

inline bool same_place(const Operation& a, const Operation& b) {
  return a.memory == b.memory && a.begin == b.begin && a.bytes == b.bytes;
}
inline bool scopes_include(const Operation& a, const Operation& b) {
  return a.block == b.block || (!a.block_scope && !b.block_scope);
}
// PTX ISA 8.7; a fence is strong and overlaps no operation.
inline bool morally_strong(const Operation& a, const Operation& b) {
  const bool fence = a.kind == Operation::Kind::fence || b.kind == Operation::Kind::fence;
  return a.strong && b.strong && scopes_include(a, b) && (fence || same_place(a, b));
}
// PTX ISA 8.7.1
inline bool conflict(const Operation& a, const Operation& b) {
  return a.memory == b.memory && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes &&
         (a.writes || b.writes);
}

// An execution and its relations.
class Execution {
 public:
  std::uint32_t node(std::initializer_list<std::uint32_t> before) {
    Node made;
    for (const std::uint32_t earlier : before) add(made, earlier);
    nodes_.push_back(made);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void order(std::uint32_t earlier, std::uint32_t later) {
    nodes_[later].before |= nodes_[earlier].before;
    nodes_[later].before.set(earlier);
  }
  void order_by_barrier(std::uint32_t earlier, std::uint32_t later) { add(nodes_[later], earlier); }
  // Orders `earlier` before `later`, but not what comes before `earlier` (8.9.1.1).
  void order_alone(std::uint32_t earlier, std::uint32_t later) {
    nodes_[later].before.set(earlier);
  }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

  // Returns the last point of an actor's program order.
  std::uint32_t& last(std::uint32_t actor) { return last_.try_emplace(actor, 0).first->second; }

  // Adds the operation to its thread's program order.  Returns whether it races with an earlier
  // operation.
  bool begin(Operation& operation) {
    operation.node = node({last(operation.actor)});
    if (!operation.asynchronous) last(operation.actor) = operation.node;
    if (operation.kind == Operation::Kind::fence) return false;
    bool races = false;
    for (const Operation& earlier : operations_) {
      if (earlier.kind == Operation::Kind::fence) continue;
      races |= conflict(earlier, operation) && !morally_strong(earlier, operation) &&
               !precedes(earlier, operation);
    }
    return races;
  }
  // Ends an operation without synchronisation.
  void end(Operation operation) {
    operation.after = operation.node;
    store(operation);
  }
  // Performs the operation: it reads, writes and synchronises.
  void synchronise(Operation operation) {
    operation.reads_from = operation.reads() ? source_of(operation) : -1;
    operation.after = node({last(operation.actor)});
    last(operation.actor) = operation.after;
    store(operation);
    acquire(operations_.back());
  }

 private:
  static void add(Node& node, std::uint32_t earlier, const std::vector<Node>& nodes) {
    node.before |= nodes[earlier].before;
    node.before.set(earlier);
    node.before_by_barriers |= nodes[earlier].before_by_barriers;
    node.before_by_barriers.set(earlier);
  }
  void add(Node& node, std::uint32_t earlier) { add(node, earlier, nodes_); }

  void store(const Operation& operation) {
    operations_.push_back(operation);
    if (!operation.writes) return;
    for (std::uint32_t byte = 0; byte < operation.bytes; ++byte) {
      writer_[{operation.memory, operation.begin + byte}] =
          static_cast<int>(operations_.size() - 1);
    }
  }

  // Returns the write of exactly the bytes that are read, if it is morally strong with the reader.
  [[nodiscard]] int source_of(const Operation& reader) const {
    const auto first = writer_.find({reader.memory, reader.begin});
    if (first == writer_.end()) return -1;
    for (std::uint32_t byte = 0; byte < reader.bytes; ++byte) {
      const auto writer = writer_.find({reader.memory, reader.begin + byte});
      if (writer == writer_.end() || writer->second != first->second) return -1;
    }
    return morally_strong(operations_[static_cast<std::size_t>(first->second)], reader)
               ? first->second
               : -1;
  }

  // PTX ISA 8.9.2: visits every write that precedes the reader in observation order.
  template <typename Visit>
  void for_each_observed(const Operation& reader, Visit visit) const {
    for (int at = reader.reads_from; at >= 0;) {
      const Operation& write = operations_[static_cast<std::size_t>(at)];
      visit(write);
      at = write.is_atomic() ? write.reads_from : -1;
    }
  }

  // PTX ISA 8.8 and 8.9.4: `last` ends acquire patterns.
  void acquire(const Operation& last) {
    if (!last.acquires()) return;
    for (const Operation& read : operations_) {
      if (!read.strong || !read.reads() || read.kind == Operation::Kind::reduction) continue;
      const bool begins = read.actor == last.actor &&
                          (last.kind == Operation::Kind::fence || same_place(read, last));
      if (!begins) continue;
      for_each_observed(read, [&](const Operation& write) { synchronise_with(write, last); });
    }
    if (is_sc_of_grid(last)) follow_fences(last);
  }
  static bool is_sc_of_grid(const Operation& operation) {
    return operation.kind == Operation::Kind::fence && operation.order == Order::sc &&
           !operation.block_scope;
  }
  // PTX ISA 8.9.3, 8.10.6: a read before this fence has observed a write that comes after another
  // fence, so that other fence comes first in Fence-SC order.
  void follow_fences(const Operation& last) {
    for (const Operation& read : operations_) {
      if (!read.strong || !read.reads() || read.kind == Operation::Kind::reduction) continue;
      if (!nodes_[last.node].before_by_barriers.test(read.after)) continue;
      for_each_observed(read, [&](const Operation& write) {
        for (const Operation& first : operations_) {
          const bool comes_first =
              is_sc_of_grid(first) && nodes_[write.node].before_by_barriers.test(first.after);
          if (comes_first) order(first.after, last.after);
        }
      });
    }
  }
  // `write` ends release patterns.
  void synchronise_with(const Operation& write, const Operation& last) {
    for (const Operation& first : operations_) {
      if (!first.releases() || first.actor != write.actor || first.after > write.after) continue;
      const bool begins = first.kind == Operation::Kind::fence || same_place(first, write);
      const bool one_place = first.kind == Operation::Kind::fence ||
                             last.kind == Operation::Kind::fence || same_place(first, last);
      if (begins && one_place && scopes_include(first, last)) order(first.after, last.after);
    }
  }

  // PTX ISA 8.9.5
  [[nodiscard]] bool precedes_in_base(const Operation& a, const Operation& b) const {
    return nodes_[b.node].before.test(a.node);
  }
  [[nodiscard]] bool precedes(const Operation& a, const Operation& b) const {
    if (precedes_in_base(a, b)) return true;
    if (!a.strong || !a.writes) return false;
    for (const Operation& reader : operations_) {
      if (reader.reads_from < 0 || !precedes_in_base(reader, b)) continue;
      bool observed = false;
      for_each_observed(reader, [&](const Operation& write) { observed |= write.node == a.node; });
      if (observed) return true;
    }
    return false;
  }

  std::vector<Node> nodes_{1};
  std::map<std::uint32_t, std::uint32_t> last_;
  std::vector<Operation> operations_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> writer_;
};

}  // namespace warpcheck::vgpu::axioms
