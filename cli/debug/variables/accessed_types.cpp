#include "cli/debug/variables/accessed_types.hpp"

#include <set>
#include <vector>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::debug {
namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::VariableRef;

class AccessedTypes {
 public:
  AccessedTypes(const ptx::Module& module, const ptx::Function& function)
      : module_(module), function_(function), points_at_(function.registers.size()) {}

  std::map<std::string, ptx::Type> find() {
    while (follow()) {
    }
    std::map<std::string, std::set<ptx::Type>> seen;
    for (const ptx::Instruction& instruction : function_.body) {
      if (!is_access(instruction.opcode)) continue;
      for (const Operand& operand : instruction.operands) {
        if (operand.kind != Operand::Kind::address) continue;
        for (const std::string& name : names_of(operand)) {
          seen[name].insert(instruction.modifiers.type);
        }
      }
    }
    std::map<std::string, ptx::Type> types;
    for (const auto& [name, all] : seen) {
      if (all.size() == 1) types.emplace(name, *all.begin());
    }
    return types;
  }

 private:
  static bool is_access(Opcode opcode) {
    return opcode == Opcode::ld_ || opcode == Opcode::st_ || opcode == Opcode::atom_ ||
           opcode == Opcode::red_;
  }
  static bool computes_address(Opcode opcode) {
    return opcode == Opcode::mov_ || opcode == Opcode::add_ || opcode == Opcode::cvta_ ||
           opcode == Opcode::cvt_ || opcode == Opcode::mad_ || opcode == Opcode::sub_;
  }

  const ptx::Variable* variable_of(const VariableRef& reference) const {
    switch (reference.scope) {
      case VariableRef::Scope::module: return &module_.variables[reference.index];
      case VariableRef::Scope::local: return &function_.locals[reference.index];
      default: return nullptr;
    }
  }

  std::set<std::string> names_of(const Operand& operand) const {
    if (const ptx::Variable* const variable = variable_of(operand.variable)) {
      return {variable->name};
    }
    const bool has_register =
        operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address;
    if (!has_register || operand.index >= points_at_.size()) return {};
    return points_at_[operand.index];
  }

  // Passes names on to the registers that are computed from others; returns whether one was new.
  bool follow() {
    bool is_new = false;
    for (const ptx::Instruction& instruction : function_.body) {
      if (!computes_address(instruction.opcode) || instruction.operands.size() < 2) continue;
      const Operand& result = instruction.operands[0];
      if (result.kind != Operand::Kind::reg || result.index >= points_at_.size()) continue;
      std::set<std::string>& names = points_at_[result.index];
      for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
        for (const std::string& name : names_of(instruction.operands[i])) {
          is_new |= names.insert(name).second;
        }
      }
    }
    return is_new;
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<std::set<std::string>> points_at_;  // by register
};

}  // namespace

std::map<std::string, ptx::Type> accessed_types(const ptx::Module& module,
                                                const ptx::Function& function) {
  return AccessedTypes(module, function).find();
}

}  // namespace warpcheck::debug
