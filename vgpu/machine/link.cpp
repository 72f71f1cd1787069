#include "vgpu/machine/link.hpp"

#include <fmt/format.h>

#include "vgpu/machine/compute.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/rows.hpp"
#include "vgpu/machine/warp_ops.hpp"

namespace warpcheck::vgpu {

namespace baseline {
extern const MemoryRowFunctions kMemoryRowFunctions;
}
namespace avx2 {
extern const MemoryRowFunctions kMemoryRowFunctions;
}
namespace avx512 {
extern const MemoryRowFunctions kMemoryRowFunctions;
}

const MemoryRowFunctions& memory_row_functions() {
  switch (chosen_simd_level()) {
    case SimdLevel::avx512: return avx512::kMemoryRowFunctions;
    case SimdLevel::avx2: return avx2::kMemoryRowFunctions;
    default: return baseline::kMemoryRowFunctions;
  }
}

namespace {

[[noreturn]] void refuse(const Program& program, std::uint32_t pc, std::string_view why) {
  const Source& source = program.source_of(pc);
  const ptx::SourceLocation place = program.report_location(pc);
  const std::string from = place.file < program.files.size()
                               ? fmt::format(" (from {}:{})", program.files[place.file], place.line)
                               : std::string();
  throw Refusal(fmt::format("kernel '{}': PTX line {}{}: '{}' is not supported: {}", program.kernel,
                            source.ptx_line, from, source.text, why));
}

// Memory orders beyond relaxed would have to be known to the race checker to be right.
bool order_is_supported(const ptx::Modifiers& modifiers) {
  return modifiers.order == ptx::Order::weak || modifiers.order == ptx::Order::relaxed ||
         modifiers.order == ptx::Order::volatile_;
}

}  // namespace

void link(Program& program) {
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    Instr& instr = program.code[pc];
    switch (instr.kind) {
      case InstrKind::compute:
        instr.compute = find_compute(instr);
        if (instr.compute == nullptr) refuse(program, pc, "the machine has no such operation");
        break;
      case InstrKind::warp_sync:
        if (instr.modifiers.warp) break;  // bar.warp.sync calculates nothing
        [[fallthrough]];
      case InstrKind::warp:
        instr.compute = find_warp_op(instr);
        if (instr.compute == nullptr) refuse(program, pc, "the machine has no such operation");
        break;
      case InstrKind::fence:
        refuse(program, pc, "memory fences: release and acquire patterns are not checked");
      case InstrKind::atomic:
        if (!atomic_is_supported(instr.modifiers)) {
          refuse(program, pc, "the machine has no such atomic operation, type or order");
        }
        break;
      case InstrKind::load:
      case InstrKind::store:
        if (!order_is_supported(instr.modifiers)) refuse(program, pc, "acquire and release order");
        break;
      default: break;
    }
  }
}

}  // namespace warpcheck::vgpu
