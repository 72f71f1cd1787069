// Fragments that run the machine code of their program, and what that calls.
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/machine/native/native_tier.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {
namespace {

// All ones in the cells of some of four lanes.
template <typename Cell>
constexpr auto kCellsOfFour = [] {
  std::array<std::array<Cell, 4>, 16> cells{};
  for (unsigned lanes = 0; lanes < cells.size(); ++lanes) {
    for (unsigned lane = 0; lane < 4; ++lane) cells[lanes][lane] = Cell{0} - (lanes >> lane & 1);
  }
  return cells;
}();

// Loops with guards come here at each turn.
void set_lanes(NativeFrame& frame, std::uint32_t lanes) {
  frame.lanes = lanes;
  for (unsigned lane = 0; lane < kWarpLanes; lane += 4) {
    const std::uint32_t four = lanes >> lane & 15;
    std::memcpy(&frame.word_lanes[lane], &kCellsOfFour<std::uint32_t>[four], 16);
    std::memcpy(&frame.wide_lanes[lane], &kCellsOfFour<std::uint64_t>[four], 32);
  }
}

}  // namespace

// What a frame has of the launch, whichever fragment runs.
void FragmentLoop::begin_native_launch() {
  frame_is_of_ = launch_.number;
  frame_.code = launch_.program->code.data();
  frame_.sites = parts_.accesses.sites();
  frame_.parameters = launch_.request->parameters.data();
  frame_.block = &launch_.request->block;
  frame_.grid = &launch_.request->grid;
  frame_.loop = this;
}

// False: nothing was executed.
bool FragmentLoop::run_native(const NativeCode& code, RunningFragment& run, std::uint32_t limit,
                              std::uint64_t& lane_steps) {
  if (frame_is_of_ != launch_.number) [[unlikely]]
    begin_native_launch();
  NativeFrame& frame = frame_;
  frame.banks = run.banks;
  frame.shared = run.slot.shared != nullptr ? run.slot.shared->data : nullptr;
  frame.position = &run.slot.position;
  frame.threads = parts_.scalars.threads_of(run.warp);
  frame.accesses_left = run.warp.ask_at - run.warp.accesses;
  frame.unguarded = frame.lane_steps = 0;
  frame.quantum_left = launch_.quantum_left;
  frame.limit = limit;
  frame.wants_edges = launch_.observers.want_edges ? 1 : 0;
  frame.is_watched = launch_.observers.of_accesses.empty() ? 0 : 1;
  if (run.mask != ~0u) {
    if (frame.lanes != run.mask) set_lanes(frame, run.mask);
  } else if (frame.is_watched != 0) {
    parts_.accesses.begin_rows(run);
  }
  frame.run = &run;
  const std::uint32_t quantum_left = launch_.quantum_left;
  run.pc = code.run(frame, run.pc);
  if (frame.thrown != nullptr) [[unlikely]]
    std::rethrow_exception(std::exchange(frame.thrown, nullptr));
  launch_.quantum_left = frame.quantum_left;
  run.warp.accesses = run.warp.ask_at - frame.accesses_left;
  lane_steps += frame.lane_steps + frame.unguarded * lane_count(run.mask);
  return frame.quantum_left != quantum_left;
}

FragmentLoop::Departure FragmentLoop::run_to_barrier(Slot& slot, Warp& warp) {
  if (warp.fragments.size() != 1) return Departure::none;
  Fragment& fragment = warp.fragments.front();
  const NativeCode* const code = code_for(fragment.mask);
  const bool can_run = code != nullptr && fragment.state == Fragment::State::ready &&
                       code->begins_at(fragment.pc) && launch_.quantum_left != 0 &&
                       !warp.undefined.any();
  if (!can_run) return Departure::none;
  fragment.held = false;
  RunningFragment run(slot, warp, *launch_.program, fragment);
  launch_.quantum_left_before = launch_.quantum_left;
  std::uint64_t lane_steps = 0;
  run_native(*code, run, ptx::kNone, lane_steps);
  fragment.pc = run.pc;
  const Instr& instr = launch_.program->code[run.pc];
  const bool departs = (instr.kind == InstrKind::exit || (instr.kind == InstrKind::barrier &&
                                                          !launch_.program->has_named_barriers)) &&
                       instr.guard.bank == Bank::none && launch_.quantum_left != 0;
  if (departs) {
    --launch_.quantum_left;
    lane_steps += lane_count(run.mask);
    parts_.departures.leave(run, 0, instr, run.mask);
  }
  launch_.outcome.lane_steps += lane_steps;
  launch_.outcome.steps += launch_.quantum_left_before - launch_.quantum_left;
  if (!departs) return Departure::none;
  return instr.kind == InstrKind::exit ? Departure::exited : Departure::arrived;
}

// Fragments of some lanes were interpreted, in a launch that has code for all.
void FragmentLoop::count_some(std::uint64_t steps) {
  NativeTier& tier = *launch_.program->native;
  tier.count(Lanes::some, steps);
  if (tier.steps_left(Lanes::some) == 0) compile_for_some();
}

void FragmentLoop::compile_for_some() {
  launch_.native_some =
      launch_.program->native->make(*launch_.program, Lanes::some, native_calls());
}

// What the loop does to an instruction that cannot end the fragment's run.
NativeStep FragmentLoop::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::warp: compute(run, instr, active); break;
    case InstrKind::special: parts_.scalars.read_special(run, instr, active); break;
    case InstrKind::local_address:
    case InstrKind::param: parts_.scalars.move(run, instr, active); break;
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic: parts_.accesses.execute_next(run, instr, active); break;
    case InstrKind::warp_sync:
      if (!parts_.meetings.all_members_are(run, instr, active)) return NativeStep::leave_before;
      parts_.meetings.operate(run, instr, active);
      break;
    case InstrKind::copy_group: parts_.copies.commit_or_wait(run, instr, active); break;
    case InstrKind::fence: fence(run, instr, active); break;
    default: break;
  }
  return run.warp.undefined.any() ? NativeStep::leave_after : NativeStep::go_on;
}

NativeStep FragmentLoop::execute_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                                    std::uint32_t after) try {
  FragmentLoop& loop = *frame->loop;
  RunningFragment& run = *frame->run;
  run.pc = pc;
  loop.launch_.quantum_left = frame->quantum_left + after;
  const NativeStep step = loop.execute(run, frame->code[pc], active);
  if (step == NativeStep::leave_before) {
    frame->lane_steps -= static_cast<std::uint64_t>(std::popcount(active));
  }
  return step;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::tell_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t strided) try {
  Accesses& accesses = frame->loop->parts_.accesses;
  const bool is_defined = accesses.tell(*frame->run, pc, frame->offset, strided != 0);
  return is_defined ? NativeStep::go_on : NativeStep::leave_after;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::tell_lanes_of(NativeFrame* frame, std::uint32_t pc, Pattern pattern) try {
  Accesses& accesses = frame->loop->parts_.accesses;
  const bool is_defined =
      accesses.tell_lanes(*frame->run, pc, frame->offset, pattern, frame->offsets);
  return is_defined ? NativeStep::go_on : NativeStep::leave_after;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

void FragmentLoop::edge_of(NativeFrame* frame, std::uint32_t from, std::uint32_t to) {
  frame->loop->launch_.edge(from, to);
}

NativeCalls FragmentLoop::native_calls() { return {execute_of, tell_of, tell_lanes_of, edge_of}; }

}  // namespace warpcheck::vgpu
