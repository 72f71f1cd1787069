// The basic blocks of a Program's code: where control enters and leaves only at the ends.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Code in [begin, end).
struct CodeBlock {
  std::uint32_t begin = 0, end = 0;
};

struct CodeBlocks {
  std::vector<CodeBlock> blocks;        // in the order of the code, without gaps
  std::vector<std::uint32_t> block_of;  // by pc: an index into `blocks`
};

// Finds the blocks of all functions.
//   is_alone(instr): whether the instruction is a block of its own
CodeBlocks find_code_blocks(const Program& program, bool (*is_alone)(const Instr& instr));

}  // namespace warpcheck::vgpu
