// Handles lanes of one warp that poll in separate loops.
//
// Rounds of 31, 37 and 41 instructions begin together only once in 47,027 steps.  But lanes affect
// each other only through memory and warp operations.  As long as memory is unchanged and no
// fragment reaches such an operation, each fragment runs independently of the others: if each
// returns to an earlier state, all of them do.
#include <utility>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {

// Runs every ready fragment alone, if there are several.
Lookahead::Fate Lookahead::run_fragments_alone(Slot& slot, Warp& warp) {
  if (launch_.model() == WarpModel::lockstep || warp.fragments.count_ready() < 2) {
    return Fate::unknown;
  }
  const Fragments fragments = std::move(warp.fragments);
  Fragments settled;
  const bool was_alone = std::exchange(is_alone_, true);
  Fate fate = Fate::spins;
  for (const Fragment& fragment : fragments) {
    warp.fragments.assign(fragment);
    if (fragment.is_ready() && fate == Fate::spins) fate = run_until_settled(slot, warp);
    for (const Fragment& one : warp.fragments) settled.add(one);
  }
  is_alone_ = was_alone;
  warp.fragments = std::move(settled);
  if (warp.is_ready()) slot.ready_warps |= 1u << warp.index;
  // Its result depends on the other fragments, which were set aside.
  const bool is_open = fate == Fate::waits || fate == Fate::releases;
  return is_open ? Fate::unknown : fate;
}

}  // namespace warpcheck::vgpu
