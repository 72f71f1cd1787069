#include "vgpu/check/counters/access_cost.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {
namespace {

// Mostly all lanes are active; and counting bits takes a call where the host may lack an
// instruction.
std::uint32_t number_of(std::uint32_t mask) {
  return mask == ~0u ? kWarpLanes : static_cast<std::uint32_t>(std::popcount(mask));
}

// Mostly all lanes are active.
template <typename Function>
[[gnu::always_inline]] inline void for_lanes(std::uint32_t mask, Function function) {
  if (mask == ~0u) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) function(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

std::uint32_t divided_up(std::uint32_t number, std::uint32_t by) { return (number + by - 1) / by; }

// Returns the sectors of lanes that lie side by side, of which some are active.
std::uint32_t strided_sectors(const AccessedLanes& lanes) {
  // The lanes of each sector become one bit: the lowest of theirs.
  const std::uint32_t lanes_of_sector = kSectorBytes / lanes.bytes;
  const auto before = static_cast<std::uint32_t>(lanes.first % kSectorBytes / lanes.bytes);
  std::uint64_t touched = std::uint64_t{lanes.mask} << before;
  std::uint64_t lowest = 1;
  for (std::uint32_t step = 1; step < lanes_of_sector; step *= 2) touched |= touched >> step;
  for (std::uint32_t bit = lanes_of_sector; bit < 64; bit *= 2) lowest |= lowest << bit;
  return static_cast<std::uint32_t>(std::popcount(touched & lowest));
}

// Whether every active lane reads what the lane beside it reads, unless that one is inactive.  The
// numbers of lanes beside each other differ in the bit `beside`.
bool share_with(const AccessedLanes& lanes, std::uint32_t beside) {
  bool do_share = true;
  for_lanes(lanes.mask, [&](unsigned lane) {
    const unsigned other = lane ^ beside;
    const bool is_active = (lanes.mask >> other & 1) != 0;
    do_share = do_share && (!is_active || lanes.offset_of(lane) == lanes.offset_of(other));
  });
  return do_share;
}

}  // namespace

AccessCost AccessCosts::sectors_of_some(const AccessedLanes& lanes) {
  std::uint32_t all = 0;
  if (lanes.pattern == Pattern::strided) {
    all = strided_sectors(lanes);
  } else {
    const auto shift = static_cast<std::uint32_t>(lanes.first % kSectorBytes);
    seen_.clear();
    for_lanes(lanes.mask, [&](unsigned lane) {
      all += seen_.add((lanes.offsets[lane] + shift) / kSectorBytes) ? 1 : 0;
    });
  }
  return {all, std::min(all, divided_up(number_of(lanes.mask) * lanes.bytes, kSectorBytes))};
}

std::uint32_t AccessCosts::places_of_some(const AccessedLanes& lanes) {
  if (lanes.pattern == Pattern::uniform) return 1;
  if (lanes.pattern == Pattern::strided) return number_of(lanes.mask);
  seen_.clear();
  std::uint32_t count = 0;
  const std::uint32_t* const offsets = lanes.offsets;
  for_lanes(lanes.mask, [&](unsigned lane) { count += seen_.add(offsets[lane]) ? 1 : 0; });
  return count;
}

std::uint32_t AccessCosts::some_lanes_of_busiest_bank(const AccessedLanes& lanes) {
  std::array<std::uint8_t, kBanks> words{};
  std::uint32_t most = 0;
  for_lanes(lanes.mask, [&](unsigned lane) {
    most = std::max<std::uint32_t>(most, ++words[lanes.offsets[lane] / kBankBytes % kBanks]);
  });
  return most;
}

// Returns how many words the busiest bank gives or takes for the lanes of the group.
std::uint32_t AccessCosts::wavefronts_of_group(const AccessedLanes& lanes, std::uint32_t group,
                                               AccessKind kind) {
  std::array<std::uint8_t, kBanks> words{};
  std::uint32_t most = 0;
  const std::uint32_t words_of_lane = std::max(lanes.bytes / kBankBytes, 1u);
  const auto for_words = [&](auto function) {
    for_lanes(group, [&](unsigned lane) {
      const std::uint32_t first = lanes.offset_of(lane) / kBankBytes;
      for (std::uint32_t word = first; word < first + words_of_lane; ++word) function(word);
    });
  };
  seen_.clear();
  for_words([&](std::uint32_t word) {
    const bool is_counted = kind == AccessKind::atomic || seen_.add(word);
    if (is_counted) most = std::max<std::uint32_t>(most, ++words[word % kBanks]);
  });
  return most;
}

AccessCost AccessCosts::wavefronts_by_groups(const AccessedLanes& lanes, AccessKind kind) {
  const bool is_word = lanes.bytes <= kBankBytes;
  const bool may_share = kind != AccessKind::atomic;
  const bool is_row =
      (lanes.pattern == Pattern::strided && (may_share || lanes.bytes >= kBankBytes)) ||
      (lanes.pattern == Pattern::uniform && may_share);
  if (is_row && is_word) return {1, 1};
  // Lanes take turns by groups of as many as fill a wavefront; if neighbours share what they read,
  // by groups of twice as many.
  std::uint32_t lanes_of_group = is_word ? kWarpLanes : kWavefrontBytes / lanes.bytes;
  const bool do_share =
      kind == AccessKind::read && !is_word &&
      (lanes.pattern == Pattern::uniform || share_with(lanes, 1) || share_with(lanes, 2));
  if (do_share) lanes_of_group *= 2;
  const std::uint32_t group = lanes_of_group == 32 ? ~0u : (1u << lanes_of_group) - 1;
  AccessCost cost;
  for (std::uint32_t first = 0; first < kWarpLanes; first += lanes_of_group) {
    const std::uint32_t active = lanes.mask & group << first;
    if (active == 0) continue;
    ++cost.ideal;
    const bool is_one = is_row && (!do_share || lanes.pattern == Pattern::uniform);
    cost.moved += is_one ? 1 : wavefronts_of_group(lanes, active, kind);
  }
  return cost;
}

}  // namespace warpcheck::vgpu
