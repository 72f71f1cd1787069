#include "vgpu/check/trap.hpp"

namespace warpcheck::vgpu {

void TrapChecker::on_trap(const Trap& trap) {
  const Program& program = *trap.program;
  reporter_.report({&program, trap.pc, ptx::kNone, 0}, [&] {
    const auto lane = static_cast<unsigned>(__builtin_ctz(trap.lanes));
    Finding finding;
    finding.kind = FindingKind::trap;
    finding.kernel = kernel_name(program.kernel);
    finding.accesses = {reporter_.side("trap", program, trap.pc, thread_of(trap.place, lane))};
    finding.message = "(1) stops the kernel";
    return finding;
  });
}

}  // namespace warpcheck::vgpu
