#include "model/enumerate.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/barriers.hpp"
#include "model/execution.hpp"
#include "model/operators.hpp"
#include "model/paths.hpp"
#include "model/ptx_model.hpp"

namespace warpcheck::model {
namespace {

constexpr unsigned kUnread = ~0U;

// Thrown when the choices are used up.
struct NoChoicesLeft {};
struct Budget {
  std::uint64_t left;
  void spend() {
    if (left-- == 0) throw NoChoicesLeft{};
  }
};

// The executions of one choice of paths.
class Candidates {
 public:
  Candidates(const EventStructure& structure, Budget& budget, Outcome& outcome)
      : structure_(structure),
        budget_(budget),
        outcome_(outcome),
        execution_(structure),
        source_(structure.size(), kUnread) {
    structure.reads.for_each([&](unsigned read) { reads_.push_back(read); });
  }

  void run() {
    const Relation here =
        structure_.program_order & structure_.same_cell & structure_.morally_strong;
    if (conditions_hold()) read_from(0, here.closure());
  }

 private:
  // --- reads-from -------------------------------------------------------------------------------

  // `order` is transitive, and must not have a cycle (8.10.5): program order of a location, and the
  // morally strong choices so far.
  void read_from(std::size_t index, const Relation& order) {
    if (index == reads_.size()) return read_all();
    const unsigned read = reads_[index];
    (structure_.writes & structure_.same_cell.from(read)).for_each([&](unsigned write) {
      if (write == read || is_hidden(write, read) || is_taken(write, read)) return;
      const bool strong = structure_.morally_strong.contains(write, read);
      if (strong && order.contains(read, write)) return;
      budget_.spend();
      source_[read] = write;
      if (conditions_hold()) {
        if (strong && !order.contains(write, read)) {
          Relation longer = order;
          longer.add_to_closed(write, read);
          read_from(index + 1, longer);
        } else {
          read_from(index + 1, order);
        }
      }
      source_[read] = kUnread;
    });
  }

  // Two morally strong atomic operations do not read from the same write if that write comes before
  // both in coherence order: one of the two would come in between (8.10.3).
  [[nodiscard]] bool is_taken(unsigned write, unsigned read) const {
    if (!structure_.atomics.contains(read)) return false;
    const auto is_before = [&](unsigned atomic) {
      return structure_.initial.contains(write) ||
             structure_.morally_strong.contains(write, atomic);
    };
    for (const unsigned other : reads_) {
      if (source_[other] == write && structure_.atomics.contains(other) &&
          structure_.morally_strong.contains(other, read) && is_before(read) && is_before(other)) {
        return true;
      }
    }
    return false;
  }

  // Writes that this thread's own operations on the address exclude, by the axioms of coherence and
  // causality: writes that follow the read, and writes that a later write of the thread hides.
  [[nodiscard]] bool is_hidden(unsigned write, unsigned read) const {
    if (follows_here(read, write)) return true;
    const bool is_initial = structure_.initial.contains(write);
    bool hidden = false;
    (structure_.writes & structure_.same_cell.from(read)).for_each([&](unsigned between) {
      if (between == write || !follows_here(between, read)) return;
      if (is_initial || follows_here(write, between)) hidden = true;
    });
    return hidden;
  }
  [[nodiscard]] bool follows_here(unsigned first, unsigned second) const {
    return structure_.program_order.contains(first, second) &&
           structure_.morally_strong.contains(first, second);
  }

  // The value of an expression, if everything on which it depends is known, and it does not depend
  // on itself.
  [[nodiscard]] std::optional<std::int64_t> value(unsigned thread, unsigned expression,
                                                  unsigned depth) const {
    const Expression& of = structure_.paths[thread]->expressions[expression];
    switch (of.kind) {
      case Expression::Kind::constant: return of.value;
      case Expression::Kind::read: return value_read(structure_.event_of(thread, of.event), depth);
      case Expression::Kind::calculated: {
        const auto a = value(thread, of.a, depth);
        const auto b = a ? value(thread, of.b, depth) : a;
        if (!b) return std::nullopt;
        return calculate(of.operation, *a, *b, of.type);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> value_read(unsigned read, unsigned depth) const {
    const unsigned write = source_[read];
    if (write == kUnread || depth > structure_.size()) return std::nullopt;
    const std::optional<std::int64_t> written = value_written(write, depth + 1);
    if (!written) return std::nullopt;
    return wrap(*written, structure_.events[read].instruction->type);
  }
  [[nodiscard]] std::optional<std::int64_t> value_written(unsigned write, unsigned depth) const {
    const Event& event = structure_.events[write];
    if (event.thread == kNoThread) return structure_.test.cells[event.cell].initial;
    return value(event.thread, structure_.paths[event.thread]->events[event.index].value, depth);
  }

  // Whether the known values are consistent with the chosen paths.
  [[nodiscard]] bool conditions_hold() const {
    for (unsigned thread = 0; thread < structure_.paths.size(); ++thread) {
      for (const unsigned condition : structure_.paths[thread]->conditions) {
        const auto known = value(thread, condition, 0);
        if (known && *known == 0) return false;
      }
    }
    return true;
  }

  // --- the orders -------------------------------------------------------------------------------

  void read_all() {
    execution_.reads_from = structure_.none();
    for (const unsigned read : reads_) execution_.reads_from.add(source_[read], read);
    if (!no_thin_air_holds(structure_, execution_.reads_from)) return;
    observation_ = observation_order(structure_, execution_.reads_from);
    const Evaluate evaluate = [this](unsigned thread, unsigned expression) {
      return value(thread, expression, 0).value();
    };
    for (const Relation& barriers : barrier_phases(structure_, evaluate)) {
      execution_.barriers = barriers;
      const Relation synchronized = synchronizes(structure_, observation_, barriers);
      const Relation base = base_causality_order(structure_, synchronized, structure_.none());
      if (!base.irreflexive()) continue;
      open_fences_.clear();
      (structure_.morally_strong.between(structure_.sc_fences, structure_.sc_fences))
          .for_each([&](unsigned x, unsigned y) {
            if (x < y && !structure_.program_order.contains(x, y)) open_fences_.emplace_back(x, y);
          });
      execution_.fence_sc =
          structure_.program_order.between(structure_.sc_fences, structure_.sc_fences);
      order_fences(0, base);
    }
  }

  // `base` is transitive, and contains the orders chosen so far.
  void order_fences(std::size_t index, const Relation& base) {
    if (index == open_fences_.size()) return order_writes_first(base);
    const auto [x, y] = open_fences_[index];
    for (const auto& [first, second] : {std::pair(x, y), std::pair(y, x)}) {
      if (base.contains(second, first)) continue;
      budget_.spend();
      Relation ordered = base;
      ordered.add_to_closed(first, second);
      const Relation before = execution_.fence_sc;
      execution_.fence_sc.add(first, second);
      order_fences(index + 1, ordered);
      execution_.fence_sc = before;
    }
  }

  // Adds the coherence order that causality order implies, before anything is chosen.
  void order_writes_first(const Relation& base) {
    if (!fence_sc_holds(base)) return;
    causality_ =
        causality_order(observation_, proxy_preserved_base_causality_order(structure_, base));
    const Relation overlapping = causality_ & structure_.same_cell;
    if (!(execution_.reads_from & overlapping.inverse()).empty()) return;
    const Relation coherence = overlapping.between(structure_.writes, structure_.writes).closure();
    if (!coherence.irreflexive()) return;
    forbidden_ = structure_.none();
    overlapping.between(structure_.writes, structure_.reads)
        .for_each([&](unsigned write, unsigned read) {
          const unsigned source = source_[read];
          if (write != read && source != write) forbidden_.add(source, write);
        });
    open_writes_.clear();
    (structure_.morally_strong.between(structure_.writes, structure_.writes))
        .for_each([&](unsigned x, unsigned y) {
          if (x < y) open_writes_.emplace_back(x, y);
        });
    order_writes(0, coherence);
  }

  // `coherence` is transitive.
  void order_writes(std::size_t index, const Relation& coherence) {
    if (!(coherence & forbidden_).empty()) return;
    while (index < open_writes_.size() &&
           (coherence.contains(open_writes_[index].first, open_writes_[index].second) ||
            coherence.contains(open_writes_[index].second, open_writes_[index].first))) {
      ++index;
    }
    if (index == open_writes_.size()) {
      execution_.coherence = coherence;
      if (is_consistent()) finish();
      return;
    }
    const auto [x, y] = open_writes_[index];
    for (const auto& [first, second] : {std::pair(x, y), std::pair(y, x)}) {
      budget_.spend();
      Relation ordered = coherence;
      ordered.add_to_closed(first, second);
      order_writes(index + 1, ordered);
    }
  }

  // Fence-SC and no thin air have been checked before, because they do not depend on coherence
  // order.
  [[nodiscard]] bool is_consistent() const {
    return coherence_holds(execution_, causality_) && atomicity_holds(execution_) &&
           sc_per_location_holds(execution_) && causality_holds(execution_, causality_);
  }

  // --- final states -----------------------------------------------------------------------------

  void finish() {
    for (const Path* path : structure_.paths) {
      if (path->fault != nullptr) {
        throw LitmusError(path->fault->place, "an execution accesses what is no location here");
      }
    }
    has_race_ = !data_races(structure_, causality_).empty();
    FinalState state;
    finish_from(0, state);
  }

  void finish_from(std::size_t index, FinalState& state) {
    const Test& test = structure_.test;
    if (index == test.asked.size()) return count(state);
    const Term& term = test.asked[index];
    const auto with = [&](std::optional<std::int64_t> known) {
      state.push_back(known);
      finish_from(index + 1, state);
      state.pop_back();
    };
    if (term.kind == Term::Kind::reg) {
      const Path& path = *structure_.paths[term.thread];
      const bool unknown = path.is_stuck && path.unknown[term.reg];
      return with(unknown ? std::nullopt : value(term.thread, path.registers[term.reg], 0));
    }
    const EventSet writes = structure_.writes & structure_.same_cell.from(term.cell);
    writes.for_each([&](unsigned write) {
      if ((execution_.coherence.from(write) & writes).empty()) with(value_written(write, 0));
    });
  }

  // Threads that wait for ever leave registers without a value; if the answer depends on one, the
  // execution is not counted.
  void count(const FinalState& state) {
    const Test& test = structure_.test;
    const Truth passes = holds(test.filter, test, state);
    const Truth answer = holds(test.condition, test, state);
    if (passes != Truth::yes || answer == Truth::unknown) return;
    outcome_.has_races = outcome_.has_races || has_race_;
    ++outcome_.states[FinalState(state.begin(), state.begin() + std::ssize(test.observed))];
    ++(answer == Truth::yes ? outcome_.positive : outcome_.negative);
  }

  using Pairs = std::vector<std::pair<unsigned, unsigned>>;

  const EventStructure& structure_;
  Budget& budget_;
  Outcome& outcome_;
  Execution execution_;
  std::vector<unsigned> reads_;
  std::vector<unsigned> source_;  // by read
  Relation observation_{0}, causality_{0};
  Relation forbidden_{0};  // pairs that coherence order must not contain
  Pairs open_fences_, open_writes_;
  bool has_race_ = false;  // of the execution that is being counted
};

class Enumeration {
 public:
  Enumeration(const Test& test, const EnumerationOptions& options)
      : test_(test), budget_{options.choices_max} {
    for (unsigned thread = 0; thread < test.threads.size(); ++thread) {
      paths_.push_back(paths_of(test, thread, options.unroll));
      outcome_.loops_cut = outcome_.loops_cut || paths_.back().cut;
    }
  }

  Outcome run() {
    try {
      choose(0);
    } catch (const NoChoicesLeft&) {
      outcome_.choices_cut = true;
    }
    return std::move(outcome_);
  }

 private:
  void choose(std::size_t thread) {
    if (thread == paths_.size()) {
      const EventStructure structure(test_, chosen_);
      Candidates(structure, budget_, outcome_).run();
      return;
    }
    for (const Path& path : paths_[thread].paths) {
      chosen_.push_back(&path);
      choose(thread + 1);
      chosen_.pop_back();
    }
  }

  const Test& test_;
  Budget budget_;
  std::vector<Paths> paths_;
  std::vector<const Path*> chosen_;
  Outcome outcome_;
};

}  // namespace

Outcome enumerate(const Test& test, const EnumerationOptions& options) {
  return Enumeration(test, options).run();
}

}  // namespace warpcheck::model
