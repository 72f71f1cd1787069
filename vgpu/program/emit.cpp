// Structure and control flow of one function; see emitter.hpp.
#include "vgpu/program/emit.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vgpu/program/emitter.hpp"
#include "vgpu/program/order.hpp"
#include "vgpu/program/video.hpp"
#include "vgpu/ptx/forms.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

bool ends_block(const ptx::Instruction& in) {
  return in.opcode == Opcode::bra_ || in.opcode == Opcode::ret_ || in.opcode == Opcode::exit_ ||
         in.opcode == Opcode::brx_;
}

bool never_falls_through(const ptx::Instruction& in) {
  return ends_block(in) && in.guard == ptx::kNone;
}

}  // namespace

Emitter::Emitter(std::uint32_t instance, Layout& layout, ConstantRows& constants, Program& program)
    : instance_(layout.instances[instance]),
      index_(instance),
      function_(*layout.instances[instance].function),
      layout_(layout),
      constants_(constants),
      program_(program) {}

void Emitter::run() {
  if (!function_.is_entry) {
    own_ = lay_out_param_rows({function_.results, function_.parameters}, layout_.variadic_bytes);
    words_ = own_.rows;
  }
  for (const ptx::Register& reg : function_.registers) {
    if (reg.type == ptx::Type::pred) {
      rows_.push_back({Bank::predicate, predicates_++ * 4});
    } else if (ptx::bytes_of(reg.type) <= 4) {
      rows_.push_back({Bank::word, words_++ * kWordRowBytes});
    } else if (ptx::bytes_of(reg.type) == 8) {
      rows_.push_back({Bank::wide, wides_++ * kWideRowBytes});
    } else {
      rows_.push_back({Bank::wide, wides_ * kWideRowBytes});
      wides_ += 2;
    }
  }
  for (std::uint32_t i = 0; i < function_.locals.size(); ++i) {
    const ptx::Variable& local = function_.locals[i];
    if (local.space != ptx::Space::local) continue;
    const std::uint32_t alignment = std::max(local.alignment, 1u);
    local_bytes_ = (local_bytes_ + alignment - 1) / alignment * alignment;
    local_offset_[i] = local_bytes_;
    local_bytes_ += static_cast<std::uint32_t>(local.bytes);
  }
  place_parameters_with_address();
  place_outgoing();
  find_blocks();

  const auto first_pc = static_cast<std::uint32_t>(program_.code.size());
  program_.functions[index_].entry = first_pc;
  store_parameters_with_address();
  const std::vector<std::uint32_t> order = reconvergence_order(successors_);
  block_pc_.assign(block_start_.size(), ptx::kNone);
  for (std::size_t i = 0; i < order.size(); ++i) {
    emit_block(order[i], i + 1 < order.size() ? order[i + 1] : ptx::kNone);
  }
  finish(first_pc);
}

void Emitter::find_blocks() {
  const auto size = static_cast<std::uint32_t>(function_.body.size());
  std::vector<bool> starts(size + 1, false);
  starts[0] = true;
  for (const ptx::Label& label : function_.labels) {
    if (label.position <= size) starts[label.position] = true;
  }
  for (std::uint32_t at = 0; at < size; ++at) {
    if (ends_block(function_.body[at])) starts[at + 1] = true;
  }
  block_of_.assign(size + 1, 0);
  for (std::uint32_t at = 0; at <= size; ++at) {
    if (starts[at]) block_start_.push_back(at);  // the last may be empty: the end of the text
    block_of_[at] = static_cast<std::uint32_t>(block_start_.size() - 1);
  }
  if (block_start_.back() != size) block_start_.push_back(size), block_of_[size]++;
  successors_.resize(block_start_.size());
  for (std::uint32_t block = 0; block + 1 < block_start_.size(); ++block) {
    const ptx::Instruction& last = function_.body[block_start_[block + 1] - 1];
    if (last.opcode == Opcode::bra_) {
      if (last.operands.empty() || last.operands[0].kind != Kind::label) {
        refuse(last, "a branch without a label");
      }
      successors_[block].push_back(block_of_[function_.labels[last.operands[0].index].position]);
    }
    if (last.opcode == Opcode::brx_ && last.unsupported.empty()) {
      for (const std::uint32_t target : targets_of(last)) successors_[block].push_back(target);
    }
    if (!never_falls_through(last)) successors_[block].push_back(block + 1);
  }
}

void Emitter::emit_block(std::uint32_t block, std::uint32_t next_block) {
  block_pc_[block] = static_cast<std::uint32_t>(program_.code.size());
  const bool is_end = block + 1 == block_start_.size();
  if (is_end) {  // running off the end of the text returns
    Instr out;
    out.kind = function_.is_entry ? InstrKind::exit : InstrKind::ret;
    out.opcode = Opcode::ret_;
    out.source = static_cast<std::uint32_t>(program_.sources.size());
    program_.sources.push_back({{}, 0, "ret"});
    push(out);
    return;
  }
  const std::uint32_t end = block_start_[block + 1];
  next_block_ = next_block;
  for (at_ = block_start_[block]; at_ < end; ++at_) emit_or_refuse(function_.body[at_]);
  const bool falls = end == block_start_[block] || !never_falls_through(function_.body[end - 1]);
  if (falls && next_block != block + 1) {
    Instr jump;
    jump.kind = InstrKind::jump;
    jump.opcode = Opcode::bra_;
    jump.source = program_.code.empty() ? 0 : program_.code.back().source;
    fixups_.push_back({static_cast<std::uint32_t>(program_.code.size()), block + 1});
    push(jump);
  }
}

void Emitter::finish(std::uint32_t first_pc) {
  for (const Fixup& fixup : fixups_) program_.code[fixup.pc].target = block_pc_[fixup.block];
  for (const std::uint32_t table : jump_tables_) {
    for (std::uint32_t& target : program_.jump_tables[table]) target = block_pc_[target];
  }
  for (std::uint32_t pc = first_pc; pc < program_.code.size(); ++pc) {
    for (Ref& ref : program_.code[pc].operands) {
      if (ref.bank == Bank::word && (ref.offset & kOutgoing) != 0) {
        ref.offset = words_ * kWordRowBytes + (ref.offset & ~kOutgoing);
      }
    }
  }
  FunctionCode& code = program_.functions[index_];
  code.words = words_;
  code.wides = wides_;
  code.predicates = predicates_;
  code.local_bytes = (local_bytes_ + 15) / 16 * 16;
  code.outgoing_words = outgoing_words_;
}

Instr Emitter::begin(const ptx::Instruction& in) {
  Instr out;
  out.opcode = in.opcode;
  out.modifiers = in.modifiers;
  if (in.guard != ptx::kNone) {
    out.guard = rows_[in.guard];
    out.guard_negated = in.guard_negated;
  }
  ptx::SourceLocation location = in.location;
  if (location.inlined_at == ptx::kNone) location.inlined_at = instance_.called_from;
  out.source = static_cast<std::uint32_t>(program_.sources.size());
  program_.sources.push_back({location, in.ptx_line, in.text});
  return out;
}

void Emitter::refuse(const ptx::Instruction& in, const std::string& why) const {
  std::string place = fmt::format("{}:{}", layout_.module->name, in.ptx_line);
  if (in.location.file < program_.files.size() && in.location.line != 0) {
    place += fmt::format(" (from {}:{})", program_.files[in.location.file], in.location.line);
  }
  throw Refusal(fmt::format("{}: '{}' in function '{}' is not supported: {}", place, in.text,
                            function_.name, why));
}

// Where nobody knows whether the code is reached, it is refused when it is.
void Emitter::emit_or_refuse(const ptx::Instruction& in) {
  if (!instance_.by_address) return emit(in);
  const std::size_t before = program_.code.size();
  const std::size_t fixups = fixups_.size();
  try {
    emit(in);
  } catch (const Refusal& refusal) {
    program_.code.resize(before);
    fixups_.resize(fixups);
    Instr out = begin(in);
    push_refusal(out, refusal.what());
  }
}

void Emitter::push_refusal(Instr& out, const std::string& why) {
  out.kind = InstrKind::refusal;
  out.target = static_cast<std::uint32_t>(program_.refusals.size());
  program_.refusals.push_back(why);
  push(out);
}

void Emitter::require_form(const ptx::Instruction& in) const {
  if (!ptx::has_form(in.text)) refuse(in, "the list of supported PTX has no such form");
}

void Emitter::emit(const ptx::Instruction& in) {
  if (!in.unsupported.empty()) refuse(in, in.unsupported);
  Instr out = begin(in);
  switch (in.opcode) {
    case Opcode::mov_: require_form(in); return emit_mov(in, out);
    case Opcode::ld_:
    case Opcode::ldu_:
    case Opcode::st_: return emit_memory(in, out);
    case Opcode::atom_:
    case Opcode::red_: return emit_atomic(in, out);
    case Opcode::mma_:
    case Opcode::wmma_:
    case Opcode::ldmatrix_:
    case Opcode::stmatrix_:
    case Opcode::movmatrix_: return emit_matrix(in);
    case Opcode::tex_:
    case Opcode::tld4_:
    case Opcode::suld_:
    case Opcode::sust_: return emit_texture(in, out);
    case Opcode::bar_:
    case Opcode::barrier_: return emit_barrier(in, out);
    case Opcode::mapa_: return emit_mapping(in, out);
    case Opcode::getctarank_: return emit_rank(in, out);
    case Opcode::isspacep_:
      if (in.modifiers.space != ptx::Space::shared) break;
      return emit_is_shared(in, out);
    case Opcode::shfl_:
    case Opcode::vote_:
    case Opcode::match_:
    case Opcode::redux_:
    case Opcode::activemask_:
    case Opcode::elect_: return emit_warp_operation(in, out);
    case Opcode::createpolicy_:
    case Opcode::applypriority_:
    case Opcode::discard_: return emit_cache_control(in, out);
    case Opcode::mbarrier_: return emit_barrier_object(in, out);
    case Opcode::cp_: return emit_copy(in, out);
    case Opcode::bra_:
    case Opcode::brx_:
    case Opcode::call_:
    case Opcode::ret_:
    case Opcode::exit_:
    case Opcode::trap_:
    case Opcode::brkpt_:
    case Opcode::alloca_:
    case Opcode::stacksave_:
    case Opcode::stackrestore_:
    case Opcode::membar_:
    case Opcode::fence_:
    case Opcode::nop_:
    case Opcode::prefetch_:
    case Opcode::prefetchu_:
    case Opcode::pmevent_:
    case Opcode::setmaxnreg_:
    case Opcode::griddepcontrol_:
    case Opcode::nanosleep_: return emit_control(in, out);
    default: break;
  }
  if (is_video(in.opcode)) return emit_video(in, out);
  out.kind = InstrKind::compute;
  require_form(in);
  emit_compute(in, out);
}

void Emitter::emit_control(const ptx::Instruction& in, Instr& out) {
  switch (in.opcode) {
    case Opcode::bra_: return emit_branch(in, next_block_);
    case Opcode::brx_: return emit_jump_table(in, out);
    case Opcode::call_: return emit_call(in, out);
    case Opcode::alloca_:
    case Opcode::stacksave_:
    case Opcode::stackrestore_: return emit_stack(in, out);
    case Opcode::ret_: out.kind = function_.is_entry ? InstrKind::exit : InstrKind::ret; break;
    case Opcode::exit_: out.kind = InstrKind::exit; break;
    case Opcode::trap_:
    case Opcode::brkpt_: out.kind = InstrKind::trap; break;
    case Opcode::membar_:
    case Opcode::fence_: emit_fence(in, out); break;
    case Opcode::nop_:
    case Opcode::prefetch_:
    case Opcode::prefetchu_:
    case Opcode::pmevent_:         // counts for a profiler
    case Opcode::setmaxnreg_:      // a hint to the hardware: registers keep their values
    case Opcode::griddepcontrol_:  // kernels of a stream follow each other anyway
      out.kind = InstrKind::nop;
      break;
    case Opcode::nanosleep_: out.kind = InstrKind::sleep; break;
    default: refuse(in, "no such control flow here");
  }
  push(out);
}

void Emitter::emit_fence(const ptx::Instruction& in, Instr& out) const {
  const ptx::Modifiers& m = in.modifiers;
  out.kind = InstrKind::fence;
  if (m.proxy) {
    if (m.alias == m.async || m.scope != ptx::Scope::none) refuse(in, "a fence of this proxy");
    if (m.alias) out.kind = InstrKind::nop;  // no two addresses here are of the same memory
    return;
  }
  if (m.scope == ptx::Scope::none || m.alias || m.async || m.space != ptx::Space::generic) {
    refuse(in, "a fence of this kind");
  }
}

void Emitter::emit_branch(const ptx::Instruction& in, std::uint32_t next_block) {
  Instr out = begin(in);
  const std::uint32_t target = block_of_[function_.labels[in.operands.at(0).index].position];
  if (in.guard == ptx::kNone) {
    if (target == next_block) return;
    out.kind = InstrKind::jump;
  } else {
    out.kind = InstrKind::branch;
  }
  fixups_.push_back({static_cast<std::uint32_t>(program_.code.size()), target});
  push(out);
}

void emit_function(std::uint32_t instance, Layout& layout, ConstantRows& constants,
                   Program& program) {
  Emitter emitter(instance, layout, constants, program);
  const ptx::Function& function = *layout.instances[instance].function;
  if (function.has_body && function.unsupported.empty()) {
    emitter.run();
  } else {  // reached, if at all, through a register
    emitter.run_refusal();
  }
}

}  // namespace warpcheck::vgpu
