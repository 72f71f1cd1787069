#include "vgpu/machine/warp/fragment_loop.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/machine/step_filter.hpp"
#include "vgpu/machine/warp/branches.hpp"
#include "vgpu/machine/warp/followed_values.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// Returns the lanes that execute `instr`, which has a guard.
inline std::uint32_t FragmentLoop::active_lanes(const RunningFragment& run, const Instr& instr) {
  if (run.warp.undefined.any() && instr.kind != InstrKind::compute) [[unlikely]] {
    launch_.use_of_undefined(run, UndefinedUse::Kind::branch, instr.guard, run.mask);
  }
  return guarded_lanes(run.banks, instr, run.mask);
}

void FragmentLoop::choose_steps() {
  if (asked_in_ == launch_.number()) return;
  asked_in_ = launch_.number();
  const std::vector<Observer*>& watching = launch_.observers().list->of_steps();
  auto* const filter = watching.size() == 1 ? dynamic_cast<StepFilter*>(watching.front()) : nullptr;
  steps_ = filter == nullptr ? nullptr : filter->steps_of(launch_.program());
}

inline bool FragmentLoop::is_reported(std::uint32_t pc) const {
  return steps_ == nullptr || steps_[pc] != 0;
}

inline void FragmentLoop::compute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  if (run.warp.undefined.any()) [[unlikely]] {
    run.warp.undefined.propagate(run.frame, run.banks, instr, active, launch_.program());
  }
  instr.compute(run.banks, instr, active);
  if (launch_.observers().following.order && instr.kind == InstrKind::warp) [[unlikely]]
    mark_results(launch_, run, instr, active);
}

// Executes consecutive unguarded compute instructions from `run.pc` on, the first of which is not
// reported.  They end only at the place of another fragment, at the end of the quantum, or at one
// that is reported.  Returns how many were executed.
template <bool watched>
inline std::uint32_t FragmentLoop::compute_in_line(RunningFragment& run, const Instr* code,
                                                   std::uint32_t limit) {
  const std::uint32_t count_max = std::min(limit - run.pc, launch_.quantum().left());
  const Instr* instr = code + run.pc;
  std::uint32_t count = 0;
  do {
    instr->compute(run.banks, *instr, run.mask);
    ++instr;
    ++count;
  } while (count != count_max && instr->kind == InstrKind::compute &&
           instr->guard.bank == Bank::none && !(watched && is_reported(run.pc + count)));
  run.pc += count;
  launch_.quantum().use(count);
  return count;
}

// Handles a branch that all lanes of the fragment take, or that none takes.  False: the lanes
// diverge, and nothing was done.
inline bool FragmentLoop::jump(RunningFragment& run, const Instr& instr, std::uint32_t taken) {
  if (taken != 0 && taken != run.mask) return false;
  const std::uint32_t to = taken != 0 ? instr.target : run.pc + 1;
  launch_.cross(run.slot, run.warp, run.mask, run.pc, to);
  launch_.move_run(run.pc, to, run.mask);
  run.pc = to;
  return true;
}

Step FragmentLoop::run(Slot& slot, Warp& warp, Fragments::Choice next) {
  Turn turn{.run = {slot, warp, launch_.program(), warp.fragments[next.index]},
            .index = next.index};
  turn.lanes = lane_count(turn.run.mask);
  turn.native = dependencies_.native_runs.code_for(turn.run.mask);
  launch_.quantum().begin_run();
  if (turn.native != nullptr) turn.frame = &dependencies_.native_frames.of_fragment(turn.run);
  launch_.begin_run(turn.run.pc, turn.run.mask);
  if (launch_.observers().watch_steps) choose_steps();
  const Step step = launch_.observers().watch_steps ? run_until<true>(turn, next.limit)
                                                    : run_until<false>(turn, next.limit);
  launch_.end_run(turn.run.pc + (turn.has_departed ? 1 : 0), turn.run.mask);
  if (turn.native == nullptr && launch_.native() != nullptr) [[unlikely]]
    dependencies_.native_runs.count_some(launch_.quantum().used());
  launch_.count_run(turn.lane_steps);
  return step;
}

bool FragmentLoop::run_in_native(Slot& slot, Warp& warp, Fragments::Choice next) {
  if (launch_.native_some() == nullptr || launch_.quantum().left() == 0) return false;
  RunningFragment run{slot, warp, launch_.program(), warp.fragments[next.index]};
  launch_.quantum().begin_run();
  std::uint64_t lane_steps = 0;
  const bool has_run = dependencies_.native_runs.run_fragments(
      dependencies_.native_frames.of_fragment(run), run, next, lane_steps);
  launch_.count_run(lane_steps);
  return has_run;
}

template <bool watched>
inline Step FragmentLoop::run_until(Turn& turn, std::uint32_t limit) {
  RunningFragment& run = turn.run;
  Warp& warp = run.warp;
  const Instr* const code = launch_.program().code.data();
  while (run.pc < limit) {
    if (launch_.quantum().left() == 0) {
      park(turn);
      return warp.quantum_rest != 0 ? Step::paused : launch_.yield(warp.fragments[turn.index]);
    }
    if (turn.native != nullptr && dependencies_.native_runs.can_enter(turn.native, run) &&
        dependencies_.native_runs.run(*turn.frame, *turn.native, run, limit, turn.lane_steps)) {
      continue;
    }
    const Instr& instr = code[run.pc];
    const bool reports = watched && is_reported(run.pc);
    if (!reports && instr.kind == InstrKind::compute && instr.guard.bank == Bank::none &&
        !warp.undefined.any()) {
      turn.lane_steps += turn.lanes * compute_in_line<watched>(run, code, limit);
      continue;
    }
    const std::uint32_t active =
        instr.guard.bank == Bank::none ? run.mask : active_lanes(run, instr);
    if (launch_.observers().following.values) [[unlikely]]
      follow_values(launch_, run, instr, active);
    launch_.quantum().use();
    turn.lane_steps += active == run.mask ? turn.lanes : lane_count(active);
    if (reports) {
      if (const std::optional<Step> end = execute_watched(turn, instr, active)) return *end;
    } else {
      if (const std::optional<Step> end = execute_next(turn, instr, active)) return *end;
    }
  }
  park(turn);
  return Step::again;
}

// As execute_next(), and reports the step.  An instruction before which the strategy is asked is
// reported when it is executed.
std::optional<Step> FragmentLoop::execute_watched(Turn& turn, const Instr& instr,
                                                  std::uint32_t active) {
  const RunningFragment& run = turn.run;
  const Warp& warp = run.warp;
  bool is_postponed = false;
  switch (instr.kind) {
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
    case InstrKind::barrier_object:
    case InstrKind::copy:
    case InstrKind::texture: is_postponed = active != 0 && warp.accesses == warp.ask_at; break;
    case InstrKind::fence: is_postponed = active != 0 && warp.fences == warp.ask_at_fence; break;
    default: break;
  }
  if (is_postponed) return execute_next(turn, instr, active);
  const std::uint32_t pc = run.pc;
  const InstrStep step{.program = &launch_.program(),
                       .place = launch_.place_of(run.slot, run.warp),
                       .pc = pc,
                       .mask = run.mask,
                       .active = active,
                       .registers = &run.banks,
                       .launch = &launch_,
                       .slot = &run.slot,
                       .warp = &run.warp,
                       .fragment = turn.index};
  for (Observer* const observer : launch_.observers().list->of_steps()) observer->on_step(step);
  const std::optional<Step> end = execute_next(turn, instr, active);
  if (!end || run.pc != pc) {
    for (Observer* const observer : launch_.observers().list->of_steps())
      observer->on_step_end(step);
  }
  return end;
}

// Executes an instruction that cannot end the fragment's run.  False: it is an operation of several
// lanes, whose other members are elsewhere, and nothing was done.
//   active: the lanes whose guard is true; at least one, unless it only moves registers
inline bool FragmentLoop::execute_plain(RunningFragment& run, const Instr& instr,
                                        std::uint32_t active) {
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::warp: compute(run, instr, active); break;
    case InstrKind::special:
      dependencies_.scalars.read_special(run, instr, active);
      if (launch_.observers().following.order && depends_on_order(instr.special)) [[unlikely]]
        mark_results(launch_, run, instr, active);
      break;
    case InstrKind::local_address:
    case InstrKind::param: dependencies_.scalars.move(run, instr, active); break;
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic: dependencies_.accesses.execute_next(run, instr, active); break;
    case InstrKind::warp_sync:
      if (!dependencies_.meetings.all_members_are(run, instr, active)) return false;
      dependencies_.meetings.operate(run, instr, active);
      break;
    case InstrKind::copy_group: dependencies_.copies.commit_or_wait(run, instr, active); break;
    case InstrKind::fence: fence(run, instr, active); break;
    default: break;
  }
  return true;
}

bool FragmentLoop::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  return execute_plain(run, instr, active);
}

// Executes the instruction at run.pc and moves on to the next one.  Returns how the turn ends;
// none: it goes on.
//   active: the lanes whose guard is true
inline std::optional<Step> FragmentLoop::execute_next(Turn& turn, const Instr& instr,
                                                      std::uint32_t active) {
  RunningFragment& run = turn.run;
  Warp& warp = run.warp;
  switch (instr.kind) {
    case InstrKind::special:
    case InstrKind::local_address:
    case InstrKind::param: execute_plain(run, instr, active); break;
    case InstrKind::compute:
    case InstrKind::warp:
    case InstrKind::copy_group:
      if (active != 0) execute_plain(run, instr, active);
      break;
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
      if (active == 0) break;
      if (warp.accesses == warp.ask_at) [[unlikely]]
        return postpone(turn, active, Decision::Point::access);
      ++warp.accesses;
      execute_plain(run, instr, active);
      break;
    case InstrKind::warp_sync:
      if (active == 0 || execute_plain(run, instr, active)) [[likely]]
        break;
      park(turn);
      turn.has_departed = true;
      dependencies_.meetings.arrive(run, turn.index, instr, active);
      return Step::again;
    case InstrKind::barrier_object:
    case InstrKind::copy:
    case InstrKind::texture:
      if (active == 0) break;
      if (warp.accesses == warp.ask_at) return postpone(turn, active, Decision::Point::access);
      ++warp.accesses;
      if (const std::optional<Step> end = access_otherwise(turn, instr, active)) return end;
      break;
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
      if (active != 0) dependencies_.heap.call(run, instr, active);
      break;
    case InstrKind::device_call:
      if (active != 0) dependencies_.device_calls.call(run, instr, active);
      break;
    case InstrKind::fence:
      if (active == 0) break;
      if (warp.fences == warp.ask_at_fence) [[unlikely]]
        return postpone(turn, active, Decision::Point::fence);
      ++warp.fences;
      execute_plain(run, instr, active);
      break;
    case InstrKind::nop: break;
    case InstrKind::jump:
    case InstrKind::branch:
      if (jump(run, instr, active)) return {};
      turn.has_departed = true;
      diverge(launch_, run, turn.index, instr, active);
      return Step::again;
    default:  // calls, returns, exits, barriers, traps: they end the fragment's run
      park(turn);
      if (active != run.mask) {
        launch_.pass(run.slot, run.warp, run.mask & ~active, run.pc, run.pc + 1);
      }
      if (active == 0) break;
      turn.has_departed = true;
      return dependencies_.exits.leave(run, turn.index, instr, active);
  }
  ++run.pc;
  return {};
}

// Asks the strategy before an access or a fence, which has not been executed yet.
Step FragmentLoop::postpone(Turn& turn, std::uint32_t active, Decision::Point kind) {
  launch_.quantum().give_back();
  turn.lane_steps -= static_cast<std::uint64_t>(std::popcount(active));
  park(turn);
  return dependencies_.turns.ask(turn.run, turn.index, active, kind);
}

// Executes an access that is no load, store or atomic.  Returns how the turn ends; none: it goes
// on.
std::optional<Step> FragmentLoop::access_otherwise(Turn& turn, const Instr& instr,
                                                   std::uint32_t active) {
  RunningFragment& run = turn.run;
  if (instr.kind == InstrKind::copy) {
    dependencies_.copies.execute(run, instr, active);
    return {};
  }
  if (instr.kind == InstrKind::texture) {
    park(turn);
    turn.has_departed = dependencies_.textures.execute(run, instr, active) == Step::halted;
    return turn.has_departed ? std::optional(Step::halted) : std::nullopt;
  }
  if (!dependencies_.barrier_objects.execute(run, instr, active)) return {};
  ++run.pc;
  park(turn);
  run.warp.pauses();
  return launch_.yield(run.warp.fragments[turn.index]);
}

// The machine's memory is sequentially consistent, so a fence is only reported.
void FragmentLoop::fence(const RunningFragment& run, const Instr& instr,
                         std::uint32_t lanes) const {
  if (instr[MemoryOperand::address].bank == Bank::none) return report_fence(run, lanes, nullptr);
  std::array<MapPlace, kWarpLanes> maps;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address =
        address_of({row_of(run.banks, instr[MemoryOperand::address]), true, 0, 0}, lane);
    const Allocation* const allocation = launch_.memory().object_at(address);
    if (allocation == nullptr) continue;
    maps[lane] = {allocation, static_cast<std::uint32_t>(address - allocation->address)};
  }
  report_fence(run, lanes, &maps);
}

void FragmentLoop::report_fence(const RunningFragment& run, std::uint32_t lanes,
                                const std::array<MapPlace, kWarpLanes>* maps) const {
  const Instr& instr = launch_.program().code[run.pc];
  const bool controls_grids = instr.opcode == ptx::Opcode::griddepcontrol_;
  const Fence event{&launch_.program(),
                    launch_.place_of(run.slot, run.warp),
                    run.pc,
                    lanes,
                    instr.modifiers.order,
                    instr.modifiers.scope,
                    instr.modifiers.object_inits,
                    instr.modifiers.proxy,
                    instr.modifiers.space,
                    controls_grids && !instr.modifiers.arrive,
                    controls_grids && instr.modifiers.arrive,
                    maps};
  launch_.notify([&](Observer& observer) { observer.on_fence(event); });
}

}  // namespace warpcheck::vgpu
