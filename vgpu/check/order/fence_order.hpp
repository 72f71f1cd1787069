// Fences (PTX ISA 8.8), and the order of fence.sc (8.9.3) where it is forced (sync_variables.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/check/order/launch_order.hpp"
#include "vgpu/check/order/threads.hpp"

namespace warpcheck::vgpu {

class FenceOrder {
 public:
  FenceOrder(const LaunchOrder& launches, Threads& threads)
      : launches_(launches), threads_(threads) {}

  void begin_block(const WarpPlace& place);
  // What is kept of a launch that is suspended, while another one runs.
  using OfLaunch = std::vector<bool>;
  OfLaunch suspend() { return std::move(has_sc_); }
  void resume(OfLaunch launch) { has_sc_ = std::move(launch); }
  void fence(const Fence& fence);
  // Handles a strong read that has observed a write; fence.sc had released `released` before that
  // write.
  void observe_sc(const WarpPlace& place, unsigned lane, const VectorClock& released);
  void complete_barrier(const WarpPlace& place);

  // What threads that meet at a barrier tell each other about fence.sc.
  struct Told {
    VectorClock fenced, observed;
    std::vector<ThreadTime> times;
    Tick phase = 0;
  };
  // Returns whether a lane of the block has executed fence.sc, or observed one, since the block's
  // last barrier.
  [[nodiscard]] bool has_sc(const WarpPlace& place) const { return has_sc_[place.slot]; }
  // Adds what some lanes of a warp tell.
  void gather(const WarpPlace& place, std::uint32_t lanes, Told& all) const;
  // Tells it to some lanes of a warp.
  void hand_on(const WarpPlace& place, std::uint32_t lanes, Told& all);

 private:
  const LaunchOrder& launches_;
  Threads& threads_;
  std::vector<bool> has_sc_;  // by slot
};

}  // namespace warpcheck::vgpu
