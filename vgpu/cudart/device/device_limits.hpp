// cudaDeviceSetLimit: the limits that a program may set for its device.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "vgpu/cudart/launch/print_buffer.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class DeviceLimits {
 public:
  // cudaLimitStackSize ... cudaLimitPersistingL2CacheSize
  static constexpr std::size_t kCount = 7;

  // The objects that must be informed of their limits; not owned.
  DeviceLimits(vgpu::DeviceMemory& memory, PrintBuffer& prints, unsigned device = 0);

  [[nodiscard]] std::size_t get(cudaLimit limit) const { return values_[limit]; }
  // Sets a limit. cudaErrorInvalidValue: the stack is larger than a thread can have, the nesting of
  // grids is not possible, the buffer of printf() was already used, or a kernel that uses the heap
  // has already run.  The heap is at most as large as the device's memory.
  cudaError_t set(cudaLimit limit, std::size_t value);
  // Called when a kernel that can call malloc() or free() has run.
  void use_heap() { heap_in_use_ = true; }
  // Restores the defaults of the hardware; that of the heap is also the default of reset memory.
  void reset();

 private:
  vgpu::DeviceMemory& memory_;
  PrintBuffer& prints_;  // shared by all devices
  unsigned device_;
  std::array<std::size_t, kCount> values_{};
  bool heap_in_use_ = false;
};

}  // namespace warpcheck::cudart
