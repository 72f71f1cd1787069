#include "vgpu/machine/running_launch.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/machine/sync/passed_barriers.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

void RunningLaunch::begin(const Launch& launch, WarpModel model, Strategy& strategy,
                          const Limits& limits) {
  request_ = &launch;
  program_ = launch.program;
  model_ = model;
  strategy_ = &strategy;
  limits_ = limits;
  observers_ = &own_observers_;
  outcome_ = {};
  time_ahead_ = 0;
  ++number_;
  block_count_ = static_cast<std::uint32_t>(launch.grid.count());
  threads_ = static_cast<std::uint32_t>(launch.block.count());
  warps_per_block_ = (threads_ + kWarpLanes - 1) / kWarpLanes;
  resident_.clear();
}

void RunningLaunch::notify_of_begin(const Sync& sync) {
  for (Observer* const observer : observers_->list->of_launches()) observer->on_sync(sync);
  own_observers_.watch_shared_rows = std::ranges::any_of(
      own_observers_.of_rows, [](const Observer* observer) { return observer->watches().shared; });
  std::erase_if(own_observers_.of_collectives, [&](const Observer* observer) {
    return !observer->watches_collectives_of(*program_);
  });
}

void RunningLaunch::report_tally() {
  if (observers_->tally == nullptr) return;
  for (Observer* const observer : observers_->list->of_tallies())
    observer->on_tally(*program_, tally_);
  std::ranges::fill(tally_, InstrTally{});
}

void RunningLaunch::notify_of_end(const Sync& sync) {
  report_tally();
  for (Observer* const observer : observers_->list->of_launches()) observer->on_sync(sync);
}

void RunningLaunch::add_resident(Slot& slot) {
  const auto after =
      std::ranges::find_if(resident_, [&](const Slot* other) { return other->block > slot.block; });
  resident_.insert(after, &slot);
}

RunningLaunch::Progress RunningLaunch::run_ahead(const Observers& observers) {
  observers_ = &observers;
  Progress before{std::exchange(outcome_, {}), time_ahead_};
  outcome_.steps = before.outcome.steps;
  return before;
}

void RunningLaunch::end_run_ahead(Progress before) {
  observers_ = &own_observers_;
  outcome_ = std::move(before.outcome);
  time_ahead_ = before.time_ahead;
}

Step RunningLaunch::yield(Fragment& fragment) const {
  fragment.held = model_ == WarpModel::independent;
  return Step::quantum;
}

void RunningLaunch::mark(Warp& warp, const Fragment& fragment, std::uint32_t function) const {
  for (const UnwrittenRegister& one : program_->unwritten_registers[function]) {
    warp.undefined.set(frame_of(fragment), one.ref, {fragment.mask, one.first_read}, fragment.mask,
                       *program_);
  }
}

void RunningLaunch::note_crossing(const Slot& slot, const Warp& warp, std::uint32_t lanes,
                                  std::uint32_t from, std::uint32_t to) const {
  observers_->passed_barriers->cross(slot, warp, lanes, from, to);
}

void RunningLaunch::use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind,
                                     const Ref& ref, std::uint32_t lanes) const {
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

void RunningLaunch::report_misuse(const RunningFragment& run, unsigned lane,
                                  BarrierDivergence::Reason reason) const {
  BarrierDivergence divergence;
  divergence.reason = reason;
  divergence.program = program_;
  divergence.place = place_of(run.slot, run.warp);
  divergence.pc = run.pc;
  divergence.lane = lane;
  notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
}

Step RunningLaunch::halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
                         std::string_view detail, std::string_view object) {
  halt({program_, place_of(run.slot, run.warp), run.pc, lanes, cause, detail, object});
  return Step::halted;
}

void RunningLaunch::halt(const Trap& trap) {
  notify([&](Observer& observer) { observer.on_trap(trap); });
  outcome_.end = Outcome::End::trap;
  outcome_.cause = trap.cause;
}

Step RunningLaunch::refuse(std::string_view why) {
  outcome_.end = Outcome::End::refused;
  outcome_.refusal = why;
  return Step::halted;
}

Outcome RunningLaunch::finish(Outcome::End end) {
  if (outcome_.end == Outcome::End::completed) outcome_.end = end;
  return std::move(outcome_);
}

CodePlace RunningLaunch::code_place(const RunningFragment& run, unsigned lane) const {
  return {program_, run.pc, run.slot.position,
          request_->block.position_of(run.warp.index * kWarpLanes + lane)};
}

Slot* RunningLaunch::slot_of(std::uint32_t block) const {
  for (Slot* slot : resident_) {
    if (slot->block == block) return slot;
  }
  return nullptr;
}

}  // namespace warpcheck::vgpu
