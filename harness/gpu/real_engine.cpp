#include "harness/gpu/real_engine.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <exception>

#include "vgpu/check/finding.hpp"

namespace warpcheck {
namespace {

vgpu::FindingKind kind_of(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress: return vgpu::FindingKind::out_of_bounds;
    case cudaErrorMisalignedAddress: return vgpu::FindingKind::misaligned_access;
    case cudaErrorLaunchTimeout: return vgpu::FindingKind::deadlock;
    default: return vgpu::FindingKind::trap;
  }
}

}  // namespace

RealGpu::RealGpu(const std::string& library) : device_(cudart::use_real_runtime(library)) {}

RealGpu::~RealGpu() { cudart::use_virtual_device(); }

TrialResult RealGpu::run(const TrialSettings& settings, FunctionRef<void()> body) {
  TrialResult result;
  if (settings.build != Build::optimized) {
    result.refusals.emplace_back(
        "a real GPU runs device code as shipped, and the case is of the unoptimised build: "
        "`warpcheck export` writes a program that is built with -G");
    return result;
  }
  static_cast<void>(cudart::take_real_launches());
  std::exception_ptr thrown;
  try {
    body();
  } catch (...) {
    thrown = std::current_exception();
  }
  const cudaError_t error = cudaDeviceSynchronize();
  static_cast<void>(cudaGetLastError());
  const cudart::RealLaunches launches = cudart::take_real_launches();
  result.launches = launches.count;
  result.order_source = "a GPU orders its threads as it will";
  if (error != cudaSuccess) {
    lost_ = true;
    vgpu::Finding finding;
    finding.kind = kind_of(error);
    if (!launches.kernels.empty()) finding.kernel = vgpu::kernel_name(launches.kernels.back());
    finding.message = fmt::format("{} ({})", cudaGetErrorName(error), cudaGetErrorString(error));
    result.findings.push_back(std::move(finding));
  }
  if (thrown) std::rethrow_exception(thrown);
  return result;
}

}  // namespace warpcheck
