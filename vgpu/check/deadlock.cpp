#include "vgpu/check/deadlock.hpp"

#include <fmt/format.h>

namespace warpcheck::vgpu {

void DeadlockChecker::on_step_limit(const StepLimit& limit) {
  const Program& program = *limit.program;
  reporter_.report({&program, limit.pc, ptx::kNone, 0}, [&] {
    Finding finding;
    finding.kind = FindingKind::deadlock;
    finding.kernel = kernel_name(program.kernel);
    finding.accesses = {
        reporter_.side("spin", program, limit.pc, thread_of(limit.place, limit.lane))};
    finding.message =
        fmt::format("no end after {} warp instructions; (1) is where a warp was last", limit.steps);
    return finding;
  });
}

}  // namespace warpcheck::vgpu
