#include "vgpu/cudart/debug/thread_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck::cudart {

const vgpu::Slot& ThreadStates::slot_of(std::uint32_t block) const {
  const vgpu::RunningLaunch& launch = *step_.launch;
  if (const vgpu::Slot* const slot = launch.slot_of(block)) return *slot;
  if (block >= launch.block_count()) {
    throw NotThere(fmt::format("the grid has {} blocks, no block {}", launch.block_count(), block));
  }
  throw NotThere(fmt::format("block {} has not begun, or has ended", block));
}

const vgpu::Warp& ThreadStates::warp_of(const DebugThread& thread) const {
  const vgpu::Slot& slot = slot_of(thread.block);
  if (thread.thread >= step_.launch->threads()) {
    throw NotThere(fmt::format("a block has {} threads, no thread {}", step_.launch->threads(),
                               thread.thread));
  }
  return slot.warps[thread.warp()];
}

FragmentPlace ThreadStates::place_of(const vgpu::Slot& slot, const vgpu::Warp& warp,
                                     const vgpu::Fragment& fragment) const {
  const bool runs = &warp == step_.warp && &fragment == &warp.fragments[step_.fragment];
  return {&slot, &warp, &fragment, runs ? step_.pc : fragment.pc};
}

FragmentPlace ThreadStates::fragment_of(const DebugThread& thread) const {
  const vgpu::Slot& slot = slot_of(thread.block);
  const vgpu::Warp& warp = warp_of(thread);
  for (const vgpu::Fragment& fragment : warp.fragments) {
    if ((fragment.mask >> thread.lane() & 1u) != 0) return place_of(slot, warp, fragment);
  }
  throw NotThere(fmt::format("thread {} of block {} has exited", thread.thread, thread.block));
}

std::vector<ThreadFrame> ThreadStates::stack_of(const FragmentPlace& place) const {
  const vgpu::Program& program = *step_.program;
  std::vector<ThreadFrame> frames;
  vgpu::Fragment state = *place.fragment;
  state.pc = place.pc;
  while (true) {
    frames.push_back({state.function, state.pc, state.local_base,
                      vgpu::banks_of(program, const_cast<vgpu::Warp&>(*place.warp), state),
                      vgpu::frame_of(state)});
    if (state.callers.empty()) return frames;
    const vgpu::Return back = state.callers.back();
    const vgpu::FunctionCode& caller = program.functions[back.function];
    state.callers.pop_back();
    state.word_base -= caller.words * vgpu::kWordRowBytes;
    state.wide_base -= caller.wides * vgpu::kWideRowBytes;
    state.predicate_base -= caller.predicates * 4;
    state.local_base = back.local_base;
    state.local_top = back.local_top;
    state.function = back.function;
    state.pc = back.pc - 1;
  }
}

}  // namespace warpcheck::cudart
