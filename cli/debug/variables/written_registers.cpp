#include "cli/debug/variables/written_registers.hpp"

#include <algorithm>
#include <vector>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::debug {
namespace {

using ptx::Opcode;

bool names_register(const ptx::Function& function, const ptx::Operand& operand,
                    std::string_view name) {
  if (operand.kind == ptx::Operand::Kind::reg && operand.index < function.registers.size()) {
    return function.registers[operand.index].name == name;
  }
  return std::ranges::any_of(operand.parts, [&](const ptx::Operand& part) {
    return names_register(function, part, name);
  });
}

// Destinations stand first.  Taking a source for one is harmless: its value is shown then.
bool writes(const ptx::Function& function, const ptx::Instruction& instruction,
            std::string_view name) {
  return !instruction.operands.empty() && names_register(function, instruction.operands[0], name);
}

void add_label(const ptx::Function& function, std::uint32_t label,
               std::vector<std::uint32_t>& next) {
  if (label < function.labels.size()) next.push_back(function.labels[label].position);
}

// The instructions that may follow.
std::vector<std::uint32_t> successors(const ptx::Function& function, std::uint32_t at) {
  const ptx::Instruction& instruction = function.body[at];
  std::vector<std::uint32_t> next;
  const bool is_table = instruction.opcode == Opcode::brx_;
  const bool jumps = instruction.opcode == Opcode::bra_ || is_table;
  const bool leaves = instruction.opcode == Opcode::ret_ || instruction.opcode == Opcode::exit_;
  if (!(jumps || leaves) || instruction.guard != ptx::kNone) next.push_back(at + 1);
  if (jumps && !is_table) {
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.kind == ptx::Operand::Kind::label) add_label(function, operand.index, next);
    }
  }
  if (is_table) {
    for (const ptx::BranchTargets& targets : function.branch_targets) {
      for (const std::uint32_t label : targets.labels) add_label(function, label, next);
    }
  }
  return next;
}

}  // namespace

bool may_be_written(const ptx::Function& function, std::string_view register_name,
                    std::uint32_t ptx_line) {
  const auto place = std::ranges::find(function.body, ptx_line, &ptx::Instruction::ptx_line);
  if (place == function.body.end()) return true;
  const auto target = static_cast<std::uint32_t>(place - function.body.begin());
  std::vector<bool> is_reached(function.body.size());
  std::vector<std::uint32_t> waiting;
  const auto reach = [&](std::uint32_t from) {
    for (const std::uint32_t next : successors(function, from)) {
      if (next >= is_reached.size() || is_reached[next]) continue;
      is_reached[next] = true;
      waiting.push_back(next);
    }
  };
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    if (writes(function, function.body[i], register_name)) reach(i);
  }
  while (!waiting.empty()) {
    const std::uint32_t from = waiting.back();
    waiting.pop_back();
    reach(from);
  }
  return is_reached[target];
}

}  // namespace warpcheck::debug
