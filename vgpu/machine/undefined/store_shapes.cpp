#include "vgpu/machine/undefined/store_shapes.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kAlignmentMax = 16;  // of scalars and CUDA's vectors
// for structs with a larger alignment than their members
constexpr std::uint32_t kStructBytesMax = 32;
// The most aligned member of a struct is searched in so many bytes before the gap at its end.
constexpr std::uint32_t kLookedBack = 64;

// Returns the bytes from lane to lane; 0: the distances differ, or are not positive.
std::uint32_t stride_of(const Access& access) {
  const unsigned first = access.first_lane();
  const auto last = 31 - static_cast<unsigned>(std::countl_zero(access.mask));
  const auto second = static_cast<unsigned>(std::countr_zero(access.mask & (access.mask - 1)));
  if (access.offset[second] <= access.offset[first]) return 0;
  const std::uint32_t apart = access.offset[second] - access.offset[first];
  if (apart % (second - first) != 0) return 0;
  const std::uint32_t stride = apart / (second - first);
  const bool is_regular =
      access.offset[last] - access.offset[first] == stride * std::uint32_t{last - first};
  return is_regular ? stride : 0;
}

}  // namespace

StoreShapes::StoreShapes() {
  for (std::uint32_t i = 0; i < kWidths; ++i) {
    const auto width = static_cast<std::uint8_t>(1u << i);
    shapes_[i] = {width, width};
    shapes_[kAlone + i] = {width, 0};
  }
  reset();
}

void StoreShapes::reset() { known_ = 2 * kWidths; }

// Returns the state for a row of lanes that is neither uniform nor without gaps.
std::uint8_t StoreShapes::state_for_spaced(const Access& access) {
  const StoreShape shape{access.bytes, stride_of(access)};
  if (!shape.is_spaced()) return state_of_alone(access.bytes);
  const auto end = shapes_.begin() + known_;
  const auto found = std::find(shapes_.begin(), end, shape);
  if (found == shapes_.end()) return MemoryShadow::kDefined;
  if (found == end) shapes_[known_++] = shape;
  return static_cast<std::uint8_t>(MemoryShadow::kFirstShape + (found - shapes_.begin()));
}

bool StoreShapes::knows(const Access& access) const {
  const bool is_alone =
      access.pattern == Pattern::uniform || (access.mask & (access.mask - 1)) == 0;
  if (is_alone || access.pattern == Pattern::strided) return true;
  const StoreShape shape{access.bytes, stride_of(access)};
  const auto end = shapes_.begin() + known_;
  return !shape.is_spaced() || std::find(shapes_.begin(), end, shape) != end;
}

template <typename States>
StoreShape StoreShapes::shape_at(const States& states, std::uint32_t offset) const {
  const std::uint32_t index =
      states.raw_state_at(offset) - std::uint32_t{MemoryShadow::kFirstShape};
  return index < known_ ? shapes_[index] : StoreShape{};
}

template <typename States>
bool StoreShapes::may_be_padding(const States& states, std::uint32_t begin, std::uint32_t end,
                                 std::uint32_t first) const {
  if (begin == first) return false;  // an object begins with a member, not with padding
  const bool has_next = end < states.bytes();
  if (has_next && end - begin < shape_at(states, end).width) return true;
  if (ends_struct(states, begin, end)) return true;
  return is_gap_of_lanes(states, shape_at(states, begin - 1), begin, end) ||
         (has_next && is_gap_of_lanes(states, shape_at(states, end), begin, end));
}

// Returns whether a member before the gap has such an alignment that its struct ends where the gap
// ends.
template <typename States>
bool StoreShapes::ends_struct(const States& states, std::uint32_t begin, std::uint32_t end) const {
  const std::uint32_t from = begin - std::min(begin, kLookedBack);
  std::uint32_t unwritten = 0;
  for (std::uint32_t at = begin; at > from && unwritten < kAlignmentMax; --at) {
    const bool is_written = states.state_at(at - 1) != MemoryShadow::kNeverWritten;
    unwritten = is_written ? 0 : unwritten + 1;
    const std::uint32_t width = is_written ? shape_at(states, at - 1).width : 1;
    if (end - begin < width && end % width == 0) return true;
  }
  return false;
}

// Returns whether the gap ends a struct that one lane of a row has filled by several stores.
template <typename States>
bool StoreShapes::is_gap_of_lanes(const States& states, const StoreShape& shape,
                                  std::uint32_t begin, std::uint32_t end) {
  if (!shape.is_spaced() || shape.stride > kStructBytesMax || end < shape.stride) return false;
  const std::uint32_t alignment = 1u << std::bit_width(end - begin);  // larger than the gap
  if (alignment > kAlignmentMax || shape.stride % alignment != 0 || end % alignment != 0) {
    return false;
  }
  std::uint32_t written = 0;
  for (std::uint32_t at = end - shape.stride; at < begin; ++at) {
    written += states.state_at(at) == MemoryShadow::kNeverWritten ? 0 : 1;
  }
  return written > shape.width;
}

template bool StoreShapes::may_be_padding(const MemoryShadow&, std::uint32_t, std::uint32_t,
                                          std::uint32_t) const;
template bool StoreShapes::may_be_padding(const LaneStates&, std::uint32_t, std::uint32_t,
                                          std::uint32_t) const;

}  // namespace warpcheck::vgpu
