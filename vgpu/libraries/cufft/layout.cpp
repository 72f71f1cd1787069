#include "vgpu/libraries/cufft/layout.hpp"

namespace warpcheck::libraries::fourier {
namespace {

Side side_of(const Shape& shape, bool is_complex, const std::optional<Storage>& storage,
             bool in_place) {
  Side side;
  side.is_complex = is_complex;
  side.element_bytes = bytes_of(shape.precision) * (is_complex ? 2 : 1);
  side.counts = shape.lengths;
  side.batch = shape.batch;
  const bool is_half = shape.transform != Transform::complex_to_complex;
  const std::int64_t half = shape.lengths[2] / 2 + 1;
  if (is_half && is_complex) side.counts[2] = half;
  if (storage) {
    side.storage = *storage;
    return side;
  }
  side.storage.embed = side.counts;
  // In place, each row of reals is padded to the size of the row of complex numbers that replaces
  // it.
  if (is_half && !is_complex && in_place) side.storage.embed[2] = 2 * half;
  const Lengths& embed = side.storage.embed;
  side.storage.dist = embed[0] * embed[1] * embed[2];
  return side;
}

// A series of elements at equal distances.
struct Level {
  std::int64_t count = 1, stride = 1;  // stride in elements
};

// The levels from the outermost to the innermost; adjacent levels that form one series are merged.
std::vector<Level> levels_of(const Side& side) {
  const Storage& storage = side.storage;
  const std::int64_t row = storage.embed[2] * storage.stride;
  const Level all[] = {{side.batch, storage.dist},
                       {side.counts[0], storage.embed[1] * row},
                       {side.counts[1], row},
                       {side.counts[2], storage.stride}};
  std::vector<Level> levels;
  for (const Level& level : all) {
    if (level.count == 1) continue;
    if (!levels.empty() && levels.back().stride == level.count * level.stride) {
      levels.back() = {levels.back().count * level.count, level.stride};
    } else {
      levels.push_back(level);
    }
  }
  return levels;
}

}  // namespace

Side input_side(const Shape& shape, bool in_place) {
  return side_of(shape, shape.transform != Transform::real_to_complex, shape.input, in_place);
}

Side output_side(const Shape& shape, bool in_place) {
  return side_of(shape, shape.transform != Transform::complex_to_real, shape.output, in_place);
}

std::vector<Region> regions_of(const Side& side, void* pointer) {
  std::vector<Level> levels = levels_of(side);
  const auto take_innermost = [&]() -> Level {
    if (levels.empty()) return {};
    const Level level = levels.back();
    levels.pop_back();
    return level;
  };
  Region region;
  region.pointer = pointer;
  region.element_bytes = side.element_bytes;
  region.width = 1;
  if (!levels.empty() && levels.back().stride == 1) region.width = take_innermost().count;
  const Level rows = take_innermost();
  region.height = rows.count;
  region.pitch = rows.stride * side.element_bytes;
  const Level slices = take_innermost();
  region.depth = slices.count;
  region.slice = slices.stride * side.element_bytes;
  std::vector<Region> regions{region};
  while (!levels.empty()) {  // at most two levels are left
    const Level level = take_innermost();
    std::vector<Region> repeated;
    for (std::int64_t i = 0; i < level.count; ++i) {
      for (Region one : regions) {
        one.pointer = static_cast<std::byte*>(one.pointer) + i * level.stride * side.element_bytes;
        repeated.push_back(one);
      }
    }
    regions = std::move(repeated);
  }
  return regions;
}

}  // namespace warpcheck::libraries::fourier
