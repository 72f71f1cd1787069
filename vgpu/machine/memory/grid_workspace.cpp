#include "vgpu/machine/memory/grid_workspace.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace warpcheck::vgpu {

void GridWorkspace::begin_launch() {
  constexpr std::uint32_t kBytes = 64;
  allocation_ = nullptr;  // the last launch may have been given up
  if (!launch_.request().cooperative || !launch_.program().has_grid_workspace) return;
  allocation_ =
      launch_.memory().allocate(kBytes, ptx::Space::global, std::string(kGridWorkspaceName));
  if (allocation_ == nullptr) return;  // then the program finds no workspace, and traps
  std::fill_n(allocation_->data, kBytes, std::byte{0});
  launch_.notify([&](Observer& observer) { observer.on_allocate(*allocation_); });
  HostAccess zeros;
  zeros.allocation = allocation_;
  zeros.bytes = kBytes;
  zeros.write = true;
  launch_.notify([&](Observer& observer) { observer.on_host_access(zeros); });
}

void GridWorkspace::end_launch() {
  if (allocation_ == nullptr) return;
  launch_.notify([&](Observer& observer) { observer.on_free(*allocation_); });
  launch_.memory().free(std::exchange(allocation_, nullptr));
}

}  // namespace warpcheck::vgpu
