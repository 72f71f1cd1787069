#include "vgpu/machine/progress/lookahead.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <set>

namespace warpcheck::vgpu {
namespace {

// The number of instructions of a warp within which it must return to exactly an earlier state.
// Fewer in a launch that has not executed a multiple of it.
constexpr std::uint64_t kStepsExact = 4'096, kStepsExactMin = 256;
constexpr std::uint64_t kStepsPerStepExact = 1'024;
// The same for a warp that reads the time, which may still come to a barrier.
constexpr std::uint64_t kStepsWithTime = 64;
// The same for a warp that changes memory, in a launch that has not executed a multiple of it.
constexpr std::uint64_t kStepsWithChanges = 512;
constexpr std::uint64_t kStepsPerStepWithChanges = 4'096;
// The number of steps of a block; more after the launch has executed a multiple of it.
constexpr std::uint64_t kStepsOfBlock = 1u << 18;
constexpr std::uint64_t kStepsPerStepOfBlock = 64;
constexpr std::size_t kReleasesMax = 256;  // per block
constexpr std::size_t kChangesMax = 1u << 17;

bool reads_time(const Instr& instr) {
  using ptx::SpecialRegister;
  if (instr.kind != InstrKind::special) return false;
  switch (instr.special) {
    case SpecialRegister::clock:
    case SpecialRegister::clock64:
    case SpecialRegister::clock_hi:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo:
    case SpecialRegister::globaltimer_hi: return true;
    default: return false;
  }
}

}  // namespace

Lookahead::Lookahead(const Dependencies& dependencies, std::uint64_t most)
    : dependencies_(dependencies),
      launch_(dependencies.launch),
      snapshot_(dependencies.launch, dependencies.cluster_barriers, observers_),
      cost_(most),
      last_reads_(dependencies.launch, dependencies.strong_writes) {
  only_this_.add(*this);
  observers_.list = &only_this_;
  observers_.of_accesses = {this};
  observers_.undefined_memory = this;
  cost_.count(LookCost::kOfState);
}

// Saves warps of a block.  False: that would cost more than the look may cost.
bool Lookahead::save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < warps; ++i) bytes += register_bytes(slot.warps[first_warp + i]);
  const std::uint64_t units = warps * LookCost::kOfState + bytes / LookCost::kBytesCopied;
  if (!cost_.affords(units)) return false;
  cost_.count(units);
  snapshot_.save(slot, first_warp, warps);
  return true;
}

void Lookahead::on_access(const Access& access) {
  const bool is_local = access.space == ptx::Space::local;
  if (polled_.are_noted() || launch_reads_.are_noted()) {
    cost_.count(lane_count(access.mask) * LookCost::kOfEntry);
  }
  if (polled_.are_noted() && access.kind != AccessKind::write && !is_local) polled_.note(access);
  if (access.kind != AccessKind::write) {
    if (access.allocation->changes_by_itself()) reads_host_memory_ = true;
    if (launch_reads_.are_noted() && access.space == ptx::Space::global) {
      launch_reads_.note(access);
    }
    if (!is_local) last_reads_.note(access);
  }
  if (access.kind == AccessKind::read) return;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    cost_.count(LookCost::kOfChange);
    snapshot_.changes().add(access, static_cast<unsigned>(std::countr_zero(rest)));
  }
}

// Calls visit(lane, word) for each word of local memory that a lane accesses.
template <typename Visit>
void Lookahead::for_each_word(const Access& access, Visit visit) {
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    cost_.count(LookCost::kOfEntry);
    for (std::uint32_t byte = 0; byte < access.bytes; byte += 4) {
      visit(lane, LocalWord(access.allocation, (access.offset[lane] + byte) / 4));
    }
  }
}

void Lookahead::read(Access& access) {
  if (!is_following_) return;
  if (access.kind == AccessKind::atomic) return write(access);
  for_each_word(access, [&](unsigned lane, const LocalWord& word) {
    if (!indifferent_words_.contains(word)) return;
    access.undefined |= 1u << lane;
    access.is_partial = false;
    access.of_element.fill({access.undefined, access.pc});
    access.origin = access.pc;
  });
}

void Lookahead::write(const Access& access) {
  if (!is_following_) return;
  const bool is_local = access.space == ptx::Space::local;
  for_each_word(access, [&](unsigned lane, const LocalWord& word) {
    if ((access.undefined >> lane & 1u) != 0) {
      if (is_local) {
        indifferent_words_.insert(word);
      } else {
        has_strayed_ = true;
      }
    } else if (is_local && access.bytes % 4 == 0 && access.offset[lane] % 4 == 0) {
      indifferent_words_.erase(word);  // a stack's words are used again
    }
  });
}

WarpState Lookahead::state_of(const Slot& slot, const Warp& warp) {
  cost_.count(LookCost::kOfState);
  cost_.count_copied(register_bytes(warp));
  return {launch_, slot, warp, snapshot_.changes().state()};
}

bool Lookahead::is_in(const WarpState& state, const Slot& slot, const Warp& warp) {
  if (!state.is_at_places_of(warp) || snapshot_.changes().hash() != state.memory.hash) return false;
  cost_.count_copied(register_bytes(warp));
  return state.has_values_of(slot, warp) && are_undone(state.memory);
}

bool Lookahead::are_undone(const MemoryChanges::State& since) {
  if (snapshot_.changes().hash() != since.hash) return false;
  cost_.count((snapshot_.changes().count() - since.changes) * LookCost::kOfChange);
  return snapshot_.changes().are_undone(since);
}

// Returns a hash of the states of all warps of the blocks, without memory.
std::uint64_t Lookahead::hash_of(const std::vector<Slot*>& blocks) {
  for (const Slot* slot : blocks) {
    for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
      cost_.count_hashed(register_bytes(slot->warps[index]));
    }
  }
  return vgpu::hash_of(launch_, blocks);
}

// Returns what an instruction does that no round may contain, or that cannot be undone.
Lookahead::Fate Lookahead::act_of(const Slot& slot, Warp& warp, const Fragment& fragment) const {
  const Instr& instr = launch_.program().code[fragment.pc];
  switch (instr.kind) {
    case InstrKind::exit:
    case InstrKind::trap:
    case InstrKind::print:
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
    case InstrKind::device_call:
    case InstrKind::refusal:
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::group_load:
    case InstrKind::async_store:
    case InstrKind::copy: break;
    case InstrKind::tensor_memory:
      if (must_wait_for_tensor_memory(launch_, slot, warp, fragment)) return Fate::runs;
      break;
    case InstrKind::group_pending:
      if (must_wait_for_warpgroup(launch_, slot, warp, fragment)) return Fate::runs;
      break;
    case InstrKind::warp: {  // its result depends on which lanes are here
      const bool is_one_of_many = warp.fragments.count_ready() > 1 || is_alone_;
      return is_one_of_many ? Fate::unknown : Fate::runs;
    }
    case InstrKind::texture:
      if (launch_.program().texture_instrs[instr.texture].operation !=
          TextureInstr::Operation::store) {
        return Fate::runs;
      }
      break;
    case InstrKind::store:
    case InstrKind::atomic:  // other machines would see it
      if (launch_.request().share == nullptr || instr.modifiers.space == ptx::Space::shared ||
          instr.modifiers.space == ptx::Space::local) {
        return Fate::runs;
      }
      break;
    default: return Fate::runs;
  }
  if (instr.guard.bank == Bank::none) return Fate::acts;
  const LaneBanks banks = banks_of(launch_.program(), warp, fragment);
  return guarded_lanes(banks, instr, fragment.mask) != 0 ? Fate::acts : Fate::runs;
}

// Executes one instruction of the fragment that is next.
Lookahead::Fate Lookahead::step(Slot& slot, Warp& warp) {
  cost_.count(LookCost::kOfInstruction);
  if (cost_.is_used_up()) return Fate::unknown;
  const std::size_t index = warp.fragments.choose().index;
  if (index == Fragments::kNothing) {
    slot.ready_warps &= ~(1u << warp.index);
    return Fate::waits;
  }
  const Fate act = act_of(slot, warp, warp.fragments[index]);
  if (act != Fate::runs) return act;
  if (polled_.are_noted() && concerns_others(launch_.program().code[warp.fragments[index].pc])) {
    return Fate::unknown;
  }
  if (is_following_ && !may_execute(slot, warp, warp.fragments[index])) return Fate::unknown;
  const std::uint32_t ready = slot.ready_warps;
  const std::size_t changes = snapshot_.changes().count();
  const Instr& instr = launch_.program().code[warp.fragments[index].pc];
  const FrameRows frame = frame_of(warp.fragments[index]);
  const std::uint32_t lanes = warp.fragments[index].mask;
  warp.ask_at = warp.ask_at_fence = UINT64_MAX;
  warp.quantum_left = 0;
  warp.quantum_rest = 0;
  launch_.quantum().begin(1);
  const Stop stop = dependencies_.warps.run(slot, warp);
  ++steps_;
  if (reads_time(instr)) {
    reads_time_ = true;
    if (is_following_) {
      warp.undefined.set(frame, instr[ScalarOperand::result], {lanes, 0}, lanes, launch_.program());
    }
  }
  snapshot_.changes().drop_unchanged(changes);
  if (stop == Stop::halted || has_effect_) return Fate::acts;
  if (snapshot_.changes().count() > kChangesMax) return Fate::unknown;
  if (!warp.is_ready()) slot.ready_warps &= ~(1u << warp.index);
  if ((slot.ready_warps & ~ready) != 0) return Fate::releases;
  return warp.is_ready() ? Fate::runs : Fate::waits;
}

Lookahead::Fate Lookahead::run_until_settled(Slot& slot, Warp& warp) {
  last_reads_.begin(warp);
  reads_time_ = false;
  const WarpState start = state_of(slot, warp);
  WarpState seen = start;
  const std::size_t foreign = snapshot_.changes().foreign();
  const std::uint64_t steps_with_changes =
      std::max(kStepsWithChanges, snapshot_.steps() / kStepsPerStepWithChanges);
  const std::uint64_t steps_exact =
      std::clamp(snapshot_.steps() / kStepsPerStepExact, kStepsExactMin, kStepsExact);
  for (std::uint64_t steps = 1; steps <= steps_exact; ++steps) {
    const Fate fate = step(slot, warp);
    const bool changed = snapshot_.changes().foreign() != foreign;
    if (fate != Fate::runs) return changed && fate != Fate::unknown ? Fate::acts : fate;
    // A warp that writes must return to its initial state, with all changes undone.  A warp that
    // has read the time never returns to the same state.
    if (!reads_time_ && is_in(changed ? start : seen, slot, warp)) {
      repeats_ |= changed;
      return Fate::spins;
    }
    if (changed ? steps >= steps_with_changes : reads_time_ && steps >= kStepsWithTime) break;
    if (std::has_single_bit(steps)) seen = state_of(slot, warp);
  }
  if (snapshot_.changes().foreign() != foreign) return Fate::acts;
  Fate fate = run_indifferently(slot, warp);
  if (fate == Fate::unknown && snapshot_.changes().foreign() == foreign)
    fate = run_periodically(slot, warp);
  return fate == Fate::unknown ? run_fragments_alone(slot, warp) : fate;
}

// Examines blocks that can wait for each other without memory: one block, or the blocks of a
// cluster.
Lookahead::Fate Lookahead::look_at_unit(const std::vector<Slot*>& unit) {
  for (Slot* slot : unit) {
    if (!save(*slot, 0, launch_.warps_per_block())) return Fate::unknown;
  }
  const bool was_ready =
      std::ranges::any_of(unit, [](const Slot* slot) { return slot->ready_warps != 0; });
  const std::uint64_t steps_before = steps_;
  const std::uint64_t steps_max = std::max(kStepsOfBlock, snapshot_.steps() / kStepsPerStepOfBlock);
  std::vector<std::uint32_t> settled(unit.size(), 0);
  std::vector<std::pair<std::uint64_t, MemoryChanges::State>> releases;
  while (true) {
    std::size_t at = 0;
    while (at < unit.size() && (unit[at]->ready_warps & ~settled[at]) == 0) ++at;
    if (at == unit.size()) {
      const bool all_wait =
          std::ranges::all_of(settled, [](std::uint32_t one) { return one == 0; });
      // If no polling thread is left, the launch itself detects the deadlock.
      return all_wait && was_ready ? Fate::acts : Fate::spins;
    }
    if (steps_ - steps_before > steps_max) return Fate::unknown;
    Slot& slot = *unit[at];
    const auto index = static_cast<std::size_t>(std::countr_zero(slot.ready_warps & ~settled[at]));
    const Fate fate = run_until_settled(slot, slot.warps[index]);
    if (fate == Fate::acts || fate == Fate::unknown) return fate;
    if (fate == Fate::spins) settled[at] |= 1u << index;
    if (fate != Fate::releases) continue;
    std::ranges::fill(settled, 0);
    const std::uint64_t hash = hash_of(unit);
    const auto before = std::ranges::find(releases, hash, &decltype(releases)::value_type::first);
    if (before != releases.end() && are_undone(before->second)) return Fate::spins;
    if (releases.size() == kReleasesMax) return Fate::unknown;
    releases.emplace_back(hash, snapshot_.changes().state());
  }
}

Prospect Lookahead::look_at_launch(std::uint32_t first_block) {
  std::vector<Slot*> order = launch_.resident();
  const auto first = std::ranges::find(order, first_block, &Slot::block);
  if (first != order.end()) std::rotate(order.begin(), first, order.end());
  std::set<std::uint32_t> clusters_seen;
  for (Slot* slot : order) {
    std::vector<Slot*> unit{slot};
    if (launch_.program().uses_clusters) {
      if (!clusters_seen.insert(slot->cluster).second) continue;
      unit.clear();
      std::ranges::copy_if(launch_.resident(), std::back_inserter(unit),
                           [&](const Slot* other) { return other->cluster == slot->cluster; });
    }
    const Fate fate = look_at_unit(unit);
    if (fate == Fate::spins) continue;
    restless_block_ = slot->block;
    return fate == Fate::acts ? Prospect::goes_on : Prospect::unknown;
  }
  if (!repeats_ && !launch_reads_.is_empty()) return Prospect::polls;
  if (reads_host_memory_ && launch_.request().host_runs) return Prospect::goes_on;
  return repeats_ ? Prospect::repeats : Prospect::stuck;
}

void Lookahead::list_polls(const Slot& slot, Warp& warp, std::vector<Waiting>& waiting) {
  const std::size_t next = warp.fragments.choose().index;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& fragment = warp.fragments[i];
    if (fragment.state != Fragment::State::ready) continue;
    Waiting one;
    one.kind = Waiting::Kind::reads;
    one.place = launch_.place_of(slot, warp);
    one.pc = fragment.pc;
    one.lanes = fragment.mask;
    if (launch_.model() == WarpModel::lockstep && i != next) {
      one.kind = Waiting::Kind::rejoin;
    } else if (must_wait_for_tensor_memory(launch_, slot, warp, fragment)) {
      describe_wait_for_tensor_memory(launch_, slot, warp, fragment, one);
    } else {
      last_reads_.describe(warp, static_cast<unsigned>(std::countr_zero(fragment.mask)), one);
    }
    waiting.push_back(one);
  }
}

void Lookahead::list(std::vector<Waiting>& waiting) {
  for (Slot* slot : launch_.resident()) {
    dependencies_.waiting_threads.list(*slot, waiting);
    for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
      list_polls(*slot, slot->warps[index], waiting);
    }
  }
}

void Lookahead::look_at_warp(Slot& slot, Warp& warp, std::vector<Waiting>& waiting) {
  save(slot, 0, launch_.warps_per_block());
  if (run_until_settled(slot, warp) == Fate::spins) return list_polls(slot, warp, waiting);
  snapshot_.restore();
  for (const Fragment& fragment : warp.fragments) {
    if (fragment.state != Fragment::State::ready) continue;
    Waiting one;
    one.kind = Waiting::Kind::runs;
    one.place = launch_.place_of(slot, warp);
    one.pc = fragment.pc;
    one.lanes = fragment.mask;
    waiting.push_back(one);
  }
}

}  // namespace warpcheck::vgpu
