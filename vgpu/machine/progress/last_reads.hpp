// What each lane of a warp that is run ahead has read last: what it waits for, if it polls.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class LastReads {
 public:
  LastReads(const RunningLaunch& launch, const StrongWrites& strong_writes)
      : launch_(launch), strong_writes_(strong_writes) {}

  // The reads that follow are of this warp.
  void begin(const Warp& warp) { current_ = &of_warps_[&warp]; }
  // Notes a read that is not of local memory.
  void note(const Access& access);
  // Describes the memory that a lane has read last, and who wrote it.
  void describe(const Warp& warp, unsigned lane, Waiting& waiting) const;

 private:
  // Polls are mostly strong or atomic, so such a read takes precedence over weak ones.
  struct Read {
    std::uint32_t pc = ptx::kNone;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0, bytes = 0;
    bool is_strong = false;
  };
  using Lanes = std::array<Read, kWarpLanes>;

  const RunningLaunch& launch_;
  const StrongWrites& strong_writes_;
  std::map<const Warp*, Lanes> of_warps_;
  Lanes* current_ = nullptr;
};

}  // namespace warpcheck::vgpu
