#include "vgpu/check/executions/await_loops.hpp"

#include <algorithm>

#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::vgpu {
namespace {

// A generic address may lead to a thread's own memory; the address of an atomic operation never
// does.
bool is_shared_by_threads(const Instr& instr) {
  const ptx::Space space = instr.modifiers.space;
  return space == ptx::Space::global || space == ptx::Space::shared ||
         instr.kind == InstrKind::atomic;
}

// Returns whether a round of an await may contain the instruction.  A compare-and-swap that
// succeeds does not wait in vain; that shows only when it runs.
bool may_be_in_await(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::call:
    case InstrKind::ret:
    case InstrKind::fence:
    case InstrKind::sleep:
    case InstrKind::nop: return true;
    case InstrKind::special: return !depends_on_order(instr.special);
    case InstrKind::atomic: return instr.modifiers.atom_op == ptx::AtomOp::cas;
    default: return false;
  }
}

}  // namespace

bool always_shows(const Instr& instr) {
  const bool accesses = instr.kind == InstrKind::load || instr.kind == InstrKind::store ||
                        instr.kind == InstrKind::atomic;
  return accesses && instr.guard.bank == Bank::none && is_shared_by_threads(instr);
}

AwaitLoops::AwaitLoops(const Program& program)
    : flow_(program), loop_of_(program.code.size(), kNone) {
  if (!flow_.is_known()) return;
  const auto blocks = static_cast<std::uint32_t>(flow_.graph().blocks().size());
  predecessors_.resize(blocks);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (const std::uint32_t to : flow_.graph().successors(block))
      predecessors_[to].push_back(block);
  }
  std::vector<std::size_t> size_of(program.code.size(), SIZE_MAX);
  for (std::uint32_t tail = 0; tail < blocks; ++tail) {
    for (const std::uint32_t head : flow_.graph().successors(tail)) {
      const Blocks body = body_of(head, tail);
      if (body.empty() || !only_reads(body) || !carries_nothing(body, head)) continue;
      if (!is_left_for_good(body, head)) continue;
      const auto size = static_cast<std::size_t>(std::ranges::count(body, true));
      for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
        if (!body[flow_.graph().block_of(pc)] || size >= size_of[pc]) continue;
        size_of[pc] = size;
        loop_of_[pc] = head;
      }
    }
  }
}

// Returns the blocks from which `tail` can be reached without passing `head`.  Empty: the edge
// between them closes no loop that can be entered only at `head`.
AwaitLoops::Blocks AwaitLoops::body_of(std::uint32_t head, std::uint32_t tail) const {
  Blocks body(flow_.graph().blocks().size());
  body[head] = true;
  std::vector<std::uint32_t> open{tail};
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (body[block]) continue;
    body[block] = true;
    if (block == 0) return {};  // the kernel's entry: it can be reached without the head
    for (const std::uint32_t from : predecessors_[block]) open.push_back(from);
  }
  return body;
}

bool AwaitLoops::only_reads(const Blocks& body) const {
  for (std::uint32_t pc = 0; pc < loop_of_.size(); ++pc) {
    if (!body[flow_.graph().block_of(pc)]) continue;
    const Instr& instr = flow_.program().code[pc];
    if (!may_be_in_await(instr) || flow_.is_opaque(pc)) return false;
  }
  return true;
}

// Returns whether the register values that a round leaves decide nothing afterwards.
bool AwaitLoops::carries_nothing(const Blocks& body, std::uint32_t head) const {
  const std::vector<bool> registers = carried(body, head);
  return std::ranges::find(registers, true) == registers.end() || is_indifferent(body, registers);
}

// Returns the registers that a round reads before it writes them.
std::vector<bool> AwaitLoops::carried(const Blocks& body, std::uint32_t head) const {
  const std::uint32_t registers = flow_.registers();
  // By block: the registers that were surely written since the round began, at the start of the
  // block.
  std::vector<std::vector<bool>> written(body.size(), std::vector<bool>(registers, true));
  written[head].assign(registers, false);
  std::vector<bool> read_first(registers), ever(registers);
  const auto walk = [&](std::uint32_t block) {
    std::vector<bool> now = written[block];
    for (std::uint32_t pc = flow_.graph().blocks()[block].begin;
         pc < flow_.graph().blocks()[block].end; ++pc) {
      for (const std::uint32_t from : flow_.reads(pc)) {
        if (!now[from]) read_first[from] = true;
      }
      for (const std::uint32_t to : flow_.writes(pc)) {
        ever[to] = true;
        if (flow_.program().code[pc].guard.bank == Bank::none) now[to] = true;
      }
    }
    return now;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (std::uint32_t block = 0; block < body.size(); ++block) {
      if (!body[block]) continue;
      const std::vector<bool> after = walk(block);
      for (const std::uint32_t to : flow_.graph().successors(block)) {
        if (!body[to] || to == head) continue;
        for (std::uint32_t reg = 0; reg < registers; ++reg) {
          if (!written[to][reg] || after[reg]) continue;
          written[to][reg] = false;
          changes = true;
        }
      }
    }
  }
  // Code after the loop reads a value that an earlier round has left if the last round does not
  // write the register.
  for (std::uint32_t block = 0; block < body.size(); ++block) {
    const bool leaves = body[block] && std::ranges::any_of(flow_.graph().successors(block),
                                                           [&](auto to) { return !body[to]; });
    if (!leaves) continue;
    const std::vector<bool> after = walk(block);
    for (std::uint32_t reg = 0; reg < registers; ++reg) {
      if (ever[reg] && !after[reg] && is_read_outside(body, reg)) read_first[reg] = true;
    }
  }
  std::vector<bool> both(registers);
  for (std::uint32_t reg = 0; reg < registers; ++reg) both[reg] = read_first[reg] && ever[reg];
  return both;
}

bool AwaitLoops::is_read_outside(const Blocks& body, std::uint32_t reg) const {
  for (std::uint32_t pc = 0; pc < loop_of_.size(); ++pc) {
    const auto reads = flow_.reads(pc);
    if (!body[flow_.graph().block_of(pc)] && std::ranges::find(reads, reg) != reads.end())
      return true;
  }
  return false;
}

// Returns whether the carried registers are counters of attempts or growing pauses: they reach
// nothing but each other and pauses.
bool AwaitLoops::is_indifferent(const Blocks& body, std::vector<bool> carried) const {
  for (bool grows = true; grows;) {
    grows = false;
    for (std::uint32_t pc = 0; pc < loop_of_.size(); ++pc) {
      const bool reads = std::ranges::any_of(
          flow_.reads(pc), [&](std::uint32_t reg) { return static_cast<bool>(carried[reg]); });
      if (!reads) continue;
      const Instr& instr = flow_.program().code[pc];
      const bool is_inside = body[flow_.graph().block_of(pc)];
      if (!is_inside || instr.guard.bank != Bank::none) return false;
      if (instr.kind == InstrKind::sleep) continue;
      if (instr.kind != InstrKind::compute) return false;
      for (const std::uint32_t to : flow_.writes(pc)) {
        grows |= !carried[to];
        carried[to] = true;
      }
    }
  }
  return true;
}

// Returns whether a thread that has left the loop emits an event before it enters it again.
// Otherwise the rounds of one wait could not be distinguished from those of the next.
bool AwaitLoops::is_left_for_good(const Blocks& body, std::uint32_t head) const {
  Blocks seen(body.size());
  std::vector<std::uint32_t> open;
  for (std::uint32_t block = 0; block < body.size(); ++block) {
    if (!body[block]) continue;
    for (const std::uint32_t to : flow_.graph().successors(block)) {
      if (!body[to]) open.push_back(to);
    }
  }
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (block == head) return false;
    if (seen[block]) continue;
    seen[block] = true;
    const auto [begin, end] = flow_.graph().blocks()[block];
    bool shows = false;
    for (std::uint32_t pc = begin; pc < end; ++pc) {
      shows |= always_shows(flow_.program().code[pc]);
    }
    if (shows) continue;
    for (const std::uint32_t to : flow_.graph().successors(block)) open.push_back(to);
  }
  return true;
}

}  // namespace warpcheck::vgpu
