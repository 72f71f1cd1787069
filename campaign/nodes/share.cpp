#include "campaign/nodes/share.hpp"

#include <algorithm>

namespace warpcheck::campaign {

bool is_in_share(std::size_t pair, std::size_t pairs, std::span<const unsigned> nodes,
                 unsigned self) {
  const auto place = static_cast<std::size_t>(std::ranges::find(nodes, self) - nodes.begin());
  if (pairs >= nodes.size()) return pair % nodes.size() == place;
  return place % pairs == pair;
}

}  // namespace warpcheck::campaign
