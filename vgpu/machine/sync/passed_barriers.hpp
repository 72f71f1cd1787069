// Threads that bypass a barrier at which others wait (flow/passing_edges.hpp).
//
// A barrier waits for threads that have not exited, so it completes as soon as those that have
// bypassed it have exited.  Then, the threads that have exited since the last barrier are compared
// with one that waits: a thread that has come behind the barrier more often has bypassed it.
//
// The machine notes which threads come behind which barriers at the few edges of the program where
// that happens.  Programs without such edges pay for nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/program/flow/passing_edges.hpp"

namespace warpcheck::vgpu {

class PassedBarriers {
 public:
  // Lanes that wait at the barrier at `pc`.
  struct Waiter {
    const Slot* slot = nullptr;
    const Warp* warp = nullptr;
    std::uint32_t pc = 0, lanes = 0;
  };
  // What threads have not arrived at.
  enum class Kind : std::uint8_t { block, cluster, warp };

  explicit PassedBarriers(RunningLaunch& launch) : launch_(launch) {}

  void begin_launch();
  // Lanes go from one instruction to another.
  void cross(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
             std::uint32_t to);
  void exit(const Slot& slot, const Warp& warp, std::uint32_t lanes);
  // Lanes that have exited had arrived at the barrier of their cluster.
  void forgive_at_cluster(const Slot& slot, const Warp& warp, std::uint32_t lanes);

  // A barrier completes.  Reports the first of `waiters` whose barrier was passed by, and returns
  // whether there is one.
  //   arrived: of a barrier for a number of threads, the lanes that have arrived; other lanes of
  //            their warps have passed it by, and other warps are not concerned.  Null: all are.
  bool report(Kind kind, std::span<const Waiter> waiters,
              const std::vector<WarpLanes>* arrived = nullptr);
  // An operation of a warp is executed by lanes that wait for `members`.
  void report_of_warp(const Slot& slot, const Warp& warp, std::uint32_t pc, std::uint32_t lanes,
                      std::uint32_t members);
  // It has been reported that lanes of a warp wait for others that wait elsewhere.  That they do
  // not meet is reported.
  void forgive_warp(const Slot& slot, const Warp& warp) { of(slot).reported |= 1u << warp.index; }
  // Returns whether lanes of one warp that wait at one barrier do so in different iterations of a
  // loop: some have passed it by.
  [[nodiscard]] bool differ(const Slot& slot, const Warp& warp, std::uint32_t pc,
                            std::uint32_t lanes, std::uint32_t other_lanes);

 private:
  // Lanes that have come behind the barriers of a region, since the block's barrier `phase` if the
  // region is of a loop.
  struct Entry {
    std::uint32_t region = 0, lanes = 0, count = 0, phase = 0;
    bool acts = false;        // they have done something there
    bool matters = false;     // even if they have not
    std::uint32_t place = 0;  // pc of what they did, or where they came
    [[nodiscard]] bool is_like(const Entry& other) const {
      return region == other.region && count == other.count && phase == other.phase &&
             acts == other.acts && matters == other.matters && place == other.place;
    }
  };
  // Lanes that have exited.
  struct Left {
    std::uint32_t warp = 0;
    Entry entry;
    std::uint32_t not_at_block = 0, not_at_cluster = 0, not_at_warp = 0;  // not compared yet
  };
  struct OfBlock {
    std::uint64_t serial = 0;
    std::vector<std::vector<Entry>> warps;
    std::vector<Left> left;
    std::uint32_t reported = 0;  // warps, one bit each
  };

  OfBlock& of(const Slot& slot);
  void enter(std::vector<Entry>& entries, const PassingEdges::Mark& mark, std::uint32_t lanes,
             std::uint32_t phase) const;
  static void act(std::vector<Entry>& entries, const PassingEdges::Mark& mark, std::uint32_t lanes);
  static void add(std::vector<Entry>& entries, const Entry& entry);
  [[nodiscard]] std::uint32_t count_of(const OfBlock& block, const Slot& slot, const Warp& warp,
                                       std::uint32_t region, unsigned lane) const;
  struct Passer {
    const Slot* slot = nullptr;
    const Left* left = nullptr;
    std::uint32_t lanes = 0;
  };
  void look_for(Kind kind, const Waiter& waiter, const Slot& slot,
                const std::array<std::uint32_t, kWarpLanes>& concerned, Passer& found);
  void report_passer(const Waiter& waiter, const Passer& passer) const;
  static std::uint32_t& lanes_of(Kind kind, Left& left);

  RunningLaunch& launch_;
  const PassingEdges* edges_ = nullptr;
  std::vector<OfBlock> blocks_;  // by slot
};

}  // namespace warpcheck::vgpu
