#include "vgpu/symbolic/walk.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpcheck::vgpu::symbolic {
namespace {

// From this iteration of an interval on, a loop around barriers is summarised: what comes back to
// its header has met none.
constexpr unsigned kSummarised = 2;
constexpr Integer kThreadsOfBlockMost = 1'024;

bool is_of_whole_block(const ptx::Instruction& barrier) {
  const std::size_t results = barrier.modifiers.red ? 1 : 0;  // and the threads' own values
  return barrier.guard == ptx::kNone && !barrier.modifiers.arrive &&
         barrier.operands.size() == 1 + 2 * results &&
         barrier.operands[results].kind == ptx::Operand::Kind::immediate;
}

}  // namespace

ThreadState Walk::at_begin() const {
  ThreadState state;
  state.registers.resize(kernel_.registers.size());
  return state;
}

WalkResult Walk::whole_kernel() {
  WalkResult result;
  Region region{ptx::kNone, false, name_, &result};
  wait_at(region, {0, graph_.blocks()[0].begin, {}, at_begin()});
  run(region);
  return result;
}

WalkResult Walk::first_interval() {
  WalkResult result;
  Region region{ptx::kNone, true, name_ + "first:", &result};
  wait_at(region, {0, graph_.blocks()[0].begin, {}, at_begin()});
  run(region);
  return result;
}

WalkResult Walk::interval_after(const Arrival& arrival, const std::string& name) {
  WalkResult result;
  Region region{ptx::kNone, true, name_ + name + ":", &result};
  const std::uint32_t block = graph_.block_of(arrival.barrier);
  Iterations iterations;
  for (const std::uint32_t loop : graph_.loops_around(block)) iterations[loop] = 0;
  wait_at(region, {block, arrival.barrier + 1, iterations, arrival.state});
  run(region);
  return result;
}

bool Walk::is_possible(const Path& path) {
  return questions_.follows(path, symbols_.context().bool_val(false)) != Reply::holds;
}

// Orders places so that all ways to a place come before it: a loop comes before what follows it,
// and one iteration before the next.
Walk::Place Walk::place_of(const Region& region, const Item& item) const {
  Place place;
  if (region.is_interval) {
    for (const std::uint32_t loop : graph_.loops_around(item.block)) {
      const auto iteration = item.iterations.find(loop);
      if (iteration == item.iterations.end()) continue;
      place.push_back(graph_.blocks()[graph_.loops()[loop].header].place);
      place.push_back(iteration->second);
    }
  }
  place.push_back(graph_.blocks()[item.block].place);
  return place;
}

std::string Walk::prefix_of(const Region& region, const Item& item) const {
  std::string prefix = region.prefix;
  for (const auto& [loop, iteration] : item.iterations)
    prefix += fmt::format("{}.{}:", loop, iteration);
  return prefix;
}

void Walk::wait_at(Region& region, Item item) {
  const Place place = place_of(region, item);
  const auto [known, is_new] = region.waiting.try_emplace(place, item);
  if (!is_new) {
    known->second.state = merged(symbols_.context(), known->second.state, item.state);
  }
}

void Walk::run(Region& region) {
  while (!region.waiting.empty()) {
    Item item = std::move(region.waiting.begin()->second);
    region.waiting.erase(region.waiting.begin());
    const std::uint32_t loop = graph_.loop_at(item.block);
    const bool is_at_header = loop != ptx::kNone && item.first == graph_.blocks()[item.block].begin;
    const auto iteration = item.iterations.find(loop);
    const bool is_followed =
        region.is_interval && loop != ptx::kNone && graph_.loops()[loop].has_barrier &&
        (iteration == item.iterations.end() || iteration->second < kSummarised);
    if (!is_at_header || loop == region.loop || is_followed) {
      execute_block(region, std::move(item));
      continue;
    }
    const std::string prefix = prefix_of(region, item);
    for (auto& [block, state] : summarise(loop, item, region, prefix)) {
      deliver(region, item, block, std::move(state));
    }
  }
}

z3::expr Walk::condition_of(const Edge& edge, const ThreadState& state, const std::string& name) {
  if (edge.selector != ptx::kNone) {
    const Value& selector = state.registers[edge.selector];
    const z3::expr number = selector.is_integer()
                                ? instructions_.in_range(*selector.term, 32, false, state.path)
                                : symbols_.data(name + " table", {}, 0, power_of_two(32) - 1);
    return both(number == symbols_.number(edge.number), guard_of(edge, state, name));
  }
  return guard_of(edge, state, name);
}

z3::expr Walk::guard_of(const Edge& edge, const ThreadState& state, const std::string& name) {
  if (edge.guard == ptx::kNone) return symbols_.context().bool_val(true);
  const Value& guard = state.registers[edge.guard];
  const z3::expr condition =
      guard.kind == Value::Kind::predicate ? *guard.term : symbols_.data(name, {}, 0, 1) == 1;
  return edge.negated ? opposite(condition) : condition;
}

void Walk::execute_block(Region& region, Item item) {
  const BasicBlock& block = graph_.blocks()[item.block];
  const std::string prefix = prefix_of(region, item);
  Events* const events = region.result == nullptr ? nullptr : &region.result->events;
  for (std::uint32_t at = item.first; at < block.end; ++at) {
    const ptx::Instruction& instruction = kernel_.body[at];
    if (!graph_.is_barrier(instruction)) {
      instructions_.execute(at, item.state, prefix, events);
      continue;
    }
    if (!is_of_whole_block(instruction)) {
      throw NotFollowed(instruction.location, "a barrier with a guard, or of a part of the block");
    }
    if (instruction.modifiers.red) {
      receive(instruction, fmt::format("{}all {}", prefix, at), item.state);
    }
    arrive(region, item, at);
    if (region.is_interval) return;
  }
  if (events != nullptr && block.end < kernel_.body.size() &&
      is_failed_assertion(kernel_.body[block.end])) {
    events->failed_assertions.push_back({block.end, item.state.path});
  }
  for (const Edge& edge : block.edges) {
    ThreadState state = item.state;
    if (edge.guard != ptx::kNone || edge.selector != ptx::kNone) {
      const z3::expr taken =
          condition_of(edge, state, fmt::format("{}guard {}", prefix, block.end)).simplify();
      if (taken.is_false()) continue;
      if (!taken.is_true()) state.path.push_back(taken);
    }
    deliver(region, item, edge.to, std::move(state));
  }
}

void Walk::receive(const ptx::Instruction& barrier, const std::string& name, ThreadState& state) {
  const ptx::Operand& target = barrier.operands[0];
  if (target.kind != ptx::Operand::Kind::reg) return;
  const bool is_predicate = kernel_.registers[target.index].type == ptx::Type::pred;
  const z3::expr value =
      symbols_.data(name, barrier.location, 0, is_predicate ? 1 : kThreadsOfBlockMost);
  symbols_.of(value).level = Level::block;
  state.registers[target.index] =
      is_predicate ? Value::predicate(value == 1) : Value::integer(value);
}

void Walk::arrive(Region& region, const Item& item, std::uint32_t barrier) {
  if (region.result == nullptr) return;
  for (Arrival& known : region.result->arrivals) {
    if (known.barrier != barrier || known.iterations != item.iterations) continue;
    known.state = merged(symbols_.context(), known.state, item.state);
    return;
  }
  region.result->arrivals.push_back({barrier, item.iterations, item.state});
}

void Walk::deliver(Region& region, const Item& from, std::uint32_t to, ThreadState state) {
  if (region.loop != ptx::kNone) {
    if (to == graph_.loops()[region.loop].header) return region.again.push_back(std::move(state));
    if (!graph_.is_in(to, region.loop)) {
      region.exits.emplace_back(to, std::move(state));
      return;
    }
  }
  if (to == kEnd) {
    if (region.result != nullptr) region.result->ends.push_back(std::move(state.path));
    return;
  }
  Item item{to, graph_.blocks()[to].begin, from.iterations, std::move(state)};
  if (region.is_interval) {
    // Loops that were left, entered, or begun again.
    std::erase_if(item.iterations, [&](const auto& one) { return !graph_.is_in(to, one.first); });
    const std::uint32_t loop = graph_.loop_at(to);
    if (loop != ptx::kNone && graph_.loops()[loop].has_barrier) {
      unsigned& iteration = item.iterations[loop];
      const bool was_in = graph_.is_in(from.block, loop);
      iteration = was_in ? iteration + 1 : 1;
      if (was_in && iteration >= kSummarised && !is_possible(item.state.path)) return;
    }
  }
  wait_at(region, std::move(item));
}

}  // namespace warpcheck::vgpu::symbolic
