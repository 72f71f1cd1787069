#include "model/paths.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "model/control_flow.hpp"
#include "model/operators.hpp"

namespace warpcheck::model {
namespace {

constexpr std::size_t kPathsMax = 200'000;

using Kind = Instruction::Kind;

// A path so far.
struct State {
  Path path;
  unsigned at = 0;  // instruction
  struct Branch {
    unsigned at;
    EventSet reads;  // on which its condition depends
  };
  std::vector<Branch> branches;
  std::map<unsigned, unsigned> taken_backwards;  // by branch
  struct Round {
    std::vector<unsigned> registers;
    std::size_t events;
  };
  std::map<unsigned, Round> rounds;  // by first instruction of a loop
};

std::vector<bool> wanted_registers(const Test& test, unsigned thread) {
  std::vector<bool> wanted(test.threads[thread].registers.size());
  for (const Term& term : test.asked) {
    if (term.kind == Term::Kind::reg && term.thread == thread) wanted[term.reg] = true;
  }
  return wanted;
}

class Explorer {
 public:
  Explorer(const Test& test, unsigned thread, unsigned unroll)
      : test_(test),
        thread_(test.threads[thread]),
        flow_(thread_, wanted_registers(test, thread)),
        unroll_(unroll) {}

  Paths run() {
    State state;
    for (const std::int64_t initial : thread_.initial) {
      state.path.registers.push_back(constant(state, initial));
    }
    follow(std::move(state));
    return std::move(paths_);
  }

 private:
  // --- expressions -------------------------------------------------------------------------------

  // Equal expressions have equal indices, so that registers can be compared by them.
  static unsigned intern(State& state, const Expression& wanted) {
    std::vector<Expression>& all = state.path.expressions;
    for (unsigned index = 0; index < all.size(); ++index) {
      const Expression& other = all[index];
      if (other.kind == wanted.kind && other.value == wanted.value && other.event == wanted.event &&
          other.operation == wanted.operation && other.type.bits == wanted.type.bits &&
          other.type.is_signed == wanted.type.is_signed && other.a == wanted.a &&
          other.b == wanted.b) {
        return index;
      }
    }
    all.push_back(wanted);
    return static_cast<unsigned>(all.size() - 1);
  }

  static unsigned constant(State& state, std::int64_t value) {
    Expression made;
    made.value = value;
    return intern(state, made);
  }

  static unsigned value(State& state, const Operand& operand) {
    return operand.kind == Operand::Kind::reg ? state.path.registers[operand.reg]
                                              : constant(state, operand.value);
  }

  // Constants are folded, and so are results that do not depend on their operands: an
  // implementation may find that out, too, by "any chain of reasoning" (PTX ISA 8.10.4).
  static unsigned calculated(State& state, Operator operation, unsigned a, unsigned b,
                             ValueType type) {
    const Expression x = state.path.expressions[a], y = state.path.expressions[b];
    const bool x_known = x.kind == Expression::Kind::constant;
    const bool y_known = y.kind == Expression::Kind::constant;
    if (x_known && y_known) return constant(state, calculate(operation, x.value, y.value, type));
    if (operation == Operator::exch || operation == Operator::copy) {
      const unsigned only = operation == Operator::exch ? b : a;
      if (type.bits == 64) return only;
      if (state.path.expressions[only].kind == Expression::Kind::constant) {
        return constant(state, wrap(state.path.expressions[only].value, type));
      }
      operation = Operator::copy;
      a = b = only;
    }
    const bool zero = (x_known && x.value == 0) || (y_known && y.value == 0);
    if ((operation == Operator::mul || operation == Operator::bit_and) && zero) {
      return constant(state, 0);
    }
    if (a == b && (operation == Operator::bit_xor || operation == Operator::sub)) {
      return constant(state, 0);
    }
    Expression made;
    made.kind = Expression::Kind::calculated;
    made.operation = operation;
    made.type = type;
    made.a = a;
    made.b = b;
    made.reads = state.path.expressions[a].reads | state.path.expressions[b].reads;
    return intern(state, made);
  }

  static unsigned read(State& state, unsigned event) {
    Expression made;
    made.kind = Expression::Kind::read;
    made.event = event;
    made.reads.insert(event);
    return intern(state, made);
  }

  static Operator opposite(Operator comparison) {
    switch (comparison) {
      case Operator::eq: return Operator::ne;
      case Operator::ne: return Operator::eq;
      case Operator::lt: return Operator::ge;
      case Operator::ge: return Operator::lt;
      case Operator::gt: return Operator::le;
      default: return Operator::gt;
    }
  }

  // Whether the path so far decides the comparison.  Only what loops need is recognised: earlier
  // decisions, and comparisons of a value that equals a constant.
  static std::optional<bool> decided(const State& state, unsigned comparison) {
    const std::vector<Expression>& all = state.path.expressions;
    const Expression& asked = all[comparison];
    if (asked.kind == Expression::Kind::constant) return asked.value != 0;
    for (const unsigned condition : state.path.conditions) {
      const Expression& known = all[condition];
      if (condition == comparison) return true;
      if (known.a != asked.a) continue;
      if (known.b == asked.b && known.operation == opposite(asked.operation)) return false;
      if (known.operation == Operator::eq && all[known.b].kind == Expression::Kind::constant &&
          all[asked.b].kind == Expression::Kind::constant) {
        return calculate(asked.operation, all[known.b].value, all[asked.b].value, asked.type) != 0;
      }
    }
    return std::nullopt;
  }

  // Restricts the state to the case that the comparison holds; false: it cannot hold.
  static bool suppose(State& state, unsigned comparison) {
    const std::optional<bool> known = decided(state, comparison);
    if (!known) state.path.conditions.push_back(comparison);
    return known.value_or(true);
  }

  // --- the walk ----------------------------------------------------------------------------------

  void follow(State state) {
    while (state.at < thread_.code.size()) {
      if (flow_.begins_loop(state.at) && is_repeated(state)) return;
      const Instruction& code = thread_.code[state.at];
      switch (code.kind) {
        case Kind::load:
        case Kind::store:
        case Kind::atomic:
        case Kind::reduction:
          if (!access(state, code)) return;
          break;
        case Kind::fence: add(state, PathEvent::Kind::fence, code); break;
        case Kind::proxy_fence: add(state, PathEvent::Kind::proxy_fence, code); break;
        case Kind::alias_fence: add(state, PathEvent::Kind::alias_fence, code); break;
        case Kind::barrier_sync:
        case Kind::barrier_arrive: barrier(state, code); break;
        case Kind::cluster_arrive: add(state, PathEvent::Kind::cluster_arrive, code); break;
        case Kind::cluster_wait: add(state, PathEvent::Kind::cluster_wait, code); break;
        case Kind::calculate: {
          const unsigned a = value(state, code.a), b = value(state, code.b);
          set(state, code, calculated(state, code.operation, a, b, code.type));
          break;
        }
        case Kind::branch:
          if (!branch(state, code)) return;
          continue;
        case Kind::jump:
          if (!go(state, code.target)) return;
          continue;
      }
      ++state.at;
    }
    keep(std::move(state));
  }

  void keep(State state) {
    if (paths_.paths.size() == kPathsMax) {
      throw LitmusError(thread_.place, fmt::format("P{} has more than {} ways through its code; "
                                                   "a lower --unroll gives fewer",
                                                   thread_.number, kPathsMax));
    }
    paths_.paths.push_back(std::move(state.path));
  }

  static void set(State& state, const Instruction& code, unsigned expression) {
    if (code.destination) state.path.registers[*code.destination] = expression;
  }

  PathEvent& add(State& state, PathEvent::Kind kind, const Instruction& code) {
    if (state.path.events.size() + 1 >= kEventsMax) {
      throw LitmusError(code.place, fmt::format("P{} has more than {} events; a lower --unroll "
                                                "gives fewer",
                                                thread_.number, kEventsMax));
    }
    PathEvent& event = state.path.events.emplace_back();
    event.kind = kind;
    event.instruction = &code;
    for (const State::Branch& branch : state.branches) {
      if (flow_.depends(state.at, branch.at)) event.depends_on |= branch.reads;
    }
    return event;
  }

  // False: a loop was taken too often.
  bool go(State& state, unsigned target) {
    if (target <= state.at && ++state.taken_backwards[state.at] > unroll_) {
      paths_.cut = true;
      return false;
    }
    state.at = target;
    return true;
  }

  // Whether the state is that of an earlier beginning of this loop, and nothing observable was done
  // since.
  bool is_repeated(State& state) {
    const auto [at, is_first] = state.rounds.try_emplace(state.at);
    State::Round& round = at->second;
    bool repeated = !is_first;
    for (std::size_t event = round.events; repeated && event < state.path.events.size(); ++event) {
      const PathEvent& done = state.path.events[event];
      repeated =
          !done.writes &&
          (done.kind == PathEvent::Kind::memory || done.kind == PathEvent::Kind::fence ||
           done.kind == PathEvent::Kind::proxy_fence || done.kind == PathEvent::Kind::alias_fence);
    }
    const std::vector<bool>& live = flow_.live_before(state.at);
    for (std::size_t reg = 0; repeated && reg < live.size(); ++reg) {
      repeated = !live[reg] || round.registers[reg] == state.path.registers[reg];
    }
    if (!repeated) round = {state.path.registers, state.path.events.size()};
    return repeated;
  }

  bool branch(State& state, const Instruction& code) {
    const unsigned a = value(state, code.a), b = value(state, code.b);
    const unsigned taken = calculated(state, code.operation, a, b, {});
    const EventSet reads = state.path.expressions[taken].reads;
    if (!reads.empty()) state.branches.push_back({state.at, reads});
    State other = state;
    if (suppose(other, calculated(other, opposite(code.operation), a, b, {}))) {
      ++other.at;
      follow(std::move(other));
    }
    return suppose(state, taken) && go(state, code.target);
  }

  // --- accesses ----------------------------------------------------------------------------------

  // If registers decide which location is accessed, there is a path for each location.
  bool access(State& state, const Instruction& code) {
    if (code.address.index.kind == Operand::Kind::none) {
      if (!test_.addresses.contains(code.address.base)) {
        throw LitmusError(code.place, "the access is to no location that was declared");
      }
      return access_at(state, code, code.address.base, {});
    }
    const unsigned index = value(state, code.address.index);
    const unsigned scaled =
        calculated(state, Operator::mul, index, constant(state, code.address.scale), {});
    const unsigned address =
        calculated(state, Operator::add, scaled, constant(state, code.address.base), {});
    const EventSet reads = state.path.expressions[address].reads;
    State nowhere = state;
    for (const auto& [candidate, cell] : test_.addresses) {
      State chosen = state;
      const unsigned wanted = constant(chosen, candidate);
      if (suppose(chosen, calculated(chosen, Operator::eq, address, wanted, {})) &&
          access_at(chosen, code, candidate, reads)) {
        ++chosen.at;
        follow(std::move(chosen));
      }
      const unsigned other = constant(nowhere, candidate);
      if (!suppose(nowhere, calculated(nowhere, Operator::ne, address, other, {}))) return false;
    }
    nowhere.path.fault = &code;
    keep(std::move(nowhere));
    return false;
  }

  // False: all continuations have been followed.
  bool access_at(State& state, const Instruction& code, std::int64_t address, EventSet reads) {
    const auto index = static_cast<unsigned>(state.path.events.size());
    const unsigned a = value(state, code.a), b = value(state, code.b);
    PathEvent& event = add(state, PathEvent::Kind::memory, code);
    event.address = address;
    event.reads = code.kind != Kind::store;
    event.depends_on |= reads;
    if (code.kind == Kind::load) {
      set(state, code, read(state, index));
      return true;
    }
    if (code.kind == Kind::store) {
      event.writes = true;
      event.value = calculated(state, Operator::copy, a, a, code.type);
    } else {
      const unsigned old = read(state, index);
      set(state, code, old);
      const bool is_swap = code.operation == Operator::cas;
      if (is_swap) {
        failed_swap(state, code, old, a);
        if (!suppose(state, calculated(state, Operator::eq, old, a, code.type))) return false;
      }
      PathEvent& written = state.path.events.back();
      written.writes = true;
      written.value = is_swap ? calculated(state, Operator::copy, b, b, code.type)
                              : calculated(state, code.operation, old, a, code.type);
    }
    PathEvent& done = state.path.events.back();
    done.depends_on |= state.path.expressions[done.value].reads;
    done.depends_on.erase(index);
    return true;
  }

  // A compare-and-swap that finds another value is a read (PTX ISA 8.4).
  void failed_swap(const State& state, const Instruction& code, unsigned old, unsigned compared) {
    State failed = state;
    if (suppose(failed, calculated(failed, Operator::ne, old, compared, code.type))) {
      ++failed.at;
      follow(std::move(failed));
    }
  }

  // --- barriers ----------------------------------------------------------------------------------

  void barrier(State& state, const Instruction& code) {
    const unsigned a = value(state, code.a);
    const unsigned b =
        code.b.kind == Operand::Kind::none ? constant(state, -1) : value(state, code.b);
    const unsigned arrivals = value(state, code.arrivals);
    const auto name = [&](PathEvent& event) {
      event.id_a = a;
      event.id_b = b;
      event.arrivals = arrivals;
    };
    name(add(state, PathEvent::Kind::barrier_arrive, code));
    if (code.kind == Kind::barrier_arrive) return;
    if (code.arrivals.kind != Operand::Kind::none) {
      State stuck = state;
      stuck.path.is_stuck = true;
      stuck.path.unknown = flow_.set_from(state.at);
      keep(std::move(stuck));
    }
    name(add(state, PathEvent::Kind::barrier_wait, code));
  }

  const Test& test_;
  const Thread& thread_;
  ControlFlow flow_;
  unsigned unroll_;
  Paths paths_;
};

}  // namespace

Paths paths_of(const Test& test, unsigned thread, unsigned unroll) {
  return Explorer(test, thread, unroll).run();
}

}  // namespace warpcheck::model
