// The reads of a matrix in shared memory, by the asynchronous proxy, for one product of a warp or
// of a thread.
//
// A product reads hundreds of words, and nearly always all of them are defined and nothing races
// with the reads.  So it asks the observers about all of them at once; only if one of them needs to
// see more, the reads are reported one by one, as accesses.
#pragma once

#include <cstdint>
#include <span>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

struct ProductRead {
  static constexpr std::uint32_t kChunkBytes = 16;

  const Allocation* allocation = nullptr;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::span<const std::uint32_t>
      chunks;  // the offset of each, a multiple of kChunkBytes; not empty
  // Which lanes read: those of a chunk's words follow each other in steps, and so do those of the
  // first words of chunks.  No steps: one thread reads.
  std::uint8_t first_lane = 0, lanes_of_chunk = 0, lanes_of_word = 0;

  [[nodiscard]] bool is_of_warp() const { return lanes_of_chunk != 0 || lanes_of_word != 0; }

  [[nodiscard]] unsigned lane_at(std::uint32_t chunk, std::uint32_t word) const {
    return (first_lane + chunk * lanes_of_chunk + word * lanes_of_word) % kWarpLanes;
  }
};

}  // namespace warpcheck::vgpu
