// Changes of what orders threads that are more than a statement inserted: wider scopes, waits for a
// phase, barriers at other places, and how many arrive at one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/rewrites/insertion.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// Each name of a narrow scope in the file as that of the device, or the system: alone, then all.
// Those in inline PTX, too.
std::vector<Patch> wider_scopes(const std::string& file, const SourceTree& tree, bool of_system);

// Calls of the function that name lanes by a mask, for all lanes: `__syncwarp()` for
// `__syncwarp(mask)`, 0xffffffff for the mask of `__shfl_sync(mask, ...)` and its like.
std::vector<Patch> wider_masks(const std::string& file, const SourceTree& tree,
                               std::size_t function);

// Statements that wait for the phase of parity 0, and 1, of the barriers that the function uses:
// objects of inline PTX with mbarrier instructions.
std::vector<std::string> phase_waits(const SourceTree& tree, std::size_t function);

// Statements that wait for what cuda::barrier, cuda::pipeline and __pipeline_commit() of the
// function announce.
std::vector<std::string> library_waits(const SourceTree& tree, std::size_t function);

// `g.sync();` around the statement, in the block of statements that declares `g` as some lanes of a
// warp: `auto g = cg::coalesced_threads();`, a partition of such a group, a tile.
std::vector<Patch> group_syncs(const Place& place);

// The threads of the block, or one, as the count of a cuda::barrier.
std::vector<Patch> other_counts(const std::string& file, const SourceTree& tree,
                                std::size_t function);

// A barrier statement before or behind the branches and loops around it, or left out.
std::vector<Patch> moved_barriers(const std::string& file, const SourceTree& tree,
                                  std::size_t node);

// What hands on between threads (an arrival, a wait, an update of a flag), moved to the other side
// of the statement, or of what contains it: a barrier that is announced before the write, or waited
// for behind it.
std::vector<Patch> exchanged_handovers(const std::string& file, const SourceTree& tree,
                                       std::size_t node);

}  // namespace warpcheck
