#include "vgpu/symbolic/launch_symbols.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace warpcheck::vgpu::symbolic {
namespace {

constexpr std::string_view kAxes[] = {"x", "y", "z"};
constexpr std::int64_t kThreadsMax = 1'024;

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
  for (const Condition& one : contract.conditions) questions.assume(condition(one));
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
  std::vector<std::uint32_t> pointers;
  for (std::size_t i = 0; i < contract_.parameters.size(); ++i) {
    const ParameterContract& one = contract_.parameters[i];
    const ptx::Variable& declared = kernel_.parameters[i];
    if (one.kind == ParameterContract::Kind::unknown) {
      parameters_.push_back({});
      continue;
    }
    if (one.kind == ParameterContract::Kind::pointer) {
      if (declared.bytes != 8) {
        throw std::invalid_argument(
            fmt::format("parameter {} has {} bytes, and is no pointer", i, declared.bytes));
      }
      if (one.array >= 0 && arrays.contains(one.array)) {
        pointers.push_back(arrays.at(one.array));
      } else {
        pointers.push_back(
            add_object(one.name, ptx::Space::global, symbols_.number(0), one.alignment));
        if (one.array >= 0) arrays.emplace(one.array, pointers.back());
      }
      parameters_.push_back(Value::address(pointers.back(), symbols_.number(0)));
      continue;
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
    parameters_.push_back(Value::integer(scalar));
  }
  // Lengths may name scalars that come later.
  std::size_t next = 0;
  for (const ParameterContract& one : contract_.parameters) {
    if (one.kind != ParameterContract::Kind::pointer) continue;
    Object& object = objects_[pointers[next++]];
    object.bytes = term(one.bytes);
  }
}

void LaunchSymbols::declare_variables() {
  const auto declare = [&](ptx::VariableRef::Scope scope, const std::vector<ptx::Variable>& all) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const ptx::Variable& one = all[i];
      if (one.space == ptx::Space::param) continue;
      const bool is_dynamic = one.space == ptx::Space::shared && one.bytes == 0;
      if (is_dynamic && dynamic_ == 0) {
        dynamic_ = add_object("dynamic shared memory", ptx::Space::shared,
                              term(contract_.launch.dynamic_shared_bytes), 16);
      }
      variables_[{static_cast<int>(scope), i}] =
          is_dynamic ? dynamic_
                     : add_object(one.name, one.space,
                                  symbols_.number(static_cast<Integer>(one.bytes)), one.alignment);
    }
  };
  add_object("", ptx::Space::generic, symbols_.number(0), 1);
  declare(ptx::VariableRef::Scope::module, module_.variables);
  declare(ptx::VariableRef::Scope::local, kernel_.locals);
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
  const z3::expr a = term(of.parts.at(0)), b = term(of.parts.at(1));
  switch (of.kind) {
    case Term::Kind::add: return a + b;
    case Term::Kind::subtract: return a - b;
    case Term::Kind::multiply: return a * b;
    case Term::Kind::divide: return a / b;
    case Term::Kind::remainder: return z3::mod(a, b);
    case Term::Kind::minimum: return z3::ite(a < b, a, b);
    default: return z3::ite(a > b, a, b);
  }
}

z3::expr LaunchSymbols::condition(const Condition& of) const {
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
  const Value& whole = parameters_.at(index);
  const bool is_whole = offset == 0 && ptx::bytes_of(type) == kernel_.parameters[index].bytes;
  if (whole.kind != Value::Kind::other && is_whole) return whole;
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
