// Examines branches that depend on registers that decide nothing (lookahead_rounds.cpp).
//
// A branch on a marked register is a fork.  It is harmless if its ways meet in the same round (at a
// postdominator), and if the code in between only computes, reads, writes the local memory of its
// thread, and calls functions that do no more.  Then everything that either way may write is marked
// where the ways meet.  The registers that a way may write follow from the code alone.  The local
// memory does not: unoptimised code passes pointers to its variables.  So both ways of a fork with
// stores are run to the place where they meet, and the state is restored.  The words that they
// write are the same in every round, because no address depends on a marked register.
// A way that leads to assert() is left out: if it is taken, the launch ends there, and not by what
// another thread does.  The pauses of libcu++ assert that they are short.
#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vgpu/machine/progress/lookahead.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

// instructions between a fork and the place where its ways meet
constexpr std::size_t kNodesMax = 256;
constexpr int kCallsMax = 8;  // depth of nested calls
// Limits of running the ways of forks, in instructions: of one way, and of all in one examination.
constexpr std::uint64_t kStepsOfWay = 4'096;
constexpr std::uint64_t kStepsOfWays = 1u << 16;

// The time that passes when a loop comes to its fork again, besides as much as has passed before.
constexpr std::uint64_t kTimeOfVisit = 64;

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
  const Instr& instr = program.code[pc];
  if (instr.kind == InstrKind::assertion) return;
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

//   nodes: receives the number of instructions that were looked at
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

// Sets the predicate of a branch for all its lanes.
void set_guard(const Program& program, Warp& warp, const Fragment& branch, std::uint32_t value) {
  const LaneBanks banks = banks_of(program, warp, branch);
  std::byte* const row = row_of(banks, program.code[branch.pc].guard);
  std::uint32_t lanes = 0;
  std::memcpy(&lanes, row, sizeof lanes);
  lanes = (lanes & ~branch.mask) | (value & branch.mask);
  std::memcpy(row, &lanes, sizeof lanes);
}

}  // namespace

// Opens a fork.  False: its ways need not meet, or do more than compute and read.
bool Lookahead::open_fork(Slot& slot, Warp& warp, const Fragment& fragment) {
  const auto [found, is_new] = diamonds_.try_emplace(fragment.pc);
  const Diamond& diamond = found->second;
  std::size_t nodes = 0;
  if (is_new) {
    found->second = diamond_of(launch_.program(), fragment.function, fragment.pc, nodes);
    cost_.count(nodes * LookCost::kOfEntry);
  }
  if (diamond.meets_at == ptx::kNone) return false;
  const auto is_same = [&](const Fork& fork) {
    return fork.meets_at == diamond.meets_at && fork.callers == fragment.callers &&
           fork.lanes == fragment.mask;
  };
  if (std::ranges::any_of(forks_, is_same)) {
    pass_time();
    return true;
  }
  Fork fork;
  fork.callers = fragment.callers;
  fork.meets_at = diamond.meets_at;
  fork.lanes = fragment.mask;
  fork.frame = frame_of(fragment);
  fork.registers = diamond.writes.registers;
  if (diamond.writes.memory && !run_ways(slot, warp, fragment, fork)) return false;
  forks_.push_back(std::move(fork));
  return true;
}

// A loop that a marked register ends may be a pause by the clock, or a long wait: time passes
// faster and faster, so that few rounds of it are executed.
void Lookahead::pass_time() {
  constexpr std::uint64_t kAheadMax = std::uint64_t{1} << 31;
  const std::uint64_t ahead = launch_.time_ahead() - snapshot_.time_ahead();
  if (ahead < kAheadMax) launch_.pass_time(ahead + kTimeOfVisit);
}

// Runs both ways of a fork, for all its lanes, and adds the words of local memory that they write.
// False: a way writes other memory, depends on a marked register otherwise than by such forks, or
// comes to the same branch again.
bool Lookahead::run_ways(Slot& slot, Warp& warp, Fragment branch, Fork& fork) {
  const auto is_branch = [&](const Fragment& other) { return other.is_at_place_of(branch); };
  if (std::ranges::any_of(branches_, is_branch)) return false;
  branches_.push_back(branch);
  const WarpState before = state_of(slot, warp);
  cost_.count_copied(2 * (before.words.bytes() + before.wides.bytes()));
  const UndefinedRegisters undefined = warp.undefined.copy();
  const std::set<LocalWord> words = indifferent_words_;
  std::vector<Fork> forks = std::exchange(forks_, {});
  const bool was_alone = std::exchange(is_alone_, true);
  const std::uint32_t ready = slot.ready_warps;
  bool meet = true;
  for (const std::uint32_t way : {0u, ~0u}) {
    if (!meet) break;
    warp.fragments.assign(branch);
    set_guard(launch_.program(), warp, branch, way);
    meet = run_way(slot, warp, fork);
    snapshot_.changes().for_each(before.memory.changes, [&](const MemoryChanges::Change& change) {
      for (std::uint32_t byte = 0; byte < change.bytes; byte += 4) {
        fork.words.emplace(change.allocation, (change.offset + byte) / 4);
      }
    });
    fork.words.insert(indifferent_words_.begin(), indifferent_words_.end());
    snapshot_.changes().undo(before.memory.changes);
    warp.fragments = before.fragments;
    warp.words = before.words;
    warp.wides = before.wides;
    warp.predicates = before.predicates;
    warp.undefined = undefined.copy();
    indifferent_words_ = words;
    forks_.clear();
    slot.ready_warps = ready;
  }
  is_alone_ = was_alone;
  forks_ = std::move(forks);
  branches_.pop_back();
  return meet;
}

// Runs the warp's only fragment, at a fork, until all its lanes are where the ways meet.
bool Lookahead::run_way(Slot& slot, Warp& warp, const Fork& fork) {
  const std::size_t foreign = snapshot_.changes().foreign();
  bool branches = true;  // the fork's own branch is next, which is no fork here
  for (std::uint64_t steps = 0; steps < kStepsOfWay; ++steps) {
    if (++steps_of_ways_ > kStepsOfWays) return false;
    leave_assertions(warp);
    if (warp.fragments.empty()) return true;
    const Fragment& first = warp.fragments.front();
    const bool have_met = warp.fragments.size() == 1 && first.pc == fork.meets_at &&
                          first.callers == fork.callers && forks_.empty();
    if (have_met && !branches) return true;
    is_following_ = !std::exchange(branches, false);
    const Fate fate = step(slot, warp);
    is_following_ = true;
    if (fate != Fate::runs || snapshot_.changes().foreign() != foreign || has_strayed_)
      return false;
    close_forks(warp);
  }
  return false;
}

// Drops the lanes whose next instruction is a failed assertion.
void Lookahead::leave_assertions(Warp& warp) {
  warp.fragments.remove_if([&](const Fragment& fragment) {
    if (launch_.program().code[fragment.pc].kind != InstrKind::assertion) return false;
    for (Fork& fork : forks_) fork.lanes &= ~fragment.mask;
    return true;
  });
  std::erase_if(forks_, [](const Fork& fork) { return fork.lanes == 0; });
}

// Marks what the lanes that have reached the end of a fork may have written.  True: a fork was
// closed.
bool Lookahead::close_forks(Warp& warp) {
  for (Fork& fork : forks_) {
    for (const Fragment& fragment : warp.fragments) {
      if (fragment.pc != fork.meets_at || fragment.callers != fork.callers) continue;
      const std::uint32_t here = fork.lanes & fragment.mask;
      for (const Ref& ref : fork.registers) {
        warp.undefined.set(fork.frame, ref, {here, 0}, here, launch_.program());
      }
      indifferent_words_.insert(fork.words.begin(), fork.words.end());
      fork.lanes &= ~here;
    }
  }
  return std::erase_if(forks_, [](const Fork& fork) { return fork.lanes == 0; }) != 0;
}

}  // namespace warpcheck::vgpu
