// Decides which executions of a launch are still to be tried: stateless model checking by reversing
// races.
//
// The search looks in every execution for pairs of conflicting events of different threads of which
// one comes directly before the other, and for loads that could have found older writes.  For each
// pair, it requests an execution with the reverse order.  The request is a sequence of events: all
// events that do not come after the first event of the pair, and then the second event (the
// reversal of source-DPOR: Abdulla, Aronis, Jonsson, Sagonas, POPL 2014).  A sequence is dropped if
// an earlier execution begins with it, up to the order of events that commute.  So each run shows a
// new execution, as with the wakeup trees of that paper, except for polls in vain.  The search
// keeps an index of all executions in place of sleep sets and trees.
//
// The result is every Mazurkiewicz trace of the events, and for each trace all choices of older
// writes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vgpu/check/executions/causal_order.hpp"
#include "vgpu/check/executions/digest.hpp"
#include "vgpu/check/executions/execution_trace.hpp"

namespace warpcheck::vgpu {

class ExecutionSearch {
 public:
  // Returns the events with which the next run must begin, in order; nothing: all executions have
  // been tried.
  [[nodiscard]] std::optional<std::vector<Event>> next();
  // Adds what the run showed.
  void add(const ExecutionTrace& trace);

  // Returns the number of executions that differ in what a read has found, or in the order of
  // writes.
  [[nodiscard]] std::uint64_t executions() const { return executions_.size(); }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  // Returns the number of events examined: the cost of the search itself.
  [[nodiscard]] std::uint64_t events_looked_at() const { return events_looked_at_; }

 private:
  // The begin of an execution that is to be run.
  struct Begin {
    std::vector<Event> events;
    std::vector<Digest> ends;  // by thread
  };

  using Items = std::vector<Item>;
  void vary(const Items& items, const CausalOrder& order, const CausalOrder::Node& node);
  void vary_last(const Items& items);
  void reverse(const Items& items, const CausalOrder& order, const CausalOrder::Node& first,
               const CausalOrder::Node& second);
  void queue(Items items);
  [[nodiscard]] bool is_shown(const std::vector<Digest>& ends) const;

  std::vector<Begin> queue_{Begin{}};
  // the runs that showed an event
  std::unordered_map<Digest, std::vector<std::uint32_t>, DigestHash> shown_;
  std::unordered_set<Digest, DigestHash> queued_;
  std::unordered_set<Digest, DigestHash> vain_;  // views of polls that were in vain
  std::unordered_set<Digest, DigestHash> executions_;
  std::uint32_t runs_ = 0;
  std::uint64_t events_looked_at_ = 0;
};

}  // namespace warpcheck::vgpu
