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
#include <utility>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

// Limits of running the ways of forks, in instructions: of one way, and of all in one examination.
constexpr std::uint64_t kStepsOfWay = 4'096;
constexpr std::uint64_t kStepsOfWays = 1u << 16;

// The time that passes when a loop comes to its fork again, besides as much as has passed before.
constexpr std::uint64_t kTimeOfVisit = 64;

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
