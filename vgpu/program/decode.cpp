// decode(): the pipeline from a parsed module to an executable kernel.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "vgpu/program/emit.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

std::uint32_t round_up(std::uint32_t value, std::uint32_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

// Finds every function that the kernel can reach, with a copy for each call site.
class Reach {
 public:
  Reach(const ptx::Module& module, std::string_view kernel, Program& program, Layout& layout)
      : module_(module), program_(program), layout_(layout) {
    const ptx::Function* entry = module.find_function(kernel);
    if (entry == nullptr || !entry->is_entry || !entry->has_body) {
      throw Refusal(fmt::format("{}: no kernel named '{}' in this PTX", module.name, kernel));
    }
    add(*entry, ptx::kNone);
  }

 private:
  static constexpr std::size_t kInstancesMax = 10'000;

  std::uint32_t add(const ptx::Function& function, std::uint32_t called_from) {
    if (!function.unsupported.empty()) {
      throw Refusal(fmt::format("{}:{}: function '{}' is not supported: {}", module_.name,
                                function.ptx_line, function.name, function.unsupported));
    }
    if (std::find(path_.begin(), path_.end(), &function) != path_.end()) {
      throw Refusal(fmt::format("{}: function '{}' is recursive, which is not supported",
                                module_.name, function.name));
    }
    if (layout_.instances.size() == kInstancesMax) {
      throw Refusal(fmt::format("{}: kernel '{}' makes more than {} nested calls", module_.name,
                                layout_.instances.front().function->name, kInstancesMax));
    }
    const auto index = static_cast<std::uint32_t>(layout_.instances.size());
    layout_.instances.push_back({&function, called_from, {}, {}});
    path_.push_back(&function);
    for (std::uint32_t at = 0; at < function.body.size(); ++at) {
      if (function.body[at].opcode != ptx::Opcode::call_) continue;
      if (!function.body[at].unsupported.empty()) continue;  // emit_function() refuses it
      if (const std::optional<Builtin> builtin = find_builtin(function.body[at])) {
        layout_.instances[index].builtins[at] = *builtin;
        continue;
      }
      const std::uint32_t callee = add_callee(function.body[at], called_from);
      layout_.instances[index].callees[at] = callee;
    }
    path_.pop_back();
    return index;
  }

  // The called function by name; null: a call through a register.
  static const std::string* name_of_callee(const ptx::Instruction& call) {
    const auto callee = std::find_if(call.operands.begin(), call.operands.end(), [](const auto& o) {
      return o.kind == ptx::Operand::Kind::function;
    });
    return callee == call.operands.end() ? nullptr : &callee->name;
  }

  // A program's own function of that name is no builtin.
  std::optional<Builtin> find_builtin(const ptx::Instruction& call) const {
    const std::string* const name = name_of_callee(call);
    if (name == nullptr || (*name != "malloc" && *name != "free")) return std::nullopt;
    const ptx::Function* target = module_.find_function(*name);
    if (target != nullptr && target->has_body) return std::nullopt;
    return *name == "malloc" ? Builtin::malloc_ : Builtin::free_;
  }

  std::uint32_t add_callee(const ptx::Instruction& call, std::uint32_t called_from) {
    const std::string* const callee = name_of_callee(call);
    if (callee == nullptr) {
      throw Refusal(fmt::format("{}:{}: a call through a register is not supported", module_.name,
                                call.ptx_line));
    }
    ptx::SourceLocation site = call.location;
    if (site.inlined_at == ptx::kNone) site.inlined_at = called_from;
    const auto location = static_cast<std::uint32_t>(program_.locations.size());
    program_.locations.push_back(site);
    const ptx::Function* target = module_.find_function(*callee);
    if (target == nullptr || !target->has_body) {
      throw Refusal(fmt::format("{}:{}: the called function '{}' has no body and is not supported",
                                module_.name, call.ptx_line, *callee));
    }
    return add(*target, location);
  }

  const ptx::Module& module_;
  Program& program_;
  Layout& layout_;
  std::vector<const ptx::Function*> path_;
};

// Places every shared variable that the reached functions name; all extern ones share one base.
void lay_out_shared(const ptx::Module& module, Program& program, Layout& layout) {
  std::uint32_t bytes = 0;
  std::uint32_t dynamic_alignment = 16;
  std::vector<std::pair<std::string, const ptx::Variable*>> dynamic;
  std::set<const ptx::Variable*> placed;
  const auto place = [&](const ptx::Variable& variable) {
    if (variable.space != ptx::Space::shared || !placed.insert(&variable).second) return;
    if (variable.bytes == 0) {
      dynamic.emplace_back(demangled_variable(variable.name), &variable);
      dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
      return;
    }
    bytes = round_up(bytes, std::max(variable.alignment, 1u));
    layout.shared_offset[&variable] = bytes;
    program.shared_symbols.push_back(
        {demangled_variable(variable.name), bytes, static_cast<std::uint32_t>(variable.bytes)});
    bytes += static_cast<std::uint32_t>(variable.bytes);
  };
  for (const Instance& reached : layout.instances) {
    for (const ptx::Variable& variable : reached.function->locals) place(variable);
    for (const ptx::Instruction& instruction : reached.function->body) {
      for (const ptx::Operand& operand : instruction.operands) {
        if (operand.variable.scope == ptx::VariableRef::Scope::module) {
          place(module.variables[operand.variable.index]);
        }
      }
    }
  }
  program.static_shared_bytes = bytes;
  program.dynamic_shared_offset = round_up(bytes, dynamic_alignment);
  for (const auto& [name, variable] : dynamic) {
    layout.shared_offset[variable] = program.dynamic_shared_offset;
    program.shared_symbols.push_back({name, program.dynamic_shared_offset, 0});
  }
}

void lay_out_parameters(const ptx::Function& kernel, Program& program) {
  std::uint32_t offset = 0;
  for (const ptx::Variable& parameter : kernel.parameters) {
    offset = round_up(offset, std::max(parameter.alignment, 1u));
    program.parameters.push_back(
        {offset, static_cast<std::uint32_t>(parameter.bytes), parameter.alignment});
    offset += static_cast<std::uint32_t>(parameter.bytes);
  }
  program.parameter_bytes = offset;
}

// The deepest stack of frames from function `index` down, in each bank.
struct Depth {
  std::uint32_t words = 0, wides = 0, predicates = 0, local = 0;
};

Depth deepest(const Program& program, const std::vector<std::vector<std::uint32_t>>& callees,
              std::uint32_t index, std::map<std::uint32_t, Depth>& known) {
  if (const auto found = known.find(index); found != known.end()) return found->second;
  Depth below;
  for (const std::uint32_t callee : callees[index]) {
    const Depth depth = deepest(program, callees, callee, known);
    below.words = std::max(below.words, depth.words);
    below.wides = std::max(below.wides, depth.wides);
    below.predicates = std::max(below.predicates, depth.predicates);
    below.local = std::max(below.local, depth.local);
  }
  const FunctionCode& function = program.functions[index];
  return known[index] = {below.words + function.words, below.wides + function.wides,
                         below.predicates + function.predicates,
                         below.local + function.local_bytes};
}

void measure_stacks(Program& program) {
  std::vector<std::vector<std::uint32_t>> callees(program.functions.size());
  for (std::uint32_t index = 0; index < program.functions.size(); ++index) {
    const std::uint32_t end = index + 1 < program.functions.size()
                                  ? program.functions[index + 1].entry
                                  : static_cast<std::uint32_t>(program.code.size());
    for (std::uint32_t pc = program.functions[index].entry; pc < end; ++pc) {
      if (program.code[pc].kind == InstrKind::call)
        callees[index].push_back(program.code[pc].target);
    }
  }
  std::map<std::uint32_t, Depth> known;
  const Depth depth = deepest(program, callees, 0, known);
  program.words_max = depth.words;
  program.wides_max = depth.wides;
  program.predicates_max = depth.predicates;
  program.local_bytes_max = depth.local;
}

}  // namespace

Program decode(const ptx::Module& module, std::string_view kernel) {
  Program program;
  program.kernel = std::string(kernel);
  program.files = module.files;
  program.locations = module.locations;
  Layout layout;
  layout.module = &module;
  Reach(module, kernel, program, layout);

  const ptx::Function& entry = *layout.instances.front().function;
  if (entry.max_threads != 0) program.max_threads = std::min(1024u, entry.max_threads);
  for (const Instance& instance : layout.instances) {
    program.functions.push_back({.name = instance.function->name});
  }
  lay_out_parameters(entry, program);
  lay_out_shared(module, program, layout);

  ConstantRows constants(program);
  for (std::uint32_t index = 0; index < layout.instances.size(); ++index) {
    emit_function(index, layout, constants, program);
  }
  measure_stacks(program);
  return program;
}

}  // namespace warpcheck::vgpu
