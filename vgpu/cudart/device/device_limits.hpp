// cudaDeviceSetLimit: what a program may set of its device.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "vgpu/cudart/device/print_buffer.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class DeviceLimits {
 public:
  // cudaLimitStackSize ... cudaLimitPersistingL2CacheSize
  static constexpr std::size_t kCount = 7;

  // Both are told of the limits that are theirs; not owned.
  DeviceLimits(vgpu::DeviceMemory& memory, PrintBuffer& prints, unsigned device = 0);

  [[nodiscard]] std::size_t get(cudaLimit limit) const { return values_[limit]; }
  // cudaErrorInvalidValue: for a stack that no thread can have, for a nesting of grids that there
  // cannot be, for the buffer of printf() once something was printed, and for the heap once a
  // kernel has run that uses it.  The heap is at most as large as the device's memory.
  cudaError_t set(cudaLimit limit, std::size_t value);
  // A kernel that can call malloc() or free() has run.
  void use_heap() { heap_in_use_ = true; }
  // The defaults of the hardware; the heap's is also that of memory which has been reset.
  void reset();

 private:
  vgpu::DeviceMemory& memory_;
  PrintBuffer& prints_;  // of all devices
  unsigned device_;
  std::array<std::size_t, kCount> values_{};
  bool heap_in_use_ = false;
};

}  // namespace warpcheck::cudart
