// The code of one function: its blocks in reconvergence order, and its instructions one by one.
#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/speculated_loads.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/reconvergence.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

// Refuses forms that are not in forms.def before they are decoded.
template <Emit kEmit>
void emit_listed(Emission& e, const ptx::Instruction& in, Instr& out) {
  e.require_form(in);
  kEmit(e, in, out);
}

void refuse(Emission& e, const ptx::Instruction& in, Instr&) {
  e.refuse(in, "the virtual GPU has no such instruction");
}

Emit emitter_of(ptx::Family family) {
  using enum ptx::Family;
  switch (family) {
    case none: return refuse;
    case atomic: return emit_atomic;
    case barrier: return emit_barrier;
    case barrier_object: return emit_barrier_object;
    case branch: return emit_branch;
    case cache_control: return emit_cache_control;
    case call: return emit_call;
    case compute: return emit_listed<emit_compute>;
    case copy: return emit_copy;
    case end: return emit_end;
    case fence: return emit_fence;
    case jump_table: return emit_jump_table;
    case launch_control: return emit_launch_control;
    case mapping: return emit_mapping;
    case matrix: return emit_listed<emit_matrix>;
    case memory: return emit_memory;
    case move: return emit_listed<emit_mov>;
    case multimem: return emit_multimem;
    case nothing: return emit_nothing;
    case rank: return emit_rank;
    case sleep: return emit_sleep;
    case space_test: return emit_space_test;
    case stack: return emit_stack;
    case tensor_memory: return emit_tensor_memory;
    case texture: return emit_texture;
    case video: return emit_listed<emit_video>;
    case warp: return emit_warp_operation;
    case warpgroup: return emit_warpgroup;
  }
  return refuse;
}

// Returns the predicate of a literal, negated if `negated` says so.
Ref predicate_of(Emission& e, const ptx::Instruction& in, const SpeculatedLoads::Literal& literal) {
  const Ref row = e.frame.row_of(literal.reg);
  if (!literal.negated) return row;
  ptx::Modifiers modifiers;
  modifiers.type = ptx::Type::pred;
  return calculate(e, in, Opcode::not_, modifiers, {row}, Bank::predicate);
}

void guard_by(Emission& e, const ptx::Instruction& in, const SpeculatedLoads::Condition& condition,
              Instr& out) {
  if (condition.size() == 1) {
    out.guard = e.frame.row_of(condition.front().reg);
    out.guard_negated = condition.front().negated;
    return;
  }
  ptx::Modifiers modifiers;
  modifiers.type = ptx::Type::pred;
  Ref all = predicate_of(e, in, condition.front());
  for (std::size_t i = 1; i < condition.size(); ++i) {
    const Ref one = predicate_of(e, in, condition[i]);
    all = calculate(e, in, Opcode::and_, modifiers, {all, one}, Bank::predicate);
  }
  out.guard = all;
}

// condition: of a speculated load; nullptr: none.
void emit(Emission& e, const ptx::Instruction& in, const SpeculatedLoads::Condition* condition) {
  if (!in.unsupported.empty()) e.refuse(in, in.unsupported);
  Instr out = e.begin(in);
  if (condition != nullptr) guard_by(e, in, *condition, out);
  out.kind = InstrKind::compute;
  emitter_of(ptx::row_of(in.opcode).family)(e, in, out);
}

// In a function that may never be called, an unsupported instruction is refused only when it is
// executed.
void emit_or_refuse(Emission& e, const ptx::Instruction& in,
                    const SpeculatedLoads::Condition* condition) {
  if (!e.instance.by_address) return emit(e, in, condition);
  const auto before = static_cast<std::uint32_t>(e.program.code.size());
  try {
    emit(e, in, condition);
  } catch (const Refusal& refusal) {
    e.program.code.resize(before);
    e.flow.drop_jumps(before);
    Instr out = e.begin(in);
    e.push_refusal(out, refusal.what());
  }
}

// Running off the end of the text returns.
void emit_end_of_text(Emission& e) {
  Instr out;
  out.kind = e.function.is_entry ? InstrKind::exit : InstrKind::ret;
  out.opcode = Opcode::ret_;
  out.source = static_cast<std::uint32_t>(e.program.sources.size());
  e.program.sources.push_back({{}, 0, "ret"});
  emit_register_results(e, out);
  e.push(out);
}

void emit_block(Emission& e, SpeculatedLoads& speculated, std::uint32_t block,
                std::uint32_t next_block) {
  e.flow.place(block, static_cast<std::uint32_t>(e.program.code.size()));
  if (e.flow.is_end(block)) return emit_end_of_text(e);
  e.next_block = next_block;
  for (const std::uint32_t at : speculated.order(block)) {
    emit_or_refuse(e, e.function.body[at], speculated.condition_of(at));
  }
  if (!e.flow.falls_through(block) || next_block == block + 1) return;
  Instr jump;
  jump.kind = InstrKind::jump;
  jump.opcode = Opcode::bra_;
  jump.source = e.program.code.empty() ? 0 : e.program.code.back().source;
  e.flow.add_jump(static_cast<std::uint32_t>(e.program.code.size()), block + 1);
  e.push(jump);
}

// A parameter whose address is taken is copied to local memory when the function is entered.
void store_parameters(Emission& e) {
  for (const ParamPlaces::InMemory& parameter : e.params.in_memory()) {
    const ptx::Instruction& first = e.function.body.front();
    const Ref address = e.local_address(first, parameter.local_offset, true);
    const Ref row{Bank::word, parameter.row * kWordRowBytes};
    for (std::uint32_t word = 0; word < parameter.words; ++word) {
      Instr out = e.begin(first);
      out.kind = InstrKind::store;
      out.opcode = Opcode::st_;
      out.guard = {};
      out.modifiers = {};
      out.modifiers.type = ptx::Type::b32;
      out.modifiers.space = ptx::Space::local;
      out[MemoryOperand::address] = address;
      out[MemoryOperand::value] = row_after(row, word);
      out.displacement = word * 4;
      e.push(out);
    }
  }
}

// Rows after the frame begin at its end, which is known now.
void place_outgoing_rows(Emission& e, std::uint32_t first_pc) {
  for (std::uint32_t pc = first_pc; pc < e.program.code.size(); ++pc) {
    for (Ref& ref : e.program.code[pc].operands) {
      if (ref.bank == Bank::word && (ref.offset & kOutgoing) != 0) {
        ref.offset = e.frame.end_of_words() + (ref.offset & ~kOutgoing);
      }
    }
  }
}

void emit_text(Emission& e, FunctionCode& code) {
  code.entry = static_cast<std::uint32_t>(e.program.code.size());
  if (e.layout.has_ranks && !e.function.body.empty()) e.find_own_window(e.function.body.front());
  store_parameters(e);
  emit_register_parameters(e);
  const std::vector<std::uint32_t> order = reconvergence_order(e.flow.successors());
  SpeculatedLoads speculated(*e.layout.module, e.function, e.flow);
  for (std::size_t i = 0; i < order.size(); ++i) {
    emit_block(e, speculated, order[i], i + 1 < order.size() ? order[i + 1] : ptx::kNone);
  }
  e.flow.resolve(e.program);
  place_outgoing_rows(e, code.entry);
  e.frame.describe(code);
  code.param_rows = param_rows_of(e.function, e.layout).rows;
  code.outgoing_words = e.params.outgoing_words();
}

// Emits code that refuses the call at run time, for a function without executable body, which can
// be called only through a register.
void emit_refusal(const ptx::Function& function, const Layout& layout, Program& program,
                  FunctionCode& code) {
  const std::string why =
      function.unsupported.empty()
          ? fmt::format(
                "{}: function '{}', called through a register, has no body and is not "
                "supported",
                layout.module->name, function.name)
          : fmt::format("{}:{}: function '{}' is not supported: {}", layout.module->name,
                        function.ptx_line, function.name, function.unsupported);
  code.entry = static_cast<std::uint32_t>(program.code.size());
  code.words =
      lay_out_param_rows({function.results, function.parameters}, layout.variadic_bytes).rows;
  Instr out;
  out.source = static_cast<std::uint32_t>(program.sources.size());
  program.sources.push_back({{}, function.ptx_line, "call"});
  out.kind = InstrKind::refusal;
  out.refusal = static_cast<std::uint32_t>(program.refusals.size());
  program.refusals.push_back(why);
  program.code.push_back(out);
}

}  // namespace

void emit_function(std::uint32_t instance, Layout& layout, ConstantRows& constants,
                   Program& program) {
  const Instance& reached = layout.instances[instance];
  FunctionCode& code = program.functions[instance];
  if (reached.function->has_body && reached.function->unsupported.empty()) {
    Emission emission(reached, layout, constants, program);
    emit_text(emission, code);
  } else {
    emit_refusal(*reached.function, layout, program, code);
  }
}

}  // namespace warpcheck::vgpu
