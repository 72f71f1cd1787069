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

bool ends_thread(const ptx::Instruction& instruction) {
  return instruction.guard == ptx::kNone &&
         (instruction.opcode == Opcode::ret_ || instruction.opcode == Opcode::exit_);
}

}  // namespace

UniformCode::UniformCode(const ptx::Function& function)
    : function_(function), varies_(function.registers.size(), false) {
  // Until nothing is added.
  for (bool is_new = true; is_new;) {
    is_new = false;
    find_regions();
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const ptx::Instruction& instruction = function.body[i];
      if (is_of_thread(instruction) || is_in_region(i) || reads_varying(instruction))
        is_new = mark_destinations(instruction) || is_new;
    }
  }
}

bool UniformCode::all_come_by(std::uint32_t gap) const {
  return std::ranges::none_of(
      regions_, [&](const Region& region) { return gap > region.begin && gap < region.end; });
}

bool UniformCode::is_in_region(std::uint32_t index) const {
  return std::ranges::any_of(
      regions_, [&](const Region& region) { return index > region.begin && index < region.end; });
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

void UniformCode::find_regions() {
  regions_.clear();
  for (std::uint32_t at = 0; at < function_.body.size(); ++at) {
    const ptx::Instruction& branch = function_.body[at];
    if (branch.guard == ptx::kNone || !varies_[branch.guard]) continue;
    const std::uint32_t target = target_of(branch);
    if (target < function_.body.size()) add_branch(at, target);
  }
}

void UniformCode::add_branch(std::uint32_t at, std::uint32_t target) {
  if (target <= at) {  // the end of a loop
    regions_.push_back({target == 0 ? 0 : target - 1, at + 1});
    return;
  }
  if (ends_thread(function_.body[target])) return;  // it counts at no barrier
  regions_.push_back({at, target});
  // Of a loop around it that it leaves, all; of one that it goes on with, what is behind it.
  for (std::uint32_t end = at + 1; end < function_.body.size(); ++end) {
    const std::uint32_t begin = target_of(function_.body[end]);
    if (begin > at || target <= end) continue;
    regions_.push_back({begin == 0 ? 0 : begin - 1, end + 1});
  }
}

}  // namespace warpcheck
