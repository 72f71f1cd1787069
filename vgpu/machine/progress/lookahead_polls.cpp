// Finds out whether one warp only polls: it is run ahead alone, round after round
// (lookahead_rounds.cpp).  If it only polls, it does nothing else until another thread changes what
// it reads.
#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kStepsOfPoll = 512;

}  // namespace

bool Lookahead::polls(Slot& slot, Warp& warp, std::vector<PolledBytes>& polled) {
  if (!save(slot, warp.index, 1)) return false;
  return only_polls(slot, warp, polled);
}

bool Lookahead::fragment_polls(Slot& slot, Warp& warp, std::size_t fragment) {
  if (!save(slot, warp.index, 1)) return false;
  warp.fragments.assign(Fragment{warp.fragments[fragment]});
  is_alone_ = true;
  std::vector<PolledBytes> polled;
  return only_polls(slot, warp, polled);
}

bool Lookahead::only_polls(Slot& slot, Warp& warp, std::vector<PolledBytes>& polled) {
  polled_.begin(polled, slot.shared);
  steps_of_round_ = kStepsOfPoll;
  last_reads_.begin(warp);
  const Fate fate = run_indifferently(slot, warp);
  polled_.end();
  return fate == Fate::spins && !polled_.are_too_many();
}

// Returns whether the instruction may release other warps, or depends on more than registers and
// accesses.
bool Lookahead::concerns_others(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::barrier:
    case InstrKind::cluster_barrier:
    case InstrKind::barrier_object:
    case InstrKind::group_pending:
    case InstrKind::tensor_memory:
    case InstrKind::texture: return true;
    default: return false;
  }
}

}  // namespace warpcheck::vgpu
