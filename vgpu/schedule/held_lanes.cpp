#include "vgpu/schedule/held_lanes.hpp"

#include <array>
#include <bit>

namespace warpcheck::vgpu {
namespace {

// The lanes whose number has bit k set: they separate odd from even lanes, pairs, ..., halves.  Any
// two lanes are separated by at least one of them.
constexpr std::array<std::uint32_t, 5> kLaneBit{0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u,
                                                0xffff0000u};

std::uint32_t lowest_lanes(std::uint32_t active, unsigned count) {
  std::uint32_t rest = active;
  for (; count > 0; --count) rest &= rest - 1;
  return active & ~rest;
}

std::uint32_t one_lane(Prng& prng, std::uint32_t active, unsigned lanes) {
  const auto rank = static_cast<unsigned>(prng.below(lanes));
  return lowest_lanes(active, rank + 1) & ~lowest_lanes(active, rank);
}

}  // namespace

std::uint32_t draw_held_lanes(Prng& prng, std::uint32_t active, std::uint32_t other_ready) {
  const auto lanes = static_cast<unsigned>(std::popcount(active));
  if (other_ready != 0 && (lanes < 2 || prng.one_in(4))) return active;
  if (lanes < 2) return 0;
  switch (prng.below(7)) {
    case 0:
    case 1: return one_lane(prng, active, lanes);
    case 2: return active & ~one_lane(prng, active, lanes);
    case 3:
    case 4: {
      const std::uint32_t part = active & kLaneBit[prng.below(kLaneBit.size())];
      if (part == 0 || part == active) return lowest_lanes(active, lanes / 2);
      return prng.one_in(2) ? part : active & ~part;
    }
    case 5: {
      const auto count = 1 + static_cast<unsigned>(prng.below(lanes - 1));
      const std::uint32_t prefix = lowest_lanes(active, count);
      return prng.one_in(2) ? prefix : active & ~prefix;
    }
    default: {
      const auto subset = static_cast<std::uint32_t>(prng.next()) & active;
      return subset == 0 || subset == active ? one_lane(prng, active, lanes) : subset;
    }
  }
}

}  // namespace warpcheck::vgpu
