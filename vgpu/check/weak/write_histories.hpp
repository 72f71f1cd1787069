// The writes that an access may find by the PTX memory model (ISA 8.9 and 8.10), as an operational
// model in which instructions execute in program order.
//
// Every location keeps its writes in coherence order.  A thread *knows* a write when the write
// comes before the thread's next access in causality order: in base causality order (8.9.5), or
// because a read that comes before that access has observed the write (8.9.2).
//
// - A load finds any write that is not followed by a write which the thread knows (8.10.6).
// - A store is placed after all writes that the thread knows (8.10.1), and never between an atomic
//   operation and the write that it read (8.10.3).  So it may be placed before writes made earlier.
// - An atomic operation finds the last write, and becomes the last write itself.
// - fence.sc also acquires what earlier fence.sc operations have released that are morally strong
//   with it: the Fence-SC order (8.9.3) is the order of execution.
//
// Every execution that this model shows is allowed.  The model does not show: loads that find
// writes made later (load buffering, and so all out-of-thin-air executions); atomic operations that
// find older writes; writes that stay unordered in coherence order.  Only the latest write can be
// found where a location is accessed in several sizes, after operations that are not modelled here
// (mbarriers, barriers of clusters, atomic operations on vectors, asynchronous copies), and when
// the limits below are exceeded.  The lanes that take part in an operation of their warp (shfl,
// vote ...) count as synchronised by it, because programs rely on that.
//
// The model follows Kang et al.  (POPL 2017: timestamps and views, without promises) and C11Tester
// (Luo, Demsky, ASPLOS 2021); its views are vector clocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "vgpu/check/order/sync_variables.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/weak/locations.hpp"
#include "vgpu/machine/memory/weak_memory.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {

// The write histories of one launch.
class WriteHistories final : public WeakMemory, public Observer {
 public:
  explicit WriteHistories(WarpModel model) { order_.reset(model); }

  // Returns whether weak memory can add behaviour to the program: it has strong loads.  Atomic
  // operations always find the last write here, and a weak load that may find another write is a
  // race, which the race checker reports.
  [[nodiscard]] static bool concern(const Program& program);

  [[nodiscard]] PastPoint begin(Access& access) override;
  void choose(const Access& access, const PastChoice& choice) override;
  void begin_lane(const Access& access, unsigned lane) override;
  void end_lane(const Access& access, unsigned lane) override;
  void pass(const Access& access) override;
  void forget_past() override;

  [[nodiscard]] Watched watches() const override {
    return {.accesses = false, .collectives = true};
  }
  void on_sync(const Sync& sync) override;
  void on_fence(const Fence& fence) override;
  void on_meeting(const Meeting& meeting) override { order_.meet(meeting); }
  void on_collective(const Collective& event) override;
  void on_barrier_object(const BarrierObject&) override { forget_past(); }
  void on_cluster_barrier(const ClusterBarrier&) override { forget_past(); }
  void on_allocate(const Allocation& allocation) override { forget(allocation); }
  void on_free(const Allocation& allocation) override { forget(allocation); }

 private:
  static constexpr std::size_t kElementsMax = 4;
  static constexpr std::size_t kWritesMax = 16;   // per location: the latest writes
  static constexpr std::size_t kReadersMax = 64;  // per write
  static constexpr std::size_t kLocationsMax = 1u << 18;
  static constexpr std::uint32_t kSegmentsMax = 1u << 18;

  using Author = Locations::Author;
  using Write = Locations::Write;
  using Location = Locations::Location;
  // One element of a lane's access.
  struct Element {
    std::uint32_t offset = 0, bytes = 0;
    std::byte* at = nullptr;
    Location* location = nullptr;
    std::size_t index = 0;  // index of the write that it finds
  };

  [[nodiscard]] static Element element_of(const Access& access, unsigned lane,
                                          std::uint32_t number);
  Location* find(const Access& access, const Element& element, bool makes);
  [[nodiscard]] Author author_of(const WarpPlace& place, unsigned lane);
  [[nodiscard]] bool knows(const WarpPlace& place, unsigned lane, const Author& author);
  [[nodiscard]] bool knows(const WarpPlace& place, unsigned lane, const Write& write);
  [[nodiscard]] bool observes(const Access& access, const Write& write) const;
  [[nodiscard]] std::size_t oldest_for(const Access& access, unsigned lane,
                                       const Location& location);
  [[nodiscard]] std::size_t place_for(const Access& access, unsigned lane, const Location& location,
                                      std::uint32_t left_out);
  [[nodiscard]] std::size_t found_by(const Access& access, unsigned lane, const Location& location,
                                     std::uint32_t left_out);
  [[nodiscard]] static std::uint8_t source_of(const Location& location, const Write& write);
  void set_sources(const Access& access, std::uint32_t lanes, std::uint32_t left_out);
  [[nodiscard]] std::uint32_t left_out_by(unsigned lane) const {
    return (choice_.lanes >> lane & 1) != 0 ? choice_.writes : 0;
  }
  void end_read(const Access& access, unsigned lane, Location& location, std::size_t index);
  void end_write(const Access& access, unsigned lane, const Element& element);
  void synchronise(const Access& access, unsigned lane, const Element& element, bool writes,
                   std::uint8_t source);
  void forget(const Allocation& allocation);
  void forget_if_too_much();

  ThreadOrder order_;
  SyncVariables variables_{order_};
  Locations locations_;
  PastChoice choice_;
  std::array<Element, kElementsMax> elements_;  // of the lane whose bytes move
  std::array<std::uint8_t, kWarpLanes * kElementsMax> sources_{};
  // What fence.sc operations have released to fences that are morally strong with them.
  std::unordered_map<BlockKey, VectorClock> fenced_in_block_, fenced_in_group_;
  VectorClock fenced_;
};

}  // namespace warpcheck::vgpu
