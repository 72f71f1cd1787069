// Kernels that may begin before the previous kernel of their stream has completed (programmatic
// dependent launch: CUDA Programming Guide, "Programmatic Dependent Launch and Synchronization";
// PTX ISA, griddepcontrol; cuda_device_runtime_api.h).
//
// A kernel lets the next kernel begin when each of its blocks has called
// cudaTriggerProgrammaticLaunchCompletion() or has exited; its writes need not be visible then.  By
// cuda_device_runtime_api.h, blocks that just exit let the next kernel begin in the same way; by
// the PTX ISA, only kernels after one that triggers explicitly must wait.  So if the blocks just
// exit, a next kernel that waits later is not reported, and one that never waits is reported.
// cudaGridDependencySynchronize() waits only for the kernel directly before.  That kernel has
// waited for earlier kernels only if it has called the function too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct Program;

class EarlyLaunches {
 public:
  using Launches = std::vector<std::uint32_t>;

 private:
  struct Launch {
    Launches at_start, after_wait;
    bool waits = false;  // some thread of it has waited
    bool lets = false;   // some block has triggered before it exited
    // the next launch cannot begin before the launch that this one waits for has completed
    bool lets_late = false;
  };
  struct Block {
    bool waits = false, lets = false, lets_early = false;
  };

 public:
  // What is kept of a launch, also while it is suspended.
  struct OfLaunch {
    std::uint32_t launch = 0, before = ptx::kNone;
    bool can_wait = false;
    Launch present;
    std::vector<Block> blocks;  // by slot
  };

  void clear();
  // early_after: the previous launch, if this one may begin before that has completed; or kNone.
  // program: the program of this launch; used only if there is such a previous launch.
  void begin(std::uint32_t launch, std::uint32_t early_after, const Program* program);
  void begin_block(std::size_t slot);
  void wait(std::size_t slot) { now_.blocks[slot].waits = now_.present.waits = true; }
  // knows: the thread has already waited for the previous launch.
  void let_next_begin(std::size_t slot, bool knows);
  void end_block(std::size_t slot);
  [[nodiscard]] OfLaunch suspend() const { return now_; }
  void resume(OfLaunch launch) {
    put_away();
    now_ = std::move(launch);
  }

  // Returns the launch directly before the current one, if the current one may begin before that
  // has completed; or kNone.
  [[nodiscard]] std::uint32_t before() const { return now_.before; }
  // Returns the earlier launches that may still run when the current launch begins.
  // is_open_after_wait() tells the same for the time after a thread of it has waited.
  [[nodiscard]] const Launches& open_at_start() const { return now_.present.at_start; }
  [[nodiscard]] bool is_open_at_start(std::uint32_t launch) const;
  [[nodiscard]] bool is_open_after_wait(std::uint32_t launch) const;
  // Returns whether the program calls cudaGridDependencySynchronize().
  [[nodiscard]] bool can_wait() const { return now_.can_wait; }
  // Returns whether some block of an earlier launch has triggered the next launch before the block
  // exited.
  [[nodiscard]] bool has_let(std::uint32_t launch) const;

 private:
  void put_away();

  OfLaunch now_;
  std::map<std::uint32_t, Launch> past_;
};

}  // namespace warpcheck::vgpu
