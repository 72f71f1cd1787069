// Kernels that may begin before what is before them in their stream has completed (programmatic
// dependent launch: CUDA Programming Guide, "Programmatic Dependent Launch and Synchronization";
// PTX ISA, griddepcontrol; cuda_device_runtime_api.h).
//
// A kernel lets the next one begin when each of its blocks has called
// cudaTriggerProgrammaticLaunchCompletion() or has exited; what it has written need not be visible
// then.  One whose blocks just exit lets it begin so, too, by cuda_device_runtime_api.h; by the PTX
// ISA, only kernels after one that asks for it must wait.  So a kernel that waits later on is not
// told there, one that never waits is.  cudaGridDependencySynchronize() waits for the kernel
// directly before alone: that one has waited for those before it only if it has called the
// function, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class EarlyLaunches {
 public:
  using Launches = std::vector<std::uint32_t>;

  void clear();
  // early_after: the launch before, if this one may begin before that has completed; or kNone.
  // program: its own; asked only where there is such a launch
  void begin(std::uint32_t launch, std::uint32_t early_after, const Program* program);
  void begin_block(std::size_t slot);
  void wait(std::size_t slot) { blocks_[slot].waits = present_.waits = true; }
  // knows: the thread comes after a wait.
  void let_next_begin(std::size_t slot, bool knows);
  void end_block(std::size_t slot);

  // Of the present launch: kNone, or the launch directly before.
  [[nodiscard]] std::uint32_t before() const { return before_; }
  // Those that need not have completed when it begins, and when a thread of it has waited.
  [[nodiscard]] const Launches& open_at_start() const { return present_.at_start; }
  [[nodiscard]] bool is_open_at_start(std::uint32_t launch) const;
  [[nodiscard]] bool is_open_after_wait(std::uint32_t launch) const;
  // Whether its program has a call of cudaGridDependencySynchronize().
  [[nodiscard]] bool can_wait() const { return can_wait_; }
  // Whether some block of an earlier launch has let the next one begin before the block exited.
  [[nodiscard]] bool has_let(std::uint32_t launch) const;

 private:
  struct Launch {
    Launches at_start, after_wait;
    bool waits = false;      // some thread of it
    bool lets = false;       // some block, before it exits
    bool lets_late = false;  // none begins after it before what it waits for has completed
  };
  struct Block {
    bool waits = false, lets = false, lets_early = false;
  };

  std::uint32_t launch_ = 0, before_ = ptx::kNone;
  bool can_wait_ = false;
  Launch present_;
  std::map<std::uint32_t, Launch> past_;
  std::vector<Block> blocks_;  // by slot
};

}  // namespace warpcheck::vgpu
