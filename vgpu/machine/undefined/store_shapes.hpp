// Shapes of stores.  They tell which gaps between written bytes may be padding, and which gaps are
// unwritten elements.
//
// Padding follows from alignment (C++, [basic.align]; the layout of the Itanium C++ ABI, 2.4, which
// nvcc and the host compiler share).  A gap before a member is shorter than the member's alignment.
// A gap at the end of a struct is shorter than the struct's alignment, and ends at a multiple of
// it.  Members are scalars and the vectors of CUDA, whose alignment is their size, so the widths of
// the stores beside a gap bound the gap. alignas() can make a struct's alignment larger than that
// of all members.  Then the lanes of a warp, which write one struct each, are farther apart than a
// store is wide, and more than one store fills the space between two lanes.
//
// Every other gap is an element: the rest of an array of ints, a struct that was not filled, and
// also the tail of a buffer that is larger than its used part.  Whether the host reads that tail is
// not known.  To copy only the used part corrects such a program, and costs less.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/undefined/memory_shadow.hpp"

namespace warpcheck::vgpu {

// The shape of one row of lanes that store.
struct StoreShape {
  std::uint8_t width = 1;    // bytes of a lane's store; bytes of an element if elements tile memory
  std::uint32_t stride = 0;  // bytes from lane to lane; 0: one lane only, or irregular distances

  [[nodiscard]] bool is_spaced() const { return stride > width; }
  friend bool operator==(const StoreShape&, const StoreShape&) = default;
};

// The states of the local memory of one lane, by the lane's offset.
struct LaneStates {
  const MemoryShadow& shadow;  // of the local memory of a warp, which is interleaved
  unsigned lane = 0;

  [[nodiscard]] std::uint32_t place_of(std::uint32_t offset) const {
    return interleaved(offset) + lane * 4;
  }
  [[nodiscard]] std::uint32_t bytes() const { return shadow.bytes() / kWarpLanes; }
  [[nodiscard]] MemoryShadow::State state_at(std::uint32_t offset) const {
    return shadow.state_at(place_of(offset));
  }
  [[nodiscard]] std::uint8_t raw_state_at(std::uint32_t offset) const {
    return shadow.raw_state_at(place_of(offset));
  }
};

class StoreShapes {
 public:
  StoreShapes();
  // Forgets all shapes except the ordinary ones.
  void reset();
  // Returns the MemoryShadow state for the bytes that `access` writes.
  std::uint8_t state_for(const Access& access) {
    // Local memory is written word by word.
    const std::uint32_t element = access.element_bytes == 0 ? access.bytes : access.element_bytes;
    const std::uint32_t lane_bytes = std::max<std::uint32_t>(access.bytes, element);
    const bool is_alone =
        access.pattern == Pattern::uniform || (access.mask & (access.mask - 1)) == 0;
    if (is_alone || lane_bytes != access.bytes) return state_of_alone(lane_bytes);
    if (access.pattern != Pattern::strided) return state_for_spaced(access);
    return state_of_row(element);
  }
  // Returns the state for a row of neighbouring lanes; the next function returns it for one lane,
  // or for all lanes at one address.
  static std::uint8_t state_of_row(std::uint32_t width) {
    return static_cast<std::uint8_t>(MemoryShadow::kFirstShape + std::countr_zero(width));
  }
  static std::uint8_t state_of_alone(std::uint32_t width) {
    return static_cast<std::uint8_t>(state_of_row(width) + kAlone);
  }
  // Returns whether an earlier store had the same shape.
  [[nodiscard]] bool knows(const Access& access) const;
  // Returns whether there may be shapes without a number.
  [[nodiscard]] bool is_full() const { return known_ == MemoryShadow::kShapes; }
  // Returns whether the unwritten bytes from `begin` up to `end` may be padding of an object that
  // is copied from byte `first` on.
  //   States: MemoryShadow, or LaneStates
  template <typename States>
  [[nodiscard]] bool may_be_padding(const States& states, std::uint32_t begin, std::uint32_t end,
                                    std::uint32_t first) const;

 private:
  // Widths are 1, 2, 4, 8, 16.  The first states are rows without gaps, the next ones single
  // stores.
  static constexpr std::uint32_t kWidths = 5;
  static constexpr std::uint32_t kAlone = kWidths;

  std::uint8_t state_for_spaced(const Access& access);
  template <typename States>
  [[nodiscard]] StoreShape shape_at(const States& states, std::uint32_t offset) const;
  template <typename States>
  [[nodiscard]] bool ends_struct(const States& states, std::uint32_t begin,
                                 std::uint32_t end) const;
  template <typename States>
  [[nodiscard]] static bool is_gap_of_lanes(const States& states, const StoreShape& shape,
                                            std::uint32_t begin, std::uint32_t end);

  std::array<StoreShape, MemoryShadow::kShapes> shapes_{};
  std::uint32_t known_ = 0;
};

}  // namespace warpcheck::vgpu
