#include "vgpu/machine/progress/warp_state.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace warpcheck::vgpu {
namespace {

bool are_same_place(const Fragment& a, const Fragment& b) {
  return a.pc == b.pc && a.mask == b.mask && a.state == b.state && a.barrier == b.barrier &&
         a.members == b.members && a.local_top == b.local_top && a.callers == b.callers;
}

bool are_same_bytes(const RowBank& a, const RowBank& b) {
  return std::equal(a.data(), a.data() + a.bytes(), b.data(), b.data() + b.bytes());
}

bool are_same_barriers(const NamedBarrier& a, const NamedBarrier& b) {
  return a.count == b.count &&
         std::ranges::equal(a.arrivals, b.arrivals, [](const auto& x, const auto& y) {
           return x.warp == y.warp && x.lanes == y.lanes && x.waiting == y.waiting &&
                  x.complete == y.complete;
         });
}

class Hash {
 public:
  void add(std::uint64_t value) {
    hash_ ^= value;
    hash_ *= 0x9fb21c651e98df25u;
    hash_ ^= hash_ >> 29;
  }
  void add(const RowBank& bank) {
    for (std::size_t at = 0; at + 8 <= bank.bytes(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bank.data() + at, sizeof word);
      add(word);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x2545f4914f6cdd1du;
};

}  // namespace

WarpState::WarpState(const RunningLaunch& launch, const Slot& slot, const Warp& warp,
                     const MemoryChanges::State& its_memory)
    : fragments(warp.fragments),
      words(warp.words),
      wides(warp.wides),
      predicates(warp.predicates),
      memory(its_memory),
      cluster_arrived(warp.cluster_arrived) {
  if (launch.program().has_named_barriers) {
    barriers.assign(slot.barriers.begin(), slot.barriers.end());
  }
}

bool WarpState::is_at_places_of(const Warp& warp) const {
  if (fragments.size() != warp.fragments.size()) return false;
  return std::ranges::all_of(fragments, [&](const Fragment& one) {
    return std::ranges::any_of(warp.fragments,
                               [&](const Fragment& other) { return are_same_place(one, other); });
  });
}

bool WarpState::has_values_of(const Slot& slot, const Warp& warp) const {
  return cluster_arrived == warp.cluster_arrived && are_same_bytes(words, warp.words) &&
         are_same_bytes(wides, warp.wides) && are_same_bytes(predicates, warp.predicates) &&
         std::ranges::equal(barriers, std::span(slot.barriers).first(barriers.size()),
                            are_same_barriers);
}

std::uint64_t hash_of(const RunningLaunch& launch, const std::vector<Slot*>& blocks) {
  Hash hash;
  for (const Slot* slot : blocks) {
    hash.add(slot->ready_warps);
    for (std::uint32_t index = 0; index < launch.warps_per_block(); ++index) {
      const Warp& warp = slot->warps[index];
      for (const Fragment& fragment : warp.fragments) {
        hash.add(std::uint64_t{fragment.pc} << 32 | fragment.mask);
        hash.add(static_cast<std::uint64_t>(fragment.state) << 32 | fragment.barrier);
        hash.add(std::uint64_t{fragment.members} << 32 | fragment.callers.size());
        for (const Return& caller : fragment.callers) hash.add(caller.pc);
      }
      hash.add(warp.words);
      hash.add(warp.wides);
      hash.add(warp.predicates);
      hash.add(warp.cluster_arrived);
    }
    for (const NamedBarrier& barrier : slot->barriers) {
      for (const NamedBarrier::Arrival& arrival : barrier.arrivals) {
        hash.add(std::uint64_t{arrival.warp} << 32 | arrival.lanes);
      }
    }
  }
  return hash.value();
}

}  // namespace warpcheck::vgpu
