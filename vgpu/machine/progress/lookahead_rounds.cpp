// Examines rounds of a loop in which only registers change that decide nothing (lookahead.hpp).
//
// The loop is run round by round, starting at one place, its head.  Registers that differ at the
// head between two rounds are marked like undefined registers, and the marks propagate like
// undefined values.  If a round ends with no more marks than it began with, and nothing unmarked
// has changed, every further round is the same for all values of the marked registers, by induction
// over the rounds.
//
// A branch on a marked register is a fork.  It is harmless if its ways meet in the same round (at a
// postdominator), and if the code in between only computes, reads, and calls functions that do no
// more.  Then everything that either way may write is marked where the ways meet.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "vgpu/machine/progress/lookahead.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr int kRoundsMax = 24;
// instructions between a fork and the place where its ways meet
constexpr std::size_t kNodesMax = 256;
constexpr int kCallsMax = 8;  // depth of nested calls

bool is_harmless(InstrKind kind) {
  switch (kind) {
    case InstrKind::compute:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::nop:
    case InstrKind::fence:
    case InstrKind::sleep: return true;
    default: return false;
  }
}

void add_successors(const Program& program, std::uint32_t pc, std::vector<std::uint32_t>& to) {
  const Instr& instr = program.code[pc];
  const bool jumps = instr.kind == InstrKind::branch || instr.kind == InstrKind::jump;
  if (jumps) to.push_back(instr.target);
  if (!jumps || instr.guard.bank != Bank::none) to.push_back(pc + 1);
}

void add_destinations(const Instr& instr, std::vector<Ref>& to) {
  roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& ref) {
    if (ref.bank != Bank::none && ref.bank != Bank::constant) to.push_back(ref);
  });
}

// Adds what a function and the functions that it calls write, as rows of its frame.  False: they do
// more than compute, read and return.
bool add_writes_of_function(const Program& program, std::uint32_t function, int calls_max,
                            std::vector<Ref>& writes);

// Adds what one instruction of `function` writes.
bool add_writes(const Program& program, std::uint32_t function, std::uint32_t pc, int calls_max,
                std::vector<Ref>& writes) {
  const Instr& instr = program.code[pc];
  if (is_harmless(instr.kind)) {
    add_destinations(instr, writes);
    return true;
  }
  const bool is_call = instr.kind == InstrKind::call && !program.dynamic_stack && calls_max > 0;
  const std::size_t first = writes.size();
  if (!is_call || !add_writes_of_function(program, instr.function, calls_max - 1, writes)) {
    return false;
  }
  // the callee's frame is after the caller's
  const FunctionCode& caller = program.functions[function];
  for (std::size_t i = first; i < writes.size(); ++i) {
    writes[i].offset += writes[i].bank == Bank::wide   ? caller.wides * kWideRowBytes
                        : writes[i].bank == Bank::word ? caller.words * kWordRowBytes
                                                       : caller.predicates * 4;
  }
  return true;
}

bool add_writes_of_function(const Program& program, std::uint32_t function, int calls_max,
                            std::vector<Ref>& writes) {
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

// The instruction at which the ways of a branch meet, with what can be written in between; the one
// with the fewest instructions in between.
struct Diamond {
  std::uint32_t meets_at = ptx::kNone;
  std::size_t between = 0;
  std::vector<Ref> writes;
};

// Returns what can be executed after a branch of `function`, on both ways, before `end`; nothing if
// that is too much or not harmless.
std::optional<Diamond> diamond_to(const Program& program, std::uint32_t function,
                                  std::uint32_t branch, std::uint32_t end) {
  Diamond diamond{end, 0, {}};
  std::vector<std::uint32_t> found, rest;
  add_successors(program, branch, rest);
  while (!rest.empty()) {
    const std::uint32_t pc = rest.back();
    rest.pop_back();
    if (pc == end || std::ranges::find(found, pc) != found.end()) continue;
    if (found.size() == kNodesMax) return std::nullopt;
    if (!add_writes(program, function, pc, kCallsMax, diamond.writes)) return std::nullopt;
    found.push_back(pc);
    add_successors(program, pc, rest);
  }
  diamond.between = found.size();
  return diamond;
}

Diamond diamond_of(const Program& program, std::uint32_t function, std::uint32_t branch) {
  Diamond best;
  std::vector<std::uint32_t> ends, rest;
  add_successors(program, branch, rest);
  for (std::size_t i = 0; i < rest.size() && ends.size() < kNodesMax; ++i) {
    const std::uint32_t pc = rest[i];
    if (std::ranges::find(ends, pc) != ends.end()) continue;
    ends.push_back(pc);
    std::vector<Ref> writes;
    if (add_writes(program, function, pc, kCallsMax, writes)) add_successors(program, pc, rest);
  }
  for (const std::uint32_t end : ends) {
    const auto diamond = diamond_to(program, function, branch, end);
    if (!diamond) continue;
    if (best.meets_at == ptx::kNone || diamond->between < best.between) best = *diamond;
  }
  return best;
}

// Calls visit(reference, lanes) for every row of a bank that differs.
template <typename Visit>
void for_each_difference(Bank bank, const RowBank& a, const RowBank& b, Visit visit) {
  const std::size_t row_bytes = bank == Bank::wide   ? kWideRowBytes
                                : bank == Bank::word ? kWordRowBytes
                                                     : 4;
  for (std::size_t at = 0; at + row_bytes <= std::min(a.bytes(), b.bytes()); at += row_bytes) {
    const std::byte* const x = a.data() + at;
    const std::byte* const y = b.data() + at;
    if (std::memcmp(x, y, row_bytes) == 0) continue;
    std::uint32_t lanes = 0;
    if (bank == Bank::predicate) {
      std::uint32_t other = 0;
      std::memcpy(&lanes, x, sizeof lanes);
      std::memcpy(&other, y, sizeof other);
      lanes ^= other;
    } else {
      const std::size_t width = row_bytes / kWarpLanes;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const bool differs = std::memcmp(x + lane * width, y + lane * width, width) != 0;
        lanes |= std::uint32_t{differs} << lane;
      }
    }
    visit(Ref{bank, static_cast<std::uint32_t>(at)}, lanes);
  }
}

}  // namespace

Lookahead::Fate Lookahead::run_indifferently(Slot& slot, Warp& warp) {
  is_following_ = true;
  has_strayed_ = is_anchored_ = false;
  forks_.clear();
  indifferent_words_.clear();
  WarpState head = state_of(slot, warp);
  Fate fate = run_round(slot, warp, head);
  bool is_closed = false;
  for (int round = 0; fate == Fate::spins && !is_closed && round < kRoundsMax; ++round) {
    mark_differences(head, warp);
    const Marks marks = marks_of(warp);
    const std::size_t words = indifferent_words_.size();
    head = state_of(slot, warp);
    fate = run_round(slot, warp, head);
    if (fate != Fate::spins) break;
    const bool spread =
        !std::ranges::includes(marks, marks_of(warp)) || mark_differences(head, warp);
    is_closed = !spread && indifferent_words_.size() == words;
  }
  is_following_ = false;
  warp.undefined.take();
  return fate == Fate::spins && !is_closed ? Fate::unknown : fate;
}

// Runs until the warp has returned to `head` as often as a round requires and no fork is open:
// Fate::spins.  When the first fork closes, the head moves to that place, because the head must not
// lie inside a fork.
Lookahead::Fate Lookahead::run_round(Slot& slot, Warp& warp, WarpState& head) {
  const std::size_t foreign = changes_.foreign();
  std::size_t visits = 0;
  for (std::uint64_t steps = 0; steps < steps_of_round_; ++steps) {
    const Fate fate = step(slot, warp);
    if (changes_.foreign() != foreign) return Fate::acts;
    if (fate != Fate::runs) return fate;
    if (has_strayed_) return Fate::unknown;
    if (close_forks(warp) && !is_anchored_) {
      is_anchored_ = true;
      head = state_of(slot, warp);
      visits = 0;
    } else if (forks_.empty() && is_at(head, warp) && ++visits == visits_of_round_) {
      return Fate::spins;
    }
  }
  return Fate::unknown;
}

// Marks what differs from `before`.  False: everything that differs was already marked.
bool Lookahead::mark_differences(const WarpState& before, Warp& warp) {
  bool spreads = false;
  const auto mark = [&](const Ref& ref, std::uint32_t lanes) {
    const std::uint32_t marked = warp.undefined.get({}, ref).mask;
    if ((lanes & ~marked) == 0) return;
    spreads = true;
    warp.undefined.set({}, ref, {lanes, 0}, lanes, *launch_.program);
  };
  for_each_difference(Bank::word, before.words, warp.words, mark);
  for_each_difference(Bank::wide, before.wides, warp.wides, mark);
  for_each_difference(Bank::predicate, before.predicates, warp.predicates, mark);
  changes_.for_each(before.changes, [&](const MemoryChanges::Change& change) {
    for (std::uint32_t byte = 0; byte < change.bytes; byte += 4) {
      const auto word = std::pair(change.allocation, (change.offset + byte) / 4);
      spreads |= indifferent_words_.insert(word).second;
    }
  });
  return spreads;
}

// Lists the marks lane by lane, in order.
Lookahead::Marks Lookahead::marks_of(const Warp& warp) {
  Marks marks;
  warp.undefined.for_each([&](std::size_t row, std::uint32_t lanes) {
    for (; lanes != 0; lanes &= lanes - 1) {
      marks.emplace_back(row, static_cast<unsigned>(std::countr_zero(lanes)));
    }
  });
  return marks;
}

// Returns whether the effect of the next instruction, other than on registers, depends on no marked
// register.
bool Lookahead::may_execute(Warp& warp, const Fragment& fragment) {
  if (!warp.undefined.any()) return true;
  const Instr& instr = launch_.program->code[fragment.pc];
  const auto is_marked = [&](const Ref& ref) {
    return (warp.undefined.get(frame_of(fragment), ref).mask & fragment.mask) != 0;
  };
  if (is_marked(instr.guard) && instr.kind != InstrKind::compute) {
    return instr.kind == InstrKind::branch && open_fork(fragment);
  }
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::call:
    case InstrKind::ret:
    case InstrKind::fence:
    case InstrKind::nop:
    case InstrKind::sleep: return true;
    case InstrKind::load:
    case InstrKind::store: return !is_marked(instr[MemoryOperand::address]);
    case InstrKind::atomic: return !is_marked(instr[AtomicOperand::address]);
    case InstrKind::barrier_object:
      return !is_marked(instr[ObjectOperand::address]) && !is_marked(instr[ObjectOperand::value]);
    case InstrKind::barrier:
      return !is_marked(instr[BarrierOperand::number]) &&
             !is_marked(instr[BarrierOperand::threads]);
    case InstrKind::warp_sync: return !is_marked(instr[WarpOperand::members]);
    case InstrKind::jump_table: return !is_marked(instr[TargetOperand::index]);
    case InstrKind::call_register: return !is_marked(instr[TargetOperand::address]);
    default: return false;
  }
}

// Opens a fork.  False: its ways need not meet, or do more than compute and read.
bool Lookahead::open_fork(const Fragment& fragment) {
  const Diamond diamond = diamond_of(*launch_.program, fragment.function, fragment.pc);
  if (diamond.meets_at == ptx::kNone) return false;
  const auto is_same = [&](const Fork& fork) {
    return fork.meets_at == diamond.meets_at && fork.callers == fragment.callers &&
           fork.lanes == fragment.mask;
  };
  if (std::ranges::any_of(forks_, is_same)) return true;
  Fork& fork = forks_.emplace_back();
  fork.callers = fragment.callers;
  fork.meets_at = diamond.meets_at;
  fork.lanes = fragment.mask;
  fork.frame = frame_of(fragment);
  fork.writes = diamond.writes;
  return true;
}

// Marks what the lanes that have reached the end of a fork may have written.  True: a fork was
// closed.
bool Lookahead::close_forks(Warp& warp) {
  for (Fork& fork : forks_) {
    for (const Fragment& fragment : warp.fragments) {
      if (fragment.pc != fork.meets_at || fragment.callers != fork.callers) continue;
      const std::uint32_t here = fork.lanes & fragment.mask;
      for (const Ref& ref : fork.writes) {
        warp.undefined.set(fork.frame, ref, {here, 0}, here, *launch_.program);
      }
      fork.lanes &= ~here;
    }
  }
  return std::erase_if(forks_, [](const Fork& fork) { return fork.lanes == 0; }) != 0;
}

}  // namespace warpcheck::vgpu
