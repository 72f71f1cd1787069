#include "vgpu/program/flow/dependence.hpp"

#include <algorithm>

#include "vgpu/program/flow/bits.hpp"

namespace warpcheck::vgpu {
Dependence::Dependence(const RegisterFlow& flow, std::uint32_t pc,
                       std::optional<MemoryOperand> element, std::uint32_t from)
    : flow_(flow),
      source_(pc),
      from_(from),
      element_(element),
      at_begin_(flow.graph().blocks().size()) {
  const BlockGraph& graph = flow.graph();
  const std::uint32_t first = graph.block_of(flow.program().functions[0].entry);
  at_begin_[first] = start();
  const auto after = [&](std::uint32_t block) {
    State state = at_begin_[block];
    const auto [begin, end] = graph.blocks()[block];
    for (std::uint32_t at = begin; at < end; ++at) execute(state, at);
    return state;
  };
  follow_paths(graph, first, after, [this](std::uint32_t next, const State& state) {
    return join(at_begin_[next], state);
  });
}

// A register that covers nothing covers all of zero executions.
Dependence::State Dependence::start() const {
  const std::size_t words = (flow_.registers() + 63) / 64;
  return {.older = Bits(words, ~std::uint64_t{0}),
          .latest = Bits(words, ~std::uint64_t{0}),
          .is_reached = true,
          .none = true};
}

// Keeps the facts that hold on both paths.  Returns whether that removed any.
bool Dependence::join(State& into, const State& from) {
  if (!into.is_reached) {
    into = from;
    return true;
  }
  bool changed = into.none && !from.none;
  into.none = into.none && from.none;
  const auto meet = [&](Bits& a, const Bits& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      changed |= (a[i] & ~b[i]) != 0;
      a[i] &= b[i];
    }
  };
  meet(into.older, from.older);
  meet(into.latest, from.latest);
  return changed;
}

void Dependence::execute(State& state, std::uint32_t pc) const {
  const Ref& guard = flow_.program().code[pc].guard;
  if (pc == from_ && guard.bank == Bank::none) {
    state = start();
    return;
  }
  if (flow_.is_opaque(pc)) {
    std::ranges::fill(state.older, 0);
    std::ranges::fill(state.latest, 0);
    return;
  }
  if (pc == source_) return execute_source(state, pc);
  if (flow_.writes(pc).empty()) return;
  bool older = state.none, latest = state.none;
  for (const std::uint32_t from : flow_.reads(pc)) {
    older |= test(state.older, from);
    latest |= test(state.latest, from);
  }
  const std::uint32_t by = flow_.register_of(pc, guard);
  for (const std::uint32_t to : flow_.writes(pc)) {
    // If the guard is false, the old value stays; a reader of the register waits for the guard in
    // any case.
    const bool guarded = guard.bank != Bank::none;
    assign(state.older, to, older && (!guarded || test(state.older, to) || test(state.older, by)));
    assign(state.latest, to,
           latest && (!guarded || test(state.latest, to) || test(state.latest, by)));
  }
}

void Dependence::execute_source(State& state, std::uint32_t pc) const {
  const State skipped = state;
  const bool first = state.none;
  bool older = first;
  for (const std::uint32_t from : flow_.reads(pc)) {
    older |= test(state.older, from) && test(state.latest, from);
  }
  for (std::size_t i = 0; i < state.older.size(); ++i) {
    state.older[i] &= state.latest[i];
    state.latest[i] = 0;
  }
  state.none = false;
  const Instr& instr = flow_.program().code[pc];
  const std::uint32_t wanted = element_ ? flow_.register_of(pc, instr[*element_]) : ptx::kNone;
  for (const std::uint32_t to : flow_.writes(pc)) {
    assign(state.older, to, older);
    assign(state.latest, to, !element_ || to == wanted);
  }
  if (instr.guard.bank != Bank::none) join(state, skipped);
}

Dependence::State Dependence::before(std::uint32_t pc) const {
  const std::uint32_t block = flow_.graph().block_of(pc);
  State state = at_begin_[block];
  if (!state.is_reached) return state;
  for (std::uint32_t at = flow_.graph().blocks()[block].begin; at < pc; ++at) execute(state, at);
  return state;
}

bool Dependence::covers_all(std::uint32_t pc, const std::vector<std::uint32_t>& registers) const {
  const State state = before(pc);
  return state.is_reached && std::ranges::any_of(registers, [&](std::uint32_t at) {
           return test(state.older, at) && test(state.latest, at);
         });
}

bool Dependence::covers_latest(std::uint32_t pc,
                               const std::vector<std::uint32_t>& registers) const {
  const State state = before(pc);
  return state.is_reached &&
         std::ranges::any_of(registers, [&](std::uint32_t at) { return test(state.latest, at); });
}

}  // namespace warpcheck::vgpu
