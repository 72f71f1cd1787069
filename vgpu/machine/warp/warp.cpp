// One warp: its fragments and their control flow.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {

using ptx::SpecialRegister;

// The fragment to run: deepest in calls, then lowest pc, so that diverged lanes meet again.
// Fragments at the same place become one.  limit: the pc at which another one waits.
std::size_t Core::pick(Warp& warp, std::uint32_t& limit) {
  std::vector<Fragment>& fragments = warp.fragments;
  constexpr std::size_t kNothing = SIZE_MAX;
  std::size_t best = kNothing;
  limit = ptx::kNone;
  if (fragments.size() == 1) {  // nearly always
    Fragment& only = fragments.front();
    if (only.state != Fragment::State::ready) return kNothing;
    only.held = false;
    return 0;
  }
  bool any_held = false;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    Fragment& fragment = fragments[i];
    if (fragment.state != Fragment::State::ready) continue;
    any_held |= fragment.held;
    if (fragment.held) continue;
    for (std::size_t j = fragments.size() - 1; j > i; --j) {
      const Fragment& other = fragments[j];
      if (other.state == Fragment::State::ready && !other.held && other.pc == fragment.pc &&
          other.callers == fragment.callers) {
        fragment.mask |= other.mask;
        fragment.local_top = std::max(fragment.local_top, other.local_top);
        fragments.erase(fragments.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
    if (best == kNothing) {
      best = i;
      continue;
    }
    const Fragment& leader = fragments[best];
    const bool deeper = fragment.callers.size() > leader.callers.size();
    const bool level = fragment.callers.size() == leader.callers.size();
    if (deeper || (level && fragment.pc < leader.pc)) best = i;
  }
  if (best == kNothing && any_held) {
    for (Fragment& fragment : fragments) fragment.held = false;
    return pick(warp, limit);
  }
  for (std::size_t i = 0; best != kNothing && i < fragments.size(); ++i) {
    const Fragment& other = fragments[i];
    if (i == best || other.held || other.state != Fragment::State::ready) continue;
    // Only those that it could meet: a function may be entered from several places.
    if (other.callers == fragments[best].callers) limit = std::min(limit, other.pc);
  }
  return best;
}

Core::Stop Core::run_warp(Slot& slot, Warp& warp) {
  const std::uint32_t left = std::exchange(warp.quantum_left, 0);
  launch_steps_left_ = left != 0 ? left : limits_.quantum;
  return warp.quanta == 0 ? run_fragments(slot, warp) : run_suspect(slot, warp, left == 0);
}

Core::Stop Core::run_fragments(Slot& slot, Warp& warp) {
  came_last_ = false;
  while (true) {
    std::uint32_t limit = 0;
    const std::size_t index = pick(warp, limit);
    if (index == SIZE_MAX) return warp.live == 0 ? Stop::exited : Stop::blocked;
    switch (run_fragment(slot, warp, index, limit)) {
      case Step::again:
        if (!came_last_) [[likely]]
          break;
        came_last_ = false;
        if (!warp.is_ready()) break;
        ++warp.releases;
        if (order_ == StartOrder{} && !strategy_->decides_releases()) break;
        warp.quantum_left = launch_steps_left_;
        return Stop::released;
      case Step::quantum: end_quantum(warp); return Stop::quantum;
      case Step::paused:
        if (stops_polling(slot, warp, index)) return Stop::quantum;
        break;
      case Step::preempted:
        // Or lanes that poll would never use up a quantum where each of their polls is interrupted.
        warp.quantum_left = launch_steps_left_;
        return Stop::preempted;
      case Step::halted: return Stop::halted;
    }
  }
}

// Moves `lanes` of a fragment to a new one at the same place; returns the new one's index.
std::size_t Core::split(Warp& warp, std::size_t index, std::uint32_t lanes) {
  Fragment other = warp.fragments[index];
  other.mask = lanes;
  warp.fragments[index].mask &= ~lanes;
  warp.fragments.push_back(std::move(other));
  return warp.fragments.size() - 1;
}

void Core::bind(RunningFragment& run, const Fragment& fragment) {
  run.pc = fragment.pc;
  run.mask = fragment.mask;
  run.local_base = fragment.local_base;
  run.banks = banks_of(run.warp, fragment);
  run.frame = frame_of(fragment);
}

LaneBanks Core::banks_of(Warp& warp, const Fragment& fragment) const {
  LaneBanks banks;
  banks.base[static_cast<std::size_t>(Bank::word)] = warp.words.data() + fragment.word_base;
  banks.base[static_cast<std::size_t>(Bank::wide)] = warp.wides.data() + fragment.wide_base;
  banks.base[static_cast<std::size_t>(Bank::predicate)] =
      warp.predicates.data() + fragment.predicate_base;
  banks.base[static_cast<std::size_t>(Bank::constant)] =
      const_cast<std::byte*>(program_->constants.data());
  return banks;
}

FrameRows Core::frame_of(const Fragment& fragment) {
  return {fragment.word_base / kWordRowBytes, fragment.wide_base / kWideRowBytes,
          fragment.predicate_base / 4};
}

void Core::use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind, const Ref& ref,
                            std::uint32_t lanes) {
  const UndefinedLanes undefined = run.warp.undefined.get(run.frame, ref);
  if ((undefined.mask & lanes) == 0) return;
  UndefinedUse use;
  use.kind = kind;
  use.program = program_;
  use.place = place_of(run.slot, run.warp);
  use.pc = run.pc;
  use.lanes = undefined.mask & lanes;
  use.origin = undefined.origin;
  notify([&](Observer& observer) { observer.on_undefined_use(use); });
}

// The lanes for which the guard of `instr` holds.
inline std::uint32_t Core::guarded_lanes(const RunningFragment& run, const Instr& instr) {
  const std::uint32_t value = read_predicate(run.banks, instr.guard);
  if (run.warp.undefined.any() && instr.kind != InstrKind::compute) [[unlikely]] {
    use_of_undefined(run, UndefinedUse::Kind::branch, instr.guard, run.mask);
  }
  return run.mask & (instr.guard_negated ? ~value : value);
}

inline void Core::compute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  if (run.warp.undefined.any()) [[unlikely]] {
    run.warp.undefined.propagate(run.frame, run.banks, instr, active, *program_);
  }
  instr.compute(run.banks, instr, active);
}

// A parameter of the kernel, or the address of a local variable: the same for all lanes.
void Core::move_scalar(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  std::uint64_t value = run.local_base + static_cast<std::uint64_t>(instr.offset);
  if (instr.kind == InstrKind::param) {
    value = 0;
    const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
    std::memcpy(&value, launch_->parameters.data() + instr.offset, bytes);
    if (ptx::is_signed(instr.modifiers.type) && bytes < 8) {
      const unsigned unused = 64 - 8 * bytes;
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
  }
  const Ref& to = instr[ScalarOperand::result];
  rows_.broadcast(run.banks.base[static_cast<std::size_t>(to.bank)] + to.offset,
                  to.bank == Bank::wide, value, active);
  if (run.warp.undefined.any()) run.warp.undefined.set(run.frame, to, {}, active, *program_);
}

// A branch that all lanes of the fragment take, or none.  False, and nothing done: they diverge.
inline bool Core::jump(RunningFragment& run, const Instr& instr, std::uint32_t taken) {
  if (taken != 0 && taken != run.mask) return false;
  const std::uint32_t to = taken != 0 ? instr.target : run.pc + 1;
  edge(run.pc, to);
  run.pc = to;
  return true;
}

// Runs one fragment until it meets another, splits, waits, ends, or has used up the quantum.
Core::Step Core::run_fragment(Slot& slot, Warp& warp, std::size_t index, std::uint32_t limit) {
  RunningFragment run{slot, warp, {}, {}, 0, 0, 0};
  bind(run, warp.fragments[index]);
  const Instr* const code = program_->code.data();
  const std::uint64_t lanes = lane_count(run.mask);
  std::uint64_t lane_steps = 0;
  fragment_steps_left_ = launch_steps_left_;
  const auto finish = [&](Step step) {
    outcome_.lane_steps += lane_steps;
    outcome_.steps += fragment_steps_left_ - launch_steps_left_;
    return step;
  };
  const auto park = [&] { warp.fragments[index].pc = run.pc; };
  const auto postpone = [&](std::uint32_t active) {
    ++launch_steps_left_;  // the access has not happened yet
    lane_steps -= static_cast<std::uint64_t>(std::popcount(active));
    park();
    return ask(run, index, active);
  };
  while (run.pc < limit) {
    if (launch_steps_left_ == 0) {
      park();
      return finish(warp.quantum_rest != 0 ? Step::paused : yield(warp.fragments[index]));
    }
    const Instr& instr = code[run.pc];
    const std::uint32_t active =
        instr.guard.bank == Bank::none ? run.mask : guarded_lanes(run, instr);
    --launch_steps_left_;
    lane_steps += active == run.mask ? lanes : lane_count(active);
    switch (instr.kind) {
      case InstrKind::compute:
      case InstrKind::warp:
        if (active != 0) compute(run, instr, active);
        break;
      case InstrKind::special: read_special(run, instr, active); break;
      case InstrKind::local_address:
      case InstrKind::param: move_scalar(run, instr, active); break;
      case InstrKind::load:
      case InstrKind::store:
      case InstrKind::atomic:
        if (active == 0) break;
        if (warp.accesses == warp.ask_at) [[unlikely]]
          return finish(postpone(active));
        ++warp.accesses;
        access(run, instr, active);
        break;
      case InstrKind::warp_sync:
        if (active == 0) break;
        if (all_members_are(run, instr, active)) [[likely]] {
          operate(run, instr, active);
          if (!collective_observers_.empty()) tell_collective(run, run.pc, active, active);
          break;
        }
        park();
        meet(run, index, instr, active);
        return finish(Step::again);
      case InstrKind::barrier_object:
      case InstrKind::copy:
      case InstrKind::texture:
        if (active == 0) break;
        if (warp.accesses == warp.ask_at) return finish(postpone(active));
        ++warp.accesses;
        if (instr.kind == InstrKind::copy) {
          copy(run, instr, active);
          break;
        }
        if (instr.kind == InstrKind::texture) {
          park();
          if (use_texture(run, instr, active) == Step::halted) return finish(Step::halted);
          break;
        }
        access_objects(run, instr, active);
        if (!must_yield_) break;
        must_yield_ = false;
        ++run.pc;
        park();
        return finish(yield(warp.fragments[index]));
      case InstrKind::copy_group:
        if (active != 0) copy_group(run, instr, active);
        break;
      case InstrKind::heap_allocate:
      case InstrKind::heap_free:
        if (active != 0) call_heap(run, instr, active);
        break;
      case InstrKind::fence:
        if (active != 0) fence(run, instr, active);
        break;
      case InstrKind::nop: break;
      case InstrKind::jump:
      case InstrKind::branch:
        if (!jump(run, instr, active)) return finish(branch(run, index, instr, active));
        continue;
      default:  // calls, returns, exits, barriers, traps: whatever ends a run of the fragment
        park();
        if (active != 0) return finish(leave(run, index, instr, active));
    }
    ++run.pc;
  }
  park();
  return finish(Step::again);
}

// Lanes that spin must not starve those that they wait for: the others of their own warp go first,
// then other warps.
Core::Step Core::yield(Fragment& fragment) {
  fragment.held = model_ == WarpModel::independent;
  return Step::quantum;
}

// Memory is sequentially consistent here: a fence has nothing to do but to be told.
void Core::fence(const RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  const Fence event{program_,
                    place_of(run.slot, run.warp),
                    run.pc,
                    lanes,
                    instr.modifiers.order,
                    instr.modifiers.scope,
                    instr.modifiers.object_inits,
                    instr.modifiers.proxy,
                    instr.modifiers.space};
  notify([&](Observer& observer) { observer.on_fence(event); });
}

Core::Step Core::branch(RunningFragment& run, std::size_t index, const Instr& instr,
                        std::uint32_t taken) {
  edge(run.pc, instr.target);
  edge(run.pc, run.pc + 1);
  Fragment& stays = run.warp.fragments[index];
  stays.pc = run.pc + 1;
  const std::size_t other = split(run.warp, index, taken);
  run.warp.fragments[other].pc = instr.target;
  return Step::again;
}

// What ends a run of the fragment, for `lanes` of it; the fragment has its pc stored.
Core::Step Core::leave(RunningFragment& run, std::size_t index, const Instr& instr,
                       std::uint32_t lanes) {
  Slot& slot = run.slot;
  Warp& warp = run.warp;
  if (lanes != run.mask) {  // the others go on
    const std::size_t other = split(warp, index, run.mask & ~lanes);
    ++warp.fragments[other].pc;
  }
  Fragment& fragment = warp.fragments[index];
  switch (instr.kind) {
    case InstrKind::call: return enter(run, index, instr.target);
    case InstrKind::call_register: return enter_by_register(run, index, instr);
    case InstrKind::jump_table: return jump_by_table(run, index, instr);
    case InstrKind::ret: return return_to_caller(run, index);
    case InstrKind::stack: return move_stack(run, index, instr);
    case InstrKind::print: return print(run, index, instr);
    case InstrKind::assertion: return fail_assertion(run, index, instr);
    case InstrKind::refusal: return refuse(run, program_->refusals[instr.target]);
    case InstrKind::exit:
      warp.live &= ~lanes;
      if (slot.exit_pc == ptx::kNone) {
        slot.exit_pc = run.pc;
        slot.exit_warp = warp.index;
        slot.exit_lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
      }
      slot.live_lanes -= lane_count(lanes);
      warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(index));
      recheck_meetings(slot, warp);
      recheck_barriers(slot);
      if (program_->uses_clusters) leave_cluster(slot, warp, lanes);
      return Step::again;
    case InstrKind::barrier: arrive(run, index, instr, lanes); return Step::again;
    case InstrKind::cluster_barrier: return come_to_cluster_barrier(run, index, instr, lanes);
    case InstrKind::bulk_copy: ++fragment.pc; return bulk_copy(run, instr, lanes);
    case InstrKind::async_store: ++fragment.pc; return async_store(run, instr, lanes);
    case InstrKind::sleep: ++fragment.pc; return yield(fragment);
    default:
      return halt(
          run, lanes,
          instr.opcode == ptx::Opcode::brkpt_ ? Trap::Cause::breakpoint : Trap::Cause::trap);
  }
}

// The strategy may stop some lanes, or the whole warp, before their next access.
Core::Step Core::ask(RunningFragment& run, std::size_t index, std::uint32_t active) {
  Warp& warp = run.warp;
  const WarpId self{run.slot.block, warp.index};
  SchedulePoint point = point_of(self, Decision::Point::access, warp.accesses);
  point.active = active;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& other = warp.fragments[i];
    const bool could_go_on = other.state == Fragment::State::ready && !other.held;
    if (i != index && could_go_on) point.beside |= other.mask;
  }
  const std::optional<Choice> choice = strategy_->decide(point);
  warp.ask_at = strategy_->next_access(launch_->index, self, warp.accesses + 1);
  if (!choice) return Step::again;
  const bool all = choice->held == active;
  const bool preempts = all && choice->next != self;
  const bool fits = preempts ? can_run(choice->next)
                             : choice->held != 0 && (choice->held & ~active) == 0 &&
                                   (!all || point.beside != 0) && choice->next == self &&
                                   model_ == WarpModel::independent;
  if (!fits) return Step::again;
  record(point, *choice);
  if (preempts) {
    preempted_to_ = choice->next;
    return Step::preempted;
  }
  // Lanes of the fragment that are inactive by a guard alone stay behind with the others.
  const std::size_t held = all ? index : split(warp, index, choice->held);
  warp.fragments[held].held = true;
  return Step::again;
}

void Core::read_special(RunningFragment& run, const Instr& instr, std::uint32_t mask) {
  const Ref& to = instr[ScalarOperand::result];
  std::byte* row = run.banks.base[static_cast<std::size_t>(to.bank)] + to.offset;
  const bool wide = to.bank == Bank::wide;
  if (run.warp.undefined.any()) run.warp.undefined.set(run.frame, to, {}, mask, *program_);
  const Dim3& block = launch_->block;
  const auto uniform = [&](std::uint64_t value) { rows_.broadcast(row, wide, value, mask); };
  const auto each = [&](auto value_of_lane) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint64_t value = value_of_lane(lane);
      std::memcpy(row + lane * (wide ? 8u : 4u), &value, wide ? 8 : 4);
    }
  };
  const std::uint32_t first = run.warp.index * kWarpLanes;
  switch (instr.special) {
    case SpecialRegister::tid_x: return each([&](unsigned l) { return (first + l) % block.x; });
    case SpecialRegister::tid_y:
      return each([&](unsigned l) { return (first + l) / block.x % block.y; });
    case SpecialRegister::tid_z:
      return each([&](unsigned l) { return (first + l) / block.x / block.y; });
    case SpecialRegister::ntid_x: return uniform(block.x);
    case SpecialRegister::ntid_y: return uniform(block.y);
    case SpecialRegister::ntid_z: return uniform(block.z);
    case SpecialRegister::ctaid_x: return uniform(run.slot.position.x);
    case SpecialRegister::ctaid_y: return uniform(run.slot.position.y);
    case SpecialRegister::ctaid_z: return uniform(run.slot.position.z);
    case SpecialRegister::nctaid_x: return uniform(launch_->grid.x);
    case SpecialRegister::nctaid_y: return uniform(launch_->grid.y);
    case SpecialRegister::nctaid_z: return uniform(launch_->grid.z);
    case SpecialRegister::laneid: return each([](unsigned l) { return l; });
    case SpecialRegister::warpid: return uniform(run.warp.index);
    case SpecialRegister::nwarpid: return uniform(32);
    case SpecialRegister::smid: return uniform(run.slot.index);
    case SpecialRegister::nsmid: return uniform(limits_.resident_blocks);
    case SpecialRegister::gridid: return uniform(launch_->index);
    case SpecialRegister::lanemask_eq: return each([](unsigned l) { return 1u << l; });
    case SpecialRegister::lanemask_lt: return each([](unsigned l) { return (1u << l) - 1; });
    case SpecialRegister::lanemask_le: return each([](unsigned l) { return (2u << l) - 1; });
    case SpecialRegister::lanemask_gt: return each([](unsigned l) { return ~((2u << l) - 1); });
    case SpecialRegister::lanemask_ge: return each([](unsigned l) { return ~((1u << l) - 1); });
    // Time is counted in warp instructions of the launch, this one included: it depends on nothing
    // but the case, every reading is later than those before it, and all warps read one clock.
    case SpecialRegister::clock:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo: return uniform(steps_so_far());
    case SpecialRegister::clock_hi:
    case SpecialRegister::globaltimer_hi: return uniform(steps_so_far() >> 32);
    case SpecialRegister::dynamic_smem_size: return uniform(launch_->dynamic_shared_bytes);
    case SpecialRegister::total_smem_size:
      return uniform(program_->dynamic_shared_offset + launch_->dynamic_shared_bytes);
    case SpecialRegister::envreg1: return uniform(workspace_address() >> 32);
    case SpecialRegister::envreg2: return uniform(workspace_address());
    case SpecialRegister::warp_size: return uniform(kWarpLanes);
    case SpecialRegister::none: return;
    case SpecialRegister::reserved_smem_offset_1: return uniform(kReservedSharedOffset);
    case SpecialRegister::is_explicit_cluster: {
      std::uint32_t bits = 0;
      std::memcpy(&bits, row, sizeof bits);
      bits = launch_->explicit_cluster ? bits | mask : bits & ~mask;
      std::memcpy(row, &bits, sizeof bits);
      return;
    }
    default: return uniform(special_of_cluster(run.slot, instr.special));
  }
}

}  // namespace warpcheck::vgpu
