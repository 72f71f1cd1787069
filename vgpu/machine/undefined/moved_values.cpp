#include "vgpu/machine/undefined/moved_values.hpp"

#include <algorithm>
#include <set>

#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

MovedValues::MovedValues(const Program& program)
    : flow_(program), predecessors_(flow_.graph().blocks().size()) {
  for (std::uint32_t block = 0; block < predecessors_.size(); ++block) {
    for (const std::uint32_t next : flow_.graph().successors(block))
      predecessors_[next].push_back(block);
  }
}

const std::optional<MovedValues::Loads>& MovedValues::loads_of(std::uint32_t pc,
                                                               std::uint32_t element) {
  const auto [at, is_new] = known_.try_emplace({pc, element});
  if (is_new) at->second = find_loads(pc, element);
  return at->second;
}

std::optional<MovedValues::Loads> MovedValues::find_loads(std::uint32_t pc,
                                                          std::uint32_t element) const {
  const Instr& store = flow_.program().code[pc];
  if (!flow_.is_known() || store.kind != InstrKind::store) return std::nullopt;
  // pairs of a register and the pc before which it was searched
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;
  const auto follow = [&](std::uint32_t at, std::uint32_t number) {
    if (seen.insert({at, number}).second) open.emplace_back(at, number);
  };
  const std::uint32_t stored = flow_.register_of(pc, store[MemoryOperand::value + element]);
  if (stored == ptx::kNone) return std::nullopt;
  follow(pc, stored);
  Loads loads;
  while (!open.empty()) {
    const auto [at, number] = open.back();
    open.pop_back();
    const auto found = writers(at, number);
    if (!found) return std::nullopt;
    for (const std::uint32_t writer : *found) {
      const InstrKind kind = flow_.program().code[writer].kind;
      if (kind == InstrKind::load) {
        loads.push_back(writer);
      } else if (kind != InstrKind::param) {
        const std::vector<std::uint32_t> moved = moved_registers(writer);
        if (moved.empty()) return std::nullopt;
        for (const std::uint32_t from : moved) follow(writer, from);
      }
    }
  }
  std::ranges::sort(loads);
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  return loads;
}

std::optional<std::vector<std::uint32_t>> MovedValues::writers(std::uint32_t pc,
                                                               std::uint32_t number) const {
  std::vector<std::uint32_t> out;
  std::vector<bool> visited(predecessors_.size());
  std::vector<std::uint32_t> ends{pc};  // ends of the ranges of a block that are searched
  while (!ends.empty()) {
    const std::uint32_t end = ends.back();
    ends.pop_back();
    const std::uint32_t block = flow_.graph().block_of(end == pc ? pc : end - 1);
    bool is_overwritten = false;
    for (std::uint32_t at = end; at-- > flow_.graph().blocks()[block].begin && !is_overwritten;) {
      const bool calls = flow_.program().code[at].kind == InstrKind::call;
      if (flow_.is_opaque(at) && !calls) return std::nullopt;
      if (std::ranges::count(flow_.writes(at), number) == 0) continue;
      out.push_back(at);
      is_overwritten = flow_.program().code[at].guard.bank == Bank::none;
    }
    if (is_overwritten) continue;
    if (predecessors_[block].empty()) return std::nullopt;
    for (const std::uint32_t before : predecessors_[block]) {
      if (visited[before]) continue;
      visited[before] = true;
      ends.push_back(flow_.graph().blocks()[before].end);
    }
  }
  return out;
}

// Returns the registers whose values, or parts of them, the instruction passes on; none: it
// calculates.
std::vector<std::uint32_t> MovedValues::moved_registers(std::uint32_t pc) const {
  const Instr& instr = flow_.program().code[pc];
  const bool moves = instr.opcode == ptx::Opcode::mov_ || instr.opcode == ptx::Opcode::prmt_;
  const bool chooses = instr.opcode == ptx::Opcode::selp_;
  const bool converts = instr.opcode == ptx::Opcode::cvt_ && !ptx::is_float(instr.modifiers.type);
  std::vector<std::uint32_t> out;
  const auto add = [&](const Ref& ref) {
    const std::uint32_t number = flow_.register_of(pc, ref);
    if (number != ptx::kNone) out.push_back(number);
  };
  if (instr.kind == InstrKind::compute && (moves || chooses || converts)) {
    const OperandSet read =
        chooses ? OperandSet{ComputeOperand::a, ComputeOperand::b} : roles_of(instr).reads;
    read.for_each_in(instr.operands, add);
  } else if (instr.opcode == ptx::Opcode::shfl_) {
    add(instr[WarpOperand::value]);
  }
  return out;
}

}  // namespace warpcheck::vgpu
