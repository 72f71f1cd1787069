// Fences between memory proxies (PTX ISA 8.4 and 8.9.5).  A bulk copy accesses memory through the
// asynchronous proxy, loads and stores through the generic proxy.  A write through the generic
// proxy reaches a bulk copy only if a fence.proxy.async lies between the two in causality order.
// The other direction needs no fence: the completion of a bulk copy contains one.  A copy reads its
// tensor map through a proxy of its own, whose fences are fence.proxy.tensormap::generic.release
// and .acquire (MapFences): "a .release proxy fence can form a release sequence that synchronizes
// with an acquire sequence that contains an .acquire proxy fence".
//
// Only writes are checked.  A load already has its value, whatever a later copy writes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class ProxyFences {
 public:
  explicit ProxyFences(ThreadOrder& order) : order_(order) {}

  void clear() {
    fences_.clear();
    forget_answers();
  }
  // Segments are renumbered.
  void forget_answers() { answers_ = {}; }
  void add(const Fence& fence);
  // Calls visit(segment) for each remembered segment.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    for (auto& [thread, passed] : fences_) {
      for (Passed& one : passed) visit(one.segment);
    }
  }
  // Returns whether a fence for `space` (generic: for all) comes after what a lane did in the
  // segment `write`, and before what `lane` of `place` does now.
  bool lies_between(SegmentId write, unsigned write_lane, const WarpPlace& place, unsigned lane,
                    ptx::Space space);
  // Returns whether a fence of the writing thread lies between a write and what all lanes of the
  // warp do in the segment `now`; false: not known.
  bool lies_before_all(SegmentId write, unsigned write_lane, const WarpPlace& place, SegmentId now,
                       ptx::Space space);
  // Returns the lanes of the segment for which lies_before_all() has said so, whatever `now` was.
  [[nodiscard]] std::uint32_t known_before_all(SegmentId write, const WarpPlace& place,
                                               ptx::Space space) const {
    const Answer& answer = answers_[answer_of(write, place)];
    const bool is_known =
        answer.write == write && answer.warp == warp_of(place) && answer.space == space;
    return is_known ? answer.lanes : 0;
  }

 private:
  struct Passed {
    SegmentId segment = 0;  // the segment that the fence ends
    unsigned lane = 0;
    ptx::Space space = ptx::Space::generic;
    VectorClock knows;
  };
  // Lanes of the segment `write` whose fences lie before what a warp does.  Threads only learn, so
  // that stays true.
  struct Answer {
    SegmentId write = 0;
    std::uint32_t lanes = 0;
    std::uint64_t warp = 0;
    ptx::Space space = ptx::Space::generic;
  };
  static constexpr unsigned kHashShift = 24;  // of 32 bits
  static constexpr std::size_t kAnswers = std::size_t{1} << (32 - kHashShift);
  static constexpr std::size_t kRememberedMax = 16;  // per thread: the latest fences

  [[nodiscard]] static std::size_t answer_of(SegmentId write, const WarpPlace& place) {
    return (write * 0x9e3779b1u + place.warp * 0x85ebca6bu) >> kHashShift;
  }
  [[nodiscard]] std::uint64_t warp_of(const WarpPlace& place) const {
    return order_.launches().block_key(place) << 16 | place.warp;
  }
  std::uint64_t thread_of(BlockKey block, std::uint32_t warp, unsigned lane) const {
    return block << 16 | (warp * kWarpLanes + order_.threads().actor_of(lane));
  }

  ThreadOrder& order_;
  std::array<Answer, kAnswers> answers_{};
  std::map<std::uint64_t, std::vector<Passed>> fences_;  // by block key and thread
};

// Fences for tensor maps.  A write of a map by a store reaches a copy by that map if a release
// fence of any thread, and then an acquire fence for that map, lie between them in causality order.
class MapFences {
 public:
  explicit MapFences(ThreadOrder& order) : order_(order) {}

  void clear();
  void add(const Fence& fence);
  template <typename Visit>
  void for_each_segment(Visit visit) {
    for (auto& [thread, passed] : releases_) {
      for (Passed& one : passed) visit(one.segment);
    }
    for (auto& [map, passed] : acquires_) {
      for (Acquired& one : passed) {
        visit(one.segment);
        for (Write& write : one.released) visit(write.segment);
      }
    }
  }
  enum class Missing : std::uint8_t { nothing, release, acquire };
  // Returns what is missing between what a lane did in the segment `write` and the copy that reads
  // a byte of its map.
  Missing missing(SegmentId write, unsigned write_lane, const Access& copy, unsigned lane,
                  std::uint32_t offset);

 private:
  struct Passed {
    SegmentId segment = 0;  // the segment that the fence ends
    unsigned lane = 0;
    VectorClock knows;
  };
  struct Write {
    SegmentId segment = 0;
    unsigned lane = 0;
    bool operator==(const Write&) const = default;
  };
  struct Acquired : Passed {
    std::uint64_t thread = 0;
    std::vector<Write> released;  // before this fence, as far as was asked
  };
  using Map = std::pair<std::uint32_t, std::uint32_t>;  // allocation, offset
  static constexpr std::uint32_t kMapBytes = 128;
  static constexpr std::size_t kRememberedMax = 16;  // per thread, and map: the latest fences

  [[nodiscard]] bool is_released(SegmentId write, unsigned lane, Acquired& acquired) const;
  std::uint64_t thread_of(const WarpPlace& place, unsigned lane) const {
    return order_.launches().block_key(place) << 16 |
           (place.warp * kWarpLanes + order_.threads().actor_of(lane));
  }

  ThreadOrder& order_;
  std::map<std::uint64_t, std::vector<Passed>> releases_;  // by thread
  std::map<Map, std::vector<Acquired>> acquires_;
};

}  // namespace warpcheck::vgpu
