// Reconvergence order of basic blocks.
//
// Any order of the blocks is correct.  This order makes lanes meet again as early as possible if
// the fragment with the lowest position runs first: it is topological, with every loop contiguous
// and before its exits (thread frontiers: Diamos et al., "SIMD Re-Convergence at Thread Frontiers",
// MICRO 2011).
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

// successors[b]: the blocks that may follow block b; block 0 is the entry.
// Returns the blocks reachable from block 0, each once, entry first.
std::vector<std::uint32_t> reconvergence_order(
    const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace warpcheck::vgpu
