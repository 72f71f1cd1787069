#include "vgpu/program/emit/control_flow.hpp"

#include <algorithm>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;

bool ends_block(const ptx::Instruction& in) {
  return in.opcode == Opcode::bra_ || in.opcode == Opcode::ret_ || in.opcode == Opcode::exit_ ||
         in.opcode == Opcode::brx_;
}

bool never_falls_through(const ptx::Instruction& in) {
  return ends_block(in) && in.guard == ptx::kNone;
}

}  // namespace

ControlFlow::ControlFlow(const FunctionContext& context) : context_(context) {
  find_starts();
  find_successors();
  pcs_.assign(starts_.size(), ptx::kNone);
}

void ControlFlow::find_starts() {
  const ptx::Function& function = context_.function;
  const auto size = static_cast<std::uint32_t>(function.body.size());
  std::vector<bool> starts(size + 1, false);
  starts[0] = true;
  for (const ptx::Label& label : function.labels) {
    if (label.position <= size) starts[label.position] = true;
  }
  for (std::uint32_t at = 0; at < size; ++at) {
    if (ends_block(function.body[at])) starts[at + 1] = true;
  }
  block_of_.assign(size + 1, 0);
  for (std::uint32_t at = 0; at <= size; ++at) {
    if (starts[at]) starts_.push_back(at);
    block_of_[at] = static_cast<std::uint32_t>(starts_.size() - 1);
  }
  if (starts_.back() != size) starts_.push_back(size), block_of_[size]++;
}

void ControlFlow::find_successors() {
  successors_.resize(starts_.size());
  for (std::uint32_t block = 0; block + 1 < starts_.size(); ++block) {
    const ptx::Instruction& last = context_.function.body[starts_[block + 1] - 1];
    if (last.opcode == Opcode::bra_) {
      if (last.operands.empty() || last.operands[0].kind != Kind::label) {
        context_.refuse(last, "a branch without a label");
      }
      successors_[block].push_back(target_of(last));
    }
    if (last.opcode == Opcode::brx_ && last.unsupported.empty()) {
      for (const std::uint32_t target : targets_of(last)) successors_[block].push_back(target);
    }
    if (!never_falls_through(last)) successors_[block].push_back(block + 1);
  }
}

bool ControlFlow::falls_through(std::uint32_t block) const {
  const std::uint32_t end = end_of(block);
  return end == begin_of(block) || !never_falls_through(context_.function.body[end - 1]);
}

std::uint32_t ControlFlow::target_of(const ptx::Instruction& in) const {
  return block_of_[context_.function.labels[in.operands.at(0).index].position];
}

std::vector<std::uint32_t> ControlFlow::targets_of(const ptx::Instruction& in) const {
  const ptx::Function& function = context_.function;
  const ptx::Operand& list = in.operands.at(1);
  if (list.index >= function.branch_targets.size()) {
    context_.refuse(in, "a list that is none of labels");
  }
  std::vector<std::uint32_t> blocks;
  for (const std::uint32_t label : function.branch_targets[list.index].labels) {
    blocks.push_back(block_of_[function.labels[label].position]);
  }
  return blocks;
}

void ControlFlow::drop_jumps(std::uint32_t pc) {
  while (!jumps_.empty() && jumps_.back().pc >= pc) jumps_.pop_back();
}

void ControlFlow::resolve(Program& program) const {
  for (const Jump& jump : jumps_) program.code[jump.pc].target = pcs_[jump.block];
  for (const std::uint32_t table : tables_) {
    for (std::uint32_t& target : program.jump_tables[table]) target = pcs_[target];
  }
}

}  // namespace warpcheck::vgpu
