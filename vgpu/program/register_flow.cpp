#include "vgpu/program/register_flow.hpp"

#include <algorithm>
#include <initializer_list>

#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {
namespace {

// mov {part, part ...} = a
bool unpacks(const Instr& instr) {
  return instr.opcode == ptx::Opcode::mov_ && instr.modifiers.vector != 1 &&
         instr.refs[2].bank == Bank::none;
}

struct Roles {
  std::uint32_t reads = 0, writes = 0;  // of Instr::refs, one bit each
  bool opaque = false;
};

constexpr std::uint32_t bits(std::initializer_list<unsigned> operands) {
  std::uint32_t mask = 0;
  for (const unsigned operand : operands) mask |= 1u << operand;
  return mask;
}

// As Instr says; what is not listed there is opaque.
Roles roles_of(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::warp:
    case InstrKind::warp_sync:
      if (is_matrix_product(instr)) return {.opaque = true};
      if (unpacks(instr)) return {.reads = bits({1}), .writes = bits({0, 3, 4, 5})};
      return {.reads = bits({1, 2, 3, 5}), .writes = bits({0, 4})};
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address: return {.writes = bits({0})};
    case InstrKind::load: return {.reads = bits({0}), .writes = bits({1, 2, 3, 4})};
    case InstrKind::store: return {.reads = bits({0, 1, 2, 3, 4})};
    case InstrKind::atomic: {
      const bool is_scalar =
          instr.modifiers.vector <= 1 && ptx::bytes_of(instr.modifiers.type) <= 8;
      return {.reads = bits({0, 2, 3}), .writes = bits({1}), .opaque = !is_scalar};
    }
    case InstrKind::barrier_object: return {.reads = bits({0, 2}), .writes = bits({1})};
    case InstrKind::barrier: return {.reads = bits({1, 2, 3}), .writes = bits({0})};
    case InstrKind::copy:
    case InstrKind::async_store: return {.reads = bits({0, 1, 2, 5})};
    case InstrKind::bulk_copy: return {.reads = bits({0, 1, 2, 4, 5})};
    case InstrKind::heap_allocate: return {.reads = bits({1}), .writes = bits({0})};
    case InstrKind::print: return {.reads = bits({1, 2}), .writes = bits({0})};
    case InstrKind::heap_free:
    case InstrKind::copy_group:
    case InstrKind::sleep:
    case InstrKind::jump_table: return {.reads = bits({1})};
    case InstrKind::assertion: return {.reads = bits({1, 2, 3, 4})};
    case InstrKind::cluster_barrier:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::call:
    case InstrKind::ret:
    case InstrKind::exit:
    case InstrKind::fence:
    case InstrKind::trap:
    case InstrKind::refusal:
    case InstrKind::nop: return {};
    case InstrKind::call_register:
    case InstrKind::stack:
    case InstrKind::texture: break;
  }
  return {.opaque = true};
}

bool ends_block(InstrKind kind) {
  switch (kind) {
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::jump_table:
    case InstrKind::call:
    case InstrKind::ret:
    case InstrKind::exit: return true;
    default: return false;
  }
}

}  // namespace

RegisterFlow::RegisterFlow(const Program& program) : program_(program) {
  if (program.code.empty() || program.dynamic_stack || !place_frames()) return;
  known_ = true;
  list_operands();
  find_blocks();
  link_blocks();
}

// False: a function has more than one call, or is called through registers.
bool RegisterFlow::place_frames() {
  const auto functions = static_cast<std::uint32_t>(program_.functions.size());
  function_of_.assign(program_.code.size(), 0);
  calls_.assign(functions, ptx::kNone);
  frames_.resize(functions);
  std::vector<std::uint32_t> by_entry(functions);
  for (std::uint32_t i = 0; i < functions; ++i) by_entry[i] = i;
  std::ranges::sort(by_entry, {}, [&](std::uint32_t i) { return program_.functions[i].entry; });
  for (std::uint32_t i = 0; i < functions; ++i) {
    const std::uint32_t begin = program_.functions[by_entry[i]].entry;
    const std::size_t end =
        i + 1 == functions ? program_.code.size() : program_.functions[by_entry[i + 1]].entry;
    std::fill(function_of_.begin() + begin, function_of_.begin() + static_cast<std::ptrdiff_t>(end),
              by_entry[i]);
  }
  std::vector<std::vector<std::uint32_t>> callees(functions);
  for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
    const Instr& instr = program_.code[pc];
    if (instr.kind == InstrKind::call_register) return false;
    if (instr.kind != InstrKind::call) continue;
    if (instr.target == 0 || calls_[instr.target] != ptx::kNone) return false;
    calls_[instr.target] = pc;
    callees[function_of_[pc]].push_back(instr.target);
  }
  std::vector<std::uint32_t> path{0};
  while (!path.empty()) {
    const std::uint32_t caller = path.back();
    path.pop_back();
    const FunctionCode& code = program_.functions[caller];
    for (const std::uint32_t callee : callees[caller]) {
      const Frame& from = frames_[caller];
      frames_[callee] = {from.word + code.words, from.wide + code.wides,
                         from.predicate + code.predicates};
      path.push_back(callee);
    }
  }
  std::uint32_t predicates = 0;
  for (std::uint32_t i = 0; i < functions; ++i) {
    const FunctionCode& code = program_.functions[i];
    words_ = std::max(words_, frames_[i].word + code.words + code.outgoing_words);
    wides_ = std::max(wides_, frames_[i].wide + code.wides);
    predicates = std::max(predicates, frames_[i].predicate + code.predicates);
  }
  registers_ = words_ + wides_ + predicates;
  return true;
}

std::uint32_t RegisterFlow::register_of(std::uint32_t pc, const Ref& ref) const {
  const Frame& frame = frames_[function_of_[pc]];
  switch (ref.bank) {
    case Bank::word: return frame.word + ref.offset / kWordRowBytes;
    case Bank::wide: return words_ + frame.wide + ref.offset / kWideRowBytes;
    case Bank::predicate: return words_ + wides_ + frame.predicate + ref.offset / 4;
    case Bank::constant:
    case Bank::none: break;
  }
  return ptx::kNone;
}

void RegisterFlow::add(Lists& lists, std::uint32_t pc, const Ref& ref) const {
  const std::uint32_t number = register_of(pc, ref);
  if (number != ptx::kNone) lists.items.push_back(number);
}

void RegisterFlow::list_operands() {
  opaque_.assign(program_.code.size(), false);
  for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
    const Instr& instr = program_.code[pc];
    const Roles roles = roles_of(instr);
    opaque_[pc] = roles.opaque;
    for (std::size_t i = 0; i < instr.refs.size(); ++i) {
      if ((roles.reads >> i & 1) != 0) add(reads_, pc, instr.refs[i]);
      if ((roles.writes >> i & 1) != 0) add(writes_, pc, instr.refs[i]);
    }
    add(reads_, pc, instr.guard);
    reads_.close();
    writes_.close();
  }
}

void RegisterFlow::find_blocks() {
  const auto count = static_cast<std::uint32_t>(program_.code.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (const FunctionCode& function : program_.functions) begins[function.entry] = true;
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Instr& instr = program_.code[pc];
    if (instr.kind == InstrKind::branch || instr.kind == InstrKind::jump) {
      begins[instr.target] = true;
    }
    if (ends_block(instr.kind)) begins[pc + 1] = true;
  }
  for (const auto& table : program_.jump_tables) {
    for (const std::uint32_t target : table) begins[target] = true;
  }
  block_of_.resize(count);
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    if (begins[pc]) blocks_.push_back({pc, pc});
    blocks_.back().end = pc + 1;
    block_of_[pc] = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
}

void RegisterFlow::link_blocks() {
  const auto add = [&](std::uint32_t pc) {
    if (pc < block_of_.size()) successors_.items.push_back(block_of_[pc]);
  };
  for (const Block& block : blocks_) {
    const std::uint32_t last = block.end - 1;
    const Instr& instr = program_.code[last];
    const bool guarded = instr.guard.bank != Bank::none;
    switch (instr.kind) {
      case InstrKind::branch:
        add(instr.target);
        add(block.end);
        break;
      case InstrKind::jump: add(instr.target); break;
      case InstrKind::jump_table:
        for (const std::uint32_t target : program_.jump_tables[instr.target]) add(target);
        if (guarded) add(block.end);
        break;
      case InstrKind::call:
        add(program_.functions[instr.target].entry);
        if (guarded) add(block.end);
        break;
      case InstrKind::ret: {
        const std::uint32_t call = calls_[function_of_[last]];
        if (call != ptx::kNone) add(call + 1);
        if (guarded) add(block.end);
        break;
      }
      case InstrKind::exit:
        if (guarded) add(block.end);
        break;
      default: add(block.end);
    }
    successors_.close();
  }
}

}  // namespace warpcheck::vgpu
