// The layout of a batch of transforms in memory (the cuFFT guide, "Data Layout" and "Advanced Data
// Layout"), as regions that the virtual GPU checks.
//
// Transforms have one to three dimensions; here all have three, with length 1 for missing leading
// ones.  The last dimension is the innermost, as in C.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/libraries/stand_in.hpp"

namespace warpcheck::libraries::fourier {

using Lengths = std::array<std::int64_t, 3>;

enum class Transform : std::uint8_t { complex_to_complex, real_to_complex, complex_to_real };
enum class Precision : std::uint8_t { half, bfloat16, single, double_ };

constexpr std::uint32_t bytes_of(Precision precision) {
  switch (precision) {
    case Precision::half:
    case Precision::bfloat16: return 2;
    case Precision::single: return 4;
    default: return 8;
  }
}

// The inembed, istride and idist of a plan, or the onembed, ostride and odist.
struct Storage {
  Lengths embed{1, 1, 1};  // the first one has no effect
  std::int64_t stride = 1, dist = 1;
};

struct Shape {
  int rank = 1;
  Lengths lengths{1, 1, 1};
  std::int64_t batch = 1;
  Transform transform = Transform::complex_to_complex;
  Precision precision = Precision::single;
  // Nothing: the basic layout, in which elements are adjacent.
  std::optional<Storage> input{}, output{};

  [[nodiscard]] std::int64_t elements() const { return lengths[0] * lengths[1] * lengths[2]; }
  // Returns the number of complex elements of one transform without its redundant half.
  [[nodiscard]] std::int64_t half_elements() const {
    return lengths[0] * lengths[1] * (lengths[2] / 2 + 1);
  }
};

// One side of a batch of transforms.
struct Side {
  bool is_complex = true;
  std::uint32_t element_bytes = 0;
  Lengths counts{1, 1, 1};
  std::int64_t batch = 1;
  Storage storage;
};
Side input_side(const Shape& shape, bool in_place);
Side output_side(const Shape& shape, bool in_place);

// Returns the regions of a side.  Their elements in order, slice by slice and row by row, are the
// elements of the transforms in order.  The regions have no names.  Most layouts need one region.
std::vector<Region> regions_of(const Side& side, void* pointer);

}  // namespace warpcheck::libraries::fourier
