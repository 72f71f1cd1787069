#include "vgpu/program/flow/block_graph.hpp"

#include <algorithm>

#include "vgpu/program/flow/next_instructions.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_call(const Instr& instr) {
  return instr.kind == InstrKind::call || instr.kind == InstrKind::call_register;
}

bool ends_block(InstrKind kind) {
  switch (kind) {
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::jump_table:
    case InstrKind::call:
    case InstrKind::call_register:
    case InstrKind::ret:
    case InstrKind::exit: return true;
    default: return false;
  }
}

// Calls visit(function) for the functions that a call may lead to.
void for_each_callee(const Program& program, const Instr& call, auto&& visit) {
  if (call.kind == InstrKind::call) return visit(call.function);
  for (std::uint32_t index = 0; index < program.functions.size(); ++index) {
    if (program.functions[index].signature == call.signature) visit(index);
  }
}

}  // namespace

bool is_guarded_barrier(const Instr& instr) {
  return instr.guard.bank != Bank::none &&
         (instr.kind == InstrKind::barrier || instr.kind == InstrKind::cluster_barrier);
}

BlockGraph::BlockGraph(const Program& program, bool (*is_alone)(const Instr& instr)) {
  find_blocks(program, is_alone);
  std::vector<std::vector<std::uint32_t>> returns(program.functions.size());
  for (std::uint32_t pc = 0; pc + 1 < program.code.size(); ++pc) {
    if (!is_call(program.code[pc])) continue;
    for_each_callee(program, program.code[pc],
                    [&](std::uint32_t callee) { returns[callee].push_back(block_of_[pc + 1]); });
  }
  ends_.reserve(blocks_.size());
  for (const Block& block : blocks_) link(program, block, returns);
}

void BlockGraph::find_blocks(const Program& program, bool (*is_alone)(const Instr& instr)) {
  const auto count = static_cast<std::uint32_t>(program.code.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (const FunctionCode& function : program.functions) begins[function.entry] = true;
  for (const auto& table : program.jump_tables) {
    for (const std::uint32_t target : table) begins[target] = true;
  }
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Instr& instr = program.code[pc];
    if (branches(instr)) begins[instr.target] = true;
    const bool alone = is_alone != nullptr && is_alone(instr);
    if (alone) begins[pc] = true;
    if (alone || ends_block(instr.kind)) begins[pc + 1] = true;
  }
  block_of_.resize(count);
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    if (begins[pc]) blocks_.push_back({pc, pc});
    blocks_.back().end = pc + 1;
    block_of_[pc] = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
}

void BlockGraph::link(const Program& program, const Block& block,
                      const std::vector<std::vector<std::uint32_t>>& returns) {
  const auto add = [&](std::uint32_t to) {
    if (!std::ranges::count(successors_.open(), to)) successors_.add(to);
  };
  const Instr& last = program.code[block.end - 1];
  bool goes_on = last.guard.bank != Bank::none;
  switch (last.kind) {
    case InstrKind::branch:
      add(block_of_[last.target]);
      goes_on = true;
      break;
    case InstrKind::jump: add(block_of_[last.target]); break;
    case InstrKind::jump_table:
      for (const std::uint32_t to : program.jump_tables[last.table]) add(block_of_[to]);
      break;
    case InstrKind::call:
    case InstrKind::call_register:
      for_each_callee(program, last, [&](std::uint32_t callee) {
        add(block_of_[program.functions[callee].entry]);
      });
      break;
    case InstrKind::ret:
      for (const std::uint32_t to : returns[program.function_of(block.end - 1)]) add(to);
      break;
    case InstrKind::exit: break;
    default: goes_on = true;
  }
  if (goes_on && block.end < block_of_.size()) add(block_of_[block.end]);
  successors_.close();
  ends_.push_back(last.kind == InstrKind::exit);
}

}  // namespace warpcheck::vgpu
