#include "vgpu/cudart/exec/launch_progress.hpp"

#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"

namespace warpcheck::cudart {

void LaunchProgress::on_sync(const vgpu::Sync& sync) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr) return;
  switch (sync.kind) {
    case vgpu::Sync::Kind::kernel_start:
      session->log().launch_begins(kernel_, sync.grid.count());
      break;
    case vgpu::Sync::Kind::block_end: session->log().block_ended(); break;
    case vgpu::Sync::Kind::kernel_end: session->log().launch_ended(); break;
    case vgpu::Sync::Kind::block_start:
    case vgpu::Sync::Kind::barrier_complete: break;
  }
}

}  // namespace warpcheck::cudart
