#include "vgpu/program/flow/block_graph.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/program/flow/code_blocks.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_call(const Instr& instr) {
  return instr.kind == InstrKind::call || instr.kind == InstrKind::call_register;
}

}  // namespace

bool is_guarded_barrier(const Instr& instr) {
  return instr.guard.bank != Bank::none &&
         (instr.kind == InstrKind::barrier || instr.kind == InstrKind::cluster_barrier);
}

BlockGraph::BlockGraph(const Program& program) : program_(program) {
  CodeBlocks found = find_code_blocks(program, is_guarded_barrier);
  block_of_ = std::move(found.block_of);
  for (const CodeBlock& code : found.blocks) {
    blocks_.push_back({.begin = code.begin, .end = code.end, .ends = false, .successors = {}});
  }
  list_returns();
  for (Block& block : blocks_) link(block);
}

void BlockGraph::for_each_callee(const Instr& call, auto&& visit) const {
  if (call.kind == InstrKind::call) return visit(call.function);
  for (std::uint32_t index = 0; index < program_.functions.size(); ++index) {
    if (program_.functions[index].signature == call.signature) visit(index);
  }
}

void BlockGraph::list_returns() {
  returns_.resize(program_.functions.size());
  for (std::uint32_t pc = 0; pc + 1 < program_.code.size(); ++pc) {
    if (!is_call(program_.code[pc])) continue;
    for_each_callee(program_.code[pc],
                    [&](std::uint32_t callee) { returns_[callee].push_back(block_of_[pc + 1]); });
  }
}

void BlockGraph::link(Block& block) const {
  const auto add = [&](std::uint32_t to) {
    if (!std::ranges::count(block.successors, to)) block.successors.push_back(to);
  };
  const auto add_next = [&] {
    if (block.end < block_of_.size()) add(block_of_[block.end]);
  };
  const Instr& last = program_.code[block.end - 1];
  const bool guarded = last.guard.bank != Bank::none;
  switch (last.kind) {
    case InstrKind::branch: add(block_of_[last.target]); return add_next();
    case InstrKind::jump: return add(block_of_[last.target]);
    case InstrKind::jump_table:
      for (const std::uint32_t to : program_.jump_tables[last.table]) add(block_of_[to]);
      break;
    case InstrKind::call:
    case InstrKind::call_register:
      for_each_callee(
          last, [&](std::uint32_t callee) { add(block_of_[program_.functions[callee].entry]); });
      break;
    case InstrKind::ret:
      for (const std::uint32_t to : returns_[program_.function_of(block.end - 1)]) add(to);
      break;
    case InstrKind::exit: block.ends = true; break;
    default: return add_next();
  }
  if (guarded) add_next();
}

}  // namespace warpcheck::vgpu
