// A reference interpreter of PTX: one thread after the other, straight from the parsed text.
//
// Written from the PTX ISA (9.7) to be obviously right, and apart from the machine: it shares the
// parser and nothing else.  It knows the instructions of random_program() and throws
// std::logic_error for any other.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// What kernel `k` of a random_program() leaves in `out`, `words` a thread of one block.
std::vector<std::uint32_t> reference_results(const ptx::Module& module, std::uint32_t threads,
                                             std::uint32_t words);

}  // namespace warpcheck::vgpu
