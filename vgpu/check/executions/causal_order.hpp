// What must come before what in an execution, as far as it was driven: an event comes after those
// of its thread, after what its thread has met others with, and after all events before it that it
// conflicts with (happens-before of dynamic partial order reduction; Flanagan, Godefroid, POPL
// 2005).
//
// Executions of the same events in which this order is the same end in the same state, whatever the
// order of the rest.  Each event has a digest of itself and of all that comes before it: where two
// executions have an event of the same digest, both contain all of that.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "vgpu/check/executions/coherence_orders.hpp"
#include "vgpu/check/executions/digest.hpp"
#include "vgpu/check/executions/trace.hpp"

namespace warpcheck::vgpu {

// Whether two events of different threads do not commute.
[[nodiscard]] bool conflict(const Event& first, const Event& second);

class CausalOrder {
 public:
  struct Node {
    std::size_t item = 0;      // its number among all that were added; of an event
    std::uint32_t thread = 0;  // dense
    std::uint32_t number = 0;  // among those of its thread, from 1
    Digest digest;
    std::vector<std::uint32_t> before;  // by thread: how many events come before it, or are it
    // Events that it conflicts with and that come directly before it: nodes.
    std::vector<std::uint32_t> conflicts;
  };

  // The next item.
  void add(const Item& item);
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // Of an event that add() would add now: what its thread did and found so far, and what it would
  // find.
  [[nodiscard]] Digest view_of(const Event& event);
  // Whether a meeting, or the begin of a launch, that would be added now comes after an event.
  [[nodiscard]] bool comes_after(const Item& item, const Node& node);
  // The digest of each thread's last event.
  [[nodiscard]] std::vector<Digest> ends() const;
  // Of all reads and writes: what they found and in which order they came.
  [[nodiscard]] Digest execution() const { return coherence_.digest(); }

 private:
  struct Thread {
    TrialThread id;
    std::vector<std::uint32_t> before;
    Digest digest;  // of what comes before its next event
    Digest view;    // of what it has done and found
    std::uint32_t events = 0;
    Digest end;  // of its last event; events != 0
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
  Thread of_launch_;  // what every thread of the launch begins with
  std::vector<Node> nodes_;
  std::size_t items_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Place>> places_;  // by word of memory
  CoherenceOrders coherence_;
};

}  // namespace warpcheck::vgpu
