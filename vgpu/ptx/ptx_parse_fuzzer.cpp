// libFuzzer entry for the two parsers of untrusted bytes.  The first byte selects one: F the
// fatbinary reader, and then the parser for the PTX in the fatbinary; anything else the parser for
// the remaining bytes.
//
// The parsers may report errors (ParseError, FatbinaryError).  Crashes, hangs, undefined behaviour,
// other exceptions and inconsistent modules are defects.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "vgpu/ptx/fatbinary.hpp"
#include "vgpu/ptx/lazy_module.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::ptx {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_variable(const Module& module, const Function& function, const VariableRef& ref) {
  switch (ref.scope) {
    case VariableRef::Scope::none: return true;
    case VariableRef::Scope::module: return ref.index < module.variables.size();
    case VariableRef::Scope::result: return ref.index < function.results.size();
    case VariableRef::Scope::parameter: return ref.index < function.parameters.size();
    case VariableRef::Scope::local: return ref.index < function.locals.size();
  }
  return false;
}

void require_resolved(const Module& module, const Function& function, const Operand& operand) {
  using Kind = Operand::Kind;
  if (operand.kind == Kind::reg) require(operand.index < function.registers.size());
  if (operand.kind == Kind::label) require(operand.index < function.labels.size());
  if (operand.kind == Kind::function) require(module.find_function(operand.name) != nullptr);
  if (operand.kind == Kind::address && operand.index != kNone) {
    require(operand.index < function.registers.size());
  }
  require(is_variable(module, function, operand.variable));
  for (const Operand& part : operand.parts) require_resolved(module, function, part);
}

// Code that uses a Module relies on valid indices.
void require_consistent(const Module& module) {
  for (const Variable& variable : module.variables) {
    require(variable.initial.size() <= variable.bytes);
    for (const Variable::Relocation& relocation : variable.relocations) {
      require(relocation.offset + relocation.bytes <= variable.initial.size());
    }
  }
  for (const SourceLocation& location : module.locations) {
    require(location.inlined_at == kNone || location.inlined_at < module.locations.size());
    require(location.function == kNone || location.function < module.inlined_functions.size());
  }
  for (const Function& function : module.functions) {
    for (const Label& label : function.labels) require(label.position <= function.body.size());
    for (const BranchTargets& targets : function.branch_targets) {
      for (const std::uint32_t label : targets.labels) require(label < function.labels.size());
    }
    for (const Instruction& instruction : function.body) {
      require(instruction.guard == kNone || instruction.guard < function.registers.size());
      require(instruction.opcode != Opcode::invalid || !instruction.unsupported.empty());
      for (const Operand& operand : instruction.operands) {
        require_resolved(module, function, operand);
      }
    }
  }
}

void parse_bytes(std::string_view text) {
  try {
    const Module module = parse(text, "fuzz");
    require_consistent(module);
    // Function by function, the same must come out.
    LazyModule lazy(text, "fuzz");
    lazy.parse_all();
    require_consistent(lazy.module());
    require(lazy.module().functions.size() == module.functions.size());
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
      require(lazy.module().functions[i].body.size() == module.functions[i].body.size());
    }
  } catch (const ParseError&) {
  }
}

}  // namespace
}  // namespace warpcheck::ptx

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpcheck::ptx;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] != 'F') {
    parse_bytes(rest);
    return 0;
  }
  try {
    for (const PtxImage& image : read_fatbinary(std::as_bytes(std::span(data + 1, size - 1)))) {
      parse_bytes(image.text);
    }
  } catch (const FatbinaryError&) {
  }
  return 0;
}
