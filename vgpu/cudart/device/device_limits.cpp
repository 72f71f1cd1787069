#include "vgpu/cudart/device/device_limits.hpp"

#include <algorithm>

#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {
namespace {

// The defaults of the hardware.
constexpr std::array<std::size_t, DeviceLimits::kCount> kDefaults{
    1024, 1 << 20, vgpu::kHeapBytes, 2, 2048, 64, 0};

constexpr std::size_t kSyncDepthMax = 24;
constexpr std::size_t kStackUnit = 16;  // stack sizes are rounded up to it

}  // namespace

DeviceLimits::DeviceLimits(vgpu::DeviceMemory& memory, PrintBuffer& prints, unsigned device)
    : memory_(memory), prints_(prints), device_(device) {
  reset();
}

void DeviceLimits::reset() {
  values_ = kDefaults;
  heap_in_use_ = false;
  prints_.set_capacity(values_[cudaLimitPrintfFifoSize]);
}

cudaError_t DeviceLimits::set(cudaLimit limit, std::size_t value) {
  switch (limit) {
    case cudaLimitStackSize:
      if (value > virtual_gpu::kThreadLocalBytes) return cudaErrorInvalidValue;
      value = (value + kStackUnit - 1) / kStackUnit * kStackUnit;
      break;
    case cudaLimitPrintfFifoSize:
      if (prints_.in_use()) return cudaErrorInvalidValue;
      prints_.set_capacity(value);
      break;
    case cudaLimitMallocHeapSize:
      if (heap_in_use_) return cudaErrorInvalidValue;
      value = std::min<std::size_t>(value, memory_.capacity_bytes());
      memory_.set_heap_capacity(value, device_);
      break;
    case cudaLimitDevRuntimeSyncDepth:
      if (value > kSyncDepthMax) return cudaErrorInvalidValue;
      break;
    default: break;
  }
  values_[limit] = value;
  return cudaSuccess;
}

}  // namespace warpcheck::cudart
