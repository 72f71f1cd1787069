#include "vgpu/symbolic/launch_symbols.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace warpcheck::vgpu::symbolic {
namespace {

constexpr std::string_view kAxes[] = {"x", "y", "z"};
constexpr std::int64_t kThreadsMax = 1'024;
constexpr unsigned kExponentMax = 62;  // of powers of two
// A number of more values is not tried value by value.
constexpr unsigned kExponentTried = 32;

bool is_truth(const Condition& of) {
  return of.relation == Condition::Relation::not_equal && of.right == Term::constant(0);
}

}  // namespace

LaunchSymbols::LaunchSymbols(Symbols& symbols, Questions& questions, const ptx::Module& module,
                             const ptx::Function& kernel, const KernelContract& contract)
    : symbols_(symbols),
      questions_(questions),
      module_(module),
      kernel_(kernel),
      contract_(contract) {
  if (contract.parameters.size() != kernel.parameters.size()) {
    throw std::invalid_argument(fmt::format("{} has {} parameters, its contract {}", kernel.name,
                                            kernel.parameters.size(), contract.parameters.size()));
  }
  declare_extents();
  declare_parameters();
  declare_variables();
  for (const Condition& one : contract.conditions) {
    questions.assume(condition(one));
    if (is_truth(one)) keep_to_powers_of_two(one.left);
  }
}

// A number of few values may be a divisor or a mask: then its values are tried one after the other.
void LaunchSymbols::keep_to_powers_of_two(const Term& holds) {
  if (holds.kind == Term::Kind::both) {
    for (const Term& part : holds.parts) keep_to_powers_of_two(part);
  }
  if (holds.kind != Term::Kind::power_of_two) return;
  const z3::expr number = term(holds.parts.at(0));
  if (!number.is_const() || number.is_numeral()) return;
  Symbol& symbol = symbols_.of(number);
  if (symbol.low < 0 || symbol.high >= power_of_two(kExponentTried)) return;
  symbol.domain.clear();
  if (symbol.low == 0) symbol.domain.push_back(0);
  for (Integer one = 1; one <= symbol.high; one *= 2) {
    if (one >= symbol.low) symbol.domain.push_back(one);
  }
}

void LaunchSymbols::declare_extents() {
  z3::expr threads = symbols_.number(1);
  const auto extent = [&](const std::string& name, const Range& range) {
    if (range.low < 1 || range.high < range.low) {
      throw std::invalid_argument(fmt::format("{} is {} to {}", name, range.low, range.high));
    }
    const z3::expr made = range.low == range.high
                              ? symbols_.number(range.low)
                              : symbols_.symbol(name, Level::launch, range.low, range.high);
    names_.emplace(name, made);
    return made;
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Range& block = contract_.launch.block[axis];
    const Range& grid = contract_.launch.grid[axis];
    block_.push_back(extent(fmt::format("blockDim.{}", kAxes[axis]), block));
    grid_.push_back(extent(fmt::format("gridDim.{}", kAxes[axis]), grid));
    threads = threads.is_numeral() && number_in(threads) == 1
                  ? block_.back()
                  : (threads * block_.back()).simplify();
    const auto number = [&](const char* stem, Level level, const z3::expr& end, std::int64_t high) {
      if (high == 1) return symbols_.number(0);
      const z3::expr made =
          symbols_.symbol(fmt::format("{}.{}", stem, kAxes[axis]), level, 0, high - 1);
      symbols_.of(made).facts.push_back(made < end);
      return made;
    };
    thread_.push_back(number("threadIdx", Level::thread, block_.back(), block.high));
    block_number_.push_back(number("blockIdx", Level::block, grid_.back(), grid.high));
  }
  questions_.assume(threads <= symbols_.number(kThreadsMax));
}

void LaunchSymbols::declare_parameters() {
  std::map<int, std::uint32_t> arrays;
  for (std::uint32_t i = 0; i < contract_.parameters.size(); ++i) {
    const ParameterContract& one = contract_.parameters[i];
    if (one.kind != ParameterContract::Kind::unknown) {
      declare_parameter(i, 0, kernel_.parameters[i].bytes, one, arrays);
    }
    for (const ParameterContract::Member& member : one.members) {
      if (member.contract.size() == 1) {
        declare_parameter(i, member.offset, member.bytes, member.contract[0], arrays);
      }
    }
  }
  // Lengths may name scalars that come later.
  for (const auto& [object, bytes] : lengths_) objects_[object].bytes = term(bytes);
}

void LaunchSymbols::declare_parameter(std::uint32_t parameter, std::uint32_t offset,
                                      std::uint64_t bytes, const ParameterContract& one,
                                      std::map<int, std::uint32_t>& arrays) {
  Parameter& made = parameters_[{parameter, offset}];
  made.bytes = bytes;
  if (one.kind == ParameterContract::Kind::pointer) {
    if (bytes != 8) {
      throw std::invalid_argument(
          fmt::format("parameter {} has {} bytes, and is no pointer", parameter, bytes));
    }
    const bool is_known = one.array >= 0 && arrays.contains(one.array);
    const std::uint32_t object =
        is_known ? arrays.at(one.array)
                 : add_object(one.name, ptx::Space::global, symbols_.number(0), one.alignment);
    if (one.array >= 0) arrays.emplace(one.array, object);
    lengths_[object] = one.bytes;
    if (one.are_distinct && !is_known) {
      objects_[object].are_distinct = true;
      objects_[object].are_below_count = !one.values;
      objects_[object].values.emplace(0, power_of_two(8 * one.element_bytes - 1) - 1);
      objects_[object].value_bytes = one.element_bytes;
    }
    if (one.values && !is_known) {
      objects_[object].values.emplace(one.values->low, one.values->high);
      objects_[object].value_bytes = one.element_bytes;
      objects_[object].first_values = objects_[object].values;
    }
    made.value = Value::address(object, symbols_.number(0));
    return;
  }
  if (one.range.high < one.range.low) {
    throw std::invalid_argument(
        fmt::format("{} is {} to {}", one.name, one.range.low, one.range.high));
  }
  const z3::expr scalar =
      one.range.low == one.range.high
          ? symbols_.number(one.range.low)
          : symbols_.symbol(one.name, Level::launch, one.range.low, one.range.high);
  names_.emplace(one.name, scalar);
  scalars_.emplace(one.name, scalar);
  made.value = Value::integer(scalar);
}

void LaunchSymbols::declare_variables() {
  const auto declare = [&](ptx::VariableRef::Scope scope, const std::vector<ptx::Variable>& all) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const ptx::Variable& one = all[i];
      if (one.space == ptx::Space::param) continue;
      const bool is_dynamic = one.space == ptx::Space::shared && one.bytes == 0;
      if (is_dynamic && dynamic_ == 0) {
        dynamic_ = add_object(std::string(kDynamicSharedMemory), ptx::Space::shared,
                              term(contract_.launch.dynamic_shared_bytes), 16);
      }
      variables_[{static_cast<int>(scope), i}] =
          is_dynamic ? dynamic_
                     : add_object(one.name, one.space,
                                  symbols_.number(static_cast<Integer>(one.bytes)), one.alignment);
      const bool is_constant = contract_.has_initial_constants &&
                               one.space == ptx::Space::constant && !one.initial.empty() &&
                               one.relocations.empty();
      if (is_constant) {
        objects_.back().constant = one.initial;
        objects_.back().constant.resize(one.bytes);
      }
    }
  };
  add_object("", ptx::Space::generic, symbols_.number(0), 1);
  declare(ptx::VariableRef::Scope::module, module_.variables);
  declare(ptx::VariableRef::Scope::local, kernel_.locals);
}

bool LaunchSymbols::forget_values_of_stored(const std::vector<Access>& accesses) {
  bool forgets = false;
  for (const Access& one : accesses) {
    if (!one.writes || !objects_[one.object].values) continue;
    objects_[one.object].values.reset();
    objects_[one.object].are_distinct = objects_[one.object].are_below_count = false;
    forgets = true;
  }
  return forgets;
}

std::uint32_t LaunchSymbols::add_object(const std::string& name, ptx::Space space,
                                        const z3::expr& bytes, std::uint32_t alignment) {
  objects_.push_back({name, space, bytes, alignment});
  return static_cast<std::uint32_t>(objects_.size()) - 1;
}

z3::expr LaunchSymbols::term(const Term& of) const {
  if (of.kind == Term::Kind::constant) return symbols_.number(of.value);
  if (of.kind == Term::Kind::name) {
    const auto known = names_.find(of.text);
    if (known == names_.end()) {
      throw std::invalid_argument(fmt::format("{} is no scalar of the kernel", of.text));
    }
    return known->second;
  }
  using Kind = Term::Kind;
  if (of.kind == Kind::choice) {
    return choose(is_true(of.parts.at(0)), term(of.parts.at(1)), term(of.parts.at(2)));
  }
  if (of.kind >= Kind::equal) {
    return choose(is_true(of), symbols_.number(1), symbols_.number(0));
  }
  const z3::expr a = term(of.parts.at(0)), b = term(of.parts.at(1));
  switch (of.kind) {
    case Kind::add: return a + b;
    case Kind::subtract: return a - b;
    case Kind::multiply: return a * b;
    case Kind::divide: return a / b;
    case Kind::remainder: return z3::mod(a, b);
    case Kind::minimum: return z3::ite(a < b, a, b);
    default: return z3::ite(a > b, a, b);
  }
}

z3::expr LaunchSymbols::is_true(const Term& of) const {
  using Kind = Term::Kind;
  switch (of.kind) {
    case Kind::equal: return term(of.parts.at(0)) == term(of.parts.at(1));
    case Kind::less: return term(of.parts.at(0)) < term(of.parts.at(1));
    case Kind::both: return both(is_true(of.parts.at(0)), is_true(of.parts.at(1)));
    case Kind::either: return either(is_true(of.parts.at(0)), is_true(of.parts.at(1)));
    case Kind::opposite: return opposite(is_true(of.parts.at(0)));
    case Kind::power_of_two: {
      const z3::expr number = term(of.parts.at(0));
      z3::expr_vector values(symbols_.context());
      values.push_back(number == symbols_.number(0));
      values.push_back(number == symbols_.number(-power_of_two(31)));
      const Interval range = symbols_.interval_of(number);
      for (unsigned i = 0; i <= kExponentMax; ++i) {
        if (range.high && power_of_two(i) > *range.high) break;
        values.push_back(number == symbols_.number(power_of_two(i)));
      }
      return z3::mk_or(values);
    }
    default: return term(of) != symbols_.number(0);
  }
}

z3::expr LaunchSymbols::condition(const Condition& of) const {
  if (is_truth(of)) return is_true(of.left);
  const z3::expr a = term(of.left), b = term(of.right);
  switch (of.relation) {
    case Condition::Relation::equal: return a == b;
    case Condition::Relation::not_equal: return a != b;
    case Condition::Relation::less: return a < b;
    default: return a <= b;
  }
}

z3::expr LaunchSymbols::linear_thread() const {
  return (thread_[0] + block_[0] * (thread_[1] + block_[1] * thread_[2])).simplify();
}

std::optional<z3::expr> LaunchSymbols::special(ptx::SpecialRegister reg) {
  using Special = ptx::SpecialRegister;
  switch (reg) {
    case Special::tid_x: return thread_[0];
    case Special::tid_y: return thread_[1];
    case Special::tid_z: return thread_[2];
    case Special::ntid_x: return block_[0];
    case Special::ntid_y: return block_[1];
    case Special::ntid_z: return block_[2];
    case Special::ctaid_x: return block_number_[0];
    case Special::ctaid_y: return block_number_[1];
    case Special::ctaid_z: return block_number_[2];
    case Special::nctaid_x: return grid_[0];
    case Special::nctaid_y: return grid_[1];
    case Special::nctaid_z: return grid_[2];
    case Special::laneid: return z3::mod(linear_thread(), 32);
    case Special::warp_size: return symbols_.number(32);
    default: return std::nullopt;
  }
}

Value LaunchSymbols::parameter(std::uint32_t index, std::int64_t offset, ptx::Type type) {
  const auto known = parameters_.find({index, static_cast<std::uint32_t>(offset)});
  if (known != parameters_.end() && ptx::bytes_of(type) == known->second.bytes) {
    return known->second.value;
  }
  if (ptx::is_float(type)) return {};
  // Some bytes that are the same for all threads.
  const unsigned bits = 8 * ptx::bytes_of(type);
  return Value::integer(symbols_.symbol(fmt::format("parameter {}+{}:{}", index, offset, bits),
                                        Level::launch, 0, power_of_two(bits) - 1));
}

Value LaunchSymbols::variable(const ptx::VariableRef& variable) {
  return Value::address(variables_.at({static_cast<int>(variable.scope), variable.index}),
                        symbols_.number(0));
}

}  // namespace warpcheck::vgpu::symbolic
