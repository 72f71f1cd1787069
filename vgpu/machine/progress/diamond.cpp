#include "vgpu/machine/progress/diamond.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

// instructions between a branch and the place where its ways meet
constexpr std::size_t kNodesMax = 256;
constexpr int kCallsMax = 8;  // depth of nested calls

using Writes = Diamond::Writes;

bool is_harmless(InstrKind kind) {
  switch (kind) {
    case InstrKind::compute:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::nop:
    case InstrKind::fence:
    case InstrKind::sleep:
    case InstrKind::assertion: return true;
    default: return false;
  }
}

void add_successors(const Program& program, std::uint32_t pc, std::vector<std::uint32_t>& to) {
  if (program.code[pc].kind == InstrKind::assertion) return;
  for_each_next(program, pc, [&](std::uint32_t next) { to.push_back(next); });
}

void add_destinations(const Instr& instr, std::vector<Ref>& to) {
  roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& ref) {
    if (ref.bank != Bank::none && ref.bank != Bank::constant) to.push_back(ref);
  });
}

// Adds what a function and the functions that it calls write, as rows of its frame.  False: they do
// more than compute, read and return.
bool add_writes_of_function(const Program& program, std::uint32_t function, int calls_max,
                            Writes& writes);

// Adds what one instruction of `function` writes.
bool add_writes(const Program& program, std::uint32_t function, std::uint32_t pc, int calls_max,
                Writes& writes) {
  const Instr& instr = program.code[pc];
  if (is_harmless(instr.kind)) {
    add_destinations(instr, writes.registers);
    writes.memory |= instr.kind == InstrKind::store;
    return true;
  }
  const bool is_call = instr.kind == InstrKind::call && !program.dynamic_stack && calls_max > 0;
  const std::size_t first = writes.registers.size();
  if (!is_call || !add_writes_of_function(program, instr.function, calls_max - 1, writes)) {
    return false;
  }
  // the callee's frame is after the caller's
  const FunctionCode& caller = program.functions[function];
  for (std::size_t i = first; i < writes.registers.size(); ++i) {
    Ref& ref = writes.registers[i];
    ref.offset += ref.bank == Bank::wide   ? caller.wides * kWideRowBytes
                  : ref.bank == Bank::word ? caller.words * kWordRowBytes
                                           : caller.predicates * 4;
  }
  return true;
}

bool add_writes_of_function(const Program& program, std::uint32_t function, int calls_max,
                            Writes& writes) {
  std::vector<std::uint32_t> found, rest{program.functions[function].entry};
  while (!rest.empty()) {
    const std::uint32_t pc = rest.back();
    rest.pop_back();
    if (std::ranges::find(found, pc) != found.end()) continue;
    found.push_back(pc);
    const Instr& instr = program.code[pc];
    const bool returns = instr.kind == InstrKind::ret;
    if (found.size() > kNodesMax) return false;
    if (!returns && !add_writes(program, function, pc, calls_max, writes)) return false;
    if (!returns || instr.guard.bank != Bank::none) add_successors(program, pc, rest);
  }
  return true;
}

// The instructions that can be executed after a branch, before any that does more than compute,
// read and write.
class Region {
 public:
  Region(const Program& program, std::uint32_t function, std::uint32_t branch) : program_(program) {
    std::vector<std::uint32_t> rest;
    add_successors(program, branch, rest);
    for (std::size_t i = 0; i < rest.size() && pcs_.size() < kNodesMax; ++i) {
      const std::uint32_t pc = rest[i];
      if (!places_.try_emplace(pc, pcs_.size()).second) continue;
      pcs_.push_back(pc);
      Writes writes;
      is_harmless_.push_back(add_writes(program, function, pc, kCallsMax, writes));
      if (is_harmless_.back()) add_successors(program, pc, rest);
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& pcs() const { return pcs_; }

  // Returns what can be executed after the branch, on both ways, before `end`; nothing if that is
  // not harmless, or not less than `fewer_than` instructions.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> up_to(std::uint32_t end,
                                                                std::uint32_t branch,
                                                                std::size_t fewer_than) const {
    std::vector<std::uint32_t> found, rest;
    std::vector<bool> is_found(pcs_.size(), false);
    add_successors(program_, branch, rest);
    while (!rest.empty()) {
      const std::uint32_t pc = rest.back();
      rest.pop_back();
      if (pc == end) continue;
      const auto place = places_.find(pc);
      if (place == places_.end() || !is_harmless_[place->second]) return std::nullopt;
      if (is_found[place->second]) continue;
      is_found[place->second] = true;
      found.push_back(pc);
      if (found.size() >= fewer_than) return std::nullopt;
      add_successors(program_, pc, rest);
    }
    return found;
  }

 private:
  const Program& program_;
  std::vector<std::uint32_t> pcs_;
  std::unordered_map<std::uint32_t, std::size_t> places_;  // by pc
  std::vector<bool> is_harmless_;                          // by place
};

}  // namespace

Diamond diamond_of(const Program& program, std::uint32_t function, std::uint32_t branch,
                   std::size_t& nodes) {
  const Region region(program, function, branch);
  Diamond best;
  std::vector<std::uint32_t> between;
  for (const std::uint32_t end : region.pcs()) {
    const std::size_t fewer_than = best.meets_at == ptx::kNone ? kNodesMax : between.size();
    nodes += fewer_than;
    auto shorter = region.up_to(end, branch, fewer_than);
    if (!shorter) continue;
    best.meets_at = end;
    between = *std::move(shorter);
    if (between.empty()) break;
  }
  for (const std::uint32_t pc : between) {
    add_writes(program, function, pc, kCallsMax, best.writes);
  }
  return best;
}

}  // namespace warpcheck::vgpu
