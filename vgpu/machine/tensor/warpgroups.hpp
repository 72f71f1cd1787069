// Executes products of a warpgroup (wgmma.mma_async; PTX ISA 9.0, 9.7.15): the reads of shared
// memory by the asynchronous proxy, the matrix layouts of descriptors, and the results that have
// not been waited for.
//
// Products are computed when they are issued, which is one of the allowed times.  A result that has
// not been waited for counts as undefined, until wgmma.wait_group.
//
// A product is one operation of the four warps of a warpgroup, though each warp computes its own
// rows here.  So a group of products is complete only when each of the warps has closed it, and
// wgmma.wait_group waits for that.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

// Returns whether the fragment is at a wgmma.wait_group for products that other warps of its
// warpgroup have not begun yet, or have not closed.
[[nodiscard]] bool must_wait_for_warpgroup(const RunningLaunch& launch, const Slot& slot,
                                           Warp& warp, const Fragment& fragment);

class Warpgroups {
 public:
  Warpgroups(RunningLaunch& launch, CurrentAccess& current, Accesses& accesses)
      : launch_(launch), current_(current), accesses_(accesses) {}

  Step load(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  // Makes results pending, or closes or waits for groups of results.
  void change_groups(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

 private:
  bool load_whole(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void load_register(RunningFragment& run, const Instr& instr, std::uint32_t number,
                     std::uint32_t lanes);
  void load_part(RunningFragment& run, const Instr& instr, const Ref& to, std::uint32_t number,
                 std::uint32_t part, std::uint32_t lanes);
  void join(RunningFragment& run, const Ref& low, const Ref& high, std::uint32_t lanes) const;
  void begin_pending(RunningFragment& run, const Instr& instr, std::uint32_t lanes) const;
  void wait(RunningFragment& run, std::uint32_t groups_left, std::uint32_t lanes) const;

  RunningLaunch& launch_;
  CurrentAccess& current_;
  Accesses& accesses_;
  std::vector<std::uint32_t> chunks_;  // scratch
};

}  // namespace warpcheck::vgpu
