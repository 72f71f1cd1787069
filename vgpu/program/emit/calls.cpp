// Calls and the stack.  PTX ISA 7.1 (calls and .param variables), 9.7.12 (call), 9.7.17 (stack).
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Type;

namespace {

// Emits a call of the device runtime.  The value that it returns through its first argument is
// stored by a separate instruction.
void emit_device_call(Emission& e, const ptx::Instruction& in, const Builtin& builtin) {
  const auto row_of = [&](std::size_t list, std::size_t part) {
    return Ref{Bank::word, e.params.passed(in, list, part).row * kWordRowBytes};
  };
  Instr call = e.begin(in);
  e.program.sources.back().text += fmt::format(" {}", builtin.name);
  DeviceCallInstr asked{builtin.function, {}, {}, {}};
  for (std::size_t i = 0; i < builtin.argument_bytes.size(); ++i) {
    const Ref low = row_of(2, i);
    if (builtin.argument_bytes[i] == 8) {
      asked.arguments.push_back(e.frame.temporary(Bank::wide));
      push_compute(e, call, Opcode::mov_, Type::b64, Type::none,
                   {.d = asked.arguments.back(), .a = low, .b = row_after(low, 1)}, 2);
      continue;
    }
    for (std::uint32_t word = 0; word < builtin.argument_bytes[i] / 4; ++word) {
      asked.arguments.push_back(row_after(low, word));
    }
  }
  const Ref result = builtin.result_bytes != 0 ? row_of(0, 0) : Ref{};
  if (builtin.result_bytes == 4) asked.result = result;
  if (builtin.result_bytes == 8) asked.result = e.frame.temporary(Bank::wide);
  if (builtin.stored_bytes != 0) {
    asked.stored = e.frame.temporary(builtin.stored_bytes == 8 ? Bank::wide : Bank::word);
  }
  call.kind = InstrKind::device_call;
  call.device_call = static_cast<std::uint32_t>(e.program.device_calls.size());
  e.program.device_calls.push_back(asked);
  e.push(call);
  if (builtin.result_bytes == 8) {
    push_compute(e, call, Opcode::mov_, Type::b64, Type::none,
                 {.d = result, .a = asked.result, .e = row_after(result, 1)}, 2);
  }
  if (builtin.stored_bytes != 0) {
    Instr store = call;
    store.kind = InstrKind::store;
    store.opcode = Opcode::st_;
    store.modifiers = {};
    store.modifiers.type = builtin.stored_bytes == 8 ? Type::b64 : Type::b32;
    store.displacement = 0;
    store[MemoryOperand::address] = asked.arguments.front();
    store[MemoryOperand::value] = asked.stored;
    e.push(store);
  }
  using enum DeviceFunction;
  e.program.uses_heap |= builtin.function == __cudaCDP2Malloc || builtin.function == __cudaCDP2Free;
}

void emit_builtin(Emission& e, const ptx::Instruction& in, const Builtin& builtin) {
  const auto row_of = [&](std::size_t list, std::size_t part) {
    return Ref{Bank::word, e.params.passed(in, list, part).row * kWordRowBytes};
  };
  Instr call = e.begin(in);
  e.program.sources.back().text += fmt::format(" {}", builtin.name);
  call.kind = builtin.kind;
  for (std::size_t i = 0; i < builtin.argument_bytes.size(); ++i) {
    const Ref low = row_of(2, i);
    call[BuiltinOperand::argument + i] = low;
    if (builtin.argument_bytes[i] != 8) continue;
    call[BuiltinOperand::argument + i] = e.frame.temporary(Bank::wide);
    push_compute(e, call, Opcode::mov_, Type::b64, Type::none,
                 {.d = call[BuiltinOperand::argument + i], .a = low, .b = row_after(low, 1)}, 2);
  }
  const Ref result = builtin.result_bytes != 0 ? row_of(0, 0) : Ref{};
  if (builtin.result_bytes == 4) call[BuiltinOperand::result] = result;
  if (builtin.result_bytes == 8) call[BuiltinOperand::result] = e.frame.temporary(Bank::wide);
  e.push(call);
  if (builtin.result_bytes == 8) {
    push_compute(e, call, Opcode::mov_, Type::b64, Type::none,
                 {.d = result, .a = call[BuiltinOperand::result], .e = row_after(result, 1)}, 2);
  }
  e.program.uses_heap |=
      builtin.kind == InstrKind::heap_allocate || builtin.kind == InstrKind::heap_free;
}

// Stores the arguments of a call that are no variables in the rows of its parameters.
void emit_arguments(Emission& e, const ptx::Instruction& in) {
  const std::vector<ptx::Operand>& arguments = in.operands.at(2).parts;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ParamPlaces::Passed& to = e.params.passed(in, 2, i);
    if (arguments[i].kind == Kind::variable) {
      emit_param_copy(e, in, to.row, e.params.row_of(arguments[i].variable).value(), to.words);
    } else {
      emit_param_value(e, in, arguments[i], to.type, to.row, false);
    }
  }
}

// Loads the results of a call that are no variables.
void emit_results(Emission& e, const ptx::Instruction& in) {
  const std::vector<ptx::Operand>& results = in.operands.at(0).parts;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ParamPlaces::Passed& from = e.params.passed(in, 0, i);
    if (results[i].kind == Kind::variable) {
      emit_param_copy(e, in, e.params.row_of(results[i].variable).value(), from.row, from.words);
    } else if (results[i].kind != Kind::sink) {
      emit_param_value(e, in, results[i], from.type, from.row, true);
    }
  }
}

}  // namespace

void emit_call(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::uint32_t at = e.context.position_of(in);
  const ptx::Operand& callee = in.operands.at(1);
  const auto builtin = e.instance.builtins.find(at);
  const auto known = e.instance.callees.find(at);
  if (callee.kind != Kind::reg && builtin == e.instance.builtins.end() &&
      known == e.instance.callees.end()) {
    e.refuse(in, fmt::format("the called function '{}' has no body", callee.name));
  }
  emit_arguments(e, in);
  if (builtin != e.instance.builtins.end()) {
    const bool is_call = builtin->second->kind == InstrKind::device_call;
    is_call ? emit_device_call(e, in, *builtin->second) : emit_builtin(e, in, *builtin->second);
  } else if (callee.kind == Kind::reg) {
    out.kind = InstrKind::call_register;
    out[TargetOperand::address] = e.source(in, callee, Type::b64);
    out.signature = e.layout.number_of(signature_of(shape_of(*e.layout.module, e.function, in)));
    e.push(out);
  } else {
    out.kind = InstrKind::call;
    out.function = known->second;
    e.push(out);
  }
  emit_results(e, in);
}

void emit_stack(Emission& e, const ptx::Instruction& in, Instr& out) {
  const auto pointer = [&](const ptx::Operand& operand) {
    return e.source(in, operand, in.modifiers.type);
  };
  out.kind = InstrKind::stack;
  if (in.opcode != Opcode::stackrestore_)
    out[StackOperand::result] = e.destination(in, in.operands.at(0));
  if (in.opcode == Opcode::stackrestore_) out[StackOperand::argument] = pointer(in.operands.at(0));
  if (in.opcode == Opcode::alloca_) {
    out[StackOperand::argument] = pointer(in.operands.at(1));
    out.alignment = 8;
    if (in.operands.size() > 2) {
      const ptx::Operand& alignment = in.operands[2];
      if (alignment.kind != Kind::immediate || !std::has_single_bit(alignment.bits) ||
          alignment.bits > 1u << 23) {
        e.refuse(in, "an alignment that is no power of two");
      }
      out.alignment = std::max<std::int64_t>(8, static_cast<std::int64_t>(alignment.bits));
    }
  }
  e.push(out);
}

}  // namespace warpcheck::vgpu
