// Arrays with unaligned beginnings: kernels that move 16 bytes at a time have another path for
// them.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/input/draw.hpp"
#include "harness/pair/device.hpp"

namespace warpcheck {

constexpr int kOffsetMax = 3;  // elements

// `values` on the device, after `offset` unused elements.
template <class T>
class OffsetArray {
 public:
  OffsetArray(Device& device, const std::vector<T>& values, int offset)
      : offset_(static_cast<std::size_t>(offset)), array_(device.upload(padded(values, offset_))) {}

  [[nodiscard]] const T* data() const { return array_.data() + offset_; }

 private:
  static std::vector<T> padded(std::vector<T> values, std::size_t offset) {
    values.insert(values.begin(), offset, T{});
    return values;
  }
  std::size_t offset_;
  DeviceArray<T> array_;
};

// Mostly 0.
inline int draw_offset(Draw& draw) {
  return draw.once_in(4) ? static_cast<int>(draw.between(1, kOffsetMax)) : 0;
}
inline bool is_offset(int offset) { return offset >= 0 && offset <= kOffsetMax; }

}  // namespace warpcheck
