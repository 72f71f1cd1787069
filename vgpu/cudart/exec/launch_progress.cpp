#include "vgpu/cudart/exec/launch_progress.hpp"

#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"

namespace warpcheck::cudart {

void LaunchProgress::launched(std::uint32_t kernel) {
  kernel_ = kernel + 1;
  if (trial_.exec_session() == nullptr) return;
  begin_ = std::chrono::steady_clock::now();
}

void LaunchProgress::blocks_ended(std::uint32_t blocks) {
  if (ExecSession* const session = trial_.exec_session()) session->log().blocks_ended(blocks);
}

void LaunchProgress::ended(const vgpu::Outcome& outcome) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr) return;
  const auto took = std::chrono::steady_clock::now() - begin_;
  session->log().launch_ended(
      kernel_, outcome.lane_steps,
      static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
}

void LaunchProgress::on_sync(const vgpu::Sync& sync) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr) return;
  switch (sync.kind) {
    case vgpu::Sync::Kind::kernel_start:
      session->log().launch_begins(kernel_, sync.grid.count());
      break;
    case vgpu::Sync::Kind::block_end: session->log().block_ended(); break;
    case vgpu::Sync::Kind::kernel_end:
    case vgpu::Sync::Kind::block_start:
    case vgpu::Sync::Kind::barrier_complete: break;
  }
}

}  // namespace warpcheck::cudart
