#include "vgpu/cudart/beside/kernel_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpcheck::cudart {

void KernelCall::begin(OperationPtr operation, std::function<void()> run) {
  operation_ = std::move(operation);
  waits_ = is_given_up_ = false;
  fiber_.begin(std::move(run));
}

bool KernelCall::go_on() { return fiber_.go_on(); }

bool KernelCall::has_changed() const {
  if (!waits_) return false;
  return polled_.empty() || std::ranges::any_of(polled_, [](const vgpu::PolledBytes& bytes) {
           return std::memcmp(bytes.at, bytes.value.data(), bytes.count) != 0;
         });
}

bool KernelCall::wait_for_change(const std::vector<vgpu::PolledBytes>& polled, bool of_host) {
  if (is_given_up_) return false;
  waits_ = true;
  of_host_ = of_host;
  polled_ = polled;
  fiber_.leave();
  waits_ = false;
  return !is_given_up_;
}

void KernelCall::let_others_run() {
  if (must_leave_(*this)) fiber_.leave();
}

}  // namespace warpcheck::cudart
