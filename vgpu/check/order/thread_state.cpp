#include "vgpu/check/order/thread_state.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu {

VectorClock clock_of(const Moment& moment, BlockKey block, std::uint32_t thread,
                     std::uint32_t count) {
  VectorClock clock = moment.knows;
  const ThreadTime own{thread, moment.ticks, moment.phase, count};
  clock.learn(block, moment.phase, {&own, 1});
  return clock;
}

// Clocks that are the same mostly remain so.
void ReleasedClocks::join(const ReleasedClocks& other) {
  const bool are_near = cluster.is_same(block) && other.cluster.is_same(other.block);
  const bool are_far = grid.is_same(cluster) && other.grid.is_same(other.cluster);
  block.join(other.block);
  if (are_near) {
    cluster = block;
  } else {
    cluster.join(other.cluster);
  }
  if (are_far) {
    grid = cluster;
  } else {
    grid.join(other.grid);
  }
}

void ThreadState::observe(std::uint64_t variable, std::uint64_t chain,
                          const ReleasedClocks& released_clocks) {
  if (seen.size() > folded && seen.back().chain == chain) {
    seen.back().released_clocks = released_clocks;
    return;
  }
  seen.push_back({variable, chain, released_clocks});
  if (seen.size() >= compact_at) compact();
}

void ThreadState::fold() {
  for (; folded < seen.size(); ++folded) observed.join(seen[folded].released_clocks);
}

void ThreadState::forget_observed() {
  if (!observed.is_empty()) observed = {};
  seen.clear();
  folded = 0;
}

// Mostly it has done little in the place of another one.
void ThreadState::begin(const VectorClock& known) {
  knows = known;
  tick = copier_tick = 0;
  groups.clear();
  if (!fence.is_empty()) fence = {};
  forget_observed();
  if (!sc_observed.is_empty()) sc_observed = {};
  compact_at = kCompactAt;
}

// Merges the entries so that each variable has one.  What no fence has asked for is not folded.
void ThreadState::compact() {
  if (folded != 0) fold();
  std::ranges::stable_sort(seen, {}, &Seen::variable);
  std::vector<Seen> compacted;
  for (Seen& next : seen) {
    if (compacted.empty() || compacted.back().variable != next.variable) {
      compacted.push_back(std::move(next));
      continue;
    }
    Seen& last = compacted.back();
    if (last.chain != next.chain) last.chain = 0;
    last.released_clocks.join(next.released_clocks);
  }
  seen = std::move(compacted);
  if (folded != 0) folded = seen.size();
  compact_at = kCompactAt + 2 * seen.size();
}

VectorClock ThreadState::all_observed() const {
  VectorClock all = observed.grid;
  for (std::size_t i = folded; i < seen.size(); ++i) all.join(seen[i].released_clocks.grid);
  return all;
}

}  // namespace warpcheck::vgpu
