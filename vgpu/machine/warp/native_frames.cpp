#include "vgpu/machine/warp/native_frames.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

// Sets the parts of a frame that depend on the launch only.
void NativeFrames::begin_launch(NativeFrame& frame) const {
  frame.code = launch_.program().code.data();
  frame.sites = accesses_.sites();
  frame.parameters = launch_.request().parameters.data();
  frame.block = &launch_.request().block;
  frame.grid = &launch_.request().grid;
  frame.loop = &loop_;
}

// Sets the parts of a frame that stay the same while a fragment runs.
void NativeFrames::begin_block(NativeFrame& frame, RunningFragment& run) const {
  frame.banks = run.banks;
  frame.shared_memory = run.slot.shared;
  frame.shared = shared_of(run.slot);
  frame.position = &run.slot.position;
  frame.threads = scalars_.threads() + run.warp.index * Scalars::kThreadWords;
  frame.run = &run;
  frame.warp = run.warp.index;
}

void NativeFrames::begin_record(NativeFrame& frame, const RunningFragment& run) {
  const std::vector<Observer*>& watching = launch_.observers().of_accesses;
  frame.observers = &launch_.observers();
  frame.recorded_for = watching.data();
  frame.recorded_for_count = watching.size();
  frame.record = nullptr;
  for (Observer* const observer : watching) {
    if (!observer->watches().shared) continue;
    AccessRecord* const record = observer->record_of(run.slot.index);
    const bool is_only_one = frame.record == nullptr;
    frame.record = record;
    if (record == nullptr || !is_only_one) {
      frame.record = nullptr;
      break;
    }
  }
  frame.all_settled.settled = frame.shared_memory;
  const UndefinedMemory* const undefined = launch_.observers().undefined_memory;
  const NotedStates* const states = undefined != nullptr ? undefined->noted_states() : nullptr;
  if (undefined != nullptr && states == nullptr) frame.record = nullptr;
  frame.states = states != nullptr ? states : &frame.all_settled;
  const bool is_received = launch_.observers().watch_shared_rows;
  frame.batches = frame.record != nullptr && is_received ? &batches_ : nullptr;
  const bool are_handed_over = launch_.observers().of_rows.empty() || frame.batches != nullptr;
  const bool may_queue =
      frame.record != nullptr && are_handed_over && launch_.observers().may_queue_rows();
  frame.queue_time = may_queue ? &frame.record->time : nullptr;
  frame.stored = frame.states->stored * 0x0101'0101u;
  frame.stored_apart = frame.states->stored_apart * 0x0101'0101u;
}

NativeFrames::OfWarp& NativeFrames::begin_warp(Slot& slot, Warp& warp, const Fragment& fragment) {
  const std::size_t at = std::size_t{slot.index} * kWarpsMax + warp.index;
  while (of_warps_.size() <= at) of_warps_.push_back(std::make_unique<OfWarp>());
  OfWarp& of_warp = *of_warps_[at];
  of_warp.launch = launch_.number();
  of_warp.words = warp.words.data();
  of_warp.wides = warp.wides.data();
  of_warp.predicates = warp.predicates.data();
  of_warp.word_base = fragment.word_base;
  of_warp.wide_base = fragment.wide_base;
  of_warp.predicate_base = fragment.predicate_base;
  of_warp.run.emplace(slot, warp, launch_.program(), fragment);
  begin_launch(of_warp.frame);
  begin_block(of_warp.frame, *of_warp.run);
  of_warp.frame.observers = nullptr;
  of_warp.frame.next = nullptr;
  return of_warp;
}

}  // namespace warpcheck::vgpu
