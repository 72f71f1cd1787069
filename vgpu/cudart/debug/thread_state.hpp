// The state of one thread of a running launch, as a debugger sees it: its stack, its registers, and
// the places of its memory.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "vgpu/machine/events.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::cudart {

// What a debugger asks for is not there.  what() is one line for the user.
class NotThere : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A thread: linear numbers of its block in the grid, and of the thread in the block.
struct DebugThread {
  std::uint32_t block = 0, thread = 0;
  [[nodiscard]] std::uint32_t warp() const { return thread / vgpu::kWarpLanes; }
  [[nodiscard]] unsigned lane() const { return thread % vgpu::kWarpLanes; }
  friend bool operator==(const DebugThread&, const DebugThread&) = default;
};

// A called function's frame; inlined functions have none of their own.
struct ThreadFrame {
  std::uint32_t function = 0;  // index into Program::functions
  std::uint32_t pc = 0;  // of the innermost frame: what is about to be executed; else the call
  std::uint32_t local_base = 0;
  vgpu::LaneBanks banks;
  vgpu::FrameRows rows;
};

// A fragment with its pc, also while it runs.
struct FragmentPlace {
  const vgpu::Slot* slot = nullptr;
  const vgpu::Warp* warp = nullptr;
  const vgpu::Fragment* fragment = nullptr;
  std::uint32_t pc = 0;
};

// The state before `step`, which lanes are about to execute.
class ThreadStates {
 public:
  explicit ThreadStates(const vgpu::InstrStep& step) : step_(step) {}

  // Throw NotThere for a block that is not resident; fragment_of() also for a thread that has
  // exited.
  [[nodiscard]] const vgpu::Slot& slot_of(std::uint32_t block) const;
  [[nodiscard]] const vgpu::Warp& warp_of(const DebugThread& thread) const;
  [[nodiscard]] FragmentPlace fragment_of(const DebugThread& thread) const;
  [[nodiscard]] FragmentPlace place_of(const vgpu::Slot& slot, const vgpu::Warp& warp,
                                       const vgpu::Fragment& fragment) const;
  // The innermost frame first.
  [[nodiscard]] std::vector<ThreadFrame> stack_of(const FragmentPlace& place) const;

  [[nodiscard]] const vgpu::Program& program() const { return *step_.program; }
  [[nodiscard]] const vgpu::RunningLaunch& launch() const { return *step_.launch; }
  [[nodiscard]] const vgpu::InstrStep& step() const { return step_; }

 private:
  const vgpu::InstrStep& step_;
};

}  // namespace warpcheck::cudart
