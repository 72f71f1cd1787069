// Compare-and-swaps that expect what was read.
#include <utility>

#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {

// A row of compare-and-swaps, some of which expect what they have read there.  Lanes run one after
// the other, so a later lane finds what an earlier one has swapped in.
void UnwrittenMemory::swap_guessed(Access& access, MemoryShadow& shadow) {
  const std::uint32_t mask = access.mask;
  const Pattern pattern = std::exchange(access.pattern, Pattern::scattered);
  const UndefinedLanes written = access.undefined_in(0);
  const LaneBits written_bits = access.undefined_bits[0];
  UndefinedLanes read;
  LaneBits read_bits{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint32_t bit = 1u << lane;
    access.mask = bit;
    access.undefined = 0;
    access.is_partial = false;
    access.of_values = {};
    find(access, shadow);
    const bool is_undefined = access.undefined != 0;
    if (is_undefined) {
      read.mask |= bit;
      read.origin = access.origin;
      read.values.whole |= access.of_values.whole & bit;
      read.values.calculated |= access.of_values.calculated & bit;
      read_bits[lane] = access.is_partial ? access.undefined_bits[0][lane] : ones_of(access.bytes);
    }
    const bool is_guess = (access.guessed & bit) != 0;
    if (is_guess && (access.unequal & bit) != 0) continue;  // nothing is written
    access.undefined = written.mask & bit;
    access.origin = written.origin;
    access.of_values = written.values;
    access.is_partial = is_guess;
    access.undefined_bits[0][lane] = written_bits[lane];
    if (!is_guess && is_undefined) {
      access.undefined = bit;
      access.origin = read.origin;
    }
    leave(access, shadow);
  }
  access.mask = mask;
  access.pattern = pattern;
  access.undefined = read.mask;
  access.origin = read.origin;
  access.of_values = read.values;
  access.is_partial = true;
  access.undefined_bits[0] = read_bits;
}

}  // namespace warpcheck::vgpu
