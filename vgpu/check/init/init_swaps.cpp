// The initialisation checker: compare-and-swaps that expect what was read, and uses that strict
// checks report.
#include <utility>

#include "vgpu/check/init/init.hpp"

namespace warpcheck::vgpu {

// A row of compare-and-swaps, some of which expect what they have read there.  Lanes run one after
// the other, so a later lane finds what an earlier one has swapped in.
void InitChecker::on_guessed_swap(Access& access, MemoryShadow& shadow) {
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
    on_read(access, shadow);
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
    on_write(access, shadow);
  }
  access.mask = mask;
  access.pattern = pattern;
  access.undefined = read.mask;
  access.origin = read.origin;
  access.of_values = read.values;
  access.is_partial = true;
  access.undefined_bits[0] = read_bits;
}

void InitChecker::report_stored(const Access& access, std::uint32_t lanes, std::uint32_t origin) {
  if (access.space == ptx::Space::local || origin == ptx::kNone) return;
  UndefinedUse use;
  use.program = access.program;
  use.place = access.place;
  use.pc = access.pc;
  use.lanes = lanes;
  use.origin = origin;
  reports_.stored(use, access.kind == AccessKind::atomic);
}

}  // namespace warpcheck::vgpu
