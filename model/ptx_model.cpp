#include "model/ptx_model.hpp"

namespace warpcheck::model {
namespace {

using EventKind = PathEvent::Kind;

bool is_memory(const Event& event) { return event.kind == EventKind::memory; }
bool is_fence(const Event& event) { return event.kind == EventKind::fence; }
bool releases(const Event& event) {
  return event.order == Order::release || event.order == Order::acq_rel || event.order == Order::sc;
}
bool acquires(const Event& event) {
  return event.order == Order::acquire || event.order == Order::acq_rel || event.order == Order::sc;
}

// Table 20: the read that a reduction makes forms no acquire pattern (8.8, 8.11.1).
bool is_read_operation(const EventStructure& structure, unsigned event) {
  return structure.reads.contains(event) &&
         structure.events[event].instruction->kind != Instruction::Kind::reduction;
}

// "on M": the same virtual address, by the same proxy.
bool same_location(const Event& a, const Event& b) {
  return a.address == b.address && a.proxy == b.proxy;
}

// Fences of x's proxy through which x reaches the generic proxy (ISCA 2022, 5.2); for generic
// operations, x itself.
Relation ways_to_generic(const EventStructure& structure, const Relation& base) {
  Relation ways = structure.none();
  structure.memory.for_each([&](unsigned x) {
    const Event& operation = structure.events[x];
    if (operation.proxy == Proxy::generic) ways.add(x, x);
    for (unsigned f = 0; f < structure.size(); ++f) {
      const Event& fence = structure.events[f];
      if (fence.kind == EventKind::proxy_fence && fence.proxy == operation.proxy &&
          structure.same_block(fence, operation) && base.contains(x, f)) {
        ways.add(x, f);
      }
    }
  });
  return ways;
}

}  // namespace

// 8.7: "The operations are related in program order, or each operation is strong and specifies a
// scope that includes the thread executing the other operation.  Both operations are performed via
// the same proxy.  If both are memory operations, then they overlap completely."
Relation morally_strong(const EventStructure& structure) {
  Relation related = structure.none();
  for (unsigned x = 0; x < structure.size(); ++x) {
    for (unsigned y = 0; y < structure.size(); ++y) {
      const Event &a = structure.events[x], &b = structure.events[y];
      const bool operations = (is_memory(a) || is_fence(a)) && (is_memory(b) || is_fence(b));
      const bool in_order =
          structure.program_order.contains(x, y) || structure.program_order.contains(y, x);
      const bool both_strong = x != y && structure.strong.contains(x) &&
                               structure.strong.contains(y) && structure.includes(a, b) &&
                               structure.includes(b, a);
      const bool overlap = !is_memory(a) || !is_memory(b) || a.address == b.address;
      if (operations && (in_order || both_strong) && a.proxy == b.proxy && overlap) {
        related.add(x, y);
      }
    }
  }
  return related;
}

// 8.8: "A release operation on M; or a release operation on M followed by a strong write on M in
// program order; or a release fence followed by a strong write on M in program order."
Relation release_patterns(const EventStructure& structure) {
  Relation patterns = structure.none();
  const EventSet strong_writes = structure.strong & structure.writes;
  for (unsigned x = 0; x < structure.size(); ++x) {
    const Event& first = structure.events[x];
    if (!releases(first) || (is_memory(first) && !structure.writes.contains(x))) continue;
    if (is_memory(first)) patterns.add(x, x);
    (strong_writes & structure.program_order.from(x)).for_each([&](unsigned write) {
      if (is_fence(first) || (is_memory(first) && same_location(first, structure.events[write]))) {
        patterns.add(x, write);
      }
    });
  }
  return patterns;
}

// 8.8: "An acquire operation on M; or a strong read on M followed by an acquire operation on M in
// program order; or a strong read on M followed by an acquire fence in program order."
Relation acquire_patterns(const EventStructure& structure) {
  Relation patterns = structure.none();
  (structure.strong & structure.reads).for_each([&](unsigned read) {
    if (!is_read_operation(structure, read)) return;
    const Event& first = structure.events[read];
    if (acquires(first)) patterns.add(read, read);
    structure.program_order.from(read).for_each([&](unsigned y) {
      const Event& last = structure.events[y];
      if (!acquires(last)) return;
      const bool on_same =
          is_memory(last) && is_read_operation(structure, y) && same_location(first, last);
      if (is_fence(last) || on_same) patterns.add(read, y);
    });
  });
  return patterns;
}

// 8.9.2: "R and W are morally strong and R reads the value written by W, or for some atomic
// operation Z, W precedes Z and Z precedes R in observation order."  An event that both reads and
// writes is an atomic operation.
Relation observation_order(const EventStructure& structure, const Relation& reads_from) {
  return (structure.morally_strong & reads_from).closure();
}

// 8.9.4: "A release pattern X synchronizes with an acquire pattern Y, if a write operation in X
// precedes a read operation in Y in observation order, and the first operation in X and the last
// operation in Y are morally strong."
Relation synchronizes(const EventStructure& structure, const Relation& observation,
                      const Relation& barriers) {
  const Relation patterns =
      structure.release_patterns.then(observation).then(structure.acquire_patterns);
  return (patterns & structure.morally_strong) | barriers;
}

// 8.9.5, base causality order: program order and synchronizes, transitively.
Relation base_causality_order(const EventStructure& structure, const Relation& synchronizes,
                              const Relation& fence_sc) {
  return (structure.kernel_start | structure.program_order | synchronizes | fence_sc).closure();
}

// 8.9.5: "X precedes Y in base causality order, and: X and Y are performed to the same address,
// using the generic proxy, or to the same address, using the same proxy, and by the same thread
// block, or X and Y are aliases and there is an alias proxy fence along the base causality path
// from X to Y."  What was there before the kernel began comes before everything.
Relation proxy_preserved_base_causality_order(const EventStructure& structure,
                                              const Relation& base) {
  Relation same_address = structure.none(), by_block = structure.none();
  (structure.same_cell & base).for_each([&](unsigned x, unsigned y) {
    const Event &a = structure.events[x], &b = structure.events[y];
    if (a.address != b.address) return;
    same_address.add(x, y);
    if (a.proxy == b.proxy && structure.same_block(a, b)) by_block.add(x, y);
  });
  EventSet alias_fences;
  for (unsigned x = 0; x < structure.size(); ++x) {
    if (structure.events[x].kind == EventKind::alias_fence) alias_fences.insert(x);
  }
  const Relation out = ways_to_generic(structure, base);
  const Relation in = ways_to_generic(structure, base.inverse()).inverse();
  const Relation direct = out.then(base).then(in);
  Relation aliased = structure.none();
  if (!alias_fences.empty()) {
    EventSet all;
    for (unsigned x = 0; x < structure.size(); ++x) all.insert(x);
    aliased = out.then(base.between(all, alias_fences)).then(base).then(in);
  }
  return (structure.kernel_start & structure.same_cell) | (direct & same_address) |
         (aliased & structure.same_cell) | by_block;
}

// 8.9.5: "X precedes Y in proxy-preserved base causality order, or for some operation Z, X precedes
// Z in observation order, and Z precedes Y in proxy-preserved base causality order."
Relation causality_order(const Relation& observation, const Relation& proxy_preserved) {
  return observation.or_none_then(proxy_preserved);
}

// An atomic operation reads before it writes, and does not follow itself.
Relation from_reads(const Relation& reads_from, const Relation& coherence) {
  return reads_from.inverse().then(coherence).strict();
}

// 8.7.1: "Two overlapping memory operations conflict when at least one of them is a write.  Two
// conflicting operations are in a data-race if they are not related in causality order and they are
// not morally strong."
Relation data_races(const EventStructure& structure, const Relation& causality) {
  const EventSet operations = structure.memory - structure.initial;
  const Relation related = causality | causality.inverse() | structure.morally_strong;
  const Relation unrelated = structure.same_cell.between(operations, operations).strict() - related;
  Relation races = structure.none();
  unrelated.for_each([&](unsigned x, unsigned y) {
    if (x < y && (structure.writes.contains(x) || structure.writes.contains(y))) races.add(x, y);
  });
  return races;
}

// 8.10.1: "If a write W precedes an overlapping write W' in causality order, then W must precede W'
// in coherence order."
bool coherence_holds(const Execution& execution, const Relation& causality) {
  const EventStructure& structure = execution.structure;
  const Relation writes =
      causality.between(structure.writes, structure.writes) & structure.same_cell;
  return execution.coherence.irreflexive() && (writes - execution.coherence).empty();
}

// 8.10.2: "Fence-SC order cannot contradict causality order."  Since it is part of base causality
// order, a contradiction is a cycle there.  So is a deadlock of barriers that wait for each other.
bool fence_sc_holds(const Relation& base) { return base.irreflexive(); }

// 8.10.3: "When an atomic operation A and a write W overlap and are morally strong, then the
// following two communications cannot both exist: A reads from a write W' that precedes W in
// coherence order; A follows W in coherence order."  Single-copy atomicity has nothing to say here,
// as all accesses to a location are of the same bytes, and are read from one write.
bool atomicity_holds(const Execution& execution) {
  const EventStructure& structure = execution.structure;
  const Relation strong_later =
      from_reads(execution.reads_from, execution.coherence) & structure.morally_strong;
  const Relation strong_earlier = execution.coherence & structure.morally_strong;
  const Relation between = strong_later.then(strong_earlier);
  bool holds = true;
  structure.atomics.for_each([&](unsigned atomic) {
    if (between.contains(atomic, atomic)) holds = false;
  });
  return holds;
}

// 8.10.4: values that depend on each other in a cycle appear out of thin air.
bool no_thin_air_holds(const EventStructure& structure, const Relation& reads_from) {
  return (reads_from | structure.dependencies).acyclic();
}

// 8.10.5: "A concatenation of program order between overlapping operations and morally strong
// relations in communication order cannot result in a cycle."
bool sc_per_location_holds(const Execution& execution) {
  const EventStructure& structure = execution.structure;
  const Relation communication = execution.reads_from | execution.coherence |
                                 from_reads(execution.reads_from, execution.coherence);
  const Relation same_location =
      structure.morally_strong.between(structure.memory, structure.memory) & structure.same_cell;
  return (same_location & (structure.program_order | communication)).acyclic();
}

// 8.10.6: "If a read R precedes an overlapping write W in causality order, then R cannot read from
// W.  If a write W precedes an overlapping read R in causality order, then R cannot read from any
// write W' that precedes W in coherence order."
bool causality_holds(const Execution& execution, const Relation& causality) {
  const EventStructure& structure = execution.structure;
  const Relation communication =
      execution.reads_from | from_reads(execution.reads_from, execution.coherence);
  return (communication & (causality & structure.same_cell).inverse()).empty();
}

}  // namespace warpcheck::model
