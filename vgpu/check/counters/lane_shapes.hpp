// Loops over the offsets of all lanes of a warp, for counters of memory.
//
// Lanes are compared with each other or with those of an earlier access for every row that is
// counted, so the loops are compiled once per instruction set (lane_shapes_simd.cpp);
// lane_shape_functions() selects them at run time.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpcheck::vgpu {

// What all lanes' words of shared memory are, whole ones.
struct SharedWords {
  std::uint32_t lanes_of_busiest_bank = 0;  // of 32 banks
  std::uint32_t different = 0;
};

struct LaneShapeFunctions {
  // Returns whether each lane is as far from its earlier offset as lane 0 is.
  bool (*is_moved)(const std::uint32_t* offsets, const std::uint32_t* earlier) = nullptr;
  // Returns how many lanes the busiest of 32 banks of 4 bytes has.
  std::uint32_t (*lanes_of_busiest_bank)(const std::uint32_t* offsets) = nullptr;
  // Returns how many different values (offset + add) >> shift has.
  //   shift: at least 1
  std::uint32_t (*different)(const std::uint32_t* offsets, std::uint32_t add,
                             unsigned shift) = nullptr;
  // Returns both for offsets that are multiples of 4 from each other.
  SharedWords (*shared_words)(const std::uint32_t* offsets) = nullptr;
};

// level: "baseline", "avx2" or "avx512"; the host must support it.
const LaneShapeFunctions& lane_shape_functions(std::string_view level);

namespace baseline {
extern const LaneShapeFunctions kLaneShapeFunctions;
}
namespace avx2 {
extern const LaneShapeFunctions kLaneShapeFunctions;
}
namespace avx512 {
extern const LaneShapeFunctions kLaneShapeFunctions;
}

}  // namespace warpcheck::vgpu
