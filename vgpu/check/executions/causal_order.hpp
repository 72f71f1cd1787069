// The causal order of an execution, as far as it has run.  An event comes after the earlier events
// of its thread, after the events that its thread has synchronised with at a meeting, and after all
// earlier events that it conflicts with (happens-before of dynamic partial order reduction;
// Flanagan, Godefroid, POPL 2005).
//
// Executions with the same events and the same causal order end in the same state, whatever the
// order of the other pairs.  Each event has a digest of itself and of all events that come before
// it.  If two executions have an event with the same digest, both contain all those events.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "vgpu/check/executions/coherence_orders.hpp"
#include "vgpu/check/executions/digest.hpp"
#include "vgpu/check/executions/execution_trace.hpp"

namespace warpcheck::vgpu {

// Returns whether two events of different threads do not commute.
[[nodiscard]] bool conflict(const Event& first, const Event& second);

class CausalOrder {
 public:
  struct Node {
    std::size_t item = 0;      // of an event: its number among all added items
    std::uint32_t thread = 0;  // dense
    std::uint32_t number = 0;  // among the events of its thread, from 1
    Digest digest;
    // by thread: how many of its events come before this one or are it
    std::vector<std::uint32_t> before;
    // Nodes of the events that it conflicts with and that come directly before it.
    std::vector<std::uint32_t> conflicts;
  };

  // Adds the next item.
  void add(const Item& item);
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // Returns the view of an event that add() would add now: a digest of what its thread did and
  // found so far, and of what the event would find.
  [[nodiscard]] Digest view_of(const Event& event);
  // Returns whether a meeting, or the start of a launch, would come after the node's event if it
  // were added now.
  [[nodiscard]] bool comes_after(const Item& item, const Node& node);
  // Returns the digest of each thread's last event.
  [[nodiscard]] std::vector<Digest> ends() const;
  // Returns a digest of all reads and writes: what the reads found and in which order the writes
  // came.
  [[nodiscard]] Digest execution() const { return coherence_.digest(); }

 private:
  struct Thread {
    TrialThread id;
    std::vector<std::uint32_t> before;
    Digest digest;  // of what comes before its next event
    Digest view;    // of what it has done and found
    std::uint32_t events = 0;
    Digest end;  // of its last event; valid if events != 0
  };
  struct Place {
    std::uint32_t node = 0;
    Event event;
  };
  Thread& thread_at(const TrialThread& id);
  std::uint32_t index_of(const TrialThread& id);
  Thread meet(const std::vector<std::uint32_t>& members);
  void add_event(const Event& event);
  void add_conflicts(const Event& event, Node& node);

  std::map<TrialThread, std::uint32_t> indices_;
  std::vector<Thread> threads_;
  Thread of_launch_;  // the initial state of every thread of the launch
  std::vector<Node> nodes_;
  std::size_t items_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Place>> places_;  // by memory word
  CoherenceOrders coherence_;
};

}  // namespace warpcheck::vgpu
