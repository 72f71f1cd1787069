#include "model/compare/exhaustive.hpp"

#include <utility>
#include <vector>

#include "model/barriers.hpp"
#include "model/execution.hpp"
#include "model/operators.hpp"
#include "model/paths.hpp"
#include "model/ptx_model.hpp"

namespace warpcheck::model {
namespace {

constexpr std::uint64_t kCandidatesMax = 20'000;

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

class Exhaustive {
 public:
  explicit Exhaustive(const EventStructure& structure)
      : structure_(structure), source_(structure.size()), execution_(structure) {
    structure.reads.for_each([&](unsigned read) {
      reads_.push_back(read);
      std::vector<unsigned>& writes = choices_.emplace_back();
      (structure.writes & structure.same_cell.from(read)).for_each([&](unsigned write) {
        if (write != read) writes.push_back(write);
      });
    });
    fences_ = pairs_of(structure.sc_fences);
    writes_ = pairs_of(structure.writes);
  }

  [[nodiscard]] bool is_small() const {
    std::uint64_t candidates = 1;
    for (const auto& writes : choices_) candidates *= writes.size();
    if (fences_.size() + writes_.size() > 12 || candidates > kCandidatesMax) return false;
    return candidates << (fences_.size() + writes_.size()) <= kCandidatesMax;
  }

  std::map<FinalState, std::uint64_t> run() {
    read(0);
    return std::move(states_);
  }

 private:
  [[nodiscard]] Pairs pairs_of(EventSet events) const {
    Pairs pairs;
    structure_.morally_strong.between(events, events).for_each([&](unsigned x, unsigned y) {
      if (x < y) pairs.emplace_back(x, y);
    });
    return pairs;
  }

  // One bit for each pair says which of the two is first.
  [[nodiscard]] Relation ordered(const Pairs& pairs, std::uint64_t bits) const {
    Relation order = structure_.none();
    for (std::size_t index = 0; index < pairs.size(); ++index) {
      const auto& [x, y] = pairs[index];
      (bits >> index & 1) != 0 ? order.add(x, y) : order.add(y, x);
    }
    return order;
  }

  void read(std::size_t index) {
    if (index == reads_.size()) return order();
    for (const unsigned write : choices_[index]) {
      source_[reads_[index]] = write;
      read(index + 1);
    }
  }

  void order() {
    execution_.reads_from = structure_.none();
    for (const unsigned read : reads_) execution_.reads_from.add(source_[read], read);
    if (!no_thin_air_holds(structure_, execution_.reads_from)) return;
    const Relation observation = observation_order(structure_, execution_.reads_from);
    const Evaluate evaluate = [&](unsigned thread, unsigned expression) {
      return structure_.paths[thread]->expressions[expression].value;
    };
    for (const Relation& barriers : barrier_phases(structure_, evaluate)) {
      for (std::uint64_t bits = 0; bits >> fences_.size() == 0; ++bits) {
        execution_.fence_sc = ordered(fences_, bits);
        const Relation base = base_causality_order(
            structure_, synchronizes(structure_, observation, barriers), execution_.fence_sc);
        if (!fence_sc_holds(base)) continue;
        order_writes(
            causality_order(observation, proxy_preserved_base_causality_order(structure_, base)));
      }
    }
  }

  void order_writes(const Relation& causality) {
    const Relation forced =
        causality.between(structure_.writes, structure_.writes) & structure_.same_cell;
    for (std::uint64_t bits = 0; bits >> writes_.size() == 0; ++bits) {
      const Relation chosen = ordered(writes_, bits);
      execution_.coherence = (chosen | forced).closure();
      if (coherence_holds(execution_, causality) && atomicity_holds(execution_) &&
          sc_per_location_holds(execution_) && causality_holds(execution_, causality)) {
        FinalState state;
        finish(0, state);
      }
    }
  }

  [[nodiscard]] std::int64_t written(unsigned write) const {
    const Event& event = structure_.events[write];
    if (event.thread == kNoThread) return structure_.test.cells[event.cell].initial;
    const std::int64_t operand = event.instruction->a.value;
    if (event.instruction->kind == Instruction::Kind::store) return operand;
    return calculate(event.instruction->operation, written(source_[write]), operand, {});
  }

  [[nodiscard]] std::int64_t value_of(const Term& term) const {
    const Path& path = *structure_.paths[term.thread];
    const Expression& value = path.expressions[path.registers[term.reg]];
    if (value.kind == Expression::Kind::constant) return value.value;
    return written(source_[structure_.event_of(term.thread, value.event)]);
  }

  void finish(std::size_t index, FinalState& state) {
    if (index == structure_.test.observed.size()) {
      ++states_[state];
      return;
    }
    const Term& term = structure_.test.observed[index];
    const auto with = [&](std::int64_t value) {
      state.emplace_back(value);
      finish(index + 1, state);
      state.pop_back();
    };
    if (term.kind == Term::Kind::reg) return with(value_of(term));
    const EventSet writes = structure_.writes & structure_.same_cell.from(term.cell);
    writes.for_each([&](unsigned write) {
      if ((execution_.coherence.from(write) & writes).empty()) with(written(write));
    });
  }

  const EventStructure& structure_;
  std::vector<unsigned> source_;  // by read
  Execution execution_;
  std::vector<unsigned> reads_;
  std::vector<std::vector<unsigned>> choices_;  // by read, as in reads_
  Pairs fences_, writes_;
  std::map<FinalState, std::uint64_t> states_;
};

}  // namespace

std::optional<std::map<FinalState, std::uint64_t>> exhaustive_states(const Test& test) {
  std::vector<Paths> ways;
  std::vector<const Path*> paths;
  for (unsigned thread = 0; thread < test.threads.size(); ++thread) {
    ways.push_back(paths_of(test, thread, 0));
  }
  for (const Paths& way : ways) paths.push_back(&way.paths.front());
  const EventStructure structure(test, paths);
  Exhaustive exhaustive(structure);
  if (!exhaustive.is_small()) return std::nullopt;
  return exhaustive.run();
}

}  // namespace warpcheck::model
