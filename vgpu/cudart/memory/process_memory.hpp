// Device memory that processes of one program share: cudaIpcGetMemHandle, cudaIpcOpenMemHandle.
//
// The bytes of an allocation that is exported move into a file (process_files.hpp), which those who
// open the handle map as an allocation of their own.  The machines of two processes then work on
// the same bytes, each as far as it is; atomic operations hold a lock that lies in the file.  What
// one process does is nothing that the others' checkers know of, so all bytes count as written, and
// what orders two processes is not looked at.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>

#include "vgpu/cudart/memory/process_files.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Allocations;

class ProcessMemory {
 public:
  explicit ProcessMemory(vgpu::DeviceMemory& memory) : memory_(memory) {}

  // allocation: live, of cudaMalloc.  The same handle each time.
  cudaError_t get_handle(Allocations& allocations, vgpu::Allocation& allocation,
                         cudaIpcMemHandle_t& handle);
  // In memory of the device that the allocations are of.
  cudaError_t open(Allocations& allocations, const cudaIpcMemHandle_t& handle, void** pointer);
  // The allocation that becomes unused, which the caller frees; null: it is still used.
  cudaError_t close(const void* pointer, const vgpu::Allocation*& unused);
  [[nodiscard]] bool is_opened(const vgpu::Allocation& allocation) const;
  // A freed allocation has another handle should its address come back.
  void freed(const vgpu::Allocation& allocation) { exported_.erase(&allocation); }
  // The device is reset: files stay mapped where allocations of it may still be looked at.
  void clear();

 private:
  struct Opened {
    const vgpu::Allocation* allocation = nullptr;
    std::uint32_t count = 0;
  };
  void share(Allocations& allocations, vgpu::Allocation& allocation,
             const std::shared_ptr<ProcessFile>& file);

  vgpu::DeviceMemory& memory_;
  std::map<const vgpu::Allocation*, std::shared_ptr<ProcessFile>> exported_;
  std::map<ProcessFileHandle, Opened> opened_;
  std::map<const vgpu::Allocation*, std::shared_ptr<ProcessFile>> mapped_;
};

}  // namespace warpcheck::cudart
