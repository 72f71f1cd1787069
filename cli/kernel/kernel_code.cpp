#include "cli/kernel/kernel_code.hpp"

#include <algorithm>
#include <set>

#include "vgpu/program/library_headers.hpp"

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

}  // namespace

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

}  // namespace warpcheck
