#include "vgpu/machine/sync/passed_barriers.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace warpcheck::vgpu {

using EdgeMark = PassingEdges::Mark;

void PassedBarriers::begin_launch() {
  edges_ = launch_.program().passing_edges.get();
  launch_.count_crossings_by(edges_ == nullptr ? nullptr : this);
  blocks_.clear();
}

PassedBarriers::OfBlock& PassedBarriers::of(const Slot& slot) {
  if (blocks_.size() <= slot.index) blocks_.resize(slot.index + std::size_t{1});
  OfBlock& block = blocks_[slot.index];
  if (block.serial != slot.serial) {
    block.serial = slot.serial;
    block.warps.resize(launch_.warps_per_block());
    for (std::vector<Entry>& entries : block.warps) entries.clear();
    block.left.clear();
    block.reported = 0;
  }
  return block;
}

void PassedBarriers::add(std::vector<Entry>& entries, const Entry& entry) {
  const auto like =
      std::ranges::find_if(entries, [&](const Entry& other) { return other.is_like(entry); });
  if (like == entries.end()) {
    entries.push_back(entry);
  } else {
    like->lanes |= entry.lanes;
  }
}

void PassedBarriers::cross(const Slot& slot, const Warp& warp, std::uint32_t lanes,
                           std::uint32_t from, std::uint32_t to) {
  const PassingEdges::Edge* const edge = edges_->find(from, to);
  if (edge == nullptr || lanes == 0) return;
  std::vector<Entry>& entries = of(slot).warps[warp.index];
  for (const EdgeMark& mark : edge->marks) {
    if (mark.enters) {
      enter(entries, mark, lanes, slot.phase);
    } else {
      act(entries, mark, lanes);
    }
  }
}

void PassedBarriers::enter(std::vector<Entry>& entries, const EdgeMark& mark, std::uint32_t lanes,
                           std::uint32_t phase) const {
  const bool is_of_loop = edges_->is_of_loop[mark.region];
  std::vector<Entry> grown;
  for (std::size_t i = 0; i < entries.size();) {
    Entry& entry = entries[i];
    const std::uint32_t again = entry.region == mark.region ? entry.lanes & lanes : 0;
    if (again == 0) {
      ++i;
      continue;
    }
    const bool is_old = is_of_loop && entry.phase != phase;
    if (!is_old) lanes &= ~again;
    if (is_of_loop && !is_old && again == entry.lanes && lanes == 0 && grown.empty()) {
      ++entry.count;  // the most frequent case
      return;
    }
    if (is_of_loop && !is_old) {
      grown.push_back(entry);
      grown.back().lanes = again;
      ++grown.back().count;
    }
    if (is_of_loop) entry.lanes &= ~again;
    if (entry.lanes == 0) {
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (const Entry& entry : grown) add(entries, entry);
  if (lanes != 0) add(entries, {mark.region, lanes, 1, phase, mark.acts, mark.matters, mark.place});
}

void PassedBarriers::act(std::vector<Entry>& entries, const EdgeMark& mark, std::uint32_t lanes) {
  std::vector<Entry> changed;
  for (Entry& entry : entries) {
    const std::uint32_t now = entry.region == mark.region && !entry.acts ? entry.lanes & lanes : 0;
    if (now == 0) continue;
    entry.lanes &= ~now;
    changed.push_back(entry);
    changed.back().lanes = now;
    changed.back().acts = changed.back().matters = true;
    changed.back().place = mark.place;
  }
  if (changed.empty()) return;
  std::erase_if(entries, [](const Entry& entry) { return entry.lanes == 0; });
  for (const Entry& entry : changed) add(entries, entry);
}

void PassedBarriers::exit(const Slot& slot, const Warp& warp, std::uint32_t lanes) {
  const bool uses_clusters = launch_.program().uses_clusters;
  const bool is_last = slot.live_lanes == lane_count(lanes);  // of the block
  if (is_last && !uses_clusters) return;
  OfBlock& block = of(slot);
  const bool is_last_of_warp = (warp.live & ~lanes) == 0;
  if (is_last_of_warp) {
    for (Left& left : block.left) {
      if (left.warp == warp.index) left.not_at_warp = 0;
    }
  }
  for (const Entry& entry : block.warps[warp.index]) {
    const std::uint32_t now = entry.lanes & lanes;
    // Lanes that have arrived at a barrier of the block since then have not bypassed the others.
    const bool is_old = entry.phase != slot.phase;
    if (now == 0 || (is_old && edges_->is_of_loop[entry.region])) continue;
    block.left.push_back(
        {warp.index, entry, is_old ? 0 : now, uses_clusters ? now : 0, is_last_of_warp ? 0 : now});
  }
}

void PassedBarriers::forgive_at_cluster(const Slot& slot, const Warp& warp, std::uint32_t lanes) {
  for (Left& left : of(slot).left) {
    if (left.warp == warp.index) left.not_at_cluster &= ~lanes;
  }
}

std::uint32_t& PassedBarriers::lanes_of(Kind kind, Left& left) {
  switch (kind) {
    case Kind::block: return left.not_at_block;
    case Kind::cluster: return left.not_at_cluster;
    default: return left.not_at_warp;
  }
}

// Returns how often the lane has come behind the region's barriers, since the last barrier of the
// block if the region is of a loop.
std::uint32_t PassedBarriers::count_of(const OfBlock& block, const Slot& slot, const Warp& warp,
                                       std::uint32_t region, unsigned lane) const {
  for (const Entry& entry : block.warps[warp.index]) {
    const bool is_old = edges_->is_of_loop[region] && entry.phase != slot.phase;
    if (entry.region == region && (entry.lanes >> lane & 1) != 0 && !is_old) return entry.count;
  }
  return 0;
}

// Looks in a block for lanes that have passed by the barrier at which `waiter` waits.  Those that
// have done something come first, then the lowest ones.
//   concerned: the lanes of each warp that the barrier is for
void PassedBarriers::look_for(Kind kind, const Waiter& waiter, const Slot& slot,
                              const std::array<std::uint32_t, kWarpLanes>& concerned,
                              Passer& found) {
  const OfBlock& waiting = of(*waiter.slot);
  const auto lane = static_cast<unsigned>(std::countr_zero(waiter.lanes));
  const std::span<const std::uint32_t> regions = edges_->behind(waiter.pc);
  for (Left& left : of(slot).left) {
    const std::uint32_t lanes = lanes_of(kind, left) & concerned[left.warp];
    if (lanes == 0 || !left.entry.matters) continue;
    if (!std::ranges::count(regions, left.entry.region)) continue;
    if (left.entry.count <=
        count_of(waiting, *waiter.slot, *waiter.warp, left.entry.region, lane)) {
      continue;
    }
    const auto rank = [](const Passer& passer) {
      return std::tuple(!passer.left->entry.acts, passer.slot->block, passer.left->warp,
                        std::countr_zero(passer.lanes));
    };
    const Passer passer{&slot, &left, lanes};
    if (found.left == nullptr || rank(passer) < rank(found)) found = passer;
  }
}

bool PassedBarriers::report(Kind kind, std::span<const Waiter> waiters,
                            const std::vector<WarpLanes>* arrived) {
  std::vector<const Slot*> slots;
  for (const Slot* const slot : launch_.resident()) {
    const bool is_concerned = std::ranges::any_of(waiters, [&](const Waiter& waiter) {
      return kind == Kind::cluster ? waiter.slot->cluster == slot->cluster : waiter.slot == slot;
    });
    if (is_concerned && !of(*slot).left.empty()) slots.push_back(slot);
  }
  if (slots.empty()) return false;
  std::array<std::uint32_t, kWarpLanes> concerned;
  concerned.fill(arrived == nullptr ? ~0u : 0);
  if (arrived != nullptr) {
    for (const WarpLanes& party : *arrived) concerned[party.warp] = ~party.lanes;
  }
  Passer passer;
  for (const Waiter& waiter : waiters) {
    for (const Slot* const slot : slots) look_for(kind, waiter, *slot, concerned, passer);
    if (passer.left == nullptr) continue;
    report_passer(waiter, passer);
    break;
  }
  for (const Slot* const slot : slots) {
    std::vector<Left>& all = of(*slot).left;
    for (Left& left : all) lanes_of(kind, left) &= ~concerned[left.warp];
    std::erase_if(all, [](const Left& left) {
      return (left.not_at_block | left.not_at_cluster | left.not_at_warp) == 0;
    });
  }
  return passer.left != nullptr;
}

void PassedBarriers::report_of_warp(const Slot& slot, const Warp& warp, std::uint32_t pc,
                                    std::uint32_t lanes, std::uint32_t members) {
  OfBlock& block = of(slot);
  if (block.left.empty() || (block.reported >> warp.index & 1) != 0) return;
  const Waiter waiter{&slot, &warp, pc, lanes};
  std::array<std::uint32_t, kWarpLanes> concerned{};
  concerned[warp.index] = members;
  Passer passer;
  look_for(Kind::warp, waiter, slot, concerned, passer);
  if (passer.left != nullptr) report_passer(waiter, passer);
  for (Left& left : block.left) {
    if (left.warp == warp.index) left.not_at_warp &= ~members;
  }
}

bool PassedBarriers::differ(const Slot& slot, const Warp& warp, std::uint32_t pc,
                            std::uint32_t lanes, std::uint32_t other_lanes) {
  const OfBlock& block = of(slot);
  const auto count = [&](std::uint32_t region, std::uint32_t of_lanes) {
    return count_of(block, slot, warp, region, static_cast<unsigned>(std::countr_zero(of_lanes)));
  };
  return std::ranges::any_of(edges_->behind(pc), [&](std::uint32_t region) {
    return count(region, lanes) != count(region, other_lanes);
  });
}

void PassedBarriers::report_passer(const Waiter& waiter, const Passer& passer) const {
  BarrierDivergence divergence;
  divergence.reason = BarrierDivergence::Reason::passed_by;
  divergence.program = &launch_.program();
  divergence.place = launch_.place_of(*waiter.slot, *waiter.warp);
  divergence.pc = waiter.pc;
  divergence.lane = static_cast<unsigned>(std::countr_zero(waiter.lanes));
  divergence.other_pc = passer.left->entry.place;
  divergence.other_block = passer.slot->block;
  divergence.other_warp = passer.left->warp;
  divergence.other_lane = static_cast<unsigned>(std::countr_zero(passer.lanes));
  launch_.notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
}

}  // namespace warpcheck::vgpu
