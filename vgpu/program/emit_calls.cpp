// Calls, parameters and the stack of one function; see emitter.hpp.
//
// PTX ISA 7.1 (calls and .param variables), 9.7.12 (brx.idx, call), 9.7.17 (stack).
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "vgpu/program/emitter.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Type;

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

// A `.param` variable of a call sequence lies where its callee will look for it.
void Emitter::place_outgoing() {
  for (const auto& [at, callee_index] : instance_.callees) {
    const ptx::Function& callee = *layout_.instances[callee_index].function;
    bind_outgoing(function_.body[at], {callee.results, callee.parameters}, callee.name);
  }
  for (const auto& [at, builtin] : instance_.builtins) place_builtin(function_.body[at], *builtin);
  for (const ptx::Instruction& in : function_.body) {
    if (in.opcode != Opcode::call_ || !in.unsupported.empty()) continue;
    if (in.operands.at(1).kind != Kind::reg) continue;
    bind_outgoing(in, shape_of(*layout_.module, function_, in), "a register");
  }
}

void Emitter::bind_outgoing(const ptx::Instruction& call, const CallShape& shape,
                            const std::string& callee) {
  const ParamRows rows = lay_out_param_rows(shape, layout_.variadic_bytes);
  const auto bind = [&](const ptx::Operand& list, const std::vector<std::uint32_t>& places) {
    if (list.parts.size() != places.size()) {
      refuse(call, fmt::format("{} of '{}' given, {} declared", list.parts.size(), callee,
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

std::uint32_t Emitter::param_local(const ptx::Instruction& call, const ptx::Operand& part) const {
  if (part.kind != Kind::variable || part.variable.scope != ptx::VariableRef::Scope::local) {
    refuse(call, "a call argument that is not a .param variable");
  }
  return part.variable.index;
}

// A builtin is no function with a frame: its result and parameters lie in the frame of its caller.
void Emitter::place_builtin(const ptx::Instruction& call, const Builtin& builtin) {
  const auto place = [&](const ptx::Operand& list, const std::vector<std::uint32_t>& sizes) {
    if (list.parts.size() != sizes.size()) refuse(call, "another number of results or arguments");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint32_t local = param_local(call, list.parts[i]);
      if (function_.locals[local].bytes != sizes[i]) {
        refuse(call, "a result or argument of another size");
      }
      outgoing_row_[local] = words_;
      words_ += sizes[i] / 4;
    }
  };
  std::vector<std::uint32_t> results;
  if (builtin.result_bytes != 0) results.push_back(builtin.result_bytes);
  place(call.operands.at(0), results);
  place(call.operands.at(2), builtin.argument_bytes);
}

// A parameter whose address is taken is copied to local memory when the function is entered.
void Emitter::place_parameters_with_address() {
  if (function_.is_entry) return;
  for (const ptx::Instruction& in : function_.body) {
    if (in.opcode != Opcode::mov_) continue;
    for (const ptx::Operand& operand : in.operands) {
      if (operand.kind != Kind::variable ||
          operand.variable.scope != ptx::VariableRef::Scope::parameter ||
          parameter_offset_.contains(operand.variable.index)) {
        continue;
      }
      const ptx::Variable& parameter = function_.parameters.at(operand.variable.index);
      const std::uint64_t bytes = parameter.bytes != 0 ? parameter.bytes : layout_.variadic_bytes;
      const std::uint32_t alignment = std::max(parameter.alignment, 8u);
      local_bytes_ = (local_bytes_ + alignment - 1) / alignment * alignment;
      parameter_offset_[operand.variable.index] = local_bytes_;
      local_bytes_ += static_cast<std::uint32_t>((bytes + 3) / 4 * 4);
    }
  }
}

void Emitter::store_parameters_with_address() {
  for (const auto& [index, offset] : parameter_offset_) {
    const ptx::Instruction& first = function_.body.front();
    const ptx::Variable& parameter = function_.parameters[index];
    const std::uint64_t bytes = parameter.bytes != 0 ? parameter.bytes : layout_.variadic_bytes;
    const Ref address = local_address(first, offset, true);
    for (std::uint32_t word = 0; word < (bytes + 3) / 4; ++word) {
      Instr out = begin(first);
      out.kind = InstrKind::store;
      out.opcode = Opcode::st_;
      out.guard = {};
      out.modifiers = {};
      out.modifiers.type = Type::b32;
      out.modifiers.space = ptx::Space::local;
      out[MemoryOperand::address] = address;
      out[MemoryOperand::value] = {Bank::word, (own_.parameter_row[index] + word) * kWordRowBytes};
      out.offset = word * 4;
      push(out);
    }
  }
}

void Emitter::run_refusal() {
  const std::string why =
      function_.unsupported.empty()
          ? fmt::format(
                "{}: function '{}', called through a register, has no body and is not "
                "supported",
                layout_.module->name, function_.name)
          : fmt::format("{}:{}: function '{}' is not supported: {}", layout_.module->name,
                        function_.ptx_line, function_.name, function_.unsupported);
  program_.functions[index_].entry = static_cast<std::uint32_t>(program_.code.size());
  Instr out;
  out.source = static_cast<std::uint32_t>(program_.sources.size());
  program_.sources.push_back({{}, function_.ptx_line, "call"});
  push_refusal(out, why);
  words_ =
      lay_out_param_rows({function_.results, function_.parameters}, layout_.variadic_bytes).rows;
  finish(program_.functions[index_].entry);
}

void Emitter::emit_builtin(const ptx::Instruction& in, const Builtin& builtin) {
  const auto row_of = [&](std::size_t list, std::size_t part) {
    return outgoing_row_.at(in.operands.at(list).parts.at(part).variable.index) * kWordRowBytes;
  };
  Instr call = begin(in);
  program_.sources.back().text += fmt::format(" {}", builtin.name);
  call.kind = builtin.kind;
  for (std::size_t i = 0; i < builtin.argument_bytes.size(); ++i) {
    const Ref low{Bank::word, row_of(2, i)};
    call[BuiltinOperand::argument + i] = low;
    if (builtin.argument_bytes[i] != 8) continue;
    call[BuiltinOperand::argument + i] = temporary(Bank::wide);
    push_compute(call, Opcode::mov_, Type::b64, Type::none,
                 {.d = call[BuiltinOperand::argument + i], .a = low, .b = row_after(low, 1)}, 2);
  }
  const Ref result{Bank::word, builtin.result_bytes != 0 ? row_of(0, 0) : 0};
  if (builtin.result_bytes == 4) call[BuiltinOperand::result] = result;
  if (builtin.result_bytes == 8) call[BuiltinOperand::result] = temporary(Bank::wide);
  push(call);
  if (builtin.result_bytes == 8) {
    push_compute(call, Opcode::mov_, Type::b64, Type::none,
                 {.d = result, .a = call[BuiltinOperand::result], .e = row_after(result, 1)}, 2);
  }
  program_.uses_heap |=
      builtin.kind == InstrKind::heap_allocate || builtin.kind == InstrKind::heap_free;
}

void Emitter::emit_call(const ptx::Instruction& in, Instr& out) {
  if (const auto builtin = instance_.builtins.find(at_); builtin != instance_.builtins.end()) {
    return emit_builtin(in, *builtin->second);
  }
  const ptx::Operand& callee = in.operands.at(1);
  if (callee.kind == Kind::reg) {
    out.kind = InstrKind::call_register;
    out[TargetOperand::address] = source(in, callee, Type::b64);
    out.target = layout_.number_of(signature_of(shape_of(*layout_.module, function_, in)));
    return push(out);
  }
  const auto known = instance_.callees.find(at_);
  if (known == instance_.callees.end()) {
    refuse(in, fmt::format("the called function '{}' has no body", callee.name));
  }
  out.kind = InstrKind::call;
  out.target = known->second;
  push(out);
}

void Emitter::emit_stack(const ptx::Instruction& in, Instr& out) {
  const auto pointer = [&](const ptx::Operand& operand) {
    return source(in, operand, in.modifiers.type);
  };
  out.kind = InstrKind::stack;
  if (in.opcode != Opcode::stackrestore_)
    out[StackOperand::result] = destination(in, in.operands.at(0));
  if (in.opcode == Opcode::stackrestore_) out[StackOperand::argument] = pointer(in.operands.at(0));
  if (in.opcode == Opcode::alloca_) {
    out[StackOperand::argument] = pointer(in.operands.at(1));
    out.offset = 8;
    if (in.operands.size() > 2) {
      const ptx::Operand& alignment = in.operands[2];
      if (alignment.kind != Kind::immediate || !std::has_single_bit(alignment.bits) ||
          alignment.bits > 1u << 23) {
        refuse(in, "an alignment that is no power of two");
      }
      out.offset = std::max<std::int64_t>(8, static_cast<std::int64_t>(alignment.bits));
    }
  }
  push(out);
}

std::vector<std::uint32_t> Emitter::targets_of(const ptx::Instruction& in) const {
  const ptx::Operand& list = in.operands.at(1);
  if (list.index >= function_.branch_targets.size()) refuse(in, "a list that is none of labels");
  std::vector<std::uint32_t> blocks;
  for (const std::uint32_t label : function_.branch_targets[list.index].labels) {
    blocks.push_back(block_of_[function_.labels[label].position]);
  }
  return blocks;
}

void Emitter::emit_jump_table(const ptx::Instruction& in, Instr& out) {
  out.kind = InstrKind::jump_table;
  out[TargetOperand::index] = source(in, in.operands.at(0), Type::u32);
  out.target = static_cast<std::uint32_t>(program_.jump_tables.size());
  jump_tables_.push_back(out.target);
  program_.jump_tables.push_back(targets_of(in));
  push(out);
}

}  // namespace warpcheck::vgpu
