// Which executions of a launch are still to be tried: stateless model checking by reversing races.
//
// Every execution that was run is looked at for pairs of conflicting events of different threads of
// which one comes directly before the other, and for loads that could have found older writes. For
// each, the execution in which it is the other way round is begun by a sequence of events: all that
// does not come after the first of the pair, and then the second (the reversal of source-DPOR:
// Abdulla, Aronis, Jonsson, Sagonas, POPL 2014).  A sequence with which an execution that was run
// begins already, up to the order of events that commute, is dropped: so each run shows an
// execution that none before it has shown, as with the wakeup trees there, but for polls in vain.
// Where instead of sleep sets and trees all executions are kept, that is a question to an index.
//
// What is found is every Mazurkiewicz trace of the events, and of each all choices of older writes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vgpu/check/executions/causal_order.hpp"
#include "vgpu/check/executions/digest.hpp"
#include "vgpu/check/executions/trace.hpp"

namespace warpcheck::vgpu {

class ExecutionSearch {
 public:
  // The events with which the next run is to begin, in order; nothing: all have been tried.
  [[nodiscard]] std::optional<std::vector<Event>> next();
  // What the run showed.
  void add(const Trace& trace);

  // Executions that differ in what a read has found, or in the order of writes.
  [[nodiscard]] std::uint64_t executions() const { return executions_.size(); }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  // What the search itself has cost.
  [[nodiscard]] std::uint64_t events_looked_at() const { return events_looked_at_; }

 private:
  // The begin of an execution that is to be run.
  struct Begin {
    std::vector<Event> events;
    std::vector<Digest> ends;  // of its threads
  };

  using Items = std::vector<Item>;
  void vary(const Items& items, const CausalOrder& order, const CausalOrder::Node& node);
  void vary_last(const Items& items);
  void reverse(const Items& items, const CausalOrder& order, const CausalOrder::Node& first,
               const CausalOrder::Node& second);
  void queue(Items items);
  [[nodiscard]] bool is_shown(const std::vector<Digest>& ends) const;

  std::vector<Begin> queue_{Begin{}};
  std::unordered_map<Digest, std::vector<std::uint32_t>, DigestHash> shown_;  // by event: runs
  std::unordered_set<Digest, DigestHash> queued_;
  std::unordered_set<Digest, DigestHash> vain_;  // views of polls in vain
  std::unordered_set<Digest, DigestHash> executions_;
  std::uint32_t runs_ = 0;
  std::uint64_t events_looked_at_ = 0;
};

}  // namespace warpcheck::vgpu
