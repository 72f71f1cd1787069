// Which lane a lane of shfl reads (PTX ISA 9.7.9.6), for whoever follows values across lanes.
#pragma once

#include <cstdint>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// b, c: the operands `lane` and `clamp`; the bounds are those of warp_ops.cpp.
inline unsigned shuffle_source(ptx::ShuffleMode mode, unsigned lane, std::uint32_t b,
                               std::uint32_t c) {
  const auto self = static_cast<int>(lane);
  const auto offset = static_cast<int>(b & 31);
  const auto segment = static_cast<int>(c >> 8 & 31);
  const int lowest = self & segment;
  const int limit = lowest | (static_cast<int>(c & 31) & ~segment);
  int from = lowest | (offset & ~segment);
  if (mode == ptx::ShuffleMode::up) from = self - offset;
  if (mode == ptx::ShuffleMode::down) from = self + offset;
  if (mode == ptx::ShuffleMode::bfly) from = self ^ offset;
  const bool in_range = mode == ptx::ShuffleMode::up ? from >= limit : from <= limit;
  return static_cast<unsigned>(in_range ? from : self) & 31u;
}

}  // namespace warpcheck::vgpu
