#include "vgpu/symbolic/obligations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "vgpu/symbolic/mixed_radix.hpp"

namespace warpcheck::vgpu::symbolic {

void Obligations::give_up(const std::string& kind, const std::string& reason,
                          const ptx::SourceLocation& location) {
  open_.insert(kind);
  if (failure_) return;
  failure_ = KernelProof{};
  failure_->answer = Answer::undecided;
  failure_->reason = reason;
  failure_->location = location;
}

void Obligations::suspect(const Assignment& values, const std::string& kind,
                          const std::vector<std::uint32_t>& instructions, const Other* other) {
  const auto value_of = [&](const z3::expr& term) -> Integer {
    if (const auto constant = number_in(term)) return *constant;
    const auto known = values.find(static_cast<std::uint32_t>(symbols_.index_of(term)));
    return known == values.end() ? 0 : known->second;
  };
  const auto dim = [&](const std::vector<z3::expr>& axes, const Other* renamed) {
    std::uint32_t extents[3];
    for (std::size_t i = 0; i < 3; ++i) {
      extents[i] = static_cast<std::uint32_t>(
          value_of(renamed == nullptr ? axes[i] : of_other(*renamed, axes[i])));
    }
    return Dim3{extents[0], extents[1], extents[2]};
  };
  KernelProof found;
  found.answer = Answer::suspected;
  found.kind = kind;
  found.suspect.block = dim(launch_.block(), nullptr);
  found.suspect.grid = dim(launch_.grid(), nullptr);
  for (const auto& [name, term] : launch_.scalars()) {
    found.suspect.scalars[name] = static_cast<std::int64_t>(value_of(term));
  }
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Other* const renamed = i == 0 ? nullptr : other;
    found.suspect.threads.push_back({dim(launch_.block_number(), renamed),
                                     dim(launch_.thread(), renamed),
                                     kernel_.body[instructions[i]].location});
  }
  found.location = kernel_.body[instructions[0]].location;
  found.reason = kind;
  failure_ = std::move(found);
}

void Obligations::require(const Path& given, const z3::expr& goal, const std::string& kind,
                          std::vector<std::uint32_t> instructions, const Other* other) {
  if (is_suspected()) return;
  const ptx::Instruction& first = kernel_.body[instructions[0]];
  questions_.set_place(first.location);
  if (questions_.follows(given, goal) == Reply::holds) return;
  // What data decides cannot be made a case.
  const Symbol* data = symbols_.data_in(goal);
  for (const z3::expr& condition : given) {
    if (data == nullptr) data = symbols_.data_in(condition);
  }
  if (data != nullptr) {
    const bool is_here = data->data.line == 0;
    return give_up(kind,
                   fmt::format("{} cannot be excluded: it depends on what {} gives", kind,
                               is_here ? "data" : "the line"),
                   is_here ? first.location : data->data);
  }
  Assignment values;
  switch (questions_.refute(given, goal, values)) {
    case Reply::holds: return;  // asked for values, the solver may come to an end that it missed
    case Reply::fails: return suspect(values, kind, instructions, other);
    default: break;
  }
  give_up(kind, fmt::format("the solver's limit: it does not find out whether there is a {}", kind),
          first.location);
}

void Obligations::check_accesses(const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    const Object& object = launch_.objects()[access.object];
    const Integer bytes = access.bytes;
    const z3::expr size = symbols_.number(bytes);
    require(access.path, access.offset >= 0 && access.offset + size <= object.bytes,
            "out-of-bounds", {access.instruction}, nullptr);
    if (is_suspected() && failure_->array.empty()) failure_->array = object.name;
    if (access.alignment <= 1) continue;
    if (object.alignment % access.alignment != 0) {
      give_up(
          "misaligned-access",
          fmt::format("{} is not known to be aligned to {} bytes", object.name, access.alignment),
          kernel_.body[access.instruction].location);
      continue;
    }
    require(access.path, z3::mod(access.offset, static_cast<int>(access.alignment)) == 0,
            "misaligned-access", {access.instruction}, nullptr);
  }
}

Obligations::Other Obligations::other_thread(Apart apart) {
  return with_own([&](const Symbol& one) {
    return apart == Apart::threads ? one.level == Level::thread : one.level != Level::launch;
  });
}

Obligations::Other Obligations::other_lane(const WarpStep& step) {
  return with_own([&](const Symbol& one) {
    const bool is_common =
        one.is_of_warp || (!one.same_in.empty() && step.place.starts_with(one.same_in));
    return one.level == Level::thread && !is_common;
  });
}

Obligations::Other Obligations::with_own(const std::function<bool(const Symbol&)>& is_own) {
  Other other{z3::expr_vector(symbols_.context()), z3::expr_vector(symbols_.context())};
  const std::size_t count = symbols_.count();
  for (std::size_t i = 0; i < count; ++i) {
    const Symbol one = symbols_.at(i);
    const std::string name = one.term.decl().name().str();
    if (name.back() == '\'' || !is_own(one)) continue;
    other.from.push_back(one.term);
    const z3::expr copy = symbols_.symbol(name + "'", one.level, one.low, one.high);
    Symbol& made = symbols_.of(copy);
    made.data = one.data;
    made.is_data = one.is_data;
    made.domain = one.domain;
    made.level = one.level;
    other.to.push_back(copy);
  }
  for (unsigned i = 0; i < other.from.size(); ++i) {
    const std::vector<z3::expr> facts = symbols_.of(other.from[i]).facts;
    Symbol& made = symbols_.of(other.to[i]);
    made.facts.clear();
    for (const z3::expr& fact : facts) made.facts.push_back(of_other(other, fact));
    if (const auto element = symbols_.of(other.from[i]).element) {
      made.element = {element->object, of_other(other, element->place),
                      of_other(other, element->is_inside)};
    }
  }
  for (unsigned i = 0; i < other.to.size(); ++i) {
    if (!symbols_.of(other.to[i]).element) continue;
    for (unsigned j = 0; j < other.from.size(); ++j) {
      const auto fact = differs_from(symbols_.of(other.to[i]), symbols_.of(other.from[j]));
      if (fact) symbols_.of(other.to[i]).facts.push_back(*fact);
    }
  }
  return other;
}

z3::expr Obligations::of_other(const Other& other, const z3::expr& term) const {
  z3::expr result = term;
  return result.substitute(other.from, other.to);
}

Path Obligations::of_other(const Other& other, const Path& path) const {
  Path result;
  for (const z3::expr& condition : path) result.push_back(of_other(other, condition));
  return result;
}

z3::expr Obligations::are_apart(const Other& other, Apart apart, Pairs pairs) {
  z3::expr differ = symbols_.context().bool_val(false);
  for (const z3::expr& axis : apart == Apart::threads ? launch_.thread() : launch_.block_number()) {
    if (!axis.is_numeral()) differ = either(differ, axis != of_other(other, axis));
  }
  if (pairs == Pairs::all || differ.is_false()) return differ;
  const z3::expr own = launch_.linear_thread();
  const z3::expr is_one_warp = own / 32 == of_other(other, own) / 32;
  return both(differ, pairs == Pairs::of_different_warps ? opposite(is_one_warp) : is_one_warp);
}

// A plain store to a counter is ordered with its operations, or races with them; so it is reset
// before all threads' operations by one instruction, or after them.
void Obligations::note_counters(const std::vector<Access>& accesses, const FlowGraph& graph) {
  for (const Access& one : accesses) {
    const bool counts = std::ranges::all_of(accesses, [&](const Access& other) {
      return other.object != one.object || !other.is_atomic || other.step == one.step;
    });
    const auto is_once = [&](const Access& other) {
      return graph.blocks()[graph.block_of(other.instruction)].loop == ptx::kNone;
    };
    if (!one.step || !counts) continue;
    if (one.before && is_once(one)) counting_.push_back(one);
    const auto increases = [&](const Access& other) {
      return other.object == one.object && other.is_atomic;
    };
    const bool are_once = std::ranges::all_of(
        accesses, [&](const Access& other) { return !increases(other) || is_once(other); });
    if (are_once) increases_of_thread_[one.object] = std::ranges::count_if(accesses, increases);
  }
}

bool Obligations::is_of_first_thread(const Access& access) {
  z3::expr_vector from(symbols_.context()), to(symbols_.context());
  for (const z3::expr& axis : launch_.thread()) {
    if (axis.is_numeral()) continue;
    from.push_back(axis);
    to.push_back(symbols_.number(0));
  }
  questions_.set_place(kernel_.body[access.instruction].location);
  return std::ranges::all_of(access.path, [&](z3::expr condition) {
    return questions_.follows({}, condition.substitute(from, to).simplify()) == Reply::holds;
  });
}

// The first thread stores a number before the first barrier, and all others add behind it: so a
// thread finds that number, and what the threads of its block add at most.
void Obligations::note_resets(const std::vector<Access>& all, const std::vector<Access>& first) {
  const auto is_in_first = [&](const Access& one) {
    return std::ranges::find(first, one.instruction, &Access::instruction) != first.end();
  };
  for (const Access& one : counting_) {
    const Object& object = launch_.objects()[one.object];
    const auto times = increases_of_thread_.find(one.object);
    const bool is_scalar = one.space == ptx::Space::shared &&
                           number_in(object.bytes) == std::optional<Integer>(one.bytes);
    if (!is_scalar || times == increases_of_thread_.end() || is_in_first(one)) continue;
    std::vector<const Access*> stores;
    for (const Access& other : all) {
      if (other.object == one.object && other.writes && !other.is_atomic) stores.push_back(&other);
    }
    const auto reset = stores.size() == 1 && stores[0]->stored && stores[0]->bytes == one.bytes
                           ? number_in(*stores[0]->stored)
                           : std::nullopt;
    if (!reset || *reset < 0 || stores[0]->stored_made_by != 0) continue;
    const auto store = std::ranges::find(first, stores[0]->instruction, &Access::instruction);
    if (store == first.end() || !is_of_first_thread(*store)) continue;
    z3::expr threads = symbols_.number(1);
    for (const z3::expr& axis : launch_.block()) threads = threads * axis;
    const z3::expr added =
        (threads * symbols_.number(times->second) - 1) * symbols_.number(*one.step);
    Symbol& symbol = symbols_.of(*one.before);
    symbol.facts.push_back(*one.before >= symbols_.number(*reset));
    symbol.facts.push_back(*one.before <= (symbols_.number(*reset) + added).simplify());
  }
}

// Only operations of the counter change it: so a thread finds what it began with, and what all
// threads of the launch add at most.
void Obligations::note_first_values(const std::vector<Access>& accesses) {
  for (const Access& one : counting_) {
    const Object& object = launch_.objects()[one.object];
    const auto times = increases_of_thread_.find(one.object);
    const auto stores = [&](const Access& other) {
      return other.object == one.object && other.writes && !other.is_atomic;
    };
    const bool is_known = one.space == ptx::Space::global && object.first_values &&
                          object.value_bytes == one.bytes && object.first_values->first >= 0 &&
                          times != increases_of_thread_.end() &&
                          std::ranges::none_of(accesses, stores);
    if (!is_known) continue;
    z3::expr threads = symbols_.number(times->second);
    for (std::size_t i = 0; i < 3; ++i) threads = threads * launch_.block()[i] * launch_.grid()[i];
    const z3::expr most =
        symbols_.number(object.first_values->second) + (threads - 1) * symbols_.number(*one.step);
    const z3::expr is_whole = most < symbols_.number(power_of_two(8 * one.bytes));
    Symbol& symbol = symbols_.of(*one.before);
    symbol.facts.push_back(z3::implies(
        is_whole.simplify(),
        *one.before >= symbols_.number(object.first_values->first) && *one.before <= most));
  }
}

// What two threads are given by a counter that takes `threads` steps at most, modulo its size.
z3::expr Obligations::are_few_steps_apart(const Access& one, const z3::expr& distance,
                                          const z3::expr& threads) {
  const auto times = increases_of_thread_.find(one.object);
  if (times == increases_of_thread_.end()) return symbols_.context().bool_val(true);
  const z3::expr most = (threads * symbols_.number(times->second) - 1) * symbols_.number(*one.step);
  const z3::expr size = symbols_.number(power_of_two(8 * one.bytes));
  return (distance <= most && distance >= -most) || distance >= size - most ||
         distance <= most - size;
}

void Obligations::add_counters(Path& path, const Other& other, Apart apart) {
  std::set<std::uint32_t> used;
  for (const z3::expr& condition : path) {
    const std::vector<std::uint32_t>& in = symbols_.in(condition);
    used.insert(in.begin(), in.end());
  }
  z3::expr threads = symbols_.number(1);
  for (std::size_t i = 0; i < 3; ++i) threads = threads * launch_.block()[i] * launch_.grid()[i];
  threads = threads.simplify();
  for (const Access& one : counted_) {
    if (one.space != ptx::Space::global && apart == Apart::blocks) continue;
    const z3::expr of_b = of_other(other, *one.before);
    if (!used.contains(static_cast<std::uint32_t>(symbols_.index_of(*one.before))) ||
        !used.contains(static_cast<std::uint32_t>(symbols_.index_of(of_b)))) {
      continue;
    }
    // It does not wrap around to a number that it gave before.
    const z3::expr most = symbols_.number(power_of_two(8 * one.bytes) / *one.step);
    const z3::expr is_one_counter = one.offset == of_other(other, one.offset);
    path.push_back(
        z3::implies(is_one_counter && (threads <= most).simplify(), *one.before != of_b));
    if (threads.is_numeral()) {
      path.push_back(
          z3::implies(is_one_counter, are_few_steps_apart(one, *one.before - of_b, threads)));
    }
  }
}

std::vector<Access> Obligations::common_loads(const std::vector<Access>& accesses) {
  std::vector<Access> loads;
  std::ranges::copy_if(accesses, std::back_inserter(loads), [](const Access& one) {
    return one.loaded && one.space != ptx::Space::local;
  });
  return loads;
}

void Obligations::note_loads(const std::vector<Access>& accesses) {
  relates_loads_ = true;
  for (const Access& one : common_loads(accesses)) {
    const bool is_constant =
        one.space != ptx::Space::shared && std::ranges::none_of(accesses, [&](const Access& other) {
          return other.object == one.object && other.writes;
        });
    (is_constant ? constant_loads_ : loads_).push_back(one);
  }
}

bool Obligations::is_of_one_interval(const Access& load, const Other& other) {
  for (std::size_t i = 0; i < symbols_.count(); ++i) {
    const Symbol& one = symbols_.at(i);
    if (!one.meets_barriers || !load.place.starts_with(one.same_in)) continue;
    if (of_other(other, one.term).id() != one.term.id()) return false;
  }
  return true;
}

// Between two barriers nobody else stores to a place that a thread loads from, or there is a race.
// For the same reason no thread stores to what threads of two blocks load.
void Obligations::add_loads(Path& path, const Other& other, Apart apart, const z3::expr* goal) {
  if (!relates_loads_) return;
  std::set<std::uint32_t> used;
  const auto add = [&](const z3::expr& condition) {
    const std::vector<std::uint32_t>& in = symbols_.in(condition);
    used.insert(in.begin(), in.end());
  };
  for (const z3::expr& condition : path) add(condition);
  if (goal != nullptr) add(*goal);
  const auto is_used = [&](const z3::expr& value) {
    return used.contains(static_cast<std::uint32_t>(symbols_.index_of(value)));
  };
  const auto relate = [&](const Access& one) {
    const z3::expr of_b = of_other(other, *one.loaded);
    path.push_back(z3::implies(one.offset == of_other(other, one.offset), *one.loaded == of_b));
  };
  const auto is_in_question = [&](const Access& one) {
    const z3::expr of_b = of_other(other, *one.loaded);
    return of_b.id() != one.loaded->id() && is_used(*one.loaded) && is_used(of_b);
  };
  for (const Access& one : constant_loads_) {
    if (is_in_question(one)) relate(one);
  }
  for (const Access& one : loads_) {
    if (!is_in_question(one)) continue;
    const bool is_same_time =
        apart == Apart::blocks ? one.space == ptx::Space::global : is_of_one_interval(one, other);
    if (is_same_time) relate(one);
  }
  if (apart == Apart::blocks) return;
  for (const Access& one : loads_of_interval_) {
    if (is_in_question(one)) relate(one);
  }
}

bool Obligations::have_different_digits(const Path& of_a, const z3::expr& x, const Path& of_b,
                                        const z3::expr& y, const Path& given) {
  const auto equal = MixedRadix(symbols_, questions_).are_equal(x, of_a, y, of_b);
  if (!equal) return false;
  const z3::expr differ = opposite(*equal);
  if (questions_.follows_easily(given, differ) == Reply::holds) return true;
  Path path = given;
  path.insert(path.end(), of_a.begin(), of_a.end());
  path.insert(path.end(), of_b.begin(), of_b.end());
  return questions_.follows_easily(path, differ) == Reply::holds;
}

// `begin[h] = h` of an h that data says: whoever stores to one place stores the same.
bool Obligations::store_what_the_place_says(const Access& a, const Access& b, const Other& other,
                                            const Path& path) {
  const bool are_alike = a.stored && b.stored && a.stored_made_by == b.stored_made_by &&
                         a.bytes == b.bytes && symbols_.data_in(*a.stored) != nullptr &&
                         symbols_.data_in(*b.stored) != nullptr;
  if (!are_alike) return false;
  const z3::expr same = *a.stored == of_other(other, *b.stored);
  return questions_.follows_easily(path, same) == Reply::holds;
}

void Obligations::check_race(const Access& a, const Access& b, const Other& other, Apart apart,
                             const Path& given) {
  Path path = given;
  path.insert(path.end(), a.path.begin(), a.path.end());
  const Path of_b = of_other(other, b.path);
  path.insert(path.end(), of_b.begin(), of_b.end());
  const z3::expr x = a.offset, y = of_other(other, b.offset);
  // Accesses of one size are aligned, or something else was found already.
  const z3::expr meet =
      a.bytes == b.bytes ? x == y
                         : x < y + static_cast<int>(b.bytes) && y < x + static_cast<int>(a.bytes);
  path.push_back(meet);
  // Two stores of the same value are no error.
  if (a.stored && b.stored && a.stored_made_by == b.stored_made_by && a.bytes == b.bytes &&
      symbols_.data_in(*a.stored) == nullptr && symbols_.data_in(*b.stored) == nullptr) {
    path.push_back(*a.stored != of_other(other, *b.stored));
  }
  if (!counted_.empty()) add_counters(path, other, apart);
  questions_.set_place(kernel_.body[a.instruction].location);
  if (questions_.follows_easily(path, opposite(meet)) == Reply::holds) return;
  if (a.bytes == b.bytes && have_different_digits(a.path, x, of_b, y, given)) return;
  if (store_what_the_place_says(a, b, other, path)) return;
  // Most questions need no loads, and take longer with them.
  const z3::expr never = symbols_.context().bool_val(false);
  Path with_loads = path;
  add_loads(with_loads, other, apart);
  if (with_loads.size() > path.size() && questions_.follows(path, opposite(meet)) == Reply::holds) {
    return;
  }
  require(with_loads, never, "data-race", {a.instruction, b.instruction}, &other);
}

void Obligations::check_races(const std::vector<Access>& accesses, Apart apart, Pairs pairs) {
  const Other other = other_thread(apart);
  const z3::expr differ = are_apart(other, apart, pairs);
  if (differ.is_false()) return;
  counted_ = counting_;
  std::ranges::copy_if(accesses, std::back_inserter(counted_), [&](const Access& one) {
    return one.before &&
           std::ranges::find(counting_, one.instruction, &Access::instruction) != counting_.end();
  });
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& a = accesses[i];
    // The two threads may change places.
    for (std::size_t j = i; j < accesses.size(); ++j) {
      const Access& b = accesses[j];
      // Morally strong operations do not race (PTX ISA 8.7).  Volatile ones may hand data on
      // without any order: a run says whether that is a defect.
      const bool is_scope_enough = apart == Apart::threads || !(a.is_of_block || b.is_of_block);
      const bool are_strong = a.is_strong && b.is_strong && a.bytes == b.bytes && is_scope_enough &&
                              !(a.is_volatile && b.is_volatile);
      const bool conflict = a.object == b.object && (a.writes || b.writes) && !are_strong;
      const bool is_common = a.space == ptx::Space::global ||
                             (a.space == ptx::Space::shared && apart == Apart::threads);
      if (!conflict || !is_common || is_suspected()) continue;
      Path given{differ};
      if (pairs == Pairs::of_one_lockstep_warp && are_ordered_in_lockstep(a, b, other, given)) {
        continue;
      }
      check_race(a, b, other, apart, given);
    }
  }
}

// Lanes execute an instruction at once, in the same iteration.
bool Obligations::are_ordered_in_lockstep(const Access& a, const Access& b, const Other& other,
                                          Path& given) {
  if (!lockstep_->orders(a.instruction, b.instruction)) return false;
  if (a.instruction != b.instruction) return true;
  for (const z3::expr& condition : a.path) {
    for (const std::uint32_t index : symbols_.in(condition)) {
      const Symbol& symbol = symbols_.at(index);
      if (symbol.counts_iterations) given.push_back(symbol.term == of_other(other, symbol.term));
    }
  }
  return false;
}

void Obligations::check_interval(const WalkResult& interval, Pairs pairs) {
  const Other other = other_thread(Apart::threads);
  const z3::expr differ = are_apart(other, Apart::threads, pairs);
  if (differ.is_false()) return;
  loads_of_interval_ = common_loads(interval.events.accesses);
  const auto together = [&](const Path& a, const Path& b) {
    Path path = a;
    const Path of_b = of_other(other, b);
    path.insert(path.end(), of_b.begin(), of_b.end());
    path.push_back(differ);
    add_loads(path, other, Apart::threads);
    return path;
  };
  for (std::size_t i = 0; i < interval.arrivals.size(); ++i) {
    const Arrival& a = interval.arrivals[i];
    for (std::size_t j = i + 1; j < interval.arrivals.size(); ++j) {
      const Arrival& b = interval.arrivals[j];
      require(together(a.state.path, b.state.path), symbols_.context().bool_val(false),
              "barrier-divergence", {a.barrier, b.barrier}, &other);
    }
  }
  for (const Arrival& a : interval.arrivals) {
    if (pairs == Pairs::of_one_warp || pairs == Pairs::of_one_lockstep_warp) break;
    const auto may_have_left = [&](const Path& way) {
      questions_.set_place(kernel_.body[a.barrier].location);
      return questions_.follows_easily(together(a.state.path, way),
                                       symbols_.context().bool_val(false)) == Reply::fails;
    };
    if (!left_barriers_.contains(a.barrier) && std::ranges::any_of(interval.ends, may_have_left)) {
      left_barriers_.insert(a.barrier);
    }
  }
  // A barrier waits for threads that have not ended, so what a thread did before its end is ordered
  // before what others do behind any later barrier.
  check_races(interval.events.accesses, Apart::threads, pairs);
}

void Obligations::check_assertions(const std::vector<FailedAssertion>& failed) {
  for (const FailedAssertion& one : failed) {
    require(one.path, symbols_.context().bool_val(false), "trap", {one.instruction}, nullptr);
  }
}

void Obligations::check_blocks(const std::vector<Access>& accesses) {
  check_races(accesses, Apart::blocks, Pairs::all);
}

void Obligations::check_warp_steps(const std::vector<WarpStep>& steps) {
  const z3::expr own = launch_.linear_thread();
  std::map<std::string, Other> others;
  for (const WarpStep& step : steps) {
    if (!others.contains(step.place)) others.emplace(step.place, other_lane(step));
    const Other& other = others.at(step.place);
    const z3::expr differ = are_apart(other, Apart::threads);
    if (differ.is_false()) return;
    Path given = step.path;
    given.push_back(differ);
    given.push_back(own / 32 == of_other(other, own) / 32);
    const z3::expr goal = conjunction(symbols_.context(), of_other(other, step.path));
    add_loads(given, other, Apart::threads, &goal);
    require(given, goal, "barrier-divergence", {step.instruction, step.instruction}, &other);
  }
}

}  // namespace warpcheck::vgpu::symbolic
