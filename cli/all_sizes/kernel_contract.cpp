#include "cli/all_sizes/kernel_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace warpcheck {
namespace {

bool is_of_plain_integers(const ArrayParameter& array) {
  return array.columns.size() == 1 && is_integer(array.columns[0].element) &&
         bytes_of(array.columns[0].element) == array.element_bytes;
}

using vgpu::symbolic::Condition;
using vgpu::symbolic::KernelContract;
using vgpu::symbolic::ParameterContract;
using vgpu::symbolic::Range;
using vgpu::symbolic::Term;
using Node = Expression::Node;

constexpr std::array<const char*, 3> kAxisNames{"x", "y", "z"};
constexpr std::array<std::int64_t, 3> kBlockMost{1'024, 1'024, 64};
constexpr std::int64_t kLargest32 = 2'147'483'647;
// Numbers of elements that no memory holds.
constexpr std::int64_t kLargest64 = std::int64_t{1} << 40;
// Of an array: more than any device has.
constexpr std::int64_t kArrayBytesMax = std::int64_t{1} << 47;
// Of two such numbers the product is modest.
constexpr std::int64_t kSide = 30'000;

std::optional<Term> term_of_node(const Node& node);

// Of `(x & (x - 1)) == 0`: x.
const Node* tested_for_power_of_two(const Node& node) {
  const auto is_number = [](const Node& one, std::int64_t number) {
    return one.kind == Node::Kind::number && one.number == number;
  };
  if (node.kind != Node::Kind::binary || node.text != "==") return nullptr;
  const Node& both = *node.operands[0];
  if (!is_number(*node.operands[1], 0) || both.kind != Node::Kind::binary || both.text != "&") {
    return nullptr;
  }
  const Node &one = *both.operands[0], &less = *both.operands[1];
  const bool is_less =
      less.kind == Node::Kind::binary && less.text == "-" && is_number(*less.operands[1], 1);
  if (!is_less) return nullptr;
  const auto value = term_of_node(one);
  return value && value == term_of_node(*less.operands[0]) ? &one : nullptr;
}

std::optional<Term> binary_term(const Node& node) {
  if (const Node* const tested = tested_for_power_of_two(node)) {
    return Term{Term::Kind::power_of_two, 0, {}, {*term_of_node(*tested)}};
  }
  const auto a = term_of_node(*node.operands[0]), b = term_of_node(*node.operands[1]);
  if (!a || !b) return std::nullopt;
  const std::string& op = node.text;
  using Kind = Term::Kind;
  const auto negated = [](Term term) { return Term{Kind::opposite, 0, {}, {std::move(term)}}; };
  if (op == "+") return *a + *b;
  if (op == "-") return *a - *b;
  if (op == "*") return *a * *b;
  if (op == "==") return Term::of(Kind::equal, *a, *b);
  if (op == "!=") return negated(Term::of(Kind::equal, *a, *b));
  if (op == "<") return Term::of(Kind::less, *a, *b);
  if (op == ">") return Term::of(Kind::less, *b, *a);
  if (op == "<=") return negated(Term::of(Kind::less, *b, *a));
  if (op == ">=") return negated(Term::of(Kind::less, *a, *b));
  if (op == "&&") return Term::of(Kind::both, *a, *b);
  if (op == "||") return Term::of(Kind::either, *a, *b);
  const bool is_shift = b->kind == Kind::constant && b->value >= 0 && b->value < 31;
  const Term power = Term::constant(is_shift ? std::int64_t{1} << b->value : 1);
  if (op == "<<" && is_shift) return *a * power;
  if (op == ">>" && is_shift) return Term::of(Kind::divide, *a, power);
  const auto is_truth = [](const Term& term) { return term.kind >= Kind::equal; };
  if (op == "&" && is_truth(*a) && is_truth(*b)) return Term::of(Kind::both, *a, *b);
  if (op == "|" && is_truth(*a) && is_truth(*b)) return Term::of(Kind::either, *a, *b);
  if (op == "&" && b->kind == Kind::constant && ((b->value + 1) & b->value) == 0 && b->value > 0) {
    return Term::of(Kind::remainder, *a, Term::constant(b->value + 1));
  }
  // Of numbers that are not negative, as sizes are: then C rounds down, too.
  if (op == "/") return Term::of(Kind::divide, *a, *b);
  if (op == "%") return Term::of(Kind::remainder, *a, *b);
  return std::nullopt;
}

std::optional<Term> term_of_node(const Node& node) {
  using Kind = Term::Kind;
  switch (node.kind) {
    case Node::Kind::number: return Term::constant(node.number);
    case Node::Kind::name: return Term::name(node.text);
    case Node::Kind::binary: return binary_term(node);
    default: break;
  }
  std::vector<Term> parts;
  for (const auto& operand : node.operands) {
    auto part = term_of_node(*operand);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (node.kind == Node::Kind::conditional) return Term{Kind::choice, 0, {}, std::move(parts)};
  if (node.text == "!") return Term{Kind::opposite, 0, {}, std::move(parts)};
  return Term::constant(0) - parts[0];
}

Condition truth(Term term) {
  return {std::move(term), Condition::Relation::not_equal, Term::constant(0)};
}
Condition at_most(Term term, std::int64_t most) {
  return {std::move(term), Condition::Relation::less_or_equal, Term::constant(most)};
}
Condition at_least(std::int64_t least, Term term) {
  return {Term::constant(least), Condition::Relation::less_or_equal, std::move(term)};
}

// Of an expression of numbers that are known.
std::optional<std::int64_t> known_value(const Term& term,
                                        const std::map<std::string, std::int64_t>& known) {
  using Kind = Term::Kind;
  if (term.kind == Kind::constant) return term.value;
  if (term.kind == Kind::name) {
    const auto found = known.find(term.text);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
  if (term.kind > Kind::remainder) return std::nullopt;
  const auto a = known_value(term.parts[0], known), b = known_value(term.parts[1], known);
  if (!a || !b) return std::nullopt;
  std::int64_t result = 0;
  bool overflows = false;
  switch (term.kind) {
    case Kind::add: overflows = __builtin_add_overflow(*a, *b, &result); break;
    case Kind::subtract: overflows = __builtin_sub_overflow(*a, *b, &result); break;
    case Kind::multiply: overflows = __builtin_mul_overflow(*a, *b, &result); break;
    default:
      if (*a < 0 || *b <= 0) return std::nullopt;
      result = term.kind == Kind::divide ? *a / *b : *a % *b;
  }
  return overflows ? std::nullopt : std::optional(result);
}

class Domains {
 public:
  Domains(const AssumedKernel& assumed, const ptx::Function& function)
      : assumed_(assumed), kernel_(assumed.assumptions.kernel), function_(function) {}

  // With the blocks of the trials, and grids that cover the numbers.
  KernelDomain beyond(const std::vector<std::string>& wide, std::int64_t most,
                      std::string& obstacle) {
    KernelDomain domain;
    KernelContract& contract = domain.contract;
    add_launch(contract, false);
    add_parameters(contract, false);
    std::vector<Expression> conditions = kernel_.conditions;
    std::ranges::copy(covering(assumed_), std::back_inserter(conditions));
    for (const Expression& condition : conditions) {
      if (const auto term = term_of(condition)) contract.conditions.push_back(truth(*term));
    }
    // A grid is as wide as the numbers that it covers.
    const auto is_wide = [&](const std::string& name) {
      return std::ranges::find(wide, name) != wide.end() ||
             (!wide.empty() && name.starts_with("gridDim."));
    };
    for (const Term& length : lengths_) {
      if (!has_name(length, is_wide)) add(contract.conditions, at_most(length, kModestNumber));
    }
    vgpu::symbolic::for_each_scalar(contract, [&](ParameterContract& one) {
      if (!is_wide(one.name) && one.range.low <= most)
        one.range.high = std::min(one.range.high, most);
    });
    obstacle = obstacle_;
    return domain;
  }

  std::vector<KernelDomain> all(std::string& obstacle) {
    std::vector<KernelDomain> domains;
    for (const bool any_block : {false, true}) {
      if (any_block && (assumed_.is_block_given || function_.required_threads[0] != 0)) continue;
      add_of_blocks(domains, any_block);
      if (!obstacle_.empty()) break;
    }
    obstacle = obstacle_;
    return obstacle_.empty() ? domains : std::vector<KernelDomain>{};
  }

 private:
  void add_of_blocks(std::vector<KernelDomain>& domains, bool any_block) {
    KernelDomain widest;
    widest.has_any_block = any_block;
    KernelContract& contract = widest.contract;
    add_launch(contract, any_block);
    add_parameters(contract, any_block);
    for (const Expression& condition : kernel_.conditions) {
      if (const auto term = term_of(condition)) {
        contract.conditions.push_back(truth(*term));
      }  // else the domain is wider than it has to be
    }
    take_numbers(contract);
    std::vector<KernelDomain> narrower;
    const auto narrow = [&](std::vector<Condition> added, std::int64_t most) {
      KernelDomain domain = widest;
      if (most <= kModestNumber) {
        for (const Term& length : lengths_) add(added, at_most(length, kModestNumber));
      }
      for (const Condition& one : added) domain.contract.conditions.push_back(one);
      cap_scalars(domain.contract, most);
      narrower.push_back(std::move(domain));
    };
    const std::vector<Condition> threads = threads_at_most(contract, kLargest32);
    if (!threads.empty()) narrow(threads, kLargest64);
    const std::vector<Condition> few = threads_at_most(contract, kModestNumber);
    if (has_large_scalars(contract) || !few.empty() || !lengths_.empty())
      narrow(few, kModestNumber);
    if (!lengths_.empty() && has_large_scalars(contract)) narrow(few, kSide);
    for (std::size_t i = narrower.size(); i-- > 0;) {
      narrower[i].narrowness = static_cast<unsigned>(i) + 1;
      domains.push_back(std::move(narrower[i]));
    }
    domains.push_back(std::move(widest));
  }

  // Integers that a condition says are a number: `n == 2 * blockDim.x` of a block of 256.
  static void take_numbers(KernelContract& contract) {
    std::map<std::string, std::int64_t> known;
    for (std::size_t i = 0; i < 3; ++i) {
      const Range &grid = contract.launch.grid[i], &block = contract.launch.block[i];
      if (grid.low == grid.high) known[fmt::format("gridDim.{}", kAxisNames[i])] = grid.low;
      if (block.low == block.high) known[fmt::format("blockDim.{}", kAxisNames[i])] = block.low;
    }
    const auto take = [&](const Term& name, const Term& other) {
      if (name.kind != Term::Kind::name) return;
      const auto number = known_value(other, known);
      if (!number || known.contains(name.text)) return;
      vgpu::symbolic::for_each_scalar(contract, [&](ParameterContract& one) {
        const bool is_meant =
            one.name == name.text && one.range.low <= *number && *number <= one.range.high;
        if (!is_meant) return;
        one.range = {*number, *number};
        known[one.name] = *number;
      });
    };
    const std::function<void(const Term&)> take_all = [&](const Term& holds) {
      if (holds.kind == Term::Kind::both) std::ranges::for_each(holds.parts, take_all);
      if (holds.kind != Term::Kind::equal) return;
      take(holds.parts[0], holds.parts[1]);
      take(holds.parts[1], holds.parts[0]);
    };
    for (const Condition& one : contract.conditions) {
      if (one == truth(one.left)) take_all(one.left);
    }
  }

  template <class T>
  static void add(std::vector<T>& all, const T& one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }

  // The numbers of threads of the grid along each axis.
  static std::vector<Condition> threads_at_most(const KernelContract& contract, std::int64_t most) {
    std::vector<Condition> conditions;
    for (std::size_t i = 0; i < 3; ++i) {
      const Range &grid = contract.launch.grid[i], &block = contract.launch.block[i];
      if (grid.high <= 1 || grid.low == grid.high || grid.high <= most / block.high) continue;
      conditions.push_back(at_most(Term::name(fmt::format("gridDim.{}", kAxisNames[i])) *
                                       Term::name(fmt::format("blockDim.{}", kAxisNames[i])),
                                   most));
    }
    return conditions;
  }

  static bool has_large_scalars(const KernelContract& contract) {
    bool has = false;
    vgpu::symbolic::for_each_parameter(contract, [&](const ParameterContract& one) {
      has |= one.kind == ParameterContract::Kind::scalar && one.range.high > kModestNumber;
    });
    return has;
  }

  static void cap_scalars(KernelContract& contract, std::int64_t most) {
    vgpu::symbolic::for_each_scalar(contract, [&](ParameterContract& one) {
      if (one.range.low <= most) one.range.high = std::min(one.range.high, most);
    });
  }

  static bool has_name(const Term& term, const auto& is_meant) {
    return (term.kind == Term::Kind::name && is_meant(term.text)) ||
           std::ranges::any_of(term.parts,
                               [&](const Term& part) { return has_name(part, is_meant); });
  }

  // A constant extent is a range of one value; another one is a condition.
  void add_extent(KernelContract& contract, Range& range, const std::string& name,
                  const Expression& expression, std::int64_t most) {
    const auto term = translated(expression, name);
    if (!term) return;
    if (const auto number = expression.value([](std::string_view) { return std::nullopt; })) {
      range = {*number, *number};
      return;
    }
    range = {1, most};
    contract.conditions.push_back({Term::name(name), Condition::Relation::equal, *term});
  }

  void add_launch(KernelContract& contract, bool any_block) {
    contract.has_lockstep_warps = assumed_.has_lockstep_warps;
    contract.has_initial_constants = true;
    const LaunchRule& rule = kernel_.launch;
    for (std::size_t i = 0; i < 3; ++i) {
      const int axis = static_cast<int>(i);
      Range& block = contract.launch.block[i];
      Range& grid = contract.launch.grid[i];
      block = grid = {1, 1};
      const std::string of_block = fmt::format("blockDim.{}", kAxisNames[i]);
      if (any_block) {
        if (axis < std::max(rule.block_dims, 1)) block = {1, kBlockMost[i]};
        if (function_.max_threads != 0)
          block.high = std::min<std::int64_t>(block.high, function_.max_threads);
      } else if (rule.block[i]) {
        add_extent(contract, block, of_block, *rule.block[i], kBlockMost[i]);
      }
      if (rule.grid[i]) {
        add_extent(contract, grid, fmt::format("gridDim.{}", kAxisNames[i]), *rule.grid[i],
                   kGridMost[i]);
      } else if (axis < rule.grid_dims) {
        grid = {1, kGridMost[i]};
      }
    }
    if (const auto bytes = translated(rule.shared_bytes, "the dynamic shared memory")) {
      contract.launch.dynamic_shared_bytes = of_any_block(*bytes, any_block, false);
    }
  }

  // Trials had one block, so that what depends on it looks like a number.
  [[nodiscard]] Term of_any_block(const Term& term, bool any_block, bool is_given) const {
    const auto& block = kernel_.launch.block;
    if (!any_block || is_given || term.kind != Term::Kind::constant || !block[0]) return term;
    if (kernel_.launch.block_dims > 1) return term;
    const auto width = block[0]->value([](std::string_view) { return std::nullopt; });
    if (!width || *width < 32 || term.value == 0 || term.value % *width != 0) return term;
    const std::int64_t factor = term.value / *width;
    if (factor > 32) return term;
    const Term name = Term::name("blockDim.x");
    return factor == 1 ? name : Term::constant(factor) * name;
  }

  void add_parameters(KernelContract& contract, bool any_block) {
    contract.parameters.resize(kernel_.parameter_bytes.size());
    lengths_.clear();
    for (const ScalarParameter& scalar : kernel_.scalars) {
      if (!is_integer(scalar.element)) continue;
      ParameterContract made;
      made.kind = ParameterContract::Kind::scalar;
      made.name = scalar.name;
      made.range = range_of_scalar(scalar);
      place(contract, scalar.place, bytes_of(scalar.element), std::move(made));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      ParameterContract made;
      made.kind = ParameterContract::Kind::pointer;
      made.name = array.name;
      const auto length = translated(array.length, "the length of " + array.name);
      if (!length) continue;
      const Term elements = of_any_block(*length, any_block, is_length_given(array.name));
      made.element_bytes = array.element_bytes;
      if (const auto values = values_given(array)) made.values = *values;
      made.are_distinct =
          array.order == ArrayParameter::Order::distinct && is_of_plain_integers(array);
      made.bytes =
          array.element_bytes == 1 ? elements : Term::constant(array.element_bytes) * elements;
      if (elements.kind != Term::Kind::constant && elements.kind != Term::Kind::name) {
        add(contract.conditions, at_least(0, elements));
        add(contract.conditions, at_most(made.bytes, kArrayBytesMax));
        add(lengths_, elements);
      }
      place(contract, array.place, 8, std::move(made));
    }
  }

  // What somebody says of an array of integers.
  [[nodiscard]] std::optional<Range> values_given(const ArrayParameter& array) const {
    const auto given = assumed_.ranges_given.find(array.name);
    if (given == assumed_.ranges_given.end() || !is_of_plain_integers(array)) return std::nullopt;
    return Range{given->second.low, given->second.high};
  }

  [[nodiscard]] Range range_of_scalar(const ScalarParameter& scalar) const {
    const ValueRange all = range_of(scalar.element);
    if (const auto given = assumed_.ranges_given.find(scalar.name);
        given != assumed_.ranges_given.end()) {
      return {given->second.low, given->second.high};
    }
    // A bound that a condition names is one of its range already.
    const bool is_64 = bytes_of(scalar.element) == 8;
    return {std::max(scalar.range.low, all.low), std::min(all.high, is_64 ? kLargest64 : all.high)};
  }

  void place(KernelContract& contract, const ParameterPlace& at, std::uint32_t bytes,
             ParameterContract made) const {
    ParameterContract& whole = contract.parameters[at.parameter];
    if (at.offset == 0 && bytes == kernel_.parameter_bytes[at.parameter]) {
      whole = std::move(made);
    } else {
      whole.members.push_back({at.offset, bytes, {std::move(made)}});
    }
  }

  [[nodiscard]] bool is_length_given(const std::string& name) const {
    return std::ranges::find(assumed_.lengths_given, name) != assumed_.lengths_given.end();
  }

  std::optional<Term> translated(const Expression& expression, const std::string& what) {
    auto term = term_of(expression);
    if (!term) obstacle_ = fmt::format("{} is {}, which has no form here", what, expression.text());
    return term;
  }

  const AssumedKernel& assumed_;
  const KernelDescription& kernel_;
  const ptx::Function& function_;
  std::vector<Term> lengths_;  // of arrays, elements, that are no single numbers
  std::string obstacle_;
};

}  // namespace

std::optional<Term> term_of(const Expression& expression) {
  return term_of_node(expression.root());
}

std::vector<Expression> covering(const AssumedKernel& assumed) {
  const KernelDescription& kernel = assumed.assumptions.kernel;
  std::string largest;
  for (const ScalarParameter& scalar : kernel.scalars) {
    if (!is_integer(scalar.element) || bytes_of(scalar.element) < 4) continue;
    largest = largest.empty() ? scalar.name
                              : fmt::format("({0} > {1} ? {0} : {1})", scalar.name, largest);
  }
  std::vector<Expression> conditions;
  for (std::size_t i = 0; i < 3; ++i) {
    if (kernel.launch.grid[i] || static_cast<int>(i) >= kernel.launch.grid_dims) continue;
    const char* const axis = kAxisNames[i];
    conditions.emplace_back(
        largest.empty() ? fmt::format("gridDim.{0} * blockDim.{0} <= {1}", axis, kModestNumber)
        : kernel.launch.has_block_for_each[i]
            ? fmt::format("gridDim.{0} == 1 || gridDim.{0} <= {1}", axis, largest)
            : fmt::format("gridDim.{0} == 1 || (gridDim.{0} - 1) * blockDim.{0} < {1}", axis,
                          largest));
  }
  return conditions;
}

bool is_number_of_trials(const AssumedKernel& kernel, const std::string& array) {
  const KernelDescription& all = kernel.assumptions.kernel;
  const auto one = std::ranges::find(all.arrays, array, &ArrayParameter::name);
  const bool is_given =
      std::ranges::find(kernel.lengths_given, array) != kernel.lengths_given.end();
  return one != all.arrays.end() && !is_given &&
         std::ranges::none_of(one->length.names(), [&](const std::string& name) {
           return std::ranges::find(all.scalars, name, &ScalarParameter::name) != all.scalars.end();
         });
}

void keep_to_trials(const AssumedKernel& kernel, KernelContract& contract) {
  const std::vector<ScalarParameter>& scalars = kernel.assumptions.kernel.scalars;
  vgpu::symbolic::for_each_scalar(contract, [&](ParameterContract& one) {
    const auto scalar = std::ranges::find(scalars, one.name, &ScalarParameter::name);
    if (scalar == scalars.end()) return;
    one.range.high = std::min<std::int64_t>(one.range.high, scalar->range.high);
  });
}

bool take_values_of_trials(const AssumedKernel& kernel, KernelContract& contract) {
  const std::vector<ArrayParameter>& arrays = kernel.assumptions.kernel.arrays;
  bool took = false;
  const auto take = [&](ParameterContract& one) {
    const auto array = std::ranges::find(arrays, one.name, &ArrayParameter::name);
    const bool is_array = one.kind == ParameterContract::Kind::pointer && array != arrays.end();
    if (!is_array || !array->values || one.values || !is_of_plain_integers(*array)) return;
    one.values = Range{array->values->low, array->values->high};
    took = true;
  };
  for (ParameterContract& one : contract.parameters) {
    take(one);
    for (ParameterContract::Member& member : one.members) {
      for (ParameterContract& part : member.contract) take(part);
    }
  }
  return took;
}

bool has_number_of_trials(const AssumedKernel& kernel) {
  const KernelDescription& all = kernel.assumptions.kernel;
  const bool is_open = std::ranges::any_of(all.scalars, [&](const ScalarParameter& one) {
    return is_integer(one.element) && !kernel.is_range_given(one.name);
  });
  return is_open && std::ranges::any_of(all.arrays, [&](const ArrayParameter& one) {
           return is_number_of_trials(kernel, one.name);
         });
}

KernelDomain domain_beyond(const AssumedKernel& kernel, const ptx::Function& function,
                           const std::vector<std::string>& wide, std::int64_t most,
                           std::string& obstacle) {
  return Domains(kernel, function).beyond(wide, most, obstacle);
}

std::vector<KernelDomain> domains_of(const AssumedKernel& kernel, const ptx::Function& function,
                                     std::string& obstacle) {
  return Domains(kernel, function).all(obstacle);
}

}  // namespace warpcheck
