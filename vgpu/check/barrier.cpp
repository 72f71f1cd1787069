#include "vgpu/check/barrier.hpp"

namespace warpcheck::vgpu {

void BarrierChecker::on_barrier_divergence(const BarrierDivergence& divergence) {
  const Program& program = *divergence.program;
  const std::uint32_t exited = divergence.other_exited ? 1 : 0;
  reporter_.report({&program, divergence.pc, divergence.other_pc, exited}, [&] {
    const ThreadId other{divergence.place.block,
                         divergence.other_warp * kWarpLanes + divergence.other_lane};
    Finding finding;
    finding.kind = FindingKind::barrier_divergence;
    finding.kernel = kernel_name(program.kernel);
    finding.accesses = {reporter_.side("wait", program, divergence.pc,
                                       thread_of(divergence.place, divergence.lane)),
                        reporter_.side(divergence.other_exited ? "exit" : "wait", program,
                                       divergence.other_pc, other)};
    finding.message = divergence.other_exited
                          ? "(1) waits for all threads of its block, and (2) has exited"
                          : "(1) and (2) wait at different barriers";
    return finding;
  });
}

}  // namespace warpcheck::vgpu
