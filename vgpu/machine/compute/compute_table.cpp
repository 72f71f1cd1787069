// The functions of one instruction set, by the file names in opcodes.def.
#include <iterator>

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {

ComputeFn find_compute(const Instr& instr) {
  using Find = ComputeFn (*)(const Instr&);
  static constexpr Find kFiles[] = {find_carry,
                                    find_integer,
                                    find_bits,
                                    find_compare,
                                    find_move,
                                    find_float,
                                    find_half,
                                    find_approximate,
                                    find_convert,
                                    portable::find_exact,
                                    portable::find_half_approximate,
                                    find_half_compare,
                                    portable::find_packed,
                                    portable::find_video};
  constexpr std::size_t kCount = std::size(kFiles);
  static_assert(kCount == static_cast<std::size_t>(ptx::FunctionFile::count));
  const std::uint16_t files = ptx::row_of(instr.opcode).functions;
  for (std::size_t file = 0; file < kCount; ++file) {
    if ((files >> file & 1u) == 0) continue;
    if (const ComputeFn found = kFiles[file](instr); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
