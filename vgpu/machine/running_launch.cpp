#include "vgpu/machine/running_launch.hpp"

#include "vgpu/machine/sync/passed_barriers.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

void RunningLaunch::begin(const Launch& launch, WarpModel warp_model, Strategy& its_strategy,
                          const Limits& its_limits) {
  request = &launch;
  program = launch.program;
  model = warp_model;
  strategy = &its_strategy;
  limits = its_limits;
  outcome = {};
  time_ahead = 0;
  ++number;
  block_count = static_cast<std::uint32_t>(launch.grid.count());
  threads = static_cast<std::uint32_t>(launch.block.count());
  warps_per_block = (threads + kWarpLanes - 1) / kWarpLanes;
  resident.clear();
}

Step RunningLaunch::yield(Fragment& fragment) const {
  fragment.held = model == WarpModel::independent;
  return Step::quantum;
}

void RunningLaunch::mark(Warp& warp, const Fragment& fragment, std::uint32_t function) const {
  for (const UnwrittenRegister& one : program->unwritten_registers[function]) {
    warp.undefined.set(frame_of(fragment), one.ref, {fragment.mask, one.first_read}, fragment.mask,
                       *program);
  }
}

void RunningLaunch::note_crossing(const Slot& slot, const Warp& warp, std::uint32_t lanes,
                                  std::uint32_t from, std::uint32_t to) const {
  observers.passed_barriers->cross(slot, warp, lanes, from, to);
}

void RunningLaunch::use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind,
                                     const Ref& ref, std::uint32_t lanes) const {
  const UndefinedLanes undefined = run.warp.undefined.get(run.frame, ref);
  if ((undefined.mask & lanes) == 0) return;
  UndefinedUse use;
  use.kind = kind;
  use.program = program;
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
  divergence.program = program;
  divergence.place = place_of(run.slot, run.warp);
  divergence.pc = run.pc;
  divergence.lane = lane;
  notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
}

Step RunningLaunch::halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
                         std::string_view detail, std::string_view object) {
  Trap trap{program, place_of(run.slot, run.warp), run.pc, lanes, cause, detail, object};
  notify([&](Observer& observer) { observer.on_trap(trap); });
  outcome.end = Outcome::End::trap;
  outcome.cause = cause;
  return Step::halted;
}

Step RunningLaunch::refuse(std::string_view why) {
  outcome.end = Outcome::End::refused;
  outcome.refusal = why;
  return Step::halted;
}

CodePlace RunningLaunch::code_place(const RunningFragment& run, unsigned lane) const {
  return {program, run.pc, run.slot.position,
          request->block.position_of(run.warp.index * kWarpLanes + lane)};
}

Slot* RunningLaunch::slot_of(std::uint32_t block) const {
  for (Slot* slot : resident) {
    if (slot->block == block) return slot;
  }
  return nullptr;
}

}  // namespace warpcheck::vgpu
