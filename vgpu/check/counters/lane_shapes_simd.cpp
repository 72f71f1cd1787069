// The loops of lane_shapes.hpp.  The file is compiled once per instruction set, so everything here
// is local to the file or always inlined.
#include <cstdint>
#include <cstring>

#include "vgpu/check/counters/lane_shapes.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

constexpr unsigned kShapeLanes = 32;
// Wider ones than the instruction set has would be split into single lanes.
#if defined(__AVX2__)
constexpr unsigned kShapeBytes = 32;
#else
constexpr unsigned kShapeBytes = 16;
#endif
constexpr unsigned kShapeWidth = kShapeBytes / 4;

using ShapeWords = std::uint32_t __attribute__((vector_size(kShapeBytes)));
using ShapeBytes = std::uint8_t __attribute__((vector_size(kShapeBytes)));

template <typename V, typename T>
[[gnu::always_inline]] inline V shape_load(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool is_moved(const std::uint32_t* offsets, const std::uint32_t* earlier) {
  const ShapeWords shift = ShapeWords{} + (offsets[0] - earlier[0]);
  ShapeWords differences{};
  for (unsigned lane = 0; lane < kShapeLanes; lane += kShapeWidth) {
    differences |=
        shape_load<ShapeWords>(offsets + lane) ^ (shape_load<ShapeWords>(earlier + lane) + shift);
  }
  std::uint64_t parts[kShapeBytes / 8], any = 0;
  std::memcpy(parts, &differences, sizeof parts);
  for (const std::uint64_t part : parts) any |= part;
  return any == 0;
}

// Compares the banks of all lanes with those of the lanes 1, 2, ... places after them, in a circle.
std::uint32_t lanes_of_busiest_bank(const std::uint32_t* offsets) {
  std::uint8_t banks[2 * kShapeLanes], counts[kShapeLanes];
  for (unsigned lane = 0; lane < kShapeLanes; ++lane) banks[lane] = offsets[lane] / 4 % 32;
  std::memcpy(banks + kShapeLanes, banks, kShapeLanes);
  for (unsigned first = 0; first < kShapeLanes; first += kShapeBytes) {
    const auto own = shape_load<ShapeBytes>(banks + first);
    ShapeBytes count = ShapeBytes{} + 1;
#pragma GCC unroll 32
    for (unsigned places = 1; places < kShapeLanes; ++places) {
      count -= static_cast<ShapeBytes>(own == shape_load<ShapeBytes>(banks + first + places));
    }
    std::memcpy(counts + first, &count, sizeof count);
  }
  std::uint8_t most = 0;
  for (const std::uint8_t of_lane : counts) most = of_lane > most ? of_lane : most;
  return most;
}

// Compares the lanes of each vector with all before them.
std::uint32_t different(const std::uint32_t* offsets) {
  std::uint32_t padded[2 * kShapeLanes];  // before the lanes, what none of them has
  for (unsigned lane = 0; lane < kShapeLanes; ++lane) padded[lane] = offsets[0] ^ 1;
  std::memcpy(padded + kShapeLanes, offsets, 4 * kShapeLanes);
  ShapeWords repeats{};
#pragma GCC unroll 8
  for (unsigned first = 0; first < kShapeLanes; first += kShapeWidth) {
    const std::uint32_t* const lanes = padded + kShapeLanes + first;
    const auto own = shape_load<ShapeWords>(lanes);
    ShapeWords equal{};
#pragma GCC unroll 32
    for (unsigned places = 1; places < first + kShapeWidth; ++places) {
      equal |= static_cast<ShapeWords>(own == shape_load<ShapeWords>(lanes - places));
    }
    repeats += equal;  // -1 for a lane that has an equal
  }
  std::uint32_t count = kShapeLanes;
  for (unsigned i = 0; i < kShapeWidth; ++i) count += repeats[i];
  return count;
}

}  // namespace

extern const LaneShapeFunctions kLaneShapeFunctions;  // NOLINT(readability-redundant-declaration):
                                                      // constants are of one file else
const LaneShapeFunctions kLaneShapeFunctions{is_moved, lanes_of_busiest_bank, different};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
