#include "harness/causes/uniform_code.hpp"

#include <algorithm>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::SpecialRegister;

bool differs_between_threads(SpecialRegister reg) {
  switch (reg) {
    case SpecialRegister::tid_x:
    case SpecialRegister::tid_y:
    case SpecialRegister::tid_z:
    case SpecialRegister::laneid:
    case SpecialRegister::warpid:
    case SpecialRegister::lanemask_eq:
    case SpecialRegister::lanemask_le:
    case SpecialRegister::lanemask_lt:
    case SpecialRegister::lanemask_ge:
    case SpecialRegister::lanemask_gt:
    case SpecialRegister::clock:
    case SpecialRegister::clock_hi:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo:
    case SpecialRegister::globaltimer_hi: return true;
    default: return false;
  }
}

// What it brings differs between threads, whatever it is given.
bool is_of_thread(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::atom_:
    case Opcode::shfl_:
    case Opcode::vote_:
    case Opcode::match_:
    case Opcode::activemask_: return true;
    default: return false;
  }
}

// Whether other threads may wait for it or be told something by it.
bool hands_on(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::atom_:
    case Opcode::red_:
    case Opcode::bar_:
    case Opcode::barrier_:
    case Opcode::mbarrier_:
    case Opcode::call_: return true;
    case Opcode::st_: return instruction.modifiers.space != ptx::Space::global;
    default: return false;
  }
}

bool ends_thread(const ptx::Instruction& instruction) {
  return instruction.guard == ptx::kNone &&
         (instruction.opcode == Opcode::ret_ || instruction.opcode == Opcode::exit_);
}

}  // namespace

UniformCode::UniformCode(const ptx::Function& function)
    : function_(function), varies_(function.registers.size(), false) {
  find_blocks();
  find_meetings();
  // Until nothing is added.
  for (bool is_new = true; is_new;) {
    is_new = false;
    divide();
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const ptx::Instruction& instruction = function.body[i];
      if (is_of_thread(instruction) || is_divided_[block_of_[i]] || reads_varying(instruction))
        is_new = mark_destinations(instruction) || is_new;
    }
  }
}

bool UniformCode::all_come_by(std::uint32_t gap) const {
  return gap >= block_of_.size() || !is_divided_[block_of_[gap]];
}

std::uint32_t UniformCode::target_of(const ptx::Instruction& branch) const {
  if (branch.opcode != Opcode::bra_ || branch.operands.empty()) return ptx::kNone;
  const Operand& label = branch.operands.front();
  const bool is_label = label.kind == Operand::Kind::label && label.index < function_.labels.size();
  return is_label ? function_.labels[label.index].position : ptx::kNone;
}

bool UniformCode::reads_varying(const Operand& operand, bool is_loaded) const {
  switch (operand.kind) {
    case Operand::Kind::reg: return varies_[operand.index];
    case Operand::Kind::special: return differs_between_threads(operand.special);
    case Operand::Kind::address:
      if (operand.index != ptx::kNone) return varies_[operand.index];
      // What a called function returns, or is given.
      return is_loaded && (operand.variable.scope == ptx::VariableRef::Scope::local ||
                           operand.variable.scope == ptx::VariableRef::Scope::result ||
                           (operand.variable.scope == ptx::VariableRef::Scope::parameter &&
                            !function_.is_entry));
    case Operand::Kind::vector:
      return std::ranges::any_of(
          operand.parts, [&](const Operand& part) { return reads_varying(part, is_loaded); });
    default: return false;
  }
}

bool UniformCode::reads_varying(const ptx::Instruction& instruction) const {
  if (instruction.guard != ptx::kNone && varies_[instruction.guard]) return true;
  const bool is_load = instruction.opcode == Opcode::ld_;
  const ptx::Space space = instruction.modifiers.space;
  if (is_load && space == ptx::Space::local) return true;
  const bool of_param = is_load && space == ptx::Space::param;
  return std::ranges::any_of(instruction.operands.begin() + (instruction.operands.empty() ? 0 : 1),
                             instruction.operands.end(), [&](const Operand& operand) {
                               return reads_varying(operand, of_param);
                             });
}

bool UniformCode::mark_destinations(const ptx::Instruction& instruction) {
  if (instruction.operands.empty()) return false;
  bool is_new = false;
  const auto mark = [&](const Operand& operand) {
    if (operand.kind != Operand::Kind::reg || varies_[operand.index]) return;
    varies_[operand.index] = true;
    is_new = true;
  };
  const Operand& first = instruction.operands.front();
  mark(first);
  if (first.kind == Operand::Kind::vector) std::ranges::for_each(first.parts, mark);
  return is_new;
}

void UniformCode::find_blocks() {
  const auto count = static_cast<std::uint32_t>(function_.body.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = begins[count] = true;
  for (const auto& label : function_.labels) begins[std::min(label.position, count)] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (target_of(function_.body[i]) != ptx::kNone || ends_thread(function_.body[i]))
      begins[i + 1] = true;
  }
  block_of_.assign(count, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (begins[i]) blocks_.push_back({.begin = i});
    blocks_.back().end = i + 1;
    block_of_[i] = static_cast<std::uint32_t>(blocks_.size()) - 1;
  }
  const auto leaves = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({.begin = count, .end = count});
  const auto block_at = [&](std::uint32_t at) { return at < count ? block_of_[at] : leaves; };
  for (std::uint32_t i = 0; i < leaves; ++i) {
    Block& block = blocks_[i];
    const ptx::Instruction& last = function_.body[block.end - 1];
    const std::uint32_t target = target_of(last);
    if (ends_thread(last)) {
      block.next = {leaves};
    } else if (target == ptx::kNone || last.guard != ptx::kNone) {
      block.next = {block_at(block.end)};
    }
    if (target != ptx::kNone && (block.next.empty() || block.next.front() != block_at(target)))
      block.next.push_back(block_at(target));
  }
  leave_out_ends();
}

// Threads that end on one way of a branch, and hand nothing on before, do not decide where the
// others meet.
void UniformCode::leave_out_ends() {
  const auto leaves = static_cast<std::uint32_t>(blocks_.size()) - 1;
  std::vector<std::uint32_t> ways(blocks_.size(), 0);
  for (const Block& block : blocks_) {
    for (const std::uint32_t to : block.next) ++ways[to];
  }
  const auto returns = [&](std::uint32_t block) {
    return block == leaves || ends_thread(function_.body[blocks_[block].begin]);
  };
  std::vector<bool> only_ends(blocks_.size(), false);
  for (std::uint32_t i = leaves; i-- > 0;) {
    const Block& block = blocks_[i];
    const bool is_straight = block.next.size() == 1 && block.next.front() > i;
    const bool ends = is_straight && (returns(block.next.front()) || only_ends[block.next.front()]);
    const auto begin = function_.body.begin() + block.begin;
    only_ends[i] =
        returns(i) || (ends && std::none_of(begin, begin + (block.end - block.begin), hands_on));
  }
  for (std::uint32_t i = 0; i < leaves; ++i) {
    std::vector<std::uint32_t>& next = blocks_[i].next;
    // In a loop, each thread ends some time.
    if (next.size() != 2 || next[0] <= i || next[1] <= i) continue;
    const auto is_left_out = [&](std::uint32_t to) {
      return returns(to) || (only_ends[to] && ways[to] == 1);
    };
    if (returns(next[0]) || returns(next[1])) {
      std::erase_if(next, returns);
    } else if (is_left_out(next[0]) != is_left_out(next[1])) {
      blocks_[i].ends = is_left_out(next[0]) ? next[0] : next[1];
      std::erase(next, blocks_[i].ends);
    }
    if (next.empty()) next = {leaves};
  }
}

// Sets the immediate postdominators (Cooper, Harvey, Kennedy, "A simple, fast dominance
// algorithm", 2001, on the reversed graph).
void UniformCode::find_meetings() {
  const auto leaves = static_cast<std::uint32_t>(blocks_.size()) - 1;
  std::vector<std::vector<std::uint32_t>> before(blocks_.size());
  for (std::uint32_t i = 0; i < leaves; ++i) {
    for (const std::uint32_t to : blocks_[i].next) before[to].push_back(i);
  }
  std::vector<std::uint32_t> order, number(blocks_.size(), 0);  // in postorder from the end
  std::vector<std::pair<std::uint32_t, std::size_t>> open{{leaves, 0}};
  std::vector<bool> is_seen(blocks_.size(), false);
  is_seen[leaves] = true;
  while (!open.empty()) {
    auto& [block, at] = open.back();
    if (at == before[block].size()) {
      number[block] = static_cast<std::uint32_t>(order.size());
      order.push_back(block);
      open.pop_back();
      continue;
    }
    const std::uint32_t one = before[block][at++];
    if (is_seen[one]) continue;
    is_seen[one] = true;
    open.emplace_back(one, 0);
  }
  blocks_[leaves].meets = leaves;
  const auto common = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      std::uint32_t& farther = number[a] < number[b] ? a : b;
      farther = blocks_[farther].meets;
    }
    return a;
  };
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (std::size_t i = order.size() - 1; i-- > 0;) {
      std::uint32_t meets = ptx::kNone;
      for (const std::uint32_t to : blocks_[order[i]].next) {
        if (blocks_[to].meets == ptx::kNone) continue;
        meets = meets == ptx::kNone ? to : common(meets, to);
      }
      is_new = is_new || meets != blocks_[order[i]].meets;
      blocks_[order[i]].meets = meets;
    }
  }
}

// Marks what lies between a branch whose condition varies and where its ways meet.
void UniformCode::divide() {
  is_divided_.assign(blocks_.size(), false);
  for (const Block& block : blocks_) {
    if (block.next.size() < 2 && block.ends == ptx::kNone) continue;
    const std::uint32_t condition = function_.body[block.end - 1].guard;
    if (condition == ptx::kNone || !varies_[condition]) continue;
    std::vector<bool> is_seen(blocks_.size(), false);
    std::vector<std::uint32_t> open{block.ends};
    if (block.ends == ptx::kNone) open = block.next;
    while (!open.empty()) {
      const std::uint32_t one = open.back();
      open.pop_back();
      if (one == block.meets || is_seen[one]) continue;
      is_seen[one] = true;
      is_divided_[one] = true;
      open.insert(open.end(), blocks_[one].next.begin(), blocks_[one].next.end());
    }
  }
}

}  // namespace warpcheck
