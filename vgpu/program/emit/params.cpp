#include "vgpu/program/emit/params.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;

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
  const auto bind = [&](const ptx::Operand& list, const std::vector<std::uint32_t>& places) {
    if (list.parts.size() != places.size()) {
      context_.refuse(call, fmt::format("{} of '{}' given, {} declared", list.parts.size(), callee,
                                        places.size()));
    }
    for (std::size_t i = 0; i < list.parts.size(); ++i) {
      outgoing_row_[param_local(call, list.parts[i])] = places[i] | kOutgoingRow;
    }
  };
  bind(call.operands.at(0), rows.result_row);
  bind(call.operands.at(2), rows.parameter_row);
  outgoing_words_ = std::max(outgoing_words_, rows.rows);
}

// Returns the local `.param` variable in a call's list of results or arguments.
std::uint32_t ParamPlaces::param_local(const ptx::Instruction& call,
                                       const ptx::Operand& part) const {
  if (part.kind != Kind::variable || part.variable.scope != ptx::VariableRef::Scope::local) {
    context_.refuse(call, "a call argument that is not a .param variable");
  }
  return part.variable.index;
}

// A builtin has no frame: its result and parameters are in the frame of its caller.
void ParamPlaces::place_builtin(const ptx::Instruction& call, const Builtin& builtin,
                                Frame& frame) {
  const auto place = [&](const ptx::Operand& list, const std::vector<std::uint32_t>& sizes) {
    if (list.parts.size() != sizes.size()) {
      context_.refuse(call, "another number of results or arguments");
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint32_t local = param_local(call, list.parts[i]);
      if (context_.function.locals[local].bytes != sizes[i]) {
        context_.refuse(call, "a result or argument of another size");
      }
      outgoing_row_[local] = frame.rows(Bank::word, sizes[i] / 4).offset / kWordRowBytes;
    }
  };
  std::vector<std::uint32_t> results;
  if (builtin.result_bytes != 0) results.push_back(builtin.result_bytes);
  place(call.operands.at(0), results);
  place(call.operands.at(2), builtin.argument_bytes);
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
