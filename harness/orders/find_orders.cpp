#include "harness/orders/find_orders.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "harness/orders/order_changes.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/line_coverage.hpp"
#include "vgpu/check/checker_set.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck {
namespace {

using ptx::Opcode;
using ptx::Operand;

// Call chains that are followed: kernels with more have their later ones left out.
constexpr std::size_t kChainsMax = 100'000, kDepthMax = 24;

// The lines of the user's code among a location and the places where it was inlined.
SourceChain user_lines(const vgpu::Program& program, ptx::SourceLocation at) {
  std::vector<ptx::SourceLocation> places = program.user_callers(at);
  if (program.is_users(at)) places.insert(places.begin(), at);
  SourceChain chain;
  for (const ptx::SourceLocation& place : places) {
    chain.push_back({repository_path(program.files[place.file]), place.line});
  }
  return chain;
}

SourceChain joined(SourceChain inner, const SourceChain& outer) {
  inner.insert(inner.end(), outer.begin(), outer.end());
  return inner;
}

const std::string* called_function(const ptx::Instruction& instruction) {
  if (instruction.opcode != Opcode::call_ || instruction.operands.size() < 2) return nullptr;
  const Operand& callee = instruction.operands[1];
  return callee.kind == Operand::Kind::function ? &callee.name : nullptr;
}

// Whether an instruction moves nothing but the function's own arguments and variables.
bool is_of_own_frame(const ptx::Function& function, const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::mov_:
    case Opcode::cvta_:
    case Opcode::bra_:
    case Opcode::ret_: return true;
    case Opcode::ld_:
    case Opcode::st_: break;
    default: return false;
  }
  const ptx::Space space = instruction.modifiers.space;
  if (space == ptx::Space::param || space == ptx::Space::local) return true;
  const std::size_t address = instruction.opcode == Opcode::ld_ ? 1 : 0;
  if (instruction.operands.size() <= address) return false;
  const Operand& base = instruction.operands[address];
  return base.kind == Operand::Kind::address && base.index < function.registers.size() &&
         function.registers[base.index].name == "%SP";
}

class PointCollector {
 public:
  explicit PointCollector(std::vector<CodePoint>& points) : points_(points) {}

  void add(const RanKernel& kernel) {
    kernel_ = &kernel;
    chains_ = 0;
    walk(0, {}, 0);
  }

  // Leaves out what several ways lead to.
  void finish() {
    std::erase_if(points_, [&](const CodePoint& point) {
      return places_[{point.function, point.index}].size() > 1;
    });
  }

 private:
  using Key = std::pair<const ptx::Function*, std::uint32_t>;

  [[nodiscard]] const vgpu::Program& program() const { return *kernel_->program; }

  [[nodiscard]] std::size_t find(const std::string& name) const {
    const auto& functions = program().functions;
    const auto found = std::ranges::find_if(functions, [&](const vgpu::FunctionCode& code) {
      return code.text != nullptr && code.text->name == name;
    });
    return static_cast<std::size_t>(found - functions.begin());
  }

  // Functions without a result that do nothing but order threads.
  [[nodiscard]] bool only_orders(std::size_t number, std::size_t depth) const {
    if (number >= program().functions.size() || depth > kDepthMax) return false;
    const ptx::Function& function = *program().functions[number].text;
    if (function.is_entry || !function.results.empty() || function.body.size() > 64) return false;
    bool orders = false;
    for (const ptx::Instruction& instruction : function.body) {
      if (is_of_own_frame(function, instruction)) continue;
      if (const std::string* const callee = called_function(instruction)) {
        if (!only_orders(find(*callee), depth + 1)) return false;
        orders = true;
        continue;
      }
      const auto changes = order_changes(function, instruction);
      if (changes.empty() || changes.front().edit != ptx::EditKind::remove) return false;
      orders = true;
    }
    return orders;
  }

  // What the calls of such a function order, at the place of the call.
  void add_orders_of(std::size_t number, const CodePoint& call, const SourceChain& outer) {
    const ptx::Function& function = *program().functions[number].text;
    for (const ptx::Instruction& instruction : function.body) {
      const SourceChain place = joined(user_lines(program(), instruction.location), outer);
      if (const std::string* const callee = called_function(instruction)) {
        add_orders_of(find(*callee), call, place);
      } else if (!is_of_own_frame(function, instruction)) {
        CodePoint point = call;
        point.place = place;
        point.order_function = &function;
        point.instruction = &instruction;
        keep(std::move(point), outer);
      }
    }
  }

  [[nodiscard]] CodePoint with_neighbour(CodePoint point) const {
    const std::uint32_t other = barrier_beside(*point.function, point.index);
    if (other == ptx::kNone) return point;
    const SourceChain own = user_lines(program(), point.instruction->location);
    const SourceChain lines = user_lines(program(), point.function->body[other].location);
    if (lines != own) point.beside = warpcheck::text_of(lines);  // of one place, both are removed
    return point;
  }

  void keep(CodePoint point, const SourceChain& way) {
    places_[{point.function, point.index}].insert(way);
    points_.push_back(std::move(point));
  }

  [[nodiscard]] std::uint64_t executed(std::size_t number, std::uint32_t ptx_line) {
    auto [found, is_new] = lines_.try_emplace({&program(), number});
    if (is_new) {
      const std::uint32_t begin = program().functions[number].entry;
      for (std::uint32_t pc = begin; pc < program().code.size(); ++pc) {
        if (program().function_of(pc) != number) break;
        std::uint64_t& count = found->second[program().source_of(pc).ptx_line];
        count = std::max(count, kernel_->counts[pc]);
      }
    }
    const auto line = found->second.find(ptx_line);
    return line == found->second.end() ? 0 : line->second;
  }

  void walk(std::size_t number, const SourceChain& outer, std::size_t depth) {
    if (depth > kDepthMax || ++chains_ > kChainsMax) return;
    const ptx::Function& function = *program().functions[number].text;
    for (std::uint32_t index = 0; index < function.body.size(); ++index) {
      const ptx::Instruction& instruction = function.body[index];
      const SourceChain place = joined(user_lines(program(), instruction.location), outer);
      const CodePoint point{.function = &function,
                            .index = index,
                            .place = place,
                            .instruction = &instruction,
                            .executed = executed(number, instruction.ptx_line)};
      const std::string* const callee = called_function(instruction);
      const std::size_t called = callee == nullptr ? program().functions.size() : find(*callee);
      if (callee == nullptr) {
        keep(with_neighbour(point), place);
      } else if (only_orders(called, 0)) {
        add_orders_of(called, point, place);
      } else if (called < program().functions.size()) {
        walk(called, place, depth + 1);
      }
    }
  }

  std::vector<CodePoint>& points_;
  const RanKernel* kernel_ = nullptr;
  std::size_t chains_ = 0;
  std::map<Key, std::set<SourceChain>> places_;
  std::map<std::pair<const vgpu::Program*, std::size_t>, std::map<std::uint32_t, std::uint64_t>>
      lines_;
};

using OrderKey = std::tuple<SourceChain, OrderKind, std::string>;

// One instruction, with what its change takes.
void add_edits(Order& order, ptx::Edits edits) {
  if (std::ranges::find(order.edits, edits.front()) != order.edits.end()) return;
  ++order.instructions[edits.front().build == ptx::EditedBuild::optimized ? 0 : 1];
  std::ranges::move(edits, std::back_inserter(order.edits));
}

bool same_variable(const ptx::VariableRef& a, const ptx::VariableRef& b) {
  return a.scope == b.scope && a.index == b.index;
}

bool begins_with(const SourceChain& chain, const SourceChain& part) {
  return part.size() <= chain.size() && std::equal(part.begin(), part.end(), chain.begin());
}

// Orders of the unoptimised build alone whose callers are not known.
void join_cut_places(std::map<OrderKey, Order>& orders) {
  for (auto cut = orders.begin(); cut != orders.end();) {
    Order* whole = nullptr;
    std::size_t count = 0;
    for (auto& [key, order] : orders) {
      const bool fits = order.instructions[0] != 0 && order.kind == cut->second.kind &&
                        order.change == cut->second.change &&
                        begins_with(order.place, cut->second.place);
      if (!fits) continue;
      whole = &order;
      ++count;
    }
    if (cut->second.instructions[0] != 0 || count == 0) {
      ++cut;
      continue;
    }
    if (count == 1) {
      if (cut->second.beside.empty()) whole->beside.clear();
      whole->instructions[1] += cut->second.instructions[1];
      std::ranges::copy(cut->second.edits, std::back_inserter(whole->edits));
    }
    cut = orders.erase(cut);
  }
}

}  // namespace

std::vector<RanKernel> kernels_of_pair(const AnyPair& pair, cudart::Build build, std::uint64_t seed,
                                       std::uint64_t inputs) {
  CoverageObserver observer;
  WatchedEngine engine(virtual_gpu(), observer, true);
  vgpu::DefaultPolicy policy;
  for (std::uint64_t i = 0; i < inputs; ++i) {
    Settings of_build;
    of_build.build = build;
    const Case drawn = nth_case(pair, "", of_build, seed, i);
    const TrialSettings settings{.build = build,
                                 .warp_model = of_build.warp_model,
                                 .checkers = vgpu::no_checkers(),
                                 .limits = of_build.limits,
                                 .strategy = &policy};
    std::string error;
    const TrialResult result = engine.run(settings, [&] {
      try {
        static_cast<void>(pair.run_kernel(drawn.input));
      } catch (const std::exception& failed) {
        error = failed.what();
      }
    });
    if (!result.refusals.empty()) throw std::runtime_error(result.refusals.front());
    if (!error.empty()) throw std::runtime_error(error);
  }
  std::vector<RanKernel> kernels;
  for (auto& [program, counts] : observer.executions())
    kernels.push_back({program, std::move(counts)});
  std::ranges::sort(kernels, {}, [](const RanKernel& one) {
    return std::tuple(one.program->kernel, one.program->code.size());
  });
  return kernels;
}

std::vector<CodePoint> code_points(const std::vector<RanKernel>& kernels) {
  std::vector<CodePoint> points;
  PointCollector collector(points);
  for (const RanKernel& kernel : kernels) collector.add(kernel);
  collector.finish();
  return points;
}

ptx::Edits edits_at(const CodePoint& point, ptx::EditKind kind, const std::string& text,
                    ptx::EditedBuild build) {
  const ptx::Function& function = *point.function;
  ptx::Edits edits;
  const auto add = [&](std::uint32_t index) {
    edits.push_back({.kind = kind,
                     .place = ptx::InstructionPlace{function.name, index},
                     .text = text,
                     .build = build});
  };
  add(point.index);
  const ptx::Instruction& changed = function.body[point.index];
  if (point.order_function == nullptr || changed.operands.size() < 3) return edits;
  for (const Operand& argument : changed.operands[2].parts) {
    for (std::uint32_t index = 0; index < function.body.size(); ++index) {
      const ptx::Instruction& store = function.body[index];
      const bool is_store = store.opcode == Opcode::st_ && !store.operands.empty() &&
                            store.modifiers.space == ptx::Space::param;
      if (is_store && argument.kind == Operand::Kind::variable &&
          same_variable(store.operands[0].variable, argument.variable))
        add(index);
    }
  }
  return edits;
}

namespace {

class OrderCollector {
 public:
  void add(const std::vector<RanKernel>& kernels, ptx::EditedBuild build) {
    std::uint64_t steps = 0;
    for (const RanKernel& kernel : kernels) {
      for (const std::uint64_t count : kernel.counts) steps += count;
    }
    for (const CodePoint& point : code_points(kernels)) add(point, steps, build);
  }

  // In order of place.
  std::vector<Order> take() {
    join_cut_places(orders_);
    std::vector<Order> found;
    for (auto& [key, order] : orders_) found.push_back(std::move(order));
    return found;
  }

 private:
  void add(const CodePoint& point, std::uint64_t steps, ptx::EditedBuild build) {
    if (is_of_one_block(*point.instruction)) of_one_block_.insert(point.place);
    const bool is_call = point.order_function != nullptr;
    for (const OrderChange& change :
         order_changes(is_call ? *point.order_function : *point.function, *point.instruction)) {
      if (is_call && change.edit != ptx::EditKind::remove) continue;
      if (change.kind == OrderKind::scope && of_one_block_.contains(point.place)) continue;
      Order& order = orders_[{point.place, change.kind, change.change}];
      if (order.edits.empty()) {
        order.kind = change.kind;
        order.place = point.place;
        order.instruction = point.instruction->text;
        order.change = change.change;
        order.steps = steps;
        order.beside = point.beside;
      }
      if (point.beside.empty()) order.beside.clear();
      if (order.steps == steps) order.executed += point.executed;
      add_edits(order, edits_at(point, change.edit, change.text, build));
    }
  }

  std::map<OrderKey, Order> orders_;
  std::set<SourceChain> of_one_block_;  // places of atomic operations whose scope means nothing
};

}  // namespace

std::vector<Order> find_orders(const AnyPair& pair, std::uint64_t seed) {
  OrderCollector collector;
  for (const auto& [build, name] : kBuildNames) {
    collector.add(kernels_of_pair(pair, build, seed), build == cudart::Build::optimized
                                                          ? ptx::EditedBuild::optimized
                                                          : ptx::EditedBuild::unoptimized);
  }
  return collector.take();
}

std::vector<Order> orders_of_kernels(const std::vector<RanKernel>& kernels) {
  OrderCollector collector;
  collector.add(kernels, ptx::EditedBuild::optimized);
  return collector.take();
}

}  // namespace warpcheck
