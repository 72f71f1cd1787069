// decode(): the pipeline from a parsed module to an executable kernel.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "vgpu/program/emit/constants.hpp"
#include "vgpu/program/layout.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

std::uint32_t round_up(std::uint32_t value, std::uint32_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

// Assigns an offset to every shared variable that the reached functions use; all extern arrays
// share one base.
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
    layout.shared_symbol[&variable] = static_cast<std::uint32_t>(program.shared_symbols.size());
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
  const auto first_dynamic = static_cast<std::uint32_t>(program.shared_symbols.size());
  for (const auto& [name, variable] : dynamic) {
    layout.shared_offset[variable] = program.dynamic_shared_offset;
    layout.shared_symbol[variable] = first_dynamic;
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

// The maximal stack of frames, for each bank.
struct Depth {
  std::uint32_t words = 0, wides = 0, predicates = 0, local = 0;
  void raise(const Depth& other) {
    words = std::max(words, other.words);
    wides = std::max(wides, other.wides);
    predicates = std::max(predicates, other.predicates);
    local = std::max(local, other.local);
  }
};

class StackMeasure {
 public:
  explicit StackMeasure(Program& program) : program_(program), callees_(program.functions.size()) {
    for (std::uint32_t index = 0; index < program.functions.size(); ++index) list_callees(index);
    states_.resize(program.functions.size());
  }

  void measure() {
    Depth depth = deepest(0);
    if (program_.dynamic_stack) depth.local += kCallBytes * depth_max_;
    program_.words_max = depth.words;
    program_.wides_max = depth.wides;
    program_.predicates_max = depth.predicates;
    program_.local_bytes_max = depth.local;
    place(0, 0);
  }

 private:
  enum class State : std::uint8_t { unknown, open, known };

  void list_callees(std::uint32_t index) {
    const std::uint32_t end = index + 1 < program_.functions.size()
                                  ? program_.functions[index + 1].entry
                                  : static_cast<std::uint32_t>(program_.code.size());
    for (std::uint32_t pc = program_.functions[index].entry; pc < end; ++pc) {
      const Instr& instr = program_.code[pc];
      if (instr.kind == InstrKind::call) callees_[index].insert(instr.function);
      if (instr.kind == InstrKind::stack) program_.dynamic_stack = true;
      if (instr.kind != InstrKind::call_register) continue;
      for (const auto& [address, target] : program_.function_at) {
        if (program_.functions[target].signature == instr.signature) callees_[index].insert(target);
      }
    }
  }

  // Returns the maximal stack from function `index` down.
  Depth deepest(std::uint32_t index) {
    if (states_[index] == State::known) return known_[index];
    if (states_[index] == State::open) {
      program_.dynamic_stack = true;
      return {};
    }
    states_[index] = State::open;
    depth_max_ = std::max(depth_max_, ++depth_);
    Depth below;
    for (const std::uint32_t callee : callees_[index]) below.raise(deepest(callee));
    --depth_;
    states_[index] = State::known;
    const FunctionCode& function = program_.functions[index];
    below.words = std::max(below.words, function.outgoing_words);
    return known_[index] = {below.words + function.words, below.wides + function.wides,
                            below.predicates + function.predicates,
                            below.local + function.local_bytes};
  }

  // Sets where the frames begin.  A function with several callers has several places, and stacks
  // that grow have no place in advance but that of the kernel.
  void place(std::uint32_t index, std::uint32_t begin) {
    FunctionCode& function = program_.functions[index];
    if (is_placed_.contains(index)) {
      if (function.local_begin == begin) return;
      begin = ptx::kNone;
      if (function.local_begin == begin) return;
    }
    is_placed_.insert(index);
    function.local_begin = begin;
    if (program_.dynamic_stack) return;
    const std::uint32_t end = begin == ptx::kNone ? begin : begin + function.local_bytes;
    for (const std::uint32_t callee : callees_[index]) place(callee, end);
  }

  Program& program_;
  std::set<std::uint32_t> is_placed_;
  std::vector<std::set<std::uint32_t>> callees_;
  std::vector<State> states_;
  std::map<std::uint32_t, Depth> known_;
  std::uint32_t depth_ = 0, depth_max_ = 0;
};

// Copies the names of those functions whose inlined code the program has; a module may have many.
void name_inlined_functions(const ptx::Module& module, Program& program) {
  program.inlined_functions.resize(module.inlined_functions.size());
  std::vector<bool> is_named(program.locations.size());
  for (const Source& source : program.sources) {
    const ptx::SourceLocation* at = &source.location;
    while (true) {
      if (at->function < module.inlined_functions.size()) {
        program.inlined_functions[at->function] = module.inlined_functions[at->function];
      }
      if (at->inlined_at >= is_named.size() || is_named[at->inlined_at]) break;
      is_named[at->inlined_at] = true;
      at = &program.locations[at->inlined_at];
    }
  }
}

}  // namespace

Program decode(const ptx::Module& module, std::string_view kernel) {
  Program program;
  program.kernel = std::string(kernel);
  program.files = module.files;
  program.locations = module.locations;
  Layout layout;
  layout.module = &module;
  find_reached(module, kernel, program, layout);

  const ptx::Function& entry = *layout.instances.front().function;
  if (entry.max_threads != 0) program.max_threads = std::min(1024u, entry.max_threads);
  const auto& cluster = entry.required_cluster;
  program.cluster = {cluster[0], cluster[1], cluster[2]};
  program.explicit_cluster = entry.explicit_cluster;
  for (const Instance& instance : layout.instances) {
    FunctionCode function;
    function.name = instance.function->name;
    function.by_address = instance.by_address;
    function.text = instance.function;
    program.functions.push_back(std::move(function));
  }
  for (const auto& [address, index] : program.function_at) {
    const ptx::Function& function = *layout.instances[index].function;
    program.functions[index].signature =
        layout.number_of(signature_of({function.results, function.parameters}));
  }
  lay_out_parameters(entry, program);
  lay_out_shared(module, program, layout);

  ConstantRows constants(program);
  for (std::uint32_t index = 0; index < layout.instances.size(); ++index) {
    emit_function(index, layout, constants, program);
  }
  for (AddressPatch& patch : program.patches) patch.name = module.variables[patch.variable].name;
  StackMeasure(program).measure();
  find_provenance(layout, constants, program);
  name_inlined_functions(module, program);
  return program;
}

}  // namespace warpcheck::vgpu
