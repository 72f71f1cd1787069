#include "vgpu/cudart/device/errors.hpp"

#include <optional>
#include <string>
#include <utility>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/api/calls/known_addresses.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/runtime_use.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/memory/allocations.hpp"

namespace warpcheck::cudart {
namespace {

class ProgramAddresses final : public KnownAddresses {
 public:
  explicit ProgramAddresses(const Allocations& allocations) : allocations_(allocations) {}
  [[nodiscard]] const vgpu::Allocation* memory_at(const void* address) const override {
    return allocations_.find(address);
  }
  [[nodiscard]] bool is_of_device(const void* address) const override {
    return allocations_.owns(address);
  }
  [[nodiscard]] std::string kernel_at(const void* address) const override {
    const Kernel* const kernel = Registry::instance().find_kernel(address);
    return kernel == nullptr ? std::string() : vgpu::kernel_name(kernel->name);
  }

 private:
  const Allocations& allocations_;
};

}  // namespace

void Errors::begin_call() {
  findings_.begin_call();
  reason_.clear();
  if (std::exchange(is_described_, false)) described_call_ = {};
}

cudaError_t Errors::record(cudaError_t error) {
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  if (!is_driver_call(current_call())) last_.set(error);
  // Errors caused by a fatally failed launch are reported with that launch.
  if (trial_.in_ambient() && !findings_.call_is_told() && error != sticky_) {
    const std::optional<FailureReport> report = report_failed_call(
        findings_, ProgramAddresses(allocations_), error, reason_, described_call_);
    if (report && report->needs_question) last_.set_unasked(report->finding);
  }
  return error;
}

cudaError_t Errors::sticky() const {
  const bool is_lost = trial_.in_ambient() && device_was_used_before_fork();
  return is_lost ? cudaErrorInitializationError : sticky_;
}

void Errors::refuse(std::string_view reason) {
  findings_.call_is_told_elsewhere();
  findings_.checkers().on_unknown_writes();
  trial_.refuse(reason);
}

cudaError_t Errors::refuse_in_host_function() {
  if (trial_.in_ambient()) {
    report_failed_call(findings_, ProgramAddresses(allocations_), cudaErrorNotPermitted,
                       "a host function may not call the API", FailedCall{});
  }
  return cudaErrorNotPermitted;
}

}  // namespace warpcheck::cudart
