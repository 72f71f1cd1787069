// A node's share of the pairs.
//
// The active nodes divide the pairs like cards that are dealt: every pair belongs to one node, or
// to several if there are more nodes than pairs.  So every pair is searched, no finding is shrunk
// twice, and the pairs of a node that is gone are divided among the others.
#pragma once

#include <cstddef>
#include <span>

namespace warpcheck::campaign {

// nodes: numbers of the active ones, ascending, including `self`.
bool is_in_share(std::size_t pair, std::size_t pairs, std::span<const unsigned> nodes,
                 unsigned self);

}  // namespace warpcheck::campaign
