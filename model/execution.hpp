// A candidate execution of a litmus test: one path for each thread, as one set of events, and the
// orders that are determined at runtime.
#pragma once

#include <span>
#include <vector>

#include "model/litmus_test.hpp"
#include "model/paths.hpp"
#include "model/relation.hpp"

namespace warpcheck::model {

inline constexpr unsigned kNoThread = ~0U;

struct Event {
  PathEvent::Kind kind = PathEvent::Kind::memory;
  unsigned thread = kNoThread;  // index; none: a write of the initial state
  unsigned index = 0;           // in its path
  const Instruction* instruction = nullptr;
  Proxy proxy = Proxy::generic;
  Order order = Order::weak;
  Scope scope = Scope::sys;
  std::int64_t address = 0;
  unsigned cell = 0;
};

// The relations that follow from the chosen paths alone.
struct EventStructure {
  // The first events are the initial writes, one for each cell; then those of the threads, in
  // order.
  EventStructure(const Test& of, std::span<const Path* const> taken);

  [[nodiscard]] Relation none() const { return Relation(size()); }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(events.size()); }
  [[nodiscard]] unsigned event_of(unsigned thread, unsigned index) const {
    return first_event[thread] + index;
  }
  [[nodiscard]] bool same_block(const Event& a, const Event& b) const;
  // Whether the scope of `a` includes the thread of `b` (PTX ISA 8.5).
  [[nodiscard]] bool includes(const Event& a, const Event& b) const;

  const Test& test;
  std::vector<const Path*> paths;  // by thread
  std::vector<Event> events;
  std::vector<unsigned> first_event;  // by thread

  EventSet initial, memory, reads, writes, atomics, strong, sc_fences;
  Relation program_order;   // 8.9.1
  Relation dependencies;    // data, address, control
  Relation same_cell;       // overlapping in physical memory, aliases included
  Relation kernel_start;    // from the initial writes to all others: 8.2.6 and 8.9.4
  Relation morally_strong;  // 8.7
  Relation release_patterns, acquire_patterns;  // 8.8, as ptx_model.hpp says
};

// The relations that are "determined at runtime".
struct Execution {
  explicit Execution(const EventStructure& of)
      : structure(of),
        reads_from(of.none()),
        coherence(of.none()),
        fence_sc(of.none()),
        barriers(of.none()) {}

  const EventStructure& structure;
  Relation reads_from;
  Relation coherence;  // 8.9.6, transitive
  Relation fence_sc;   // 8.9.3
  Relation barriers;   // from arrivals to the waits that they complete: 8.9.4
};

}  // namespace warpcheck::model
