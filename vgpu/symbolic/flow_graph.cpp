#include "vgpu/symbolic/flow_graph.hpp"

#include <algorithm>
#include <set>

#include "vgpu/program/reconvergence.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

using ptx::Opcode;

bool ends_thread(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::ret_ || instruction.opcode == Opcode::exit_ ||
         instruction.opcode == Opcode::trap_ || is_failed_assertion(instruction);
}
bool ends_block(const ptx::Instruction& instruction) {
  return ends_thread(instruction) || instruction.opcode == Opcode::bra_ ||
         instruction.opcode == Opcode::brx_;
}

// Whether the first operand is a source, as of a store.
bool has_no_result(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::st_:
    case Opcode::red_:
    case Opcode::bra_:
    case Opcode::brx_:
    case Opcode::call_:
    case Opcode::ret_:
    case Opcode::exit_:
    case Opcode::trap_:
    case Opcode::membar_:
    case Opcode::fence_:
    case Opcode::cp_:
    case Opcode::prefetch_:
    case Opcode::nanosleep_: return true;
    case Opcode::bar_:
    case Opcode::barrier_: return !instruction.modifiers.red;
    default: return false;
  }
}

void visit_operand(const ptx::Operand& operand, bool is_written,
                   const std::function<void(std::uint32_t, bool)>& visit) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::reg) visit(operand.index, is_written);
  if (operand.kind == Kind::address && operand.index != ptx::kNone) visit(operand.index, false);
  for (const ptx::Operand& part : operand.parts) visit_operand(part, is_written, visit);
}

}  // namespace

bool is_block_barrier(const ptx::Instruction& instruction) {
  return (instruction.opcode == Opcode::bar_ || instruction.opcode == Opcode::barrier_) &&
         !instruction.modifiers.warp;
}

bool is_warp_barrier(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::bar_ && instruction.modifiers.warp &&
         instruction.guard == ptx::kNone && instruction.operands.size() == 1 &&
         instruction.operands[0].kind == ptx::Operand::Kind::immediate &&
         (instruction.operands[0].bits & 0xffffffff) == 0xffffffff;
}

bool is_failed_assertion(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::call_ && instruction.guard == ptx::kNone &&
         instruction.operands.size() > 1 &&
         instruction.operands[1].kind == ptx::Operand::Kind::function &&
         instruction.operands[1].name == "__assertfail";
}

bool FlowGraph::is_barrier(const ptx::Instruction& instruction) const {
  return is_block_barrier(instruction) ||
         (together_ == Together::warp && is_warp_barrier(instruction));
}

void for_each_register(const ptx::Instruction& instruction,
                       const std::function<void(std::uint32_t, bool)>& visit) {
  if (instruction.guard != ptx::kNone) visit(instruction.guard, false);
  if (instruction.opcode == Opcode::call_) {
    if (!instruction.operands.empty()) visit_operand(instruction.operands[0], true, visit);
    if (instruction.operands.size() > 2) visit_operand(instruction.operands[2], false, visit);
    return;
  }
  const bool has_result = !has_no_result(instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    visit_operand(instruction.operands[i], has_result && i == 0, visit);
  }
}

FlowGraph::FlowGraph(const ptx::Function& kernel, Together together)
    : kernel_(kernel), together_(together) {
  find_blocks();
  find_places();
  find_loops();
  find_needed();
}

void FlowGraph::find_blocks() {
  const auto size = static_cast<std::uint32_t>(kernel_.body.size());
  std::set<std::uint32_t> begins{0};
  for (const ptx::Label& label : kernel_.labels) {
    if (label.position < size) begins.insert(label.position);
  }
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    if (ends_block(kernel_.body[i])) begins.insert(i + 1);
  }
  for (auto at = begins.begin(); at != begins.end(); ++at) {
    blocks_.push_back({*at, std::next(at) == begins.end() ? size : *std::next(at), {}});
  }
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    BasicBlock& block = blocks_[i];
    const std::uint32_t next = i + 1 < blocks_.size() ? i + 1 : kEnd;
    if (block.begin == block.end) continue;
    const ptx::Instruction& last = kernel_.body[block.end - 1];
    if (!ends_block(last)) {
      block.edges.push_back({next, ptx::kNone, false});
      continue;
    }
    if (last.opcode == Opcode::brx_) {
      --block.end;
      add_table(block, last, next);
      continue;
    }
    std::uint32_t target = kEnd;
    if (last.opcode == Opcode::bra_) {
      const std::uint32_t position = kernel_.labels[last.operands[0].index].position;
      target = position < size ? block_of(position) : kEnd;
    }
    --block.end;
    block.edges.push_back({target, last.guard, last.guard_negated});
    if (last.guard != ptx::kNone) block.edges.push_back({next, last.guard, !last.guard_negated});
  }
}

// A number beyond the table is undefined, so the table has all of them.
void FlowGraph::add_table(BasicBlock& block, const ptx::Instruction& jump, std::uint32_t next) {
  const ptx::BranchTargets& table = kernel_.branch_targets.at(jump.operands[1].index);
  for (std::uint32_t i = 0; i < table.labels.size(); ++i) {
    const std::uint32_t position = kernel_.labels[table.labels[i]].position;
    block.edges.push_back({.to = position < kernel_.body.size() ? block_of(position) : kEnd,
                           .guard = jump.guard,
                           .negated = jump.guard_negated,
                           .selector = jump.operands[0].index,
                           .number = i});
  }
  if (jump.guard != ptx::kNone) block.edges.push_back({next, jump.guard, !jump.guard_negated});
}

std::uint32_t FlowGraph::block_of(std::uint32_t instruction) const {
  const auto after = std::ranges::upper_bound(blocks_, instruction, {}, &BasicBlock::begin);
  return static_cast<std::uint32_t>(after - blocks_.begin()) - 1;
}

void FlowGraph::find_places() {
  std::vector<std::vector<std::uint32_t>> successors(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (const Edge& edge : blocks_[i].edges) {
      if (edge.to != kEnd) successors[i].push_back(edge.to);
    }
  }
  std::uint32_t place = 0;
  for (const std::uint32_t block : reconvergence_order(successors)) blocks_[block].place = place++;
}

// Natural loops: an edge to an earlier place leads to a header, which must be the only entry.
void FlowGraph::find_loops() {
  loop_at_.assign(blocks_.size(), ptx::kNone);
  std::vector<std::vector<std::uint32_t>> before(blocks_.size());
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].place == ptx::kNone) continue;
    for (const Edge& edge : blocks_[i].edges) {
      if (edge.to != kEnd) before[edge.to].push_back(i);
    }
  }
  for (std::uint32_t header = 0; header < blocks_.size(); ++header) {
    std::set<std::uint32_t> in;
    std::vector<std::uint32_t> waiting;
    for (const std::uint32_t from : before[header]) {
      if (blocks_[from].place >= blocks_[header].place) waiting.push_back(from);
    }
    if (waiting.empty()) continue;
    in.insert(header);
    while (!waiting.empty()) {
      const std::uint32_t block = waiting.back();
      waiting.pop_back();
      if (!in.insert(block).second) continue;
      if (blocks_[block].place < blocks_[header].place) {
        throw NotFollowed(kernel_.body[blocks_[header].begin].location,
                          "a loop that is entered in the middle");
      }
      waiting.insert(waiting.end(), before[block].begin(), before[block].end());
    }
    loop_at_[header] = static_cast<std::uint32_t>(loops_.size());
    loops_.push_back({header, {in.begin(), in.end()}, ptx::kNone, 0, false, false, {}});
  }
  in_loop_.assign(loops_.size(), std::vector<bool>(blocks_.size()));
  for (std::uint32_t i = 0; i < loops_.size(); ++i) {
    std::set<std::uint32_t> written;
    for (const std::uint32_t block : loops_[i].blocks) {
      in_loop_[i][block] = true;
      for (std::uint32_t at = blocks_[block].begin; at < blocks_[block].end; ++at) {
        loops_[i].has_barrier |= is_barrier(kernel_.body[at]);
        for_each_register(kernel_.body[at], [&](std::uint32_t reg, bool is_written) {
          if (is_written) written.insert(reg);
        });
      }
    }
    loops_[i].written.assign(written.begin(), written.end());
    loops_[i].always_has_barrier = loops_[i].has_barrier && !has_free_iteration(i);
  }
  // The innermost loop has the fewest blocks.
  for (std::uint32_t i = 0; i < loops_.size(); ++i) {
    for (std::uint32_t j = 0; j < loops_.size(); ++j) {
      if (i == j || !in_loop_[j][loops_[i].header]) continue;
      ++loops_[i].depth;
      std::uint32_t& parent = loops_[i].parent;
      if (parent == ptx::kNone || loops_[j].blocks.size() < loops_[parent].blocks.size())
        parent = j;
    }
    for (const std::uint32_t block : loops_[i].blocks) {
      std::uint32_t& own = blocks_[block].loop;
      if (own == ptx::kNone || loops_[i].blocks.size() < loops_[own].blocks.size()) own = i;
    }
  }
}

bool FlowGraph::has_free_iteration(std::uint32_t loop) const {
  const std::uint32_t header = loops_[loop].header;
  std::vector<bool> seen(blocks_.size());
  std::vector<std::uint32_t> waiting{header};
  while (!waiting.empty()) {
    const BasicBlock& block = blocks_[waiting.back()];
    seen[waiting.back()] = true;
    waiting.pop_back();
    bool waits = false;
    for (std::uint32_t at = block.begin; at < block.end; ++at)
      waits |= is_barrier(kernel_.body[at]);
    if (waits) continue;
    for (const Edge& edge : block.edges) {
      if (edge.to == header) return true;
      if (is_in(edge.to, loop) && !seen[edge.to]) waiting.push_back(edge.to);
    }
  }
  return false;
}

bool FlowGraph::is_in(std::uint32_t block, std::uint32_t loop) const {
  return block != kEnd && in_loop_[loop][block];
}

std::vector<std::uint32_t> FlowGraph::loops_around(std::uint32_t block) const {
  std::vector<std::uint32_t> around;
  for (std::uint32_t loop = blocks_[block].loop; loop != ptx::kNone; loop = loops_[loop].parent) {
    around.push_back(loop);
  }
  std::ranges::reverse(around);
  return around;
}

// Numbers of which only results are made, that decide nothing, are not needed: a checksum, or a
// random number's seed.
void FlowGraph::add_needs_of(const ptx::Instruction& instruction, std::vector<bool>& needed) const {
  const ptx::Family family = ptx::row_of(instruction.opcode).family;
  bool gives_what_is_needed = family != ptx::Family::compute && family != ptx::Family::move;
  for_each_register(instruction, [&](std::uint32_t reg, bool is_written) {
    if (!is_written || !needed[reg]) return;
    gives_what_is_needed = true;
    if (instruction.guard == ptx::kNone) needed[reg] = false;
  });
  if (!gives_what_is_needed) return;
  for_each_register(instruction, [&](std::uint32_t reg, bool is_written) {
    if (!is_written && !ptx::is_float(kernel_.registers[reg].type)) needed[reg] = true;
  });
}

void FlowGraph::find_needed() {
  needed_.assign(blocks_.size(), std::vector<bool>(kernel_.registers.size()));
  bool changes = true;
  while (changes) {
    changes = false;
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      std::vector<bool> needed(kernel_.registers.size());
      for (const Edge& edge : blocks_[i].edges) {
        if (edge.to != kEnd) {
          for (std::size_t reg = 0; reg < needed.size(); ++reg) {
            if (needed_[edge.to][reg]) needed[reg] = true;
          }
        }
        if (edge.guard != ptx::kNone) needed[edge.guard] = true;
        if (edge.selector != ptx::kNone) needed[edge.selector] = true;
      }
      for (std::uint32_t at = blocks_[i].end; at-- > blocks_[i].begin;) {
        add_needs_of(kernel_.body[at], needed);
      }
      if (needed != needed_[i]) {
        needed_[i] = std::move(needed);
        changes = true;
      }
    }
  }
}

}  // namespace warpcheck::vgpu::symbolic
