#include "vgpu/program/emit/emission.hpp"

#include <fmt/format.h>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::vgpu {

void FunctionContext::refuse(const ptx::Instruction& in, const std::string& why) const {
  std::string place = fmt::format("{}:{}", layout.module->name, in.ptx_line);
  if (in.location.file < program.files.size() && in.location.line != 0) {
    place += fmt::format(" (from {}:{})", program.files[in.location.file], in.location.line);
  }
  throw Refusal(fmt::format("{}: '{}' in function '{}' is not supported: {}", place, in.text,
                            function.name, why));
}

const ptx::Variable& FunctionContext::variable(const ptx::VariableRef& ref) const {
  switch (ref.scope) {
    case ptx::VariableRef::Scope::module: return layout.module->variables.at(ref.index);
    case ptx::VariableRef::Scope::result: return function.results.at(ref.index);
    case ptx::VariableRef::Scope::parameter: return function.parameters.at(ref.index);
    default: return function.locals.at(ref.index);
  }
}

Emission::Emission(const Instance& of, Layout& in_layout, ConstantRows& rows, Program& into)
    : instance(of),
      function(*of.function),
      layout(in_layout),
      constants(rows),
      program(into),
      context{instance, function, layout, program},
      frame(function, param_rows_of(function, layout).rows),
      params(context, frame),
      flow(context) {}

Instr Emission::begin(const ptx::Instruction& in) {
  Instr out;
  out.opcode = in.opcode;
  out.modifiers = in.modifiers;
  if (in.guard != ptx::kNone) {
    out.guard = frame.row_of(in.guard);
    out.guard_negated = in.guard_negated;
  }
  ptx::SourceLocation location = in.location;
  if (location.inlined_at == ptx::kNone) location.inlined_at = instance.called_from;
  out.source = static_cast<std::uint32_t>(program.sources.size());
  program.sources.push_back({location, in.ptx_line, in.text});
  return out;
}

void Emission::push(const Instr& instruction) {
  using ptx::SpecialRegister;
  program.has_grid_workspace |= instruction.special == SpecialRegister::envreg1;
  if (instruction.special == SpecialRegister::reserved_smem_offset_1) {
    program.uses_reserved_shared = program.uses_clusters = true;
  }
  program.code.push_back(instruction);
}

void Emission::push_refusal(Instr& out, const std::string& why) {
  out.kind = InstrKind::refusal;
  out.refusal = static_cast<std::uint32_t>(program.refusals.size());
  program.refusals.push_back(why);
  push(out);
}

void Emission::require_form(const ptx::Instruction& in) const {
  if (!ptx::has_form(in.text)) refuse(in, "the list of supported PTX has no such form");
}

}  // namespace warpcheck::vgpu
