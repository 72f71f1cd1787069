// Lanes of one warp that poll in loops of their own.
//
// Rounds of 31, 37 and 41 instructions are all at their beginning once in 47,027 steps.  But lanes
// know of each other only by memory and by operations of their warp.  While memory stays as it is,
// and no fragment comes to such an operation, each goes its way whatever the others do: if each
// comes back to where it was, all of them do.
#include <algorithm>
#include <iterator>
#include <utility>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {

// Every ready fragment by itself, where there are several.
Lookahead::Fate Lookahead::run_fragments_alone(Slot& slot, Warp& warp) {
  const auto is_ready = [](const Fragment& one) { return one.state == Fragment::State::ready; };
  if (launch_.model == WarpModel::lockstep || std::ranges::count_if(warp.fragments, is_ready) < 2) {
    return Fate::unknown;
  }
  const std::vector<Fragment> fragments = std::move(warp.fragments);
  std::vector<Fragment> settled;
  const bool was_alone = std::exchange(is_alone_, true);
  Fate fate = Fate::spins;
  for (const Fragment& fragment : fragments) {
    warp.fragments.assign(1, fragment);
    if (is_ready(fragment) && fate == Fate::spins) fate = run_until_settled(slot, warp);
    std::ranges::copy(warp.fragments, std::back_inserter(settled));
  }
  is_alone_ = was_alone;
  warp.fragments = std::move(settled);
  if (warp.is_ready()) slot.ready_warps |= 1u << warp.index;
  // What it has come to concerns the others, who were away.
  const bool is_open = fate == Fate::waits || fate == Fate::releases;
  return is_open ? Fate::unknown : fate;
}

}  // namespace warpcheck::vgpu
