#include "vgpu/cudart/suspended/suspendable_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpcheck::cudart {

void SuspendableKernel::begin(OperationPtr operation, std::function<void()> run) {
  operation_ = std::move(operation);
  waits_ = is_given_up_ = false;
  fiber_.begin(std::move(run));
}

bool SuspendableKernel::resume() { return fiber_.resume(); }

bool SuspendableKernel::has_changed() const {
  if (!waits_) return false;
  return polled_.empty() || std::ranges::any_of(polled_, [](const vgpu::PolledBytes& bytes) {
           return std::memcmp(bytes.at, bytes.value.data(), bytes.count) != 0;
         });
}

bool SuspendableKernel::wait_for_change(const std::vector<vgpu::PolledBytes>& polled,
                                        bool of_host) {
  if (is_given_up_) return false;
  waits_ = true;
  of_host_ = of_host;
  polled_ = polled;
  fiber_.suspend();
  waits_ = false;
  return !is_given_up_;
}

void SuspendableKernel::let_others_run() {
  if (must_suspend_(*this)) fiber_.suspend();
}

}  // namespace warpcheck::cudart
