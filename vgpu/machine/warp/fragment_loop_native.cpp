// The functions that machine code calls.
#include <bit>
#include <exception>

#include "vgpu/machine/warp/fragment_loop.hpp"

namespace warpcheck::vgpu {
namespace {

// A call by machine code: what it has recorded comes before the events of the call.
class CallOfCode {
 public:
  explicit CallOfCode(NativeFrame* frame) : frame_(frame), batches_(frame->batches) {
    if (batches_ != nullptr) [[unlikely]]
      batches_->hand_over(*frame->record, frame->run->slot);
  }
  ~CallOfCode() {
    if (batches_ != nullptr) [[unlikely]]
      batches_->begin(*frame_->record);
  }
  CallOfCode(const CallOfCode&) = delete;
  CallOfCode& operator=(const CallOfCode&) = delete;

 private:
  NativeFrame* const frame_;
  RowBatches* const batches_;  // stays the same while code runs
};

}  // namespace

NativeStep FragmentLoop::execute_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                                    std::uint32_t after) try {
  const CallOfCode call(frame);
  FragmentLoop& loop = *frame->loop;
  RunningFragment& run = *frame->run;
  run.pc = pc;
  loop.launch_.quantum().set(frame->quantum_left + after, frame->quantum_before);
  if (!loop.execute(run, frame->code[pc], active)) {
    frame->lane_steps -= static_cast<std::uint64_t>(std::popcount(active));
    return NativeStep::leave_before;
  }
  return run.warp.undefined.any() ? NativeStep::leave_after : NativeStep::go_on;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::access_of(NativeFrame* frame, std::uint32_t pc, std::uint32_t active,
                                   std::uint32_t after) try {
  const CallOfCode call(frame);
  RunningFragment& run = *frame->run;
  run.pc = pc;
  if (!frame->loop->dependencies_.accesses.execute_at_site(run, frame->code[pc], active)) {
    return execute_of(frame, pc, active, after);
  }
  return run.warp.undefined.any() ? NativeStep::leave_after : NativeStep::go_on;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::report_of(NativeFrame* frame, std::uint32_t pc, Pattern pattern) try {
  const CallOfCode call(frame);
  Accesses& accesses = frame->loop->dependencies_.accesses;
  const bool is_defined =
      accesses.report_at_site(*frame->run, pc, frame->offset, pattern, frame->offsets);
  return is_defined ? NativeStep::go_on : NativeStep::leave_after;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

NativeStep FragmentLoop::perform_atomic_of(NativeFrame* frame, std::uint32_t pc) try {
  const CallOfCode call(frame);
  RunningFragment& run = *frame->run;
  frame->loop->dependencies_.accesses.perform_atomic(run, pc, frame->offsets);
  return run.warp.undefined.any() ? NativeStep::leave_after : NativeStep::go_on;
} catch (...) {
  frame->thrown = std::current_exception();
  return NativeStep::leave_after;
}

void FragmentLoop::edge_of(NativeFrame* frame, std::uint32_t from, std::uint32_t to) {
  const CallOfCode call(frame);
  const RunningFragment& run = *frame->run;
  frame->loop->launch_.cross(run.slot, run.warp, run.mask, from, to);
  frame->loop->launch_.move_run(from, to, run.mask);
}

NativeCalls FragmentLoop::native_calls() {
  return {execute_of, access_of, report_of, perform_atomic_of, edge_of};
}

}  // namespace warpcheck::vgpu
