// Where the two ways of a branch meet, and what can be written in between.
//
// It is found in the code alone: the ways meet at a postdominator, and the code in between only
// computes, reads, writes the local memory of its thread, and calls functions that do no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// The instruction at which the ways of a branch meet; the one with the fewest instructions in
// between.
struct Diamond {
  struct Writes {
    std::vector<Ref> registers;
    bool memory = false;  // there are stores; of what, only running both ways shows
  };
  std::uint32_t meets_at = ptx::kNone;  // kNone: the ways need not meet, or do more
  Writes writes;
};

//   nodes: receives the number of instructions that were looked at
Diamond diamond_of(const Program& program, std::uint32_t function, std::uint32_t branch,
                   std::size_t& nodes);

}  // namespace warpcheck::vgpu
