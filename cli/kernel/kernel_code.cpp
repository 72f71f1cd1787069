#include "cli/kernel/kernel_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "vgpu/program/library_headers.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

void for_each_operand(const ptx::Operand& operand, const auto& visit) {
  visit(operand);
  for (const ptx::Operand& part : operand.parts) for_each_operand(part, visit);
}

bool calls_through_register(const ptx::Instruction& instruction) {
  return instruction.text.starts_with("call") && instruction.operands.size() > 1 &&
         instruction.operands[1].kind == ptx::Operand::Kind::reg;
}

// Code that nvcc inlined is of the file that it stands in.
bool is_of_library(const ptx::Module& module, const ptx::SourceLocation& location) {
  return location.line != 0 && location.file < module.files.size() &&
         vgpu::is_library_header(module.files[location.file]);
}

void add_register(ptx::SpecialRegister used, Dimensions& dimensions) {
  using Register = ptx::SpecialRegister;
  const auto is_at_least = [&](int& dims, Register x, Register y, Register z) {
    if (used == x) dims = std::max(dims, 1);
    if (used == y) dims = std::max(dims, 2);
    if (used == z) dims = std::max(dims, 3);
  };
  is_at_least(dimensions.block, Register::tid_x, Register::tid_y, Register::tid_z);
  is_at_least(dimensions.grid, Register::ctaid_x, Register::ctaid_y, Register::ctaid_z);
  if (used == Register::laneid || used == Register::warpid) {
    dimensions.block = std::max(dimensions.block, 1);
  }
}

Dimensions dimensions_of(const ptx::Module& module,
                         const std::vector<const ptx::Function*>& functions, bool of_libraries) {
  Dimensions used;
  for (const ptx::Function* const function : functions) {
    for (const ptx::Instruction& instruction : function->body) {
      if (is_of_library(module, instruction.location) != of_libraries) continue;
      for (const ptx::Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const ptx::Operand& part) {
          if (part.kind == ptx::Operand::Kind::special) add_register(part.special, used);
        });
      }
    }
  }
  return used;
}

// Which registers hold what `begins` says of an instruction's first result, moved from one to
// another.
std::vector<bool> holders_of(const ptx::Function& function, const auto& begins) {
  using Kind = ptx::Operand::Kind;
  std::vector<bool> holds(function.registers.size());
  bool changes = true;
  const auto hold = [&](std::uint32_t number) {
    if (!holds[number]) holds[number] = changes = true;
  };
  while (changes) {
    changes = false;
    for (const ptx::Instruction& one : function.body) {
      if (one.operands.size() != 2) continue;
      const ptx::Operand &to = one.operands[0], &from = one.operands[1];
      const bool is_copy = one.opcode == ptx::Opcode::mov_ || one.opcode == ptx::Opcode::cvt_;
      if (is_copy && to.kind == Kind::reg && from.kind == Kind::reg && holds[from.index]) {
        hold(to.index);
      }
      for (std::size_t i = 0; i < std::max<std::size_t>(to.parts.size(), 1); ++i) {
        const ptx::Operand& part = to.parts.empty() ? to : to.parts[i];
        if (part.kind == Kind::reg && begins(one, i)) hold(part.index);
      }
    }
  }
  return holds;
}

std::vector<bool> holders_of(const ptx::Function& function, ptx::SpecialRegister special) {
  return holders_of(function, [=](const ptx::Instruction& one, std::size_t) {
    const ptx::Operand& source = one.operands[1];
    return (one.opcode == ptx::Opcode::mov_ || one.opcode == ptx::Opcode::cvt_) &&
           source.kind == ptx::Operand::Kind::special && source.special == special;
  });
}

// Which registers hold the parameter there.
std::vector<bool> holders_of(const ptx::Function& function, const ParameterPlace& place) {
  return holders_of(function, [&](const ptx::Instruction& one, std::size_t part) {
    const ptx::Operand& from = one.operands[1];
    if (one.opcode != ptx::Opcode::ld_ || from.kind != ptx::Operand::Kind::address) return false;
    const std::uint64_t offset =
        static_cast<std::uint64_t>(from.offset) + part * ptx::bytes_of(one.modifiers.type);
    return from.variable.scope == ptx::VariableRef::Scope::parameter &&
           from.variable.index == place.parameter && offset == place.offset;
  });
}

bool is_held(const ptx::Operand& operand, const std::vector<bool>& holds) {
  return operand.kind == ptx::Operand::Kind::reg && holds[operand.index];
}

// By what an instruction multiplies a block's number.
struct FactorOfBlocks {
  bool is_extent = false;     // of the block
  std::int64_t constant = 0;  // 0: it is none
};

// Returns nothing if it does not multiply that.
std::optional<FactorOfBlocks> factor_of_blocks(const ptx::Instruction& one,
                                               const std::vector<bool>& numbers,
                                               const std::vector<bool>& extents) {
  using Kind = ptx::Operand::Kind;
  const bool is_shift = one.opcode == ptx::Opcode::shl_;
  const bool is_product = one.opcode == ptx::Opcode::mul_ || one.opcode == ptx::Opcode::mad_ ||
                          one.opcode == ptx::Opcode::mul24_ || one.opcode == ptx::Opcode::mad24_;
  if ((!is_shift && !is_product) || one.operands.size() < 3) return std::nullopt;
  const ptx::Operand *number = &one.operands[1], *factor = &one.operands[2];
  if (!is_shift && !is_held(*number, numbers)) std::swap(number, factor);
  if (!is_held(*number, numbers)) return std::nullopt;
  if (factor->kind == Kind::reg) return FactorOfBlocks{.is_extent = is_held(*factor, extents)};
  if (factor->kind != Kind::immediate) return FactorOfBlocks{};
  const auto bits = static_cast<std::int64_t>(factor->bits);
  if (!is_shift) return FactorOfBlocks{.constant = bits};
  return FactorOfBlocks{.constant = bits < 32 ? std::int64_t{1} << bits : 0};
}

// Calls visit(axis, factor) for each of them in a kernel's code.
void for_each_factor_of_blocks(const ptx::Module& module, const std::string& kernel,
                               const auto& visit) {
  using Register = ptx::SpecialRegister;
  constexpr std::array kNumbers{Register::ctaid_x, Register::ctaid_y, Register::ctaid_z};
  constexpr std::array kExtents{Register::ntid_x, Register::ntid_y, Register::ntid_z};
  for (const ptx::Function* const function : reachable_functions(module, kernel)) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::vector<bool> numbers = holders_of(*function, kNumbers[axis]);
      const std::vector<bool> extents = holders_of(*function, kExtents[axis]);
      for (const ptx::Instruction& one : function->body) {
        if (const auto factor = factor_of_blocks(one, numbers, extents)) visit(axis, *factor);
      }
    }
  }
}

}  // namespace

std::array<bool, 3> blocks_are_items(const ptx::Module& module, const std::string& kernel,
                                     const std::array<std::int64_t, 3>& block) {
  std::array<bool, 3> are_items{true, true, true};
  for_each_factor_of_blocks(module, kernel, [&](std::size_t axis, const FactorOfBlocks& factor) {
    const std::int64_t extent = block[axis];
    const bool is_multiple = extent > 1 && factor.constant > 0 && factor.constant % extent == 0;
    if (factor.is_extent || is_multiple) are_items[axis] = false;
  });
  return are_items;
}

std::array<std::int64_t, 3> constants_of_blocks(const ptx::Module& module,
                                                const std::string& kernel) {
  std::array<std::int64_t, 3> constants{};
  std::array<bool, 3> has_extent{};
  for_each_factor_of_blocks(module, kernel, [&](std::size_t axis, const FactorOfBlocks& factor) {
    has_extent[axis] |= factor.is_extent;
    if (factor.constant < 8 || factor.constant > 1024) return;
    std::int64_t& known = constants[axis];
    known = known == 0 ? factor.constant : std::min(known, factor.constant);
  });
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (has_extent[axis]) constants[axis] = 0;
  }
  return constants;
}

std::vector<const ptx::Function*> reachable_functions(const ptx::Module& module,
                                                      const std::string& kernel) {
  std::vector<const ptx::Function*> found;
  std::set<const ptx::Function*> known;
  const auto add = [&](const ptx::Function* function) {
    if (function != nullptr && known.insert(function).second) found.push_back(function);
  };
  add(module.find_function(kernel));
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const ptx::Instruction& instruction : found[i]->body) {
      for (const ptx::Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const ptx::Operand& part) {
          if (part.kind == ptx::Operand::Kind::function) add(module.find_function(part.name));
        });
      }
      if (!calls_through_register(instruction)) continue;
      for (const ptx::Function& function : module.functions) {
        if (!function.is_entry) add(&function);
      }
    }
  }
  return found;
}

Dimensions dimensions_of(const ptx::Module& module, const std::string& kernel) {
  const auto functions = reachable_functions(module, kernel);
  const Dimensions own = dimensions_of(module, functions, false);
  const Dimensions of_libraries = dimensions_of(module, functions, true);
  // A kernel that leaves it all to a library has a line of threads, or of blocks.
  return {.grid = own.grid != 0 ? own.grid : std::min(of_libraries.grid, 1),
          .block = own.block != 0 ? own.block : std::min(of_libraries.block, 1)};
}

bool divides_by(const ptx::Module& module, const std::string& kernel, const ParameterPlace& place) {
  const ptx::Function& function = *module.find_function(kernel);
  const std::vector<bool> holds = holders_of(function, place);
  return std::ranges::any_of(function.body, [&](const ptx::Instruction& one) {
    const bool is_division = one.opcode == ptx::Opcode::div_ || one.opcode == ptx::Opcode::rem_;
    return is_division && one.operands.size() == 3 && is_held(one.operands[2], holds);
  });
}

bool multiplies_by_one_more(const ptx::Module& module, const std::string& kernel,
                            const ParameterPlace& place) {
  const ptx::Function& function = *module.find_function(kernel);
  const std::vector<bool> holds = holders_of(function, place);
  std::vector<bool> more(function.registers.size());
  for (const ptx::Instruction& one : function.body) {
    const bool adds_one = one.opcode == ptx::Opcode::add_ && one.operands.size() == 3 &&
                          is_held(one.operands[1], holds) &&
                          one.operands[2].kind == ptx::Operand::Kind::immediate &&
                          one.operands[2].bits == 1;
    if (adds_one) more[one.operands[0].index] = true;
  }
  const std::vector<bool> copies = holders_of(
      function,
      [&](const ptx::Instruction& one, std::size_t) { return is_held(one.operands[1], more); });
  for (std::size_t i = 0; i < more.size(); ++i) more[i] = more[i] || copies[i];
  return std::ranges::any_of(function.body, [&](const ptx::Instruction& one) {
    const bool is_product = one.opcode == ptx::Opcode::mul_ || one.opcode == ptx::Opcode::mad_;
    return is_product && one.operands.size() >= 3 &&
           (is_held(one.operands[1], more) || is_held(one.operands[2], more));
  });
}

bool has_atomic_results(const ptx::Module& module, const std::string& kernel) {
  return std::ranges::any_of(
      reachable_functions(module, kernel), [](const ptx::Function* function) {
        return std::ranges::any_of(function->body, [](const ptx::Instruction& one) {
          return one.opcode == ptx::Opcode::atom_;
        });
      });
}

std::uint64_t shared_bytes_of(const ptx::Module& module, const std::string& kernel) {
  std::uint64_t bytes = 0;
  const auto add = [&](const std::vector<ptx::Variable>& variables) {
    for (const ptx::Variable& variable : variables) {
      if (variable.space == ptx::Space::shared) bytes += variable.bytes + variable.alignment;
    }
  };
  add(module.variables);
  for (const ptx::Function* const function : reachable_functions(module, kernel)) {
    add(function->locals);
  }
  return bytes;
}

bool uses_unset_constants(const ptx::Module& module, const std::string& kernel) {
  bool is_used = false;
  for (const ptx::Function* const function : reachable_functions(module, kernel)) {
    for (const ptx::Instruction& instruction : function->body) {
      for (const ptx::Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const ptx::Operand& part) {
          if (part.variable.scope != ptx::VariableRef::Scope::module) return;
          const ptx::Variable& variable = module.variables[part.variable.index];
          is_used |= variable.space == ptx::Space::constant && variable.initial.empty();
        });
      }
    }
  }
  return is_used;
}

std::string without_assertions(std::string ptx) {
  constexpr std::string_view kAssert = "__assertfail", kIgnored = "warpcheck_ignored_assertion";
  const std::string declaration = fmt::format(".extern .func {}", kAssert);
  const std::size_t begin = ptx.find(declaration);
  if (begin == std::string::npos) return ptx;
  const std::size_t end = ptx.find(')', begin), close = ptx.find(';', begin);
  if (close == std::string::npos || end > close) return ptx;
  ptx.replace(end + 1, close - end, "\n{ ret; }");
  ptx.replace(begin, declaration.size(), fmt::format(".func {}", kAssert));
  for (std::size_t at = 0; (at = ptx.find(kAssert, at)) != std::string::npos;) {
    ptx.replace(at, kAssert.size(), kIgnored);
    at += kIgnored.size();
  }
  return ptx;
}

}  // namespace warpcheck
