// Which pairs a node of a campaign looks after.
//
// Nodes that are at work deal the pairs among themselves, like cards: every pair has one node, or
// several where there are more nodes than pairs.  So each is searched by somebody, nobody shrinks
// what another one does, and what belonged to a node that is gone is dealt again.
#pragma once

#include <cstddef>
#include <span>

namespace warpcheck::campaign {

// nodes: numbers of those at work, ascending, `self` among them.
bool is_in_share(std::size_t pair, std::size_t pairs, std::span<const unsigned> nodes,
                 unsigned self);

}  // namespace warpcheck::campaign
