// The launches of a trial: which of them are ordered, which blocks each has, which blocks form a
// cluster or run on one device, and so how far a scope reaches.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "vgpu/check/order/clocks/segments.hpp"
#include "vgpu/check/order/clocks/vector_clock.hpp"
#include "vgpu/check/order/early_launches.hpp"
#include "vgpu/check/order/thread_state.hpp"
#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

// The properties of a launch that matter for the order.
struct LaunchShape {
  const Program* program = nullptr;
  Dim3 grid, block, cluster;
  unsigned device = 0, devices = 1;
  std::uint32_t launched_as = 0;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};
[[nodiscard]] inline LaunchShape shape_of(const Sync& start) {
  return {start.program, start.grid,    start.block,      start.cluster,
          start.device,  start.devices, start.launched_as};
}

class LaunchOrder {
 public:
  // Begins a trial.
  void reset();
  // Launches count from 0 in a trial.
  //   unordered: earlier launches that are not ordered before this one
  //   early_after: as in Sync
  void begin(const LaunchShape& launch, std::span<const std::uint32_t> unordered,
             std::uint32_t early_after);

  // The running launch is suspended: another one will begin, or go on.
  void suspend();
  // A launch that was suspended goes on.
  void resume(std::uint32_t launch);
  // Launches are suspended while the current one begins, and are not ordered with it.  All others
  // that were suspended will never go on.
  //   suspended: ascending
  //   now: the first segment of the current launch
  void begin_beside(std::span<const std::uint32_t> suspended, SegmentId now);
  // Everything that an unordered launch did in segments before `now` comes before what the current
  // launch does from now on.
  void learn_of(std::uint32_t launch, SegmentId now) { now_.known_until[launch] = now; }
  [[nodiscard]] bool knows_of(std::uint32_t launch, SegmentId segment) const {
    if (now_.known_until.empty()) [[likely]]
      return false;
    const auto known = now_.known_until.find(launch);
    return known != now_.known_until.end() && segment < known->second;
  }
  //   renewed: the new numbers of segments, by their old numbers
  void renew_thresholds(const std::vector<SegmentId>& renewed);

  // Returns the running launch.
  [[nodiscard]] std::uint32_t current() const { return launch_; }
  // Returns whether launches have been in progress at the same time.
  [[nodiscard]] bool have_overlapped() const { return have_overlapped_; }
  // Returns whether an earlier launch comes before the current one.
  [[nodiscard]] bool is_ordered(std::uint32_t launch) const;
  // All launches with a lower number come before the current one.
  [[nodiscard]] std::uint32_t first_unordered() const { return now_.first_unordered; }
  [[nodiscard]] EarlyLaunches& early() { return early_; }
  [[nodiscard]] const EarlyLaunches& early() const { return early_; }
  // Returns what stands for the launch before: a thread that has waited for it knows of this block,
  // which no thread belongs to.
  [[nodiscard]] BlockKey waited_for() const { return now_.waited_for; }

  // Keys of blocks are unique across launches.
  [[nodiscard]] BlockKey first_block() const { return now_.first_block; }
  [[nodiscard]] BlockKey block_key(const WarpPlace& place) const {
    return now_.first_block + place.block;
  }
  // All threads of a block of the current launch have exited.
  void end_block(std::uint32_t block) { now_.ended[block] = true; }
  // Returns whether all threads of a block have exited, as far as its slot shows.
  [[nodiscard]] bool has_ended(BlockKey block) const {
    if (block - now_.first_block < now_.ended.size()) return now_.ended[block - now_.first_block];
    return suspended_.empty() || has_ended_elsewhere(block);
  }

  [[nodiscard]] bool has_clusters() const { return now_.cluster.count() != 1; }
  [[nodiscard]] bool has_devices() const { return devices_ > 1; }
  // Returns whether Reach::cluster is used.  It includes the threads of a cluster, or of a device.
  [[nodiscard]] bool has_groups() const { return has_clusters() || has_devices(); }
  // Returns the cluster of a block of the current launch: the key of the cluster's first block.
  [[nodiscard]] BlockKey cluster_of(BlockKey block) const;
  // Returns the cluster or the device of a block: what Reach::cluster includes.
  [[nodiscard]] BlockKey group_of(BlockKey block) const {
    return has_clusters() || !has_devices() ? cluster_of(block) : device_of_block(block);
  }
  // Returns the device of a launch of the trial.
  [[nodiscard]] unsigned device_of(std::uint32_t launch) const { return starts_[launch].device; }
  [[nodiscard]] Reach reach_of(ptx::Scope scope) const {
    if (scope == ptx::Scope::cta) return Reach::block;
    if (scope == ptx::Scope::cluster) return has_clusters() ? Reach::cluster : Reach::block;
    const bool is_of_device = scope == ptx::Scope::gpu && has_devices() && !has_clusters();
    return is_of_device ? Reach::cluster : Reach::grid;
  }
  [[nodiscard]] Reach reach_of(const Access& access) const {
    return has_devices() ? reach_between_devices(access) : reach_of(access.scope);
  }

 private:
  [[nodiscard]] Reach reach_between_devices(const Access& access) const;
  struct Start {
    BlockKey first_block = 0;
    unsigned device = 0;
  };
  // What belongs to a launch, also while it is suspended.
  struct OfLaunch {
    BlockKey first_block = 0, waited_for = 0;
    Dim3 grid, cluster;
    std::vector<std::uint32_t> unordered;            // ascending
    std::uint32_t first_unordered = 0;               // the present one, if there are none
    std::map<std::uint32_t, SegmentId> known_until;  // learn_of()
    std::vector<bool> ended;                         // by block of the launch
  };
  struct Suspended {
    OfLaunch launch;
    EarlyLaunches::OfLaunch early;
  };
  [[nodiscard]] unsigned device_of_block(BlockKey block) const;
  [[nodiscard]] bool has_ended_elsewhere(BlockKey block) const;

  std::uint32_t launch_ = 0, launches_ = 0;
  unsigned devices_ = 1;
  std::vector<Start> starts_;  // of all launches, where there are several devices
  BlockKey next_first_block_ = 0;
  OfLaunch now_;
  EarlyLaunches early_;
  std::map<std::uint32_t, Suspended> suspended_;
  bool have_overlapped_ = false;
};

}  // namespace warpcheck::vgpu
