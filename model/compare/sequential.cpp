#include "model/compare/sequential.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace warpcheck::model {
namespace {

struct Machine {
  std::vector<std::int64_t> memory;
  std::vector<std::vector<std::int64_t>> registers;
  std::vector<std::size_t> at;
  auto operator<=>(const Machine&) const = default;
};

class Interleavings {
 public:
  explicit Interleavings(const Test& test) : test_(test) {}

  std::set<FinalState> run() {
    Machine machine;
    for (const Cell& cell : test_.cells) machine.memory.push_back(cell.initial);
    for (const Thread& thread : test_.threads) machine.registers.push_back(thread.initial);
    machine.at.resize(test_.threads.size());
    visit(std::move(machine));
    return std::move(states_);
  }

 private:
  void visit(Machine machine) {
    if (!seen_.insert(machine).second) return;
    bool ended = true;
    for (std::size_t thread = 0; thread < machine.at.size(); ++thread) {
      if (machine.at[thread] == test_.threads[thread].code.size()) continue;
      ended = false;
      const Instruction& code = test_.threads[thread].code[machine.at[thread]];
      Machine next = machine;
      if (code.kind == Instruction::Kind::barrier_sync) {
        if (!arrive(next, thread, static_cast<std::size_t>(code.a.value))) continue;
      } else {
        execute(next, thread, code);
        ++next.at[thread];
      }
      visit(std::move(next));
    }
    if (!ended) return;
    FinalState state;
    for (const Term& term : test_.observed) {
      state.push_back(term.kind == Term::Kind::reg ? machine.registers[term.thread][term.reg]
                                                   : machine.memory[term.cell]);
    }
    states_.insert(state);
  }

  // Whether all threads of the block that still use the barrier have arrived; then all continue.
  bool arrive(Machine& machine, std::size_t thread, std::size_t barrier) const {
    std::vector<std::size_t> together;
    for (std::size_t other = 0; other < machine.at.size(); ++other) {
      if (test_.threads[other].cta != test_.threads[thread].cta || !uses(machine, other, barrier)) {
        continue;
      }
      const Instruction& code = test_.threads[other].code[machine.at[other]];
      const bool is_there = code.kind == Instruction::Kind::barrier_sync &&
                            static_cast<std::size_t>(code.a.value) == barrier;
      if (!is_there) return false;
      together.push_back(other);
    }
    for (const std::size_t other : together) ++machine.at[other];
    return true;
  }
  [[nodiscard]] bool uses(const Machine& machine, std::size_t thread, std::size_t barrier) const {
    const std::vector<Instruction>& code = test_.threads[thread].code;
    for (std::size_t at = machine.at[thread]; at < code.size(); ++at) {
      if (code[at].kind == Instruction::Kind::barrier_sync &&
          static_cast<std::size_t>(code[at].a.value) == barrier) {
        return true;
      }
    }
    return false;
  }

  void execute(Machine& machine, std::size_t thread, const Instruction& code) const {
    using Kind = Instruction::Kind;
    if (code.kind == Kind::fence) return;
    std::int64_t& cell = machine.memory[test_.addresses.at(code.address.base)];
    const std::int64_t old = cell;
    if (code.kind != Kind::store && code.destination) {
      machine.registers[thread][*code.destination] = old;
    }
    if (code.kind == Kind::load) return;
    if (code.kind == Kind::store) {
      cell = code.a.value;
      return;
    }
    switch (code.operation) {
      case Operator::add: cell = old + code.a.value; break;
      case Operator::exch: cell = code.a.value; break;
      case Operator::max: cell = old < code.a.value ? code.a.value : old; break;
      default: throw std::logic_error("random tests have no such atomic");
    }
  }

  const Test& test_;
  std::set<Machine> seen_;
  std::set<FinalState> states_;
};

}  // namespace

std::set<FinalState> sequential_states(const Test& test) { return Interleavings(test).run(); }

}  // namespace warpcheck::model
