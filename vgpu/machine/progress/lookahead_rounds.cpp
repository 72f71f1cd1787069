// Examines rounds of a loop in which only registers change that decide nothing (lookahead.hpp).
//
// The loop is run round by round, starting at one place, its head.  Registers that differ at the
// head between two rounds are marked like undefined registers, and the marks propagate like
// undefined values.  If a round ends with no more marks than it began with, and nothing unmarked
// has changed, every further round is the same for all values of the marked registers, by induction
// over the rounds.
// A branch on a marked register is a fork (lookahead_forks.cpp).
#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr int kRoundsMax = 24;

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
  has_strayed_ = is_anchored_ = is_inside_fork_ = false;
  forks_.clear();
  branches_.clear();
  steps_of_ways_ = 0;
  indifferent_words_.clear();
  WarpState head = state_of(slot, warp);
  Fate fate = run_round(slot, warp, head);
  bool is_closed = false;
  for (int round = 0; fate == Fate::spins && !is_closed && round < kRoundsMax; ++round) {
    mark_differences(head, warp);
    const Marks marks = marks_of(warp);
    const std::set<LocalWord> words = indifferent_words_;
    head = state_of(slot, warp);
    has_moved_ = false;
    fate = run_round(slot, warp, head);
    if (fate != Fate::spins) break;
    // The marks were taken at the place where the round began.
    is_closed = !has_moved_ && std::ranges::includes(marks, marks_of(warp)) &&
                std::ranges::includes(words, indifferent_words_) && !mark_differences(head, warp);
  }
  is_following_ = false;
  warp.undefined.take();
  return fate == Fate::spins && !is_closed ? Fate::unknown : fate;
}

// Runs until the warp has returned to `head` as often as a round requires and no fork is open:
// Fate::spins.  When the first fork closes, the head moves to that place, because the head must not
// lie inside a fork; so it does again when it turns out to lie inside another one.
Lookahead::Fate Lookahead::run_round(Slot& slot, Warp& warp, WarpState& head) {
  const std::size_t foreign = snapshot_.changes().foreign();
  std::size_t visits = 0;
  for (std::uint64_t steps = 0; steps < steps_of_round_; ++steps) {
    const Fate fate = step(slot, warp);
    if (snapshot_.changes().foreign() != foreign) return Fate::acts;
    if (fate != Fate::runs) return fate;
    if (has_strayed_) return Fate::unknown;
    const bool closes = close_forks(warp);
    const bool is_at_head = head.is_at_places_of(warp);
    is_inside_fork_ |= is_at_head && !forks_.empty();
    if (closes && (!is_anchored_ || (is_inside_fork_ && forks_.empty()))) {
      is_anchored_ = has_moved_ = true;
      is_inside_fork_ = false;
      head = state_of(slot, warp);
      visits = 0;
    } else if (forks_.empty() && is_at_head && ++visits == visits_of_round_) {
      return Fate::spins;
    }
  }
  return Fate::unknown;
}

// Marks what differs from `before`.  False: everything that differs was already marked.
bool Lookahead::mark_differences(const WarpState& before, Warp& warp) {
  bool spreads = false;
  cost_.count_copied(before.words.bytes() + before.wides.bytes() + before.predicates.bytes());
  cost_.count((snapshot_.changes().count() - before.memory.changes) * 2 * LookCost::kOfEntry);
  const auto mark = [&](const Ref& ref, std::uint32_t lanes) {
    const std::uint32_t marked = warp.undefined.get({}, ref).mask;
    if ((lanes & ~marked) == 0) return;
    spreads = true;
    warp.undefined.set({}, ref, {lanes, 0}, lanes, launch_.program());
  };
  for_each_difference(Bank::word, before.words, warp.words, mark);
  for_each_difference(Bank::wide, before.wides, warp.wides, mark);
  for_each_difference(Bank::predicate, before.predicates, warp.predicates, mark);
  std::unordered_map<const std::byte*, std::byte> old;  // of local memory that was written
  snapshot_.changes().for_each(before.memory.changes, [&](const MemoryChanges::Change& change) {
    for (std::uint8_t byte = 0; byte < change.bytes; ++byte) {
      old.emplace(change.at + byte, change.old[byte]);
    }
  });
  snapshot_.changes().for_each(before.memory.changes, [&](const MemoryChanges::Change& change) {
    for (std::uint8_t byte = 0; byte < change.bytes; ++byte) {
      const std::byte* const at = change.at + byte;
      if (*at == old.at(at)) continue;
      const LocalWord word(change.allocation, (change.offset + byte) / 4);
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
  cost_.count(marks.size());
  return marks;
}

// Returns whether the effect of the next instruction, other than on registers, depends on no marked
// register.
bool Lookahead::may_execute(Slot& slot, Warp& warp, const Fragment& fragment) {
  if (!warp.undefined.any()) return true;
  const Instr& instr = launch_.program().code[fragment.pc];
  const auto is_marked = [&](const Ref& ref) {
    return (warp.undefined.get(frame_of(fragment), ref).mask & fragment.mask) != 0;
  };
  if (is_marked(instr.guard) && instr.kind != InstrKind::compute) {
    return instr.kind == InstrKind::branch && open_fork(slot, warp, fragment);
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

}  // namespace warpcheck::vgpu
