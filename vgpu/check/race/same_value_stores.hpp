// Which threads have stored the value that a place holds, where several threads store the same
// value without any order.
//
// Two such stores are a note (Weight::same_bytes).  A load of the place by a thread that has itself
// stored that value before can only find that value, whichever of the stores is the last: it is
// weighed as the stores are (Weight::same_value_read).  A chain lists the threads of consecutive
// stores of one value to one place.  A store of another value, and one that the chain does not know
// of, end the chain, so it never vouches for a value that was replaced in between.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// A lane whose access meets accesses that nothing orders before it.
struct MeetingLane {
  MeetingLane(const Access& of, unsigned by) : access(of), lane(by) {}

  const Access& access;
  unsigned lane;

  // Returns stores_same_bytes(), which takes long, and is asked for each earlier access.
  [[nodiscard]] bool stores_same() const;

 private:
  mutable std::optional<bool> same_{};
};

class SameValueStores {
 public:
  using Thread = std::uint64_t;  // unique in the launch; those of a warp are consecutive

  void clear() {
    chains_.clear();
    recent_ = nullptr;
  }
  // The lane, the thread `by`, stores the value that `before` has stored there last.
  void add(const MeetingLane& store, Thread before, Thread by);
  // The lane stores where `before` has stored, whose store is the latest one if `is_last`.  Returns
  // whether it stores the value that is there, and both are defined.
  bool add_if_same(const MeetingLane& store, Thread before, Thread by, bool is_last,
                   const Reporter& reporter);
  // Lanes of a row that comes after all earlier stores store one value to one place.
  //   warp: the thread of lane 0
  void begin(const Access& row, Thread warp);
  // Returns whether a load and a store are of one value, which the loading thread has stored
  // itself: an earlier access of `before`, and that of the lane, the thread `by`.
  //   writes_first: the earlier access is the store; otherwise, `is_writer` says whether its thread
  //   has made the latest store
  [[nodiscard]] bool is_own(const MeetingLane& later, bool writes_first, bool is_writer,
                            Thread before, Thread by);

 private:
  static constexpr std::size_t kChainsMax = std::size_t{1} << 18;
  static constexpr std::size_t kRangesMax = 64;
  static constexpr std::size_t kBytesMax = 16;  // of an access

  struct Place {
    std::uint32_t allocation = 0, offset = 0, bytes = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      const std::uint64_t mixed =
          (std::uint64_t{place.allocation} << 32 | place.offset) * 0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>(mixed >> 17 ^ mixed ^ place.bytes);
    }
  };
  using Value = std::array<std::byte, kBytesMax>;
  struct Range {
    Thread first = 0, last = 0;
  };
  struct Chain {
    Value value{};
    Thread last = 0;             // the thread of the latest store
    std::vector<Range> threads;  // of all its stores
    [[nodiscard]] bool has(Thread thread) const;
    void add(Thread first, Thread end);
  };

  void forget(const Access& store, unsigned lane);
  // Returns whether `thread` has stored the value that the lane is about to load or to store.
  [[nodiscard]] bool has(const Access& access, unsigned lane, Thread thread);
  static Place place_of(const Access& access, unsigned lane) {
    return {access.allocation->id, access.offset[lane], access.bytes};
  }
  static Value value_of(const Access& access, unsigned lane);
  Chain* find(const Place& place);
  Chain* start(const Place& place, const Value& value);

  std::unordered_map<Place, Chain, PlaceHash> chains_;
  // Lanes of a row mostly access one place.
  Place recent_place_{};
  Chain* recent_ = nullptr;
};

}  // namespace warpcheck::vgpu
