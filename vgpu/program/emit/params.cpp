#include "vgpu/program/emit/params.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;

namespace {

// Returns the words of a parameter that a call's variable has.
std::uint32_t passed_words(std::uint64_t given, std::uint64_t declared) {
  return static_cast<std::uint32_t>((std::min(given, declared) + 3) / 4);
}

}  // namespace

ParamRows lay_out_param_rows(const CallShape& shape, std::uint64_t variadic_bytes) {
  ParamRows layout;
  const auto place = [&](const std::vector<ptx::Variable>& variables,
                         std::vector<std::uint32_t>& rows) {
    for (const ptx::Variable& variable : variables) {
      const std::uint64_t bytes = variable.bytes != 0 ? variable.bytes : variadic_bytes;
      rows.push_back(layout.rows);
      layout.rows += static_cast<std::uint32_t>((bytes + 3) / 4);
    }
  };
  place(shape.results, layout.result_row);
  place(shape.parameters, layout.parameter_row);
  return layout;
}

ParamRows param_rows_of(const ptx::Function& function, const Layout& layout) {
  if (function.is_entry) return {};
  return lay_out_param_rows({function.results, function.parameters}, layout.variadic_bytes);
}

ParamPlaces::ParamPlaces(const FunctionContext& context, Frame& frame)
    : context_(context), own_(param_rows_of(context.function, context.layout)) {
  place_parameters_with_address(frame);
  place_calls(frame);
  place_variables(frame);
}

std::uint64_t ParamPlaces::bytes_of(const ptx::Variable& parameter) const {
  return parameter.bytes != 0 ? parameter.bytes : context_.layout.variadic_bytes;
}

std::optional<std::uint32_t> ParamPlaces::row_of(const ptx::VariableRef& ref) const {
  using Scope = ptx::VariableRef::Scope;
  if (ref.scope == Scope::parameter) return own_.parameter_row.at(ref.index);
  if (ref.scope == Scope::result) return own_.result_row.at(ref.index);
  const auto found = outgoing_row_.find(ref.index);
  if (ref.scope != Scope::local || found == outgoing_row_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> ParamPlaces::local_offset(const ptx::VariableRef& ref) const {
  const auto found = parameter_offset_.find(ref.index);
  const bool is_parameter = ref.scope == ptx::VariableRef::Scope::parameter;
  if (!is_parameter || found == parameter_offset_.end()) return std::nullopt;
  return found->second;
}

std::vector<ParamPlaces::InMemory> ParamPlaces::in_memory() const {
  std::vector<InMemory> all;
  for (const auto& [index, offset] : parameter_offset_) {
    const std::uint64_t bytes = bytes_of(context_.function.parameters[index]);
    all.push_back({offset, own_.parameter_row[index], static_cast<std::uint32_t>((bytes + 3) / 4)});
  }
  return all;
}

void ParamPlaces::place_calls(Frame& frame) {
  const ptx::Function& function = context_.function;
  for (const auto& [at, callee_index] : context_.instance.callees) {
    const ptx::Function& callee = *context_.layout.instances[callee_index].function;
    bind_outgoing(function.body[at], {callee.results, callee.parameters}, callee.name);
  }
  for (const auto& [at, builtin] : context_.instance.builtins) {
    place_builtin(function.body[at], *builtin, frame);
  }
  for (const ptx::Instruction& in : function.body) {
    if (in.opcode != Opcode::call_ || !in.unsupported.empty()) continue;
    if (in.operands.at(1).kind != Kind::reg) continue;
    bind_outgoing(in, shape_of(*context_.layout.module, function, in), "a register");
  }
}

void ParamPlaces::bind_outgoing(const ptx::Instruction& call, const CallShape& shape,
                                const std::string& callee) {
  const ParamRows rows = lay_out_param_rows(shape, context_.layout.variadic_bytes);
  const auto bind = [&](std::size_t number, const std::vector<ptx::Variable>& declared,
                        const std::vector<std::uint32_t>& places) {
    const ptx::Operand& list = call.operands.at(number);
    if (list.parts.size() != places.size()) {
      context_.refuse(call, fmt::format("{} of '{}' given, {} declared", list.parts.size(), callee,
                                        places.size()));
    }
    for (std::size_t i = 0; i < list.parts.size(); ++i) {
      const std::uint64_t given = bytes_given(call, number, i);
      const bool is_variable = list.parts[i].kind == Kind::variable;
      if (!is_variable && given != 0 && given != bytes_of(declared[i])) {
        context_.refuse(call, fmt::format("a register of {} bytes for a parameter of {} of '{}'",
                                          given, bytes_of(declared[i]), callee));
      }
      passed_[{context_.position_of(call), number, i}] = {
          places[i] | kOutgoingRow, passed_words(given, bytes_of(declared[i])),
          declared[i].element};
    }
  };
  bind(0, shape.results, rows.result_row);
  bind(2, shape.parameters, rows.parameter_row);
  outgoing_words_ = std::max(outgoing_words_, rows.rows);
}

// Returns, for each position of the text, how many calls and labels come before its end.
std::vector<std::uint32_t> ParamPlaces::count_interruptions() const {
  const ptx::Function& function = context_.function;
  std::vector<std::uint32_t> count(function.body.size() + 1);
  for (const ptx::Label& label : function.labels) {
    ++count[std::min<std::size_t>(label.position, function.body.size())];
  }
  for (std::size_t at = 0; at < function.body.size(); ++at) {
    if (function.body[at].opcode == Opcode::call_) ++count[at];
  }
  for (std::size_t at = 1; at < count.size(); ++at) count[at] += count[at - 1];
  return count;
}

// Compilers write a variable directly before its only call, or read it directly after that: then
// its rows are the call's own.  Any other variable keeps its value across calls: it has rows in
// this frame, which calls copy.
void ParamPlaces::place_variables(Frame& frame) {
  const ptx::Function& function = context_.function;
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, Passed>>> uses;  // by variable
  for (const auto& [key, place] : passed_) {
    const auto& [at, list, part] = key;
    const ptx::Operand& given = function.body[at].operands[list].parts[part];
    if (given.kind == Kind::variable) uses[given.variable.index].emplace_back(at, place);
  }
  if (uses.empty()) return;
  const std::vector<std::uint32_t> interruptions = count_interruptions();
  std::set<std::uint32_t> lasting;
  for (std::uint32_t at = 0; at < function.body.size(); ++at) {
    const ptx::Instruction& in = function.body[at];
    if (in.opcode == Opcode::call_ || in.modifiers.space != ptx::Space::param) continue;
    for (const ptx::Operand& operand : in.operands) {
      if (operand.variable.scope != ptx::VariableRef::Scope::local) continue;
      const auto use = uses.find(operand.variable.index);
      if (use == uses.end()) continue;
      const std::uint32_t call = use->second.front().first;
      const bool is_apart = at < call ? interruptions[at] != interruptions[call] - 1
                                      : interruptions[at] != interruptions[call];
      if (is_apart) lasting.insert(use->first);
    }
  }
  for (const auto& [local, calls] : uses) {
    outgoing_row_[local] = calls.front().second.row;
    if (calls.size() == 1 && !lasting.contains(local)) continue;
    const auto words = static_cast<std::uint32_t>((function.locals[local].bytes + 3) / 4);
    outgoing_row_[local] = frame.rows(Bank::word, words).offset / kWordRowBytes;
  }
}

// Returns the size of what a call's list of results or arguments names; 0: whatever is declared.
std::uint64_t ParamPlaces::bytes_given(const ptx::Instruction& call, std::size_t list,
                                       std::size_t at) const {
  const ptx::Operand& part = call.operands.at(list).parts.at(at);
  const bool is_result = list == 0;
  const auto bytes_of_register = [&](const ptx::Operand& reg) {
    return std::uint64_t{ptx::bytes_of(context_.function.registers[reg.index].type)};
  };
  switch (part.kind) {
    case Kind::variable:
      if (part.variable.scope != ptx::VariableRef::Scope::local || part.offset != 0) break;
      return context_.function.locals[part.variable.index].bytes;
    case Kind::reg: return bytes_of_register(part);
    case Kind::vector: return part.parts.size() * bytes_of_register(part.parts.front());
    case Kind::immediate:
      if (is_result) break;
      return 0;
    case Kind::sink:
      if (!is_result) break;
      return 0;
    default: break;
  }
  context_.refuse(call, is_result ? "a result that is no .param variable and no register"
                                  : "an argument that is no .param variable, register or constant");
}

// A builtin has no frame: its result and parameters are in the frame of its caller.
void ParamPlaces::place_builtin(const ptx::Instruction& call, const Builtin& builtin,
                                Frame& frame) {
  const auto place = [&](std::size_t number, const std::vector<std::uint32_t>& sizes) {
    const ptx::Operand& list = call.operands.at(number);
    if (list.parts.size() != sizes.size()) {
      context_.refuse(call, "another number of results or arguments");
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t given = bytes_given(call, number, i);
      if (given != 0 && given != sizes[i]) {
        context_.refuse(call, "a result or argument of another size");
      }
      const Ref rows = frame.rows(Bank::word, sizes[i] / 4);
      passed_[{context_.position_of(call), number, i}] = {
          rows.offset / kWordRowBytes, sizes[i] / 4,
          sizes[i] == 8 ? ptx::Type::b64 : ptx::Type::b32};
    }
  };
  std::vector<std::uint32_t> results;
  if (builtin.result_bytes != 0) results.push_back(builtin.result_bytes);
  place(0, results);
  place(2, builtin.argument_bytes);
}

void ParamPlaces::place_parameters_with_address(Frame& frame) {
  if (context_.function.is_entry) return;
  for (const ptx::Instruction& in : context_.function.body) {
    if (in.opcode != Opcode::mov_) continue;
    for (const ptx::Operand& operand : in.operands) {
      if (operand.kind != Kind::variable ||
          operand.variable.scope != ptx::VariableRef::Scope::parameter ||
          parameter_offset_.contains(operand.variable.index)) {
        continue;
      }
      const ptx::Variable& parameter = context_.function.parameters.at(operand.variable.index);
      parameter_offset_[operand.variable.index] =
          frame.take_local((bytes_of(parameter) + 3) / 4 * 4, std::max(parameter.alignment, 8u));
    }
  }
}

}  // namespace warpcheck::vgpu
