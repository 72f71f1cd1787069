// The families of one instruction set together.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {

ComputeFn find_compute(const Instr& instr) {
  // find_carry goes first: find_integer does not look at .cc.  find_exact goes last: it is slow.
  using Find = ComputeFn (*)(const Instr&);
  static constexpr Find kFamilies[] = {find_carry,
                                       find_integer,
                                       find_bits,
                                       find_compare,
                                       find_move,
                                       find_float,
                                       find_approximate,
                                       find_convert,
                                       portable::find_exact,
                                       portable::find_half_approximate,
                                       portable::find_half_compare,
                                       portable::find_packed,
                                       portable::find_video};
  for (const Find find : kFamilies) {
    if (const ComputeFn found = find(instr); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
